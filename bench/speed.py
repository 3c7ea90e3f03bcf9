"""The speed table: streams and read sizes down, tokwire, the floor and the peers across."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from .contestants import FLOOR, TOKWIRE, Contestant, check
from .streams import SPEED, Recording
from .timing import alternate

READS: dict[str, int | None] = {"event": None, "1 KiB": 1 << 10, "16 KiB": 16 << 10}
"""The sizes of the reads: one event each, as from a service that flushes after each; a small and a large buffer."""


class Row(Struct, frozen=True):
    """One line of the table.

    Attributes:
        stream: The name of the recording.
        reads: How it was cut.
        events: Server-sent events in it.
        bytes: Its size.
        microseconds: Median time per server-sent event, by contestant.
        failures: What went wrong, by contestant.
    """

    stream: str
    reads: str
    events: int
    bytes: int
    microseconds: dict[str, float]
    failures: dict[str, str]

    def ratio(self, name: str) -> float | None:
        """The time of a contestant over that of the floor."""
        found = self.microseconds.get(name)
        return None if found is None else found / self.microseconds[FLOOR.name]


def measure_speed(
    peers: Sequence[Contestant], *, count: int | None, rounds: int, say: Callable[[str], None]
) -> list[Row]:
    """Time all contestants on all recordings.

    Args:
        peers: Those beside tokwire and the floor.
        count: About how many events each recording has; None: its own default.
        rounds: How often each is timed.
        say: Told what is being measured.
    """
    rows = []
    for make in SPEED:
        recording = make(count) if count else make()
        for reads, size in READS.items():
            say(f"{recording.name}, {reads} reads")
            rows.append(measure_row(recording, reads, size, [TOKWIRE, FLOOR, *peers], rounds))
    return rows


def measure_row(
    recording: Recording, reads_name: str, size: int | None, contestants: Sequence[Contestant], rounds: int
) -> Row:
    """Check the answer of each contestant that knows the protocol, then time those that were right."""
    reads = recording.reads(size)
    calls: dict[str, Callable[[], object]] = {}
    failures: dict[str, str] = {}
    for contestant in contestants:
        if recording.protocol not in contestant.protocols:
            continue
        try:
            check(contestant, recording, size)
        except Exception as error:
            if contestant.name in {TOKWIRE.name, FLOOR.name}:
                raise
            failures[contestant.name] = f"{type(error).__name__}: {error}"
        else:
            calls[contestant.name] = _bound(contestant.prepare(recording, size), reads)
    clients = frozenset(contestant.name for contestant in contestants if contestant.is_client)
    seconds = alternate(calls, rounds, settle=clients)
    count = len(recording.events)
    microseconds = {name: value / count * 1e6 for name, value in seconds.items()}
    return Row(recording.name, reads_name, count, sum(map(len, reads)), microseconds, failures)


def _bound(decode: Callable[[list[bytes]], int], reads: list[bytes]) -> Callable[[], object]:
    return lambda: decode(reads)
