"""Decoding one body in all the ways in which a caller may do it."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from fuzz._check import demand
from tokwire import (
    FINISHED,
    NEED_DATA,
    ApiProtocol,
    StreamDecoder,
    StreamEvent,
    StreamState,
    StreamSummary,
    TokwireError,
)
from tokwire.protocols import find_protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fuzz._plan import Plan


class Mark(NamedTuple):
    """What a caller who takes all that is ready knows after some bytes of the body."""

    events: int
    state: StreamState
    summary: str


class Run(NamedTuple):
    """What came of one way to decode a body.

    Attributes:
        events: The events.
        failure: Type, text and attributes of the error, or None.
        summary: The summary at the end.
        state: The state at the end.
        facts: The summary itself.
        marks: Offset in the body to what was known there.
        error: The error itself.
    """

    events: list[StreamEvent]
    failure: tuple[str, str, dict[str, Any]] | None
    summary: str
    state: StreamState
    facts: StreamSummary
    marks: dict[int, Mark]
    error: TokwireError | None

    @property
    def outcome(self) -> tuple[object, ...]:
        """All that must not depend on the way."""
        return self.events, self.failure, self.summary, self.state


Take = Callable[[StreamDecoder, Sequence[bytes], "Plan", list[StreamEvent], random.Random], None]


@functools.cache
def exact_only(protocol: str) -> ApiProtocol:
    """The protocol without its quick path."""
    return msgspec.structs.replace(find_protocol(protocol), events=None)


def decoder_for(plan: Plan, *, exact: bool = False) -> StreamDecoder:
    """A decoder as the plan says."""
    return StreamDecoder(exact_only(plan.protocol) if exact else plan.protocol, **plan.options)


def run(plan: Plan, reads: Sequence[bytes], *, exact: bool = False, marks_at: Collection[int] | None = None) -> Run:
    """Feed read by read and take all that is ready after each.

    Args:
        plan: How to decode.
        reads: The body.
        exact: Without the quick path.
        marks_at: Offsets at which the summary is looked at too; every offset where it is None.
    """
    decoder = decoder_for(plan, exact=exact)
    bound = most_held(plan)
    events: list[StreamEvent] = []
    marks: dict[int, Mark] = {}
    position = 0
    try:
        for read in reads:
            decoder.receive_data(read)
            position += len(read)
            try:
                events.extend(decoder.events())
            finally:
                summary = repr(decoder.summary) if marks_at is None or position in marks_at else ""
                marks[position] = Mark(len(events), decoder.state, summary)
            held = decoder._engine.held
            demand(bound is None or held <= bound + len(read), "bytes held stay within the limits", held, bound)
        decoder.receive_eof(complete=plan.complete)
        events.extend(decoder.events())
    except TokwireError as error:
        return ended(decoder, events, marks, error)
    return ended(decoder, events, marks, None)


def most_held(plan: Plan) -> int | None:
    """How many bytes a decoder may hold between two reads: one line and one event, or one frame."""
    limits = plan.limits
    if plan.protocol == "bedrock":
        return limits.max_frame_bytes
    line, event = limits.max_line_bytes, limits.max_event_bytes
    return None if line is None or event is None else line + event


def run_as(plan: Plan, reads: Sequence[bytes], take: Take, *, exact: bool = False) -> Run:
    """Decode by another habit of taking events."""
    decoder = decoder_for(plan, exact=exact)
    events: list[StreamEvent] = []
    try:
        take(decoder, reads, plan, events, random.Random(plan.seed))
    except TokwireError as error:
        return ended(decoder, events, {}, error)
    return ended(decoder, events, {}, None)


def ended(decoder: StreamDecoder, events: list[StreamEvent], marks: dict[int, Mark], error: TokwireError | None) -> Run:
    """The end of a run: what is known, once it was shown that nothing more comes."""
    state, summary = decoder.state, repr(decoder.summary)
    failure = None if error is None else described(error)
    demand(state is (StreamState.DONE if error is None else StreamState.FAILED), "a stream ends DONE or FAILED", state)
    decoder.receive_data(b"data: more\n\n")
    decoder.receive_eof(complete=False)
    for ask in (decoder.next_event, lambda: list(decoder.events()), decoder.next_event):
        try:
            answer: object = ask()
        except TokwireError as again:
            demand(failure == described(again), "an error is raised again by every later call", failure, repr(again))
        else:
            demand(error is None and answer in (FINISHED, []), "nothing comes behind the end", answer, failure)
    demand(repr(decoder.summary) == summary, "the summary of a stream that is over stays", summary)
    demand(decoder.state is state, "the state of a stream that is over stays", state)
    demand(decoder._engine.held == 0, "nothing is held of a stream that is over", decoder._engine.held)
    return Run(events, failure, summary, state, decoder.summary, marks, error)


def described(error: TokwireError) -> tuple[str, str, dict[str, Any]]:
    """Type, text and attributes of an error."""
    return type(error).__name__, str(error), {name: repr(value) for name, value in vars(error).items()}


def all_at_the_end(
    decoder: StreamDecoder,
    reads: Sequence[bytes],
    plan: Plan,
    events: list[StreamEvent],
    lot: random.Random,
) -> None:
    """Store every read, then ask for the first time."""
    for read in reads:
        decoder.receive_data(memoryview(read) if lot.random() < 0.3 else read)
    decoder.receive_eof(complete=plan.complete)
    events.extend(decoder.events())


def one_by_one(
    decoder: StreamDecoder,
    reads: Sequence[bytes],
    plan: Plan,
    events: list[StreamEvent],
    lot: random.Random,
) -> None:
    """Ask for single events, not always for all that are ready."""
    for read in reads:
        decoder.receive_data(read)
        for _ in range(lot.choice((0, 1, 2, 1000))):
            event = decoder.next_event()
            if not isinstance(event, StreamEvent):
                break
            events.append(event)
    decoder.receive_eof(complete=plan.complete)
    while isinstance(event := decoder.next_event(), StreamEvent):
        events.append(event)
    demand(event is FINISHED, "after the end of the body nothing waits for data", event, NEED_DATA)


def dropped_midway(
    decoder: StreamDecoder,
    reads: Sequence[bytes],
    plan: Plan,
    events: list[StreamEvent],
    lot: random.Random,
) -> None:
    """Stop after a few events and take a new iterator, or go on with the old one after the next read."""
    iterator: Iterator[StreamEvent] = iter(())
    for read in reads:
        decoder.receive_data(read)
        if lot.random() < 0.7:
            iterator = decoder.events()
        for event in iterator:
            events.append(event)
            if lot.random() < 0.3:
                break
    decoder.receive_eof(complete=plan.complete)
    events.extend(iterator)
    events.extend(decoder.events())


HABITS: tuple[Take, ...] = (all_at_the_end, one_by_one, dropped_midway)
