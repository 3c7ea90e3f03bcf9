"""HTTP/1.1: the bytes of a connection through `HTTPExchange`, and its response through `ResponseDecoder`.

The body of an input is what the server sends. The header means what it means elsewhere, with these bits besides: bit 4
of byte 2 is a small limit for heads, bit 5 leaves the connection open behind the bytes, bit 7 asks with another method;
where bit 6 of byte 1 is not set, the answer comes before the request. An odd byte 3 bounds the bodies of errors.
"""

from __future__ import annotations

import random
import re
import zlib
from typing import Any, Final

from fuzz._check import demand, same
from fuzz._http import KEY, Case, Outcome, Reading, case_of
from fuzz._plan import cut, derived_cuts, single_bytes
from fuzz._values import check_error, check_event
from tokwire import (
    APIError,
    Finish,
    LimitExceeded,
    NoResponse,
    RemoteProtocolError,
    StreamDecoder,
    StreamEvent,
    StreamTruncated,
    TokwireError,
)

MOST_BYTES: Final = 32 << 10
"""Longer inputs are not tried: h11 bounds the line in front of a chunk and the trailers by itself, only where it waits
for more, so that for these its verdict may depend on the reads. Its bound is 32 KiB above `max_head_bytes`."""

REFUSALS: Final = {NoResponse, StreamTruncated, RemoteProtocolError, LimitExceeded}
LINE_END: Final = re.compile(rb"\n")


def one_input(data: bytes) -> None:
    """Receive one response in many ways."""
    if len(data) > MOST_BYTES:
        return
    case = case_of(data)
    body, seed = case.plan.body, case.plan.seed
    lot = random.Random(seed)
    whole = Reading(case, [body])
    check_outcome(case, whole)
    single = Reading(case, single_bytes(body))
    same(whole.outcome, single.outcome, "the same response and events: one byte per read")
    for reads in (*derived_cuts(body, seed), cut(body, [end.end() for end in LINE_END.finditer(body)])):
        other = Reading(case, reads, patience=lot.choice((1, 1, 3)))
        same(whole.outcome, other.outcome, "the same response and events for every cut", reads)
        for offset in other.marks.keys() & single.marks.keys():
            rule = "the same is known after the same bytes"
            same(single.marks[offset], other.marks[offset], rule, offset, reads)


def check_outcome(case: Case, reading: Reading) -> None:
    """Require of one reading what must hold for every response."""
    outcome, head, size = reading.outcome, reading.exchange.response, reading.exchange._head.size
    for error in filter(None, (reading.refusal, reading.error)):
        demand(KEY not in f"{error!r} {error} {vars(error)!r}", "no error repeats a key", repr(error))
    if reading.refusal is not None:
        check_refusal(case, reading.refusal)
    most = case.limits.max_head_bytes
    demand(head is None or most is None or size <= most, "a head stays within its limit", size, most)
    demand(
        not case.closes or outcome.ended or reading.refusal is not None, "a connection that closed leaves nothing open"
    )
    if head is None:
        demand(not (outcome.body or outcome.events or outcome.ended), "without a head there is nothing", outcome)
        return
    demand(head.status >= 200, "interim responses are skipped", head)
    check_stream(case, reading, head.status, head.header("content-encoding"))


def check_refusal(case: Case, error: TokwireError) -> None:
    """Require of an error of the exchange what it promises."""
    demand(type(error) in REFUSALS, "an exchange fails only with the documented errors", repr(error))
    demand(error.__cause__ is None and error.__context__ is None, "no error of h11 stands behind ours", repr(error))
    if isinstance(error, LimitExceeded):
        demand((error.limit, error.value) == ("max_head_bytes", case.limits.max_head_bytes), "the limit is told", error)
    elif isinstance(error, RemoteProtocolError):
        demand(
            len(error.excerpt) <= 64 and len(error.excerpt.splitlines()) <= 1, "an excerpt is one line", error.excerpt
        )


def check_stream(case: Case, reading: Reading, status: int, coding: str | None) -> None:
    """Require of the events what the decoder alone gives for the same body, or one error with the status."""
    outcome, error = reading.outcome, reading.error
    is_over = outcome.ended or reading.refusal is not None
    for event in outcome.events:
        check_event(event)
    finishes = [place for place, event in enumerate(outcome.events) if isinstance(event, Finish)]
    demand(finishes in ([], [len(outcome.events) - 1]), "Finish comes once and last", outcome.events)
    demand(not (finishes and error), "a stream ends with Finish or with an error", outcome.events, repr(error))
    demand(not is_over or finishes or error, "a response that is over ends its stream", outcome)
    if not 200 <= status < 300:
        demand(not outcome.events, "there are no events of a response that is an error", outcome.events)
        demand(
            error is None or (isinstance(error, APIError) and error.status_code == status), "the status is told", error
        )
        return
    if error is not None:
        check_error(error, bytes(1 << 20) if coding else outcome.body)
    body = inflated(outcome.body, coding)
    if body is not None:
        same(alone(case, body, is_over, outcome), (outcome.events, kind_of(error)), "the events of the decoder alone")


def alone(case: Case, body: bytes, is_over: bool, outcome: Outcome) -> tuple[list[StreamEvent], Any]:  # noqa: FBT001 - as found
    """The events of a decoder that is given the body, and what it failed with."""
    decoder = StreamDecoder(case.plan.protocol, **case.plan.options)
    events: list[StreamEvent] = []
    try:
        decoder.receive_data(body)
        if is_over:
            decoder.receive_eof(complete=outcome.ended)
        for event in decoder.events():
            events.append(event)  # noqa: PERF402 - what comes before an error is kept
    except TokwireError as error:
        return events, kind_of(error)
    return events, None


def kind_of(error: TokwireError | None) -> tuple[str, str] | None:
    """Type and text of an error; its notes may name the content type."""
    return None if error is None else (type(error).__name__, str(error))


def inflated(body: bytes, coding: str | None) -> bytes | None:
    """The body without its coding; None where that is not the ordinary case."""
    if coding is None or coding.strip().lower() in ("", "identity"):
        return body
    if coding.strip().lower() not in ("gzip", "x-gzip"):
        return None
    inflater = zlib.decompressobj(31)
    try:
        found = inflater.decompress(body)
    except zlib.error:
        return None
    return found if inflater.eof and not inflater.unused_data else None
