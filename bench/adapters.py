"""The adapters table: what an event costs on its way through an adapter, beside the decoder alone on the same reads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from msgspec import Struct

import tokwire

from .contestants import TOKWIRE, WrongAnswer, check, each_event
from .streams import Recording, openai_text
from .timing import alternate
from .ways import ALONE, Way, known_ways

SIZES = (1, 10)
"""How many events stand in a chunk: one each, as services send them, and ten, as behind a proxy that gathers."""

BOUND = 1.5
"""What the transports on httpcore are meant to cost at most, beside httpcore and the decoder without them."""


class Cost(Struct, frozen=True):
    """What one way costs.

    Attributes:
        way: Its name.
        size: How many events stand in a chunk.
        microseconds: Median time per server-sent event.
        alone: That of the decoder alone, in the same run.
        beside: The name and the time of what does the same without the adapter, where there is one.
    """

    way: str
    size: int
    microseconds: float
    alone: float
    beside: tuple[str, float] | None

    @property
    def ratio(self) -> float:
        """How much more it costs than the decoder alone."""
        return self.microseconds / self.alone

    @property
    def ratio_beside(self) -> float | None:
        """How much more it costs than the same without the adapter."""
        return None if self.beside is None else self.microseconds / self.beside[1]


def measure_adapters(*, count: int | None, rounds: int, say: Callable[[str], None]) -> tuple[list[Cost], list[str]]:
    """Time every way on the same recording, in turn.

    Args:
        count: About how many events it has; None: the default.
        rounds: How often each way is timed.
        say: Told what is being measured.

    Returns:
        The costs, and a line for each adapter that cannot be measured here.
    """
    recording = openai_text(count) if count else openai_text()
    ways, skipped = known_ways()
    costs = []
    for size in SIZES:
        say(f"adapters, {size} events a chunk")
        costs += measure_size(recording, size, ways, rounds)
    return costs, skipped


def measure_size(recording: Recording, size: int, ways: list[Way], rounds: int) -> list[Cost]:
    """Check that every way gives the events of the decoder, then time all of them.

    Raises:
        WrongAnswer: One does not.
    """
    check(TOKWIRE, recording, None)
    chunks = chunks_of(recording, size)
    decoder = tokwire.StreamDecoder(recording.protocol, include_reasoning=True)
    wanted = list(each_event(decoder, chunks))
    with ExitStack() as stack:
        runs = {way.name: way.prepare(stack, recording.protocol, chunks) for way in ways}
        for name, run in runs.items():
            if run() != wanted:
                raise WrongAnswer(f"{name}: its events of {recording.name} are not those of the decoder")
        seconds = alternate(runs, rounds)
    times = {name: value / len(recording.events) * 1e6 for name, value in seconds.items()}
    return [
        Cost(way.name, size, times[way.name], times[ALONE], (way.beside, times[way.beside]) if way.beside else None)
        for way in ways
    ]


def chunks_of(recording: Recording, size: int) -> list[bytes]:
    """The body in chunks of so many events."""
    events = recording.events
    return [b"".join(events[place : place + size]) for place in range(0, len(events), size)]
