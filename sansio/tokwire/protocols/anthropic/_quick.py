"""The generator behind `events` for Anthropic Messages.

It is flat, and reads a payload in two places, because a layer or a loop more costs a tenth of an event. Both places
read the same shapes; whatever does not fit one goes to the exact reader, which reads everything.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._intake import QUICK_FAILURES, Intake
from ._shapes import TEXT, THINKING

__all__: list[str] = []

LEAD = b"event: content_block_delta\ndata: "
END = b"\n\n"


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready. Deltas of the expected shape are read here, all others by the exact reader."""
    state = intake.state
    decode, kind = state.hot_decode, state.hot_kind
    while True:
        if intake.is_clean:
            data = intake.first
            if data is not None:
                intake.first = None
                intake.ready = False
            elif intake.reads:
                data = intake.reads.pop()
            elif intake.queue:
                intake.refill()
                continue
            elif intake.complete is None:
                intake.ready = intake.is_over
                return
            else:
                intake.finish()
                continue
            line = data.removeprefix(LEAD)
            payload = line.removesuffix(END)
            size = len(data)
            if line is data or payload is line or size > intake.quick or 10 in payload or 13 in payload:
                intake.ready = True
                block = intake.whole_events(data)
                if block:
                    intake.cut(block.split(END), b"")
                continue
            intake.position += size
            try:
                event = decode(payload)
                if kind == TEXT:
                    if text := event.delta.text:
                        yield Block(TextBlock(text))
                elif kind == THINKING:
                    if state.with_reasoning and (text := event.delta.thinking):
                        yield Reasoning(text)
                else:
                    state.open_calls[event.index].append_quick(event.delta.partial_json)
            except QUICK_FAILURES:
                intake.ready = True
                intake.exact_event(data, intake.position - size)
            if intake.ready:
                continue
            return
        if intake.attention:
            yield from intake.slow_events()
        decode, kind = state.hot_decode, state.hot_kind
        pieces = intake.pieces
        if pieces is not None:
            quick = intake.quick
            for piece in pieces:
                try:
                    payload = piece.removeprefix(LEAD)
                    if payload is piece or 10 in payload or len(payload) > quick:
                        raise ValueError
                    event = decode(payload)
                    if kind == TEXT:
                        if text := event.delta.text:
                            yield Block(TextBlock(text))
                    elif kind == THINKING:
                        if state.with_reasoning and (text := event.delta.thinking):
                            yield Reasoning(text)
                    else:
                        state.open_calls[event.index].append_quick(event.delta.partial_json)
                except QUICK_FAILURES:
                    intake.exact_piece(piece)
                    yield from intake.slow_events()
                    if intake.pieces is not pieces:
                        break
                    decode, kind = state.hot_decode, state.hot_kind
            intake.end_pieces(pieces)
        elif intake.is_unfinished:
            data = intake.next_read()
            if data is None:
                return
            block = intake.whole_events(data)
            if block:
                intake.cut(block.split(END), b"")
        intake.settle()
