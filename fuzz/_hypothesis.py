"""Running a target without atheris: hypothesis draws a file of the corpus and the mutations of it."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzz._findings import Findings
from fuzz._mutate import mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzz._findings import Finding

MAX_BYTES = 3000
EXAMPLES_AT_ONCE = 200


def inputs(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Inputs: a seed, changed by some mutations, or bytes without any plan."""
    steps = st.lists(st.integers(0, 2**32 - 1), max_size=4)
    changed = st.builds(change, st.sampled_from(seeds or [b""]), steps)
    return st.one_of(changed, changed, changed, st.binary(max_size=60))


def change(data: bytes, steps: Sequence[int]) -> bytes:
    """A seed after mutations, each told by a number."""
    for step in steps:
        data = mutated(data, Random(step), MAX_BYTES)
    return data


def run_examples(
    one_input: Callable[[bytes], None], seeds: Sequence[bytes], count: int, *, same_each_time: bool = False
) -> int:
    """Run a target on some inputs. Returns how many it ran.

    Args:
        one_input: The target.
        seeds: Inputs to start from.
        count: How many inputs to draw.
        same_each_time: Draw the same inputs in every run, for a test.
    """
    executions = 0

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=same_each_time,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(seeds))
    def each(data: bytes) -> None:
        nonlocal executions
        executions += 1
        one_input(data)

    each()
    return executions


def fuzz(one_input: Callable[[bytes], None], seeds: Sequence[bytes], seconds: float) -> tuple[int, list[Finding]]:
    """Run a target for some time. Returns how many inputs it ran and what it found."""
    findings = Findings(one_input)
    executions = 0

    def note(data: bytes) -> None:
        findings.try_input(data)

    for seed in seeds:
        note(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        executions += run_examples(note, seeds, EXAMPLES_AT_ONCE)
    return executions + len(seeds), findings.smallest()
