"""`python -m bench`: measure tokwire, the floor and every installed peer, and print what was found."""

from __future__ import annotations

import argparse
import datetime
import gc
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import msgspec

from .adapters import measure_adapters
from .contestants import FLOOR, TOKWIRE, version_of
from .growth import measure_growth
from .memory import measure_memory
from .open_streams import measure_open_streams
from .peers import PEERS, installed_peers
from .report import Results, as_markdown, as_text, write_into
from .speed import measure_speed
from .typed import measure_typed
from .weight import measure_weight

SECTIONS = ("memory", "speed", "growth", "adapters", "weight")

OWN = ("tokwire", "msgspec", "h11", "httpcore")
"""What tokwire itself runs on."""


class Effort(msgspec.Struct, frozen=True):
    """How much a run does.

    Attributes:
        count: Events of each recording of the speed and adapters tables; None: the defaults.
        rounds: Rounds of these tables.
        growth_rounds: Rounds of the comparisons of small with large.
        imports: Interpreters for each import.
        scale: Part of the full sizes, for growth, memory and open streams.
    """

    count: int | None
    rounds: int
    growth_rounds: int
    imports: int
    scale: float


FULL = Effort(None, 11, 5, 15, 1.0)
QUICK = Effort(500, 5, 3, 5, 0.05)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    found.add_argument("section", nargs="*", help=f"what to measure: {', '.join(SECTIONS)}; everything if left out")
    found.add_argument("--quick", action="store_true", help="small inputs and few rounds: a try, not a measurement")
    found.add_argument("--no-peers", action="store_true", help="tokwire and the floor only")
    found.add_argument("--json", metavar="FILE", type=Path, help="write the results to a file as well")
    found.add_argument(
        "--markdown",
        metavar="FILE",
        nargs="*",
        help="print Markdown, or put it between the markers of files",
    )
    return found


def facts(command: str) -> dict[str, str]:
    """Where and how this run happens."""
    versions = [
        f"{peer.distribution} {version_of(peer.distribution)}" for peer in PEERS if version_of(peer.distribution)
    ]
    try:
        load = f"; load average at the start {os.getloadavg()[0]:.1f}"
    except (AttributeError, OSError):
        load = ""
    return {
        "command": f"`{command}`",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} x {processor()}, {platform.system()} {platform.machine()}{load}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": ", ".join([*(f"{name} {version_of(name)}" for name in OWN if version_of(name)), *versions]),
    }


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def say(line: str) -> None:
    """Tell on standard error what is being measured."""
    print(f"... {line}", file=sys.stderr, flush=True)


def run(sections: Sequence[str], effort: Effort, *, with_peers: bool, command: str) -> Results:
    """Measure. Memory comes first, while nothing foreign is loaded."""
    results = Results(facts(command))
    if "memory" in sections:
        results.memory = measure_memory(scale=effort.scale, say=say)
    if "weight" in sections:
        results.weight = measure_weight(rounds=effort.imports, peers=with_peers, say=say)
    if "growth" in sections:
        results.growth = measure_growth(scale=effort.scale, rounds=effort.growth_rounds, say=say)
    if "adapters" in sections:
        results.adapters, results.skipped = measure_adapters(count=effort.count, rounds=effort.rounds, say=say)
        results.open_streams = measure_open_streams(scale=effort.scale, say=say)
    if "speed" in sections:
        peers, skipped = installed_peers() if with_peers else ([], [])
        results.skipped += skipped
        gc.collect()
        gc.freeze()
        try:
            results.speed = measure_speed(peers, count=effort.count, rounds=effort.rounds, say=say)
            results.speed += measure_typed(count=effort.count, rounds=effort.rounds, say=say)
        finally:
            gc.unfreeze()
        results.contestants = [contestant.name for contestant in (TOKWIRE, FLOOR, *peers)]
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(given)
    unknown = sorted(set(options.section) - set(SECTIONS))
    if unknown:
        parser().error(f"no such section: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    effort = QUICK if options.quick else FULL
    command = " ".join(["python -m bench", *given])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = run(options.section or SECTIONS, effort, with_peers=not options.no_peers, command=command)
    if options.json is not None:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    if not options.markdown:
        print((as_text if options.markdown is None else as_markdown)(results), end="")
    for page in options.markdown or ():
        write_into(Path(page), results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
