"""The other protocols beside their floors: text of OpenAI Responses, Gemini, Ollama, Bedrock and Cohere.

A floor here is what it is in the speed table: the framing cut the plain way, one typed decode per payload into a type
that holds nothing but what is looked for, and one object per find. That of Bedrock does not even look at a checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from msgspec import Struct
from msgspec.json import Decoder

from .contestants import FLOOR, TOKWIRE, Answer, Contestant
from .floor import OBJECTS, Floor, Sink
from .speed import READS, Row, measure_row
from .streams import Recording
from .typed_streams import TYPED


class Delta(Struct, gc=False):
    """A text delta of OpenAI Responses."""

    delta: str


class Part(Struct, gc=False):
    """A part of Gemini."""

    text: str


class Content(Struct, gc=False):
    """The parts of a candidate."""

    parts: list[Part]


class Candidate(Struct, gc=False, rename="camel"):
    """A candidate of Gemini."""

    content: Content
    finish_reason: str | None = None


class Chunk(Struct, gc=False):
    """A payload of Gemini."""

    candidates: list[Candidate]


class Message(Struct, gc=False):
    """A message of Ollama."""

    content: str


class Line(Struct, gc=False):
    """A line of Ollama."""

    message: Message
    done_reason: str | None = None


class Text(Struct, gc=False):
    """Text of Bedrock and of Cohere."""

    text: str


class Block(Struct, gc=False):
    """A text delta of Bedrock."""

    delta: Text


class Stop(Struct, gc=False, rename="camel"):
    """The end of Bedrock."""

    stop_reason: str


class Piece(Struct, gc=False):
    """A message of Cohere."""

    content: Text


class News(Struct, gc=False):
    """What is new in an event of Cohere."""

    message: Piece | None = None
    finish_reason: str = ""


class Event(Struct, gc=False):
    """An event of Cohere."""

    delta: News


def _payloads(reads: list[bytes], end: bytes, separator: bytes, lead: int) -> Iterator[list[bytes]]:
    tail = b""
    for read in reads:
        block, found, tail = (tail + read).rpartition(end)
        if found:
            yield block[lead:].split(separator)


SAID, COMPLETED = b"event: response.output_text.delta\ndata: ", b"event: response.completed\n"


def responses_events(reads: list[bytes], sink: Sink) -> int:
    """OpenAI Responses, one event per read."""
    decode, text, count, length = Decoder(Delta).decode, sink.text, 0, len(SAID)
    for read in reads:
        if read[:length] == SAID:
            text(decode(read[length:]).delta)
            count += 1
        elif read.startswith(COMPLETED):
            sink.finish("completed")
    return count + 1


def responses_blocks(reads: list[bytes], sink: Sink) -> int:
    """OpenAI Responses, reads of any size."""
    decode, text, count, length = Decoder(Delta).decode, sink.text, 0, len(SAID)
    for events in _payloads(reads, b"\n\n", b"\n\n", 0):
        for event in events:
            if event[:length] == SAID:
                text(decode(event[length:]).delta)
                count += 1
            elif event.startswith(COMPLETED):
                sink.finish("completed")
    return count + 1


def gemini_events(reads: list[bytes], sink: Sink) -> int:
    """Gemini, one event per read."""
    decode, text, count = Decoder(Chunk).decode, sink.text, 0
    for read in reads:
        for candidate in decode(read[6:]).candidates:
            text(candidate.content.parts[0].text)
            count += 1
            if candidate.finish_reason:
                sink.finish(candidate.finish_reason)
    return count + 1


def gemini_blocks(reads: list[bytes], sink: Sink) -> int:
    """Gemini, reads of any size."""
    decode, text, count = Decoder(Chunk).decode, sink.text, 0
    for payloads in _payloads(reads, b"\r\n\r\n", b"\r\n\r\ndata: ", 6):
        for payload in payloads:
            for candidate in decode(payload).candidates:
                text(candidate.content.parts[0].text)
                count += 1
                if candidate.finish_reason:
                    sink.finish(candidate.finish_reason)
    return count + 1


def ollama_events(reads: list[bytes], sink: Sink) -> int:
    """Ollama, one line per read."""
    decode, text, count = Decoder(Line).decode, sink.text, 0
    for read in reads:
        line = decode(read)
        if found := line.message.content:
            text(found)
            count += 1
        elif line.done_reason:
            sink.finish(line.done_reason)
    return count + 1


def ollama_blocks(reads: list[bytes], sink: Sink) -> int:
    """Ollama, reads of any size."""
    decode, text, count = Decoder(Line).decode, sink.text, 0
    for lines in _payloads(reads, b"\n", b"\n", 0):
        for each in lines:
            line = decode(each)
            if found := line.message.content:
                text(found)
                count += 1
            elif line.done_reason:
                sink.finish(line.done_reason)
    return count + 1


DELTA, STOP = b"\x0b:event-type\x07\x00\x11contentBlockDelta", b"\x0b:event-type\x07\x00\x0bmessageStop"


def bedrock_events(reads: list[bytes], sink: Sink) -> int:
    """Bedrock, one message per read."""
    decode, number, text, count, length = Decoder(Block).decode, int.from_bytes, sink.text, 0, 12 + len(DELTA)
    for read in reads:
        if read[12:length] == DELTA:
            text(decode(read[12 + number(read[4:8]) : -4]).delta.text)
            count += 1
        elif read.startswith(STOP, 12):
            sink.finish(Decoder(Stop).decode(read[12 + number(read[4:8]) : -4]).stop_reason)
    return count + 1


def bedrock_blocks(reads: list[bytes], sink: Sink) -> int:
    """Bedrock, reads of any size."""
    decode, number, text, count, length = Decoder(Block).decode, int.from_bytes, sink.text, 0, 12 + len(DELTA)
    tail = b""
    for read in reads:
        data, at = tail + read, 0
        while at + 12 <= len(data):
            end = at + number(data[at : at + 4])
            if end > len(data):
                break
            if data[at + 12 : at + length] == DELTA:
                text(decode(data[at + 12 + number(data[at + 4 : at + 8]) : end - 4]).delta.text)
                count += 1
            elif data.startswith(STOP, at + 12):
                sink.finish(Decoder(Stop).decode(data[at + 12 + number(data[at + 4 : at + 8]) : end - 4]).stop_reason)
            at = end
        tail = data[at:]
    return count + 1


CONTENT, LAST = b"event: content-delta\ndata: ", b"event: message-end\ndata: "


def cohere_events(reads: list[bytes], sink: Sink) -> int:
    """Cohere, one event per read."""
    decode, text, count, length = Decoder(Event).decode, sink.text, 0, len(CONTENT)
    for read in reads:
        if read[:length] == CONTENT:
            message = decode(read[length:]).delta.message
            if message:
                text(message.content.text)
                count += 1
        elif read.startswith(LAST):
            sink.finish(decode(read[len(LAST) :]).delta.finish_reason)
    return count + 1


def cohere_blocks(reads: list[bytes], sink: Sink) -> int:
    """Cohere, reads of any size."""
    decode, text, count, length = Decoder(Event).decode, sink.text, 0, len(CONTENT)
    for events in _payloads(reads, b"\n\n", b"\n\n", 0):
        for event in events:
            if event[:length] == CONTENT:
                message = decode(event[length:]).delta.message
                if message:
                    text(message.content.text)
                    count += 1
            elif event.startswith(LAST):
                sink.finish(decode(event[len(LAST) :]).delta.finish_reason)
    return count + 1


FLOORS: dict[str, tuple[Floor, Floor]] = {
    "openai-responses": (responses_events, responses_blocks),
    "gemini": (gemini_events, gemini_blocks),
    "ollama": (ollama_events, ollama_blocks),
    "bedrock": (bedrock_events, bedrock_blocks),
    "cohere": (cohere_events, cohere_blocks),
}
"""The floors of a protocol: for one event per read, and for reads of a size."""


def _floor_answer(recording: Recording, size: int | None, reads: list[bytes]) -> Answer:
    text, finish = list[str](), list[str]()
    keep = OBJECTS._replace(text=text.append, finish=finish.append)
    FLOORS[recording.protocol][size is not None](reads, keep)
    return Answer("".join(text), finish=" ".join(finish))


def _prepare_floor(recording: Recording, size: int | None) -> Callable[[list[bytes]], int]:
    floor = FLOORS[recording.protocol][size is not None]
    return lambda reads: floor(reads, OBJECTS)


OWN = replace(TOKWIRE, protocols=frozenset(FLOORS))
PLAIN = Contestant(FLOOR.name, frozenset(FLOORS), _prepare_floor, _floor_answer)


def measure_typed(*, count: int | None, rounds: int, say: Callable[[str], None]) -> list[Row]:
    """Time tokwire and the floors: rows of the speed table, in which no other contestant stands.

    Args:
        count: About how many events each recording has; None: its own default.
        rounds: How often each is timed.
        say: Told what is being measured.
    """
    rows = []
    for make in TYPED:
        recording = make(count) if count else make()
        for reads, size in READS.items():
            say(f"{recording.name}, {reads} reads")
            rows.append(measure_row(recording, reads, size, [OWN, PLAIN], rounds))
    return rows
