"""Growth: whether the cost of a piece stays what it is when there are many, or when they come in small reads."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .contestants import TOKWIRE, check, count_with_tokwire
from .floor import call_per_read
from .streams import Recording, big_event, big_tool_call, openai_text
from .timing import alternate


class Growth(Struct, frozen=True):
    """One comparison.

    Attributes:
        what: What is compared.
        unit: Of what the times are.
        small: The time of the one that should not be beaten by much, in microseconds.
        large: The time of the other.
        bound: What the ratio of the two is meant to stay under.
    """

    what: str
    unit: str
    small: float
    large: float
    bound: float

    @property
    def ratio(self) -> float:
        """How much more the large case costs."""
        return self.large / self.small


def measure_growth(*, scale: float = 1.0, rounds: int, say: Callable[[str], None]) -> list[Growth]:
    """Compare tokwire with itself, and its reads of single bytes with bare method calls.

    Args:
        scale: What part of the full sizes to use.
        rounds: How often each is timed.
        say: Told what is being measured.
    """

    def scaled(count: int) -> int:
        return max(10, int(count * scale))

    found = []
    few, many = scaled(2_000), scaled(100_000)
    say(f"{many:,} events")
    found.append(_per_piece(f"text, {many:,} events against {few:,}", "event", openai_text, (few, many), rounds))
    few, many = scaled(5_000), scaled(50_000)
    say(f"{many:,} fragments of one tool call")
    what = f"one tool call, {many:,} fragments against {few:,}"
    found.append(_per_piece(what, "fragment", big_tool_call, (few, many), rounds))
    size = scaled(8 << 20)
    say("one big event")
    found.append(_big_event(size, rounds))
    say("single bytes")
    found.append(_single_bytes(scaled(200), rounds))
    return found


def _per_piece(what: str, unit: str, make: Callable[[int], Recording], counts: tuple[int, int], rounds: int) -> Growth:
    small, large = (make(count) for count in counts)
    check(TOKWIRE, large, None)
    seconds = alternate({"small": _decoding(small, None), "large": _decoding(large, None)}, rounds)
    bound = 1.3
    return Growth(what, unit, seconds["small"] / counts[0] * 1e6, seconds["large"] / counts[1] * 1e6, bound)


def _big_event(size: int, rounds: int) -> Growth:
    recording = big_event(size)
    for reads in (1 << 10, 16 << 10):
        check(TOKWIRE, recording, reads)
    seconds = alternate({"1": _decoding(recording, 1 << 10), "16": _decoding(recording, 16 << 10)}, rounds)
    what = f"one event of {size / (1 << 20):.3g} MiB, 1 KiB reads against 16 KiB reads"
    return Growth(what, "body", seconds["16"] * 1e6, seconds["1"] * 1e6, 3.0)


def _single_bytes(count: int, rounds: int) -> Growth:
    recording = openai_text(count)
    check(TOKWIRE, recording, 1)
    reads = recording.reads(1)
    calls = {"tokwire": _decoding(recording, 1), "calls": lambda: call_per_read(reads)}
    seconds = {name: value / len(reads) * 1e6 for name, value in alternate(calls, rounds).items()}
    what = "one byte per read, against a method call per read"
    return Growth(what, "read", seconds["calls"], seconds["tokwire"], 5.0)


def _decoding(recording: Recording, size: int | None) -> Callable[[], object]:
    reads = recording.reads(size)
    return lambda: count_with_tokwire(recording.protocol, reads)
