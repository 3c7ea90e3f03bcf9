"""The quick machine of protocols whose ordinary events carry one string: the generator behind their `events`.

An ordinary event is an object of the expected shape, on one line. In most of them only the text differs from the one
before, so that nothing else is decoded: see `Envelope`. Others of that shape are decoded whole. What is of another
shape goes to the exact machine. Every way starts and stops between two events, so that any can go on where another
stopped.

The generator is flat, and reads an event in two places, because a layer or a loop more costs a tenth of an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._blocks import TextBlock
from .._events import Block, Reasoning
from .._json import FAILURES
from ._envelope import decode_string, learn
from ._quick_frames import BLANK_LINE, QUICK_FAILURES
from ._shape import REASONING, TEXT

if TYPE_CHECKING:
    from .._events import StreamEvent
    from .._intake import Intake

__all__: list[str] = []


def cut_events(intake: Intake, data: bytes) -> None:
    """Cut a read into the events that end in it. Those that begin in another way stay with the one before.

    These do not fit then, and go to the exact machine. So does whatever has carriage returns.
    """
    state = intake.state
    if not data.startswith(state.lead.common) and not intake.is_unfinished:
        state.respell(data)
    block = intake.whole_events(data)
    lead = state.lead
    if block.startswith(lead.common):
        intake.cut(block[len(lead.common) :].split(lead.separator), lead.common)
    elif block:
        head, found, rest = block.partition(lead.separator)
        if found:
            intake.cut(rest.split(lead.separator), lead.common, len(head) + len(BLANK_LINE))
        intake.exact_event(head + BLANK_LINE, intake.block_offset)


def delta_events(intake: Intake) -> Iterator[StreamEvent]:  # noqa: C901, PLR0912, PLR0915 - flat for speed
    """Everything that is ready."""
    state = intake.state
    shape, envelope = state.shape, state.envelope
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
            size = len(data)
            text = message = None
            start = envelope.start
            if start and size <= intake.alike and (line := data.removeprefix(start)) is not data:
                slot = line.removesuffix(envelope.end)
                if slot is not line and envelope.middle:
                    slot, _, noise = slot.rpartition(envelope.middle)
                    is_noise = envelope.is_noise
                    if noise and not is_noise(noise):
                        slot = line
                if slot is not line and 10 not in slot and 13 not in slot:
                    try:
                        text = decode_string(slot)
                    except FAILURES:
                        text = None
            if text is None:
                line = data.removeprefix(state.lead.whole)
                payload = line.removesuffix(BLANK_LINE)
                if line is data or payload is line or size > intake.quick or 10 in payload or 13 in payload:
                    intake.ready = True
                    cut_events(intake, data)
                    continue
            kind = shape.kind
            intake.position += size
            try:
                if text is None:
                    decode, text_of = shape.decode, shape.text_of
                    message = decode(payload)
                    text = text_of(message)
                    if text and start:
                        envelope = learn(state, data, intake.position - size)
                if kind == TEXT:
                    if text:
                        yield Block(TextBlock(text))
                elif kind == REASONING:
                    if text and state.with_reasoning:
                        yield Reasoning(text)
                else:
                    index = envelope.index if message is None else shape.index_of(message)
                    state.open_calls[index].append_quick(text or "")
            except QUICK_FAILURES:
                intake.ready = True
                intake.exact_event(data, intake.position - size)
            if intake.ready:
                continue
            return
        if intake.attention:
            yield from intake.slow_events()
        shape, envelope = state.shape, state.envelope
        pieces = intake.pieces
        if pieces is not None:
            quick, alike, kind, own = intake.quick, intake.alike, shape.kind, state.lead.own
            start, end = envelope.piece_start, envelope.piece_end
            middle, is_noise = envelope.middle, envelope.is_noise
            for piece in pieces:
                try:
                    size = len(piece)
                    if size > quick:
                        raise ValueError
                    text = message = None
                    if start and size <= alike and (line := piece.removeprefix(start)) is not piece:
                        slot = line.removesuffix(end)
                        if slot is not line and middle:
                            slot, _, noise = slot.rpartition(middle)
                            if noise and not is_noise(noise):
                                slot = line
                        if slot is not line and 10 not in slot:
                            try:
                                text = decode_string(slot)
                            except FAILURES:
                                text = None
                    if text is None:
                        payload = piece.removeprefix(own)
                        if (own and payload is piece) or 10 in payload:
                            raise ValueError
                        message = shape.decode(payload)
                        text = shape.text_of(message)
                        if text and start:
                            envelope = learn(state, state.lead.common + piece + BLANK_LINE, intake.piece_offset())
                            start, end = envelope.piece_start, envelope.piece_end
                            middle, is_noise = envelope.middle, envelope.is_noise
                    if kind == TEXT:
                        if text:
                            yield Block(TextBlock(text))
                    elif kind == REASONING:
                        if text and state.with_reasoning:
                            yield Reasoning(text)
                    else:
                        index = envelope.index if message is None else shape.index_of(message)
                        state.open_calls[index].append_quick(text or "")
                except QUICK_FAILURES:
                    intake.exact_piece(piece)
                    yield from intake.slow_events()
                    if intake.pieces is not pieces:
                        break
                    shape, envelope = state.shape, state.envelope
                    kind, own = shape.kind, state.lead.own
                    start, end = envelope.piece_start, envelope.piece_end
                    middle, is_noise = envelope.middle, envelope.is_noise
            intake.end_pieces(pieces)
        elif intake.is_unfinished:
            data = intake.next_read()
            if data is None:
                return
            cut_events(intake, data)
        intake.settle()
