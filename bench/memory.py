"""Memory: what decoders hold while they wait, while a response streams, and at most; traced with `tracemalloc`."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from msgspec import Struct

import tokwire

from .streams import Recording, anthropic_mix, openai_reasoning, openai_text, openai_tools


class Held(Struct, frozen=True):
    """What one decoder holds.

    Attributes:
        what: In which situation.
        count: Over how many decoders this is the mean.
        bytes: The traced bytes of one.
    """

    what: str
    count: int
    bytes: float


class Memory(Struct, frozen=True):
    """All that was found.

    Attributes:
        held: What decoders hold.
        make_microseconds: Median time to make a decoder, by protocol.
        peaks: Peak bytes beside the reads while so many events stream by and are dropped, by their number.
        dropped_reasoning: Bytes held by a decoder that drops reasoning, by the number of fragments that it dropped.
    """

    held: list[Held]
    make_microseconds: dict[str, float]
    peaks: dict[str, dict[str, int]]
    dropped_reasoning: dict[str, int]


def measure_memory(*, scale: float = 1.0, say: Callable[[str], None]) -> Memory:
    """Measure at a part of the full sizes: 100,000 idle decoders, 1,000 open streams, 100,000 events."""
    many = max(100, int(100_000 * scale))
    some = max(10, int(1_000 * scale))
    few = max(50, int(2_000 * scale))
    held = []
    for protocol in ("openai-chat", "anthropic"):
        say(f"{many:,} idle decoders")
        held.append(Held(f"idle, {protocol}", many, mean(many, partial(tokwire.StreamDecoder, protocol))))
    for recording in (openai_text(400), openai_tools(400, calls=1), anthropic_mix(400)):
        say(f"{some:,} open streams")
        half = recording.events[: len(recording.events) // 2]
        open_streams = mean(some, partial(_fed, recording, half))
        held.append(Held(f"in the middle of: {recording.name}", some, open_streams))
        held.append(
            Held(f"at the end of: {recording.name}", some, mean(some, partial(_fed, recording, recording.events)))
        )
    made = {name: _time_to_make(name, max(100, few)) for name in ("openai-chat", "anthropic")}
    peaks: dict[str, dict[str, int]] = {}
    for make in (openai_text, openai_reasoning, partial(anthropic_mix, tools=10)):  # a call has to be held
        for count in (few, many):
            say(f"peak while {count:,} events stream by")
            recording = make(count)
            peaks.setdefault(recording.name, {})[f"{count:,}"] = _peak(recording)
    say("dropped reasoning")
    dropped = {f"{count:,}": _after_reasoning(count) for count in (few, 10 * few)}
    return Memory(held, made, peaks, dropped)


def traced(build: Callable[[], object]) -> int:
    """Bytes that stay allocated for what is built, while it is kept."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = build()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        del kept
    finally:
        tracemalloc.stop()
    return after - before


def mean(count: int, make: Callable[[], object]) -> float:
    """Bytes that one of many holds."""
    make()
    return traced(lambda: [make() for _ in range(count)]) / count


def _fed(recording: Recording, reads: list[bytes]) -> tokwire.StreamDecoder:
    decoder = tokwire.StreamDecoder(recording.protocol)
    for _ in _drain(decoder, reads):
        pass
    return decoder


def _drain(decoder: tokwire.StreamDecoder, reads: list[bytes]) -> Iterator[tokwire.StreamEvent]:
    for read in reads:
        decoder.receive_data(read)
        yield from decoder.events()


def _time_to_make(protocol: str, count: int) -> float:
    times = []
    for _ in range(9):
        start = time.process_time()
        for _ in range(count):
            tokwire.StreamDecoder(protocol)
        times.append((time.process_time() - start) / count * 1e6)
    return median(times)


def _peak(recording: Recording) -> int:
    """The most that is allocated at a time while a recording streams by; its reads were there before."""
    reads = recording.reads(16 << 10)
    _fed(recording, reads)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        _fed(recording, reads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak - before


def _after_reasoning(count: int) -> int:
    recording = openai_reasoning(count)
    reads = recording.events[: count * 3 // 4]
    _fed(recording, reads)
    return traced(lambda: _fed(recording, reads))
