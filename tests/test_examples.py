"""The programs under `examples` run as they stand, and the README shows the first of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python from the root of the repository."""
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def fenced(language: str) -> str:
    """The first block of the README in a language."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.split(f"```{language}\n")[1].split("```\n")[0]


def test_embed_is_what_the_readme_shows() -> None:
    shown = fenced("python")
    assert (ROOT / "examples" / "embed.py").read_text(encoding="utf-8").endswith(f"\n\n{shown}")
    assert len([line for line in shown.splitlines() if line.strip()]) <= 15


def test_embed_prints_what_the_readme_shows() -> None:
    answer = run("examples/embed.py")
    assert answer.stderr == ""
    assert answer.stdout == fenced("text")


def test_replay_passes_under_pytest() -> None:
    answer = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/replay_in_pytest.py")
    assert answer.returncode == 0, answer.stdout
    assert "9 passed" in answer.stdout
