"""The generator behind `events` for Chat Completions.

It is flat, and reads a payload in two places, because a layer or a loop more costs a tenth of an event. Both places
read the same shapes; whatever does not fit one goes to the exact reader, which reads everything.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._intake import QUICK_FAILURES, Intake
from ._shapes import REASONING, TEXT

__all__: list[str] = []

LEAD = b"data: "
END = b"\n\n"
SEPARATOR = END + LEAD


def events(intake: Intake) -> Iterator[StreamEvent]:
    """Everything that is ready. Chunks of the expected shape are read here, all others by the exact reader."""
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
                _cut(intake, data)
                continue
            intake.position += size
            try:
                delta = decode(payload).choices[0].delta
                if kind == TEXT:
                    if text := delta.content:
                        yield Block(TextBlock(text))
                elif kind == REASONING:
                    if state.with_reasoning and (text := delta.reasoning_content or delta.reasoning):
                        yield Reasoning(text)
                else:
                    entry = delta.tool_calls[0]
                    state.open_calls[entry.index].append_quick(entry.function.arguments)
            except QUICK_FAILURES:
                intake.ready = True
                intake.exact_event(data, intake.position - size)
            if intake.ready:
                continue
            return
        if intake.attention:
            yield from intake.slow_events()
        decode, kind = state.hot_decode, state.hot_kind
        payloads = intake.pieces
        if payloads is not None:
            quick = intake.quick
            for payload in payloads:
                try:
                    if 10 in payload or len(payload) > quick:
                        raise ValueError
                    delta = decode(payload).choices[0].delta
                    if kind == TEXT:
                        if text := delta.content:
                            yield Block(TextBlock(text))
                    elif kind == REASONING:
                        if state.with_reasoning and (text := delta.reasoning_content or delta.reasoning):
                            yield Reasoning(text)
                    else:
                        entry = delta.tool_calls[0]
                        state.open_calls[entry.index].append_quick(entry.function.arguments)
                except QUICK_FAILURES:
                    intake.exact_piece(payload)
                    yield from intake.slow_events()
                    if intake.pieces is not payloads:
                        break
                    decode, kind = state.hot_decode, state.hot_kind
            intake.end_pieces(payloads)
        elif intake.is_unfinished:
            data = intake.next_read()
            if data is None:
                return
            _cut(intake, data)
        intake.settle()


def _cut(intake: Intake, data: bytes) -> None:
    """Cut a read into the payloads of the events that end in it."""
    block = intake.whole_events(data)
    if block[:6] == LEAD:
        intake.cut(block[6:].split(SEPARATOR), LEAD)
    elif block:
        head, separator, rest = block.partition(SEPARATOR)
        if separator:
            intake.cut(rest.split(SEPARATOR), LEAD, len(head) + len(END))
        intake.exact_event(head + END, intake.block_offset)
