"""Every check of the project, in environments made for it: `python3.11 run_tests.py`.

It needs Python and pip, and nothing that was installed before:

1. a fresh virtual environment with the package and its `dev` extra;
2. ruff: lint and format;
3. as many at a time as there are processors: mypy; the tests of the core with branch coverage, which must reach 98
   percent; all other tests, in groups; the wheel, which is built, looked into, installed without extras in another
   fresh environment and used there; the tests once more on each newer Python on the path.

The environments live in a temporary folder and are removed at the end. Where TOKWIRE_TEST_VENV names a folder, the
first one is made there and stays. What a step prints is shown when it has ended. The exit status is 0 when every step
passed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import venv
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent
OTHER_PYTHONS = ("3.12", "3.13")
COVERAGE_PERCENT = 98
UNMEASURED = (
    "contract/*",
    "test_*_quick*",
    "test_anthropic_[et]*",
    "test_architecture*",
    "test_agent_properties*",
    "test_agent_requests_history*",
    "test_agent_requests_*types*",
    "test_bedrock_[cst]*",
    "test_cli_*",
    "test_http_[!r]*",
    "test_httpcore_*",
    "test_replay_*",
    "test_sockets_*",
    "test_threads_*",
    "test_asyncio_*",
    "test_bench*",
    "test_docs*",
    "test_drivers*",
    "test_examples*",
    "test_exports*",
    "test_frame_reader*",
    "test_fuzz*",
    "test_official*",
    "test_packaging*",
    "test_source*",
    "test_typing*",
    "test_against_reference*",
    "test_foreign_bodies*",
    "test_gemini_stream*",
    "test_golden*",
    "test_hostile*",
    "test_http11.py",
    "test_intake*",
    "test_limits_everywhere*",
    "test_openai_chat_[ae]*",
    "test_openai_chat_calls*",
    "test_stream_end*",
    "test_stream_errors*",
    "test_wrong_protocol*",
    "test_properties*",
    "test_quick_deltas*",
    "test_json_properties*",
    "test_odd_streams*",
    "test_mended_bodies*",
)
"""Tests of the adapters and of the house, and those that put whole bodies through every cut. Tracing makes them two to
three times as slow, and they are not what covers the core: the tests of each module are."""
GROUPS = 8
"""Into how many runs the tests without coverage are divided, so that all processors end at about the same time."""
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
SMOKE = """
import pathlib, sys
import tokwire, tokwire_cli
assert "site-packages" in tokwire.__file__, tokwire.__file__
body = pathlib.Path(sys.argv[1]).read_bytes()
answer = tokwire.collect(tokwire.decode(body, "openai-chat"))
assert answer.text == "The ferry leaves at noon.", answer
print("decoded:", answer.text)
"""

failed: list[str] = []
printing = threading.Lock()


def step(title: str, *command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> bool:
    """Run one command and show what it printed; note when it failed."""
    began = time.monotonic()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=clean | (env or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    result = f"FAILED with status {done.returncode}" if done.returncode else "ok"
    with printing:
        print(f"\n==> {title}\n{done.stdout}--- {result} after {time.monotonic() - began:.1f} s", flush=True)
        if done.returncode:
            failed.append(title)
    return done.returncode == 0


def make_environment(environment: Path) -> None:
    """Make a virtual environment of the Python that runs this."""
    venv.create(environment, with_pip=True, symlinks=os.name != "nt")


def python_of(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(title: str, environment: Path, what: str) -> bool:
    """Install with pip, quietly, into an environment that was just made; what is imported is compiled then."""
    pip = (python_of(environment), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-compile")
    return step(title, *pip, what)


def test_files() -> tuple[list[Path], list[Path]]:
    """Every test file, once: those with which coverage is measured, and the others."""
    folder = ROOT / "tests"
    files = sorted(folder.rglob("test_*.py"))
    others = {path for pattern in UNMEASURED for path in folder.glob(pattern)}
    return [path for path in files if path not in others], [path for path in files if path in others]


def check_wheel(environment: Path, work: Path) -> None:
    """Build the wheel, see that it holds our packages and nothing else, install it elsewhere and use it."""
    python, dist, clean = python_of(environment), work / "dist", work / "clean"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    if not step("build the wheel", *pip, "--no-deps", "--no-build-isolation", "--wheel-dir", dist, "."):
        return
    wheel = next(dist.glob("*.whl"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = {Path(path).name for path in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    with zipfile.ZipFile(wheel) as archive:
        found = {name.split("/")[0] for name in archive.namelist()}
    strangers = {name for name in found if not name.endswith(".dist-info")} ^ packages
    if strangers:
        print(f"the wheel differs from the list of packages by {sorted(strangers)}")
        failed.append("contents of the wheel")
    make_environment(clean)
    if not install("install the wheel", clean, str(wheel)):
        return
    recording = ROOT / "examples" / "recordings" / "openai-chat" / "text.sse"
    step("import and decode", python_of(clean), "-c", SMOKE, recording, cwd=work)
    step("the command", python_of(clean), "-m", "tokwire", "decode", recording, cwd=work)


def check_other_python(version: str, work: Path) -> None:
    """Run the tests on another Python, where there is one that runs and it is not this one."""
    command = f"python{version}"
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return
    found = shutil.which(command)
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode != 0:
        print(f"\n==> {command}: not installed here, skipped", flush=True)
        return
    environment = work / version
    if step(f"{command}: environment", found, "-m", "venv", environment) and install(
        f"{command}: install", environment, ".[dev]"
    ):
        step(f"{command}: pytest", python_of(environment), *PYTEST)


def side_by_side(environment: Path, work: Path) -> list[Callable[[], object]]:
    """What can run at the same time, the longest first."""
    python = python_of(environment)
    measured, others = test_files()
    gate = ("--cov", f"--cov-fail-under={COVERAGE_PERCENT}")
    coverage = {"COVERAGE_FILE": str(work / "coverage")}
    return [
        partial(step, "pytest with coverage", python, *PYTEST, *gate, *measured, env=coverage),
        partial(step, "mypy", python, "-m", "mypy"),
        *(partial(check_other_python, version, work) for version in OTHER_PYTHONS),
        *(
            partial(step, f"pytest, group {number + 1} of {GROUPS}", python, *PYTEST, *others[number::GROUPS])
            for number in range(GROUPS)
        ),
        partial(check_wheel, environment, work),
    ]


def check_everything(work: Path) -> int:
    """Run every step, and say at the end which ones failed."""
    environment = Path(os.environ.get("TOKWIRE_TEST_VENV") or work / "venv").resolve()
    make_environment(environment)
    if not install("install with the dev extra", environment, "--editable=.[dev]"):
        return 1
    python = python_of(environment)
    step("ruff check", python, "-m", "ruff", "check")
    step("ruff format", python, "-m", "ruff", "format", "--check")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for job in [pool.submit(job) for job in side_by_side(environment, work)]:
            job.result()
    print(f"\nFAILED: {', '.join(failed)}" if failed else "\nevery check passed", flush=True)
    return bool(failed)


def main() -> int:
    """Check everything in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tokwire-tests-") as work:
        return check_everything(Path(work))


if __name__ == "__main__":
    sys.exit(main())
