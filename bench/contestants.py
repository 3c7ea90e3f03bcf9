"""What is measured: everything that turns the reads of a response into events, behind one small interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata

import tokwire

from .floor import OBJECTS, Sink, floor_of
from .streams import Call, Recording


@dataclass(frozen=True)
class Answer:
    """What a contestant made of a recording. None: it does not tell that, so it is not compared.

    Attributes:
        text: The text of the answer.
        reasoning: The reasoning.
        arguments: The argument texts of all tool calls, joined.
        calls: Id, name and input of each tool call.
        finish: Why the answer ended, in the word of the service.
    """

    text: str
    reasoning: str | None = None
    arguments: str | None = None
    calls: list[tuple[str, str, object]] | None = None
    finish: str | None = None


@dataclass(frozen=True)
class Contestant:
    """One way to decode.

    Attributes:
        name: What the tables call it.
        protocols: What it can decode, by tokwire's names.
        prepare: Given a recording and the size of its reads (None: one event per read), the function that decodes reads
            and drops the events. It gives their number, and is what is timed.
        answer: Decodes once more and keeps the answer; not timed.
        is_client: Whether it is a whole client, that may leave work to threads after a run.
    """

    name: str
    protocols: frozenset[str]
    prepare: Callable[[Recording, int | None], Callable[[list[bytes]], int]]
    answer: Callable[[Recording, int | None, list[bytes]], Answer]
    is_client: bool = False


class WrongAnswer(Exception):
    """A contestant got something else out of a recording than what is in it."""


def check(contestant: Contestant, recording: Recording, size: int | None) -> None:
    """Compare the answer of a contestant with what the recording was made from.

    Raises:
        WrongAnswer: They differ.
    """
    answer = contestant.answer(recording, size, recording.reads(size))
    wanted = Answer(
        recording.text,
        recording.reasoning,
        "".join(call.arguments for call in recording.calls),
        parsed(recording.calls),
        recording.finish,
    )
    for part, value in vars(wanted).items():
        found = getattr(answer, part)
        if found is not None and found != value:
            raise WrongAnswer(f"{contestant.name}: the {part} of {recording.name} is not that of the recording")


def parsed(calls: Iterable[Call]) -> list[tuple[str, str, object]]:
    """Tool calls with their inputs."""
    return [(call.id, call.name, json.loads(call.arguments)) for call in calls]


def each_event(decoder: tokwire.StreamDecoder, reads: list[bytes]) -> Iterator[tokwire.StreamEvent]:
    """Read by read, as a program does that gets them from a connection."""
    for read in reads:
        decoder.receive_data(read)
        yield from decoder.events()
    decoder.receive_eof()
    yield from decoder.events()


def count_with_tokwire(protocol: str, reads: list[bytes]) -> int:
    """The same without a generator in between: what is timed."""
    decoder = tokwire.StreamDecoder(protocol, include_reasoning=True)
    receive, events, count = decoder.receive_data, decoder.events, 0
    for read in reads:
        receive(read)
        for _ in events():
            count += 1
    decoder.receive_eof()
    for _ in events():
        count += 1
    return count


def _tokwire_answer(recording: Recording, size: int | None, reads: list[bytes]) -> Answer:
    del size
    decoder = tokwire.StreamDecoder(recording.protocol, include_reasoning=True)
    found = tokwire.collect(each_event(decoder, reads))
    calls: list[tuple[str, str, object]] = [(call.id, call.name, call.input) for call in found.tool_calls]
    return Answer(found.text, found.reasoning, None, calls, decoder.summary.raw_finish_reason)


def _floor_answer(recording: Recording, size: int | None, reads: list[bytes]) -> Answer:
    text, reasoning, finish = list[str](), list[str](), list[str]()
    calls: list[Call] = []
    keep = Sink(text.append, reasoning.append, lambda *call: calls.append(Call(*call)), finish.append)
    floor_of(recording, size)(reads, keep)
    arguments = "".join(call.arguments for call in calls)
    return Answer("".join(text), "".join(reasoning), arguments, parsed(calls), " ".join(finish))


def _prepare_tokwire(recording: Recording, size: int | None) -> Callable[[list[bytes]], int]:
    del size
    protocol = recording.protocol
    return lambda reads: count_with_tokwire(protocol, reads)


def _prepare_floor(recording: Recording, size: int | None) -> Callable[[list[bytes]], int]:
    floor = floor_of(recording, size)
    return lambda reads: floor(reads, OBJECTS)


BOTH = frozenset({"openai-chat", "anthropic"})
TOKWIRE = Contestant("tokwire", BOTH, _prepare_tokwire, _tokwire_answer)
FLOOR = Contestant("floor", BOTH, _prepare_floor, _floor_answer)


def version_of(distribution: str) -> str | None:
    """The installed version of a distribution, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
