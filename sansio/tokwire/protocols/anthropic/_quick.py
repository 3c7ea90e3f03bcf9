"""The generator behind `events` for Anthropic Messages: flat, because every layer in this loop costs a sixth of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._intake import Intake
from ..._json import FAILURES
from ._shapes import TEXT, THINKING

__all__: list[str] = []

LEAD = b"event: content_block_delta\ndata: "
LEAD_SIZE = len(LEAD)
QUICK_FAILURES = (*FAILURES, KeyError)


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready. Deltas of the expected shape are read here, all others by the exact reader."""
    state, reads, quick = intake.state, intake.reads, intake.quick
    with_reasoning = state.options.include_reasoning
    while True:
        if intake.attention:
            yield from intake.slow_events()
        pieces: Iterator[bytes] | tuple[bytes, ...] | None = intake.pieces
        if pieces is None:
            if not reads:
                if intake.is_dry():
                    return
                continue
            data = reads.pop(0)
            if data[-2:] != b"\n\n" or data[:LEAD_SIZE] != LEAD or intake.is_unfinished or 13 in data:
                block = intake.whole_events(data)
                if block:
                    intake.cut(block.split(b"\n\n"), 0, 2)
                continue
            intake.position += len(data)
            pieces = (data[:-2],)
        decode, kind = state.hot_decode, state.hot_kind
        for piece in pieces:
            try:
                payload = piece[LEAD_SIZE:]
                if piece[:LEAD_SIZE] != LEAD or 10 in payload or len(payload) > quick:
                    raise ValueError
                event = decode(payload)
                if kind == TEXT:
                    if text := event.delta.text:
                        yield Block(TextBlock(text))
                elif kind == THINKING:
                    if with_reasoning and (text := event.delta.thinking):
                        yield Reasoning(text)
                else:
                    state.open_calls[event.index].append_quick(event.delta.partial_json)
            except QUICK_FAILURES:
                offset = intake.piece_offset() if intake.pieces is pieces else intake.position - len(piece) - 2
                intake.exact_piece(piece + b"\n\n", offset)
                yield from intake.slow_events()
                if intake.pieces is not pieces:
                    break
                decode, kind = state.hot_decode, state.hot_kind
        if intake.pieces is pieces:
            intake.pieces = None
