"""The generator behind `events` for OpenAI Responses: text deltas are read here, all other events by the exact reader.

Each event has a number of its own in front of the text, so that nothing around it stays the same, and an `Envelope`
would never fit. What is left is one typed decode per event. It is flat, and reads a payload in two places, because a
layer or a loop more costs a tenth of an event.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, StreamEvent
from ..._intake import Intake
from ...framing._quick_frames import BLANK_LINE, QUICK_FAILURES, cut_payloads

__all__: list[str] = []

LEAD = b"event: response.output_text.delta\ndata: "

cut = cut_payloads(LEAD)


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready."""
    state = intake.state
    decode = state.shape.decode
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
            payload = line.removesuffix(BLANK_LINE)
            size = len(data)
            if line is data or payload is line or size > intake.quick or 10 in payload or 13 in payload:
                intake.ready = True
                cut(intake, data)
                continue
            intake.position += size
            try:
                if text := decode(payload).delta:
                    yield Block(TextBlock(text))
            except QUICK_FAILURES:
                intake.ready = True
                intake.exact_event(data, intake.position - size)
            if intake.ready:
                continue
            return
        if intake.attention:
            yield from intake.slow_events()
        decode = state.shape.decode
        payloads = intake.pieces
        if payloads is not None:
            quick = intake.quick
            for payload in payloads:
                try:
                    if 10 in payload or len(payload) > quick:
                        raise ValueError
                    if text := decode(payload).delta:
                        yield Block(TextBlock(text))
                except QUICK_FAILURES:
                    intake.exact_piece(payload)
                    yield from intake.slow_events()
                    if intake.pieces is not payloads:
                        break
                    decode = state.shape.decode
            intake.end_pieces(payloads)
        elif intake.is_unfinished:
            data = intake.next_read()
            if data is None:
                return
            cut(intake, data)
        intake.settle()
