"""Server-sent events: the public decoder against a naive one, and the frames of the bodies that servers really send."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from fuzz._check import demand, same
from fuzz._plan import Plan, by_events, derived_cuts, plan_of, single_bytes
from fuzz._values import check_encodable, check_error
from tokwire import (
    FINISHED,
    LimitExceeded,
    ServerSentEvent,
    SSEDecoder,
    StreamState,
    StreamTruncated,
    TokwireError,
)
from tokwire.framing._frames import Frame, FrameKind
from tokwire.framing._sse_body import SSEBody

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_END = re.compile(rb"\r\n|\r|\n")


class Outcome(NamedTuple):
    """The events of a body, and the kind of error and name of the limit it ends with."""

    events: list[ServerSentEvent]
    error: str | None


def one_input(data: bytes) -> None:
    """Decode one input in many ways."""
    plan = plan_of(data)
    ways = [[plan.body], single_bytes(plan.body), by_events(plan.body), *derived_cuts(plan.body, plan.seed)]
    expected = naive(plan)
    first = decoded(plan, ways[0])
    same(expected, first[0], "the events of the standard")
    for reads in ways[1:]:
        same(first, decoded(plan, reads), "the same events and error for every cut", reads)
    frames = framed(plan, ways[0])
    for reads in ways[1:]:
        same(frames, framed(plan, reads), "the same frames for every cut", reads)


def naive(plan: Plan) -> Outcome:
    """The events by the rules of the standard, from the whole body."""
    events: list[ServerSentEvent] = []
    body, limits = plan.body, plan.limits
    lines = LINE_END.split(body)
    name, data, last_id, retry = "", [], "", None
    for number, line in enumerate(lines):
        if limits.max_line_bytes is not None and len(line) > limits.max_line_bytes:
            return Outcome(events, "max_line_bytes")
        if number == len(lines) - 1 and not plan.complete:
            return Outcome(events, "StreamTruncated")
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        field, _, value = text.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data.append(value)
            if limits.max_event_bytes is not None and len(b"\n".join(data)) > limits.max_event_bytes:
                return Outcome(events, "max_event_bytes")
        elif field == b"id" and b"\0" not in value:
            last_id = value.decode("utf-8", "replace")
        elif field == b"retry" and re.fullmatch(rb"[0-9]{1,18}", value):
            retry = int(value)
        if not text or number == len(lines) - 1:
            if data:
                joined = b"\n".join(data).decode("utf-8", "replace")
                events.append(ServerSentEvent(name or "message", joined, last_id, retry))
            name, data, retry = "", [], None
    return Outcome(events, None)


def decoded(plan: Plan, reads: Sequence[bytes]) -> tuple[Outcome, str]:
    """The same from the decoder that is tested, and the text of its error."""
    decoder = SSEDecoder(limits=plan.limits)
    events: list[ServerSentEvent] = []
    try:
        for place, read in enumerate(reads):
            decoder.receive_data(read)
            for event in decoder.events():
                events.append(event)
                if (place + plan.seed) % 3 == 0:
                    break
        decoder.receive_eof(complete=plan.complete)
        while isinstance(answer := decoder.next_event(), ServerSentEvent):
            events.append(answer)
        demand(answer is FINISHED, "behind the last event comes the end", answer)
    except TokwireError as error:
        check_error(error, plan.body)
        demand(type(error) in (LimitExceeded, StreamTruncated), "only limits and cuts are errors", repr(error))
        demand(decoder.state is StreamState.FAILED, "an error ends the stream", decoder.state)
        for _ in range(2):
            try:
                decoder.next_event()
            except TokwireError as again:
                demand(str(again) == str(error), "an error is raised again by every later call", again)
            else:
                demand(None, "an error is raised again by every later call", error)
        kind = error.limit if isinstance(error, LimitExceeded) else type(error).__name__
        return Outcome(events, kind), str(error)
    demand(decoder.state is StreamState.DONE, "a stream ends DONE", decoder.state)
    check_encodable(events)
    return Outcome(events, None), ""


def framed(plan: Plan, reads: Sequence[bytes]) -> tuple[list[Frame], str]:
    """The frames of a body up to the first that refuses it, and the text of the error."""
    framing = SSEBody(plan.limits)
    frames: list[Frame] = []
    position = 0
    line, event = plan.limits.max_line_bytes, plan.limits.max_event_bytes
    bound = None if line is None or event is None else line + event
    for read in reads:
        frames += framing.feed(read, position)
        position += len(read)
        demand(bound is None or framing.held <= bound + len(read), "bytes held stay within the limits", framing.held)
        if framing.error is not None or any(frame.kind is FrameKind.FOREIGN for frame in frames):
            break
    else:
        frames += framing.finish(complete=plan.complete)
    if framing.error is not None:
        check_error(framing.error, plan.body)
    for frame in frames:
        demand(0 <= frame.offset <= len(plan.body), "a frame lies in the body", frame)
    for number, frame in enumerate(frames):
        if frame.kind is FrameKind.FOREIGN:
            return frames[: number + 1], ""
    return frames, str(framing.error)
