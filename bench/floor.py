"""The floor: the least Python that gets the answer out of exactly these recordings, with msgspec.

The answer is the text and the reasoning piece by piece, the tool calls with their ids and names, and why it ended.

A floor knows how its stream looks. It holds no state between calls, tests for no error, no limit, no odd spelling, no
second choice and no cut inside a line end, and would be wrong on the next best stream. It shows what decoding the JSON
and making one object per event cost in any case; how near a decoder comes to it is what its care costs.

Objects are made through a `Sink`, so the code that is timed is the code whose answer is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import json
from msgspec.json import Decoder

from .shapes import (
    BlockEvent,
    BlockStart,
    Chunk,
    Finish,
    MessageEnd,
    Reasoning,
    Text,
    ToolCall,
    ToolChunk,
)
from .streams import Recording


class Sink(NamedTuple):
    """What a floor calls with its finds."""

    text: Callable[[str], object]
    reasoning: Callable[[str], object]
    call: Callable[[str, str, str], object]
    finish: Callable[[str], object]


OBJECTS = Sink(Text, Reasoning, ToolCall, Finish)
"""The sink of the timed runs: one object per find, dropped at once."""

Floor = Callable[[list[bytes], Sink], int]
"""Takes the reads, gives the number of finds."""

OpenCall = tuple[str, str, list[str]]
"""Id, name and fragments of the arguments."""


BRACE = ord("{")
CHAT_LEAD, CHAT_SEPARATOR = b"data: ", b"\n\ndata: "
BLOCK_LEAD, BLOCK_SEPARATOR = b"event: ", b"\n\nevent: "
DELTA, START, END = b"content_block_delta\ndata: ", b"content_block_start\ndata: ", b"message_delta\ndata: "


def _payloads(reads: list[bytes], lead: bytes, separator: bytes) -> Iterator[list[bytes]]:
    tail = b""
    for read in reads:
        block, end, tail = (tail + read).rpartition(b"\n\n")
        if end:
            yield block[len(lead) :].split(separator)


def _close(calls: Iterable[OpenCall], reason: str, sink: Sink) -> int:
    count = 1
    for call_id, name, parts in calls:
        sink.call(call_id, name, "".join(parts))
        count += 1
    sink.finish(reason)
    return count


def chat_events(reads: list[bytes], sink: Sink) -> int:
    """Text and reasoning of Chat Completions, one event per read."""
    decode = Decoder(Chunk).decode
    text, reasoning, reason, count = sink.text, sink.reasoning, "", 0
    for read in reads:
        if read[6] == BRACE:
            for choice in decode(read[6:]).choices:
                delta = choice.delta
                if found := delta.content:
                    text(found)
                    count += 1
                elif found := delta.reasoning_content:
                    reasoning(found)
                    count += 1
                elif found := choice.finish_reason:
                    reason = found
    return count + _close((), reason, sink)


def chat_blocks(reads: list[bytes], sink: Sink) -> int:
    """Text and reasoning of Chat Completions, reads of any size."""
    decode = Decoder(Chunk).decode
    text, reasoning, reason, count = sink.text, sink.reasoning, "", 0
    for payloads in _payloads(reads, CHAT_LEAD, CHAT_SEPARATOR):
        for payload in payloads:
            if payload[0] == BRACE:
                for choice in decode(payload).choices:
                    delta = choice.delta
                    if found := delta.content:
                        text(found)
                        count += 1
                    elif found := delta.reasoning_content:
                        reasoning(found)
                        count += 1
                    elif found := choice.finish_reason:
                        reason = found
    return count + _close((), reason, sink)


def tool_events(reads: list[bytes], sink: Sink) -> int:
    """Tool calls of Chat Completions, one event per read."""
    decode, reason = Decoder(ToolChunk).decode, ""
    calls: dict[int, OpenCall] = {}
    for read in reads:
        if read[6] == BRACE:
            for choice in decode(read[6:]).choices:
                for entry in choice.delta.tool_calls:
                    if entry.id:
                        calls[entry.index] = (entry.id, entry.function.name, [])
                    else:
                        calls[entry.index][2].append(entry.function.arguments)
                reason = choice.finish_reason or reason
    return _close(calls.values(), reason, sink)


def tool_blocks(reads: list[bytes], sink: Sink) -> int:
    """Tool calls of Chat Completions, reads of any size."""
    decode, reason = Decoder(ToolChunk).decode, ""
    calls: dict[int, OpenCall] = {}
    for payloads in _payloads(reads, CHAT_LEAD, CHAT_SEPARATOR):
        for payload in payloads:
            if payload[0] == BRACE:
                for choice in decode(payload).choices:
                    for entry in choice.delta.tool_calls:
                        if entry.id:
                            calls[entry.index] = (entry.id, entry.function.name, [])
                        else:
                            calls[entry.index][2].append(entry.function.arguments)
                    reason = choice.finish_reason or reason
    return _close(calls.values(), reason, sink)


def block_events(reads: list[bytes], sink: Sink) -> int:
    """Anthropic Messages, one event per read."""
    decode = Decoder(BlockEvent).decode
    text, reasoning, count = sink.text, sink.reasoning, 0
    lead = BLOCK_LEAD + DELTA
    length = len(lead)
    calls, reason = list[OpenCall](), ""
    for read in reads:
        if read[:length] == lead:
            delta = decode(read[length:]).delta
            if found := delta.text:
                text(found)
                count += 1
            elif found := delta.thinking:
                reasoning(found)
                count += 1
            elif found := delta.partial_json:
                calls[-1][2].append(found)
        else:
            reason = _other_block(read[len(BLOCK_LEAD) :], calls) or reason
    return count + _close(calls, reason, sink)


def block_blocks(reads: list[bytes], sink: Sink) -> int:
    """Anthropic Messages, reads of any size."""
    decode = Decoder(BlockEvent).decode
    text, reasoning, count = sink.text, sink.reasoning, 0
    lead, length = DELTA, len(DELTA)
    calls, reason = list[OpenCall](), ""
    for pieces in _payloads(reads, BLOCK_LEAD, BLOCK_SEPARATOR):
        for piece in pieces:
            if piece[:length] == lead:
                delta = decode(piece[length:]).delta
                if found := delta.text:
                    text(found)
                    count += 1
                elif found := delta.thinking:
                    reasoning(found)
                    count += 1
                elif found := delta.partial_json:
                    calls[-1][2].append(found)
            else:
                reason = _other_block(piece, calls) or reason
    return count + _close(calls, reason, sink)


def _other_block(piece: bytes, calls: list[OpenCall]) -> str:
    if piece.startswith(START):
        block = json.decode(piece[len(START) :], type=BlockStart).content_block
        if block.id:
            calls.append((block.id, block.name, []))
    elif piece.startswith(END):
        return json.decode(piece[len(END) :], type=MessageEnd).delta.stop_reason
    return ""


def floor_of(recording: Recording, size: int | None) -> Floor:
    """The floor of a recording for one event per read (None) or for reads of a size."""
    if recording.protocol == "anthropic":
        return block_events if size is None else block_blocks
    if recording.calls:
        return tool_events if size is None else tool_blocks
    return chat_events if size is None else chat_blocks


class ReadCounter:
    """The least that any decoder with a method per read does for a read without a line end: look, and keep it."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def receive_data(self, data: bytes) -> tuple[()]:
        """Keep the read until a line ends."""
        if 10 in data:
            self._held.clear()
        else:
            self._held.append(data)
        return ()


def call_per_read(reads: list[bytes]) -> int:
    """One method call per read, and a loop over what it answers."""
    receive, count = ReadCounter().receive_data, 0
    for read in reads:
        for _ in receive(read):
            count += 1
    return count
