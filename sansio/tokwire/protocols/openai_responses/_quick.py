"""The generator behind `events` for OpenAI Responses: deltas are read here, all other events by the exact reader.

Each event has a number of its own in front of the text, so that nothing around it stays the same, and an `Envelope`
would never fit. What is left is one typed decode per event. It is flat, and reads a payload in two places, because a
layer or a loop more costs a tenth of an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._intake import Intake
from ...framing._quick_deltas import cut_events
from ...framing._quick_frames import BLANK_LINE, QUICK_FAILURES
from ...framing._shape import REASONING, TEXT

__all__: list[str] = []


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready."""
    state = intake.state
    shape = state.shape
    decode, kind = shape.decode, shape.kind
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
            line = data.removeprefix(state.lead.whole)
            payload = line.removesuffix(BLANK_LINE)
            size = len(data)
            if line is data or payload is line or size > intake.quick or 10 in payload or 13 in payload:
                intake.ready = True
                cut_events(intake, data)
                continue
            intake.position += size
            try:
                message = decode(payload)
                text = message.delta
                if kind == TEXT:
                    if text:
                        yield Block(TextBlock(text))
                elif kind == REASONING:
                    if text and state.with_reasoning:
                        yield Reasoning(text)
                else:
                    state.open_calls[message.output_index].append_quick(text)
            except QUICK_FAILURES:
                intake.ready = True
                intake.exact_event(data, intake.position - size)
            if intake.ready:
                continue
            return
        if intake.attention:
            yield from intake.slow_events()
        shape = state.shape
        decode, kind = shape.decode, shape.kind
        pieces = intake.pieces
        if pieces is not None:
            quick, own = intake.quick, state.lead.own
            for piece in pieces:
                try:
                    payload = piece.removeprefix(own)
                    if (own and payload is piece) or 10 in payload or len(payload) > quick:
                        raise ValueError
                    message = decode(payload)
                    text = message.delta
                    if kind == TEXT:
                        if text:
                            yield Block(TextBlock(text))
                    elif kind == REASONING:
                        if text and state.with_reasoning:
                            yield Reasoning(text)
                    else:
                        state.open_calls[message.output_index].append_quick(text)
                except QUICK_FAILURES:
                    intake.exact_piece(piece)
                    yield from intake.slow_events()
                    if intake.pieces is not pieces:
                        break
                    shape = state.shape
                    decode, kind, own = shape.decode, shape.kind, state.lead.own
            intake.end_pieces(pieces)
        elif intake.is_unfinished:
            data = intake.next_read()
            if data is None:
                return
            cut_events(intake, data)
        intake.settle()
