"""Weight: how long an import takes in a fresh interpreter, and how much an installation brings along."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median

from msgspec import Struct

from .contestants import version_of
from .peers import PEERS

SCRIPT = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
ALONE = "msgspec"
SLOW = 0.5
SLOW_ROUNDS = 3
REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[([^]]*)\])?")
EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


class Weight(Struct, frozen=True):
    """What one package weighs.

    Attributes:
        package: The name that pip knows.
        version: The installed version.
        milliseconds: Median time of its import.
        distributions: How many distributions an installation consists of, itself included.
        kilobytes: Their size on disk, without byte code.
    """

    package: str
    version: str
    milliseconds: float
    distributions: int
    kilobytes: float


def measure_weight(*, rounds: int, peers: bool = True, say: Callable[[str], None]) -> list[Weight]:
    """Weigh msgspec alone, tokwire, and each peer that is installed.

    The imports run in turn, each in an interpreter of its own.

    Args:
        rounds: How many interpreters for each import; fewer for those that take long.
        peers: Whether to weigh the peers.
        say: Told what is being measured.
    """
    modules = {ALONE: ALONE, "tokwire": "tokwire"}
    needs: dict[str, list[tuple[str, tuple[str, ...]]]] = {name: [(name, ())] for name in modules}
    for peer in PEERS if peers else ():
        if version_of(peer.distribution) is not None:
            modules[peer.distribution] = peer.module
            needs[peer.distribution] = [(peer.distribution, peer.extras), *((other, ()) for other in peer.beside)]
    say("imports")
    times = _import_times(modules, rounds)
    found = []
    for name in modules:
        parts = set[str]().union(*(closure(other, extras) for other, extras in needs[name]))
        size = sum(map(size_of, parts)) / 1024
        found.append(Weight(name, version_of(name) or "", median(times[name]) * 1e3, len(parts), size))
    return found


def _import_times(modules: dict[str, str], rounds: int) -> dict[str, list[float]]:
    first = {name: import_time(module) for name, module in modules.items()}
    times: dict[str, list[float]] = {name: [] for name in modules}
    for place in range(rounds):
        for name, module in modules.items():
            if place < SLOW_ROUNDS or first[name] < SLOW:
                times[name].append(import_time(module))
    return times


def import_time(module: str) -> float:
    """Processor seconds that an import takes in a fresh interpreter, after its own start; byte code may be written."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT.format(module)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return float(answer.stdout.split()[-1])


def closure(distribution: str, extras: Sequence[str] = ()) -> set[str]:
    """A distribution and everything installed that it asks for, by normalized names."""
    found: set[str] = set()
    waiting = [(distribution, frozenset(extras))]
    seen = set(waiting)
    while waiting:
        name, wanted = waiting.pop()
        if version_of(name) is None:
            continue
        found.add(normalized(name))
        for line in metadata.requires(name) or ():
            requirement, _, marker = line.partition(";")
            extra = EXTRA.search(marker)
            match = REQUIREMENT.match(requirement)
            if match is None or (extra and extra[1] not in wanted):
                continue
            inner = (normalized(match[1]), frozenset(filter(None, re.split(r"[\s,]+", match[2] or ""))))
            if inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found


def normalized(name: str) -> str:
    """A name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def size_of(distribution: str) -> int:
    """Bytes of the installed files of a distribution. Of tokwire, which may be installed from a clone: its packages."""
    if distribution == "tokwire":
        roots = [importlib.util.find_spec(name) for name in ("tokwire", "tokwire_cli")]
        paths = [path for root in roots if root and root.origin for path in Path(root.origin).parent.rglob("*")]
    else:
        files = metadata.files(distribution) or ()
        paths = [Path(str(file.locate())) for file in files]
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc")
