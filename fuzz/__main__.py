"""`python -m fuzz TARGET --seconds N`: run one target, and say what came of it.

With atheris installed the run is guided by coverage and happens in a child process; without, hypothesis draws the
inputs. The exit status is 1 when something was found.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz import _hypothesis
from fuzz._findings import FOUND, Finding, keep, minimised, tried
from fuzz._words import dictionary
from fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
DICTIONARY = HERE / "words.dict"
PROGRESS = re.compile(r"#\d+\s.*cov: (\d+) ft: (\d+)")
EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
SHOW_EVERY = 2000
"""Lines of progress of libFuzzer between two that are shown."""


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Run one fuzz target.")
    parser.add_argument("target", nargs="?", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60, help="how long to run (default 60)")
    parser.add_argument("--corpus", type=Path, help="a folder with more inputs, to which atheris adds what it learns")
    parser.add_argument("--keep", type=Path, default=Path("findings"), help="where findings are written")
    parser.add_argument("--engine", choices=("atheris", "hypothesis"), help="default: atheris where it is installed")
    parser.add_argument("--max-bytes", type=int, default=2000, help="length of the longest input (atheris)")
    parser.add_argument("--write-dictionary", action="store_true", help="write the dictionary file and stop")
    options = parser.parse_args(arguments)
    if options.target is None and not options.write_dictionary:
        parser.error(f"name a target: {', '.join(TARGETS)}")
    return options


def seeds_of(target: str, more: Path | None = None) -> list[bytes]:
    """The inputs of the corpus of a target, and those of one more folder."""
    folders = [HERE / "corpus" / target, *([more] if more else [])]
    return [path.read_bytes() for folder in folders for path in sorted(folder.glob("*")) if path.is_file()]


def run_hypothesis(options: argparse.Namespace) -> list[Finding]:
    """Fuzz in this process."""
    seeds = seeds_of(options.target, options.corpus)
    executions, findings = _hypothesis.fuzz(TARGETS[options.target], seeds, options.seconds)
    report(options, executions, "unknown: only atheris measures it")
    return findings


def run_atheris(options: argparse.Namespace, work: Path) -> list[Finding]:
    """Fuzz in a child process, which a crash of the interpreter may end."""
    found, learned = work / "found", options.corpus or work / "learned"
    for folder in (found, learned):
        folder.mkdir(parents=True, exist_ok=True)
    corpus = HERE / "corpus" / options.target
    command = [
        *(sys.executable, "-m", "fuzz._atheris", options.target, "--keep", found),
        *(f"-max_total_time={options.seconds}", f"-max_len={options.max_bytes}", f"-dict={DICTIONARY}"),
        *("-print_final_stats=1", "-timeout=30", "-rss_limit_mb=2048", f"-artifact_prefix={found}/"),
        *(learned.resolve(), *([corpus] if corpus.is_dir() else [])),
    ]
    executions, coverage, seen = 0, "none", 0
    last: list[str] = []
    with subprocess.Popen(
        list(map(str, command)), cwd=HERE.parent, stderr=subprocess.PIPE, text=True, errors="replace"
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            last = [*last[-30:], line]
            if progress := PROGRESS.match(line):
                coverage = f"{progress[1]} edges, {progress[2]} features"
                seen += 1
            if total := EXECUTIONS.match(line):
                executions = int(total[1])
            if line.startswith(FOUND) or (progress and seen % SHOW_EVERY == 1):
                print(line, end="", flush=True)
    report(options, executions, coverage)
    if child.returncode != 0:
        print(f"the fuzzer ended with status {child.returncode}:", *last, sep="\n")
    inputs = [path.read_bytes() for path in sorted(found.iterdir())]
    one_input = TARGETS[options.target]
    again = [tried(one_input, data) or Finding("only under atheris", data, "see above") for data in inputs]
    return [minimised(one_input, finding) for finding in again]


def report(options: argparse.Namespace, executions: int, coverage: str) -> None:
    """Say how much was done."""
    speed = executions / options.seconds if options.seconds else 0
    print(f"{options.target}: {executions} executions, {speed:.0f} a second, coverage: {coverage}")


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for. Returns the exit status."""
    options = read_arguments(arguments)
    if options.write_dictionary:
        DICTIONARY.write_text(dictionary(), encoding="ascii")
        return 0
    engine = options.engine or ("atheris" if importlib.util.find_spec("atheris") else "hypothesis")
    print(f"fuzzing {options.target} with {engine} for {options.seconds} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="tokwire-fuzz-") as work:
        findings = run_atheris(options, Path(work)) if engine == "atheris" else run_hypothesis(options)
    for found in findings:
        print(f"\nFOUND {found.text}\n  {len(found.data)} bytes, in {keep(found, options.keep)}: {found.data!r}")
    print(f"\n{len(findings)} findings")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
