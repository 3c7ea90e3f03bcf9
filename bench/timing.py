"""How times are taken: everything that is compared runs in one process, in turn, again and again.

A time is the processor time of the process. Nothing here waits for anything, so on a quiet machine that is what a clock
on the wall shows, and on a busy one it leaves out the moments when other programs ran.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping

SLOW = 0.2
"""Seconds from which a run is too long for all the rounds."""

SLOW_ROUNDS = 3
SETTLE = 0.05
"""Seconds to wait after a client's run, for what it left to threads."""


def timed(call: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def alternate(
    calls: Mapping[str, Callable[[], object]], rounds: int, *, settle: frozenset[str] = frozenset()
) -> dict[str, float]:
    """The median seconds of each call.

    Each runs once for warming up, then all of them in turn for so many rounds, so that a slow minute of the machine
    falls on all alike. Those that take long sit out the later rounds.

    Args:
        calls: What to time.
        rounds: How often.
        settle: Those after which to wait a moment.
    """
    first = {name: timed(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    for place in range(rounds):
        for name, call in calls.items():
            if place >= SLOW_ROUNDS and first[name] > SLOW:
                continue
            times[name].append(timed(call))
            if name in settle:
                time.sleep(SETTLE)
    return {name: statistics.median(values) for name, values in times.items()}
