"""The generator behind `events` for Chat Completions: flat, because every layer in this loop costs a sixth of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._intake import Intake
from ..._json import FAILURES
from ._shapes import REASONING, TEXT

__all__: list[str] = []

LEAD = b"data: "
SEPARATOR = b"\n\ndata: "
QUICK_FAILURES = (*FAILURES, KeyError)


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready. Chunks of the expected shape are read here, all others by the exact reader."""
    state, reads, quick = intake.state, intake.reads, intake.quick
    with_reasoning = state.options.include_reasoning
    while True:
        if intake.attention:
            yield from intake.slow_events()
        payloads: Iterator[bytes] | tuple[bytes, ...] | None = intake.pieces
        if payloads is None:
            if not reads:
                if intake.is_dry():
                    return
                continue
            data = reads.pop(0)
            if data[-2:] != b"\n\n" or data[:6] != LEAD or intake.is_unfinished or 13 in data:
                _cut(intake, data)
                continue
            intake.position += len(data)
            payloads = (data[6:-2],)
        decode, kind = state.hot_decode, state.hot_kind
        for payload in payloads:
            try:
                if 10 in payload or len(payload) > quick:
                    raise ValueError
                delta = decode(payload).choices[0].delta
                if kind == TEXT:
                    if text := delta.content:
                        yield Block(TextBlock(text))
                elif kind == REASONING:
                    if with_reasoning and (text := delta.reasoning_content or delta.reasoning):
                        yield Reasoning(text)
                else:
                    entry = delta.tool_calls[0]
                    state.open_calls[entry.index].append_quick(entry.function.arguments)
            except QUICK_FAILURES:
                offset = intake.piece_offset() if intake.pieces is payloads else intake.position - len(payload) - 8
                intake.exact_piece(LEAD + payload + b"\n\n", offset)
                yield from intake.slow_events()
                if intake.pieces is not payloads:
                    break
                decode, kind = state.hot_decode, state.hot_kind
        if intake.pieces is payloads:
            intake.pieces = None


def _cut(intake: Intake, data: bytes) -> None:
    """Cut a read into the payloads of the events that end in it."""
    block = intake.whole_events(data)
    if block[:6] == LEAD:
        intake.cut(block[6:].split(SEPARATOR), 6, 8)
    elif block:
        head, separator, rest = block.partition(SEPARATOR)
        intake.exact_piece(head + b"\n\n", intake.block_offset)
        if separator:
            intake.cut(rest.split(SEPARATOR), len(head) + 8, 8)
