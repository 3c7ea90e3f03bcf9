"""Receiving one HTTP/1.1 response in all the ways in which a caller may do it, with a decoder behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from fuzz._check import demand, same
from fuzz._plan import HEADER_BYTES, Plan, plan_of
from fuzz._runs import described
from tokwire import (
    HTTPExchange,
    HTTPRequest,
    Limits,
    LocalProtocolError,
    ResponseDecoder,
    ResponseHead,
    StreamDecoder,
    StreamEvent,
    StreamState,
    TokwireError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL_HEAD, OPEN, OTHER_METHOD, SENT = 0x10, 0x20, 0x80, 0x40
SMALL_HEAD_BYTES: Final = 120
SMALL_ERROR_BYTES: Final = 30
KEY: Final = "sk-tide-4711"
URL: Final = "http://api.example/v1/chat"
POST: Final = HTTPRequest("POST", URL, (("Authorization", f"Bearer {KEY}"),), b'{"stream":true}')
Failure = tuple[str, str, dict[str, Any]] | None
"""Type, text and attributes of an error."""

OTHERS: Final = (HTTPRequest("HEAD", URL), HTTPRequest("CONNECT", URL))


class Case(NamedTuple):
    """One input, read.

    Attributes:
        plan: How to decode; its body is what the server sends.
        request: What was asked.
        limits: Those of the exchange and of the decoder.
        closes: Whether the server closes the connection behind its bytes.
        is_sent: Whether the request was sent before the answer comes.
    """

    plan: Plan
    request: HTTPRequest
    limits: Limits
    closes: bool
    is_sent: bool


class Known(NamedTuple):
    """What is known after some bytes: of the response, of its body, and of the stream."""

    has_head: bool
    body: int
    ended: bool
    events: int


class Outcome(NamedTuple):
    """All that must not depend on how the bytes were cut.

    Attributes:
        head: Status and headers.
        body: What the exchange handed out.
        refusal: Why the exchange failed.
        ended: Whether the body came to its end.
        keep_alive: Whether the connection may be used again.
        events: What the decoder made of it.
        failure: Why the stream failed.
        state: Of the decoder, at the end.
        summary: Of the decoder, at the end.
    """

    head: ResponseHead | None
    body: bytes
    refusal: Failure
    ended: bool
    keep_alive: bool
    events: list[StreamEvent]
    failure: Failure
    state: StreamState
    summary: str


def case_of(data: bytes) -> Case:
    """Read an input."""
    plan = plan_of(data)
    _, flags, bits, seed = data[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0")
    head = SMALL_HEAD_BYTES if bits & SMALL_HEAD else plan.limits.max_head_bytes
    error = SMALL_ERROR_BYTES if seed % 2 else plan.limits.max_error_body_bytes
    limits = msgspec.structs.replace(plan.limits, max_head_bytes=head, max_error_body_bytes=error)
    plan.options["limits"] = limits
    request = OTHERS[seed % len(OTHERS)] if bits & OTHER_METHOD else POST
    return Case(plan, request, limits, not bits & OPEN, bool(flags & SENT))


class Reading:
    """One way to receive a response.

    Args:
        case: What is received.
        reads: How it is cut.
        patience: After how many reads each time something is taken.

    Attributes:
        outcome: What came of it.
        marks: What was known after so many bytes, where everything was taken.
        error: The error of the stream.
    """

    def __init__(self, case: Case, reads: Sequence[bytes], *, patience: int = 1) -> None:
        self.case = case
        self.exchange = HTTPExchange(case.request, limits=case.limits)
        self.decoder = ResponseDecoder(StreamDecoder(case.plan.protocol, **case.plan.options))
        self.body = bytearray()
        self.events: list[StreamEvent] = []
        self.marks: dict[int, Known] = {}
        self.refusal: TokwireError | None = None
        self.error: TokwireError | None = None
        if case.is_sent:
            check_request(case.request, self.exchange)
        position = 0
        for number, read in enumerate(reads, 1):
            self.exchange.receive_data(read)
            position += len(read)
            if number % patience == 0 or number == len(reads):
                self._take()
                self.marks[position] = Known(
                    self.exchange.response is not None, len(self.body), self.exchange.ended, len(self.events)
                )
        if case.closes:
            self.exchange.receive_eof()
            self._take()
        self._end()
        self.outcome = self._outcome()
        self._check_over()

    def _take(self) -> None:
        """Take what is ready of the body, and decode it."""
        exchange, decoder = self.exchange, self.decoder
        try:
            for chunk in exchange.body():
                demand(chunk, "no chunk is empty")
                self.body += chunk
                if decoder.head is None and exchange.response is not None:
                    decoder.receive_head(exchange.response)
                decoder.receive_data(chunk)
                self._decode()
        except TokwireError as error:
            self.refusal = error

    def _decode(self) -> None:
        try:
            for event in self.decoder.events():
                self.events.append(event)
        except TokwireError as error:
            demand(self.error in (None, error), "an error is raised again by every later call", self.error, error)
            self.error = error

    def _end(self) -> None:
        """Tell the decoder of the end, where there was one."""
        exchange, decoder = self.exchange, self.decoder
        if exchange.response is None:
            return
        if decoder.head is None:
            decoder.receive_head(exchange.response)
        if exchange.ended or self.refusal is not None:
            decoder.receive_eof(complete=exchange.ended)
        self._decode()

    def _outcome(self) -> Outcome:
        exchange, decoder = self.exchange, self.decoder
        failures = [None if error is None else described(error) for error in (self.refusal, self.error)]
        return Outcome(
            exchange.response,
            bytes(self.body),
            failures[0],
            exchange.ended,
            exchange.keep_alive,
            self.events,
            failures[1],
            decoder.state,
            repr(decoder.summary),
        )

    def _check_over(self) -> None:
        """Require that nothing more comes of a response that is over, and of its stream."""
        exchange, outcome = self.exchange, self.outcome
        if not (outcome.ended or self.refusal is not None):
            return
        try:
            exchange.receive_data(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except LocalProtocolError:
            demand(self.case.closes, "only behind its end a connection takes no data")
        exchange.receive_eof()
        for _ in range(2):
            try:
                more = list(exchange.body())
            except TokwireError as again:
                same(outcome.refusal, described(again), "a refusal is raised again by every later call")
            else:
                demand(not more and self.refusal is None, "no body comes behind its end", more, outcome.refusal)
        demand(not exchange.keep_alive, "a connection that is closed, or has more to say, is not used again")
        if self.case.is_sent or exchange.response is not None:
            demand(exchange.data_to_send() == [], "the request goes out once, and not behind its answer")
        known = exchange.response, exchange.ended
        demand(known == (outcome.head, outcome.ended), "the end of a response stays", known)
        if self.decoder.head is not None and self.decoder.state is not StreamState.OPEN:
            self.decoder.receive_data(b"data: more\n\n")
            before = list(self.events)
            self._decode()
            demand(self.events == before, "no event comes behind the end", self.events[len(before) :])


def check_request(request: HTTPRequest, exchange: HTTPExchange) -> None:
    """Require that the request goes out as a whole, with the caller's own body, and once."""
    pieces = exchange.data_to_send()
    demand(pieces[0].startswith(f"{request.method} ".encode()), "the request line comes first", pieces)
    demand(b"".join(pieces).endswith(b"\r\n\r\n" + request.body), "the body comes last", pieces)
    demand(not request.body or pieces[-1] is request.body, "the body is not copied", pieces)
    demand(exchange.data_to_send() == [], "the request goes out once")
