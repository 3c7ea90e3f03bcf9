"""Running a target under atheris: what the child process of `python -m fuzz` does, and the entry for OSS-Fuzz.

Run it as `python -m fuzz._atheris TARGET [--keep DIR] [flags of libFuzzer] [folders]`. With `--keep` it goes on after
a finding and writes the smallest input of each; without, the first one ends the process, as ClusterFuzz expects.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]  # an extra of its own, without types

with atheris.instrument_imports(include=["tokwire"]):
    from fuzz.targets import TARGETS

from fuzz._findings import Findings, keep
from fuzz._mutate import mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Three times out of four a mutation that knows the format, else one of libFuzzer's, dictionary included."""
    lot = Random(seed)
    if lot.random() < 0.25:
        return bytes(atheris.Mutate(data, most))
    return mutated(data, lot, most)


def collecting(one_input: Callable[[bytes], None], folder: Path) -> Callable[[bytes], None]:
    """A target that notes what it finds and goes on."""
    findings = Findings(one_input)

    def one(data: bytes) -> None:
        found = findings.try_input(data)
        if found is not None:
            keep(found, folder)

    return one


def main(arguments: Sequence[str]) -> None:
    """Fuzz one target; libFuzzer ends the process."""
    target, *rest = arguments
    one_input = TARGETS[target]
    if rest[:1] == ["--keep"]:
        one_input = collecting(one_input, Path(rest[1]))
        rest = rest[2:]
    atheris.Setup([sys.argv[0], *rest], one_input, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
