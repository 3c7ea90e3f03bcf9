"""Rules for the text of every file: length, comments that silence a tool, notes to self, and what must not be named."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("sansio", "adapters", "tests", "fuzz", "bench", "docs", "examples")
PYTHON = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))] + [ROOT / "run_tests.py"]
TEXTS = [
    *PYTHON,
    *[path for folder in FOLDERS for kind in ("md", "json") for path in sorted((ROOT / folder).rglob(f"*.{kind}"))],
    *[path for path in ROOT.iterdir() if path.suffix in {".md", ".toml"}],
]
MAX_LINES = 300
IGNORE = re.compile(r"#\s*type:\s*ignore")
IGNORE_WITH_REASON = re.compile(r"# type: ignore\[[a-z]+(-[a-z]+)*(, ?[a-z]+(-[a-z]+)*)*\]  # \w")
UNSAID = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "sha" + "red/", "/wo" + "rk/", ".lib" + "rary")


def relative(path: Path) -> str:
    """The name of a test case."""
    return path.relative_to(ROOT).as_posix()


def comments(source: str) -> list[str]:
    """The comments of a Python source, each with the rest of its line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def unexplained(source: str) -> list[str]:
    """The comments that silence the type checker without saying what and why."""
    return [text for text in comments(source) if IGNORE.search(text) and not IGNORE_WITH_REASON.match(text)]


@pytest.mark.parametrize("path", [path for path in PYTHON if "bench" not in path.parts], ids=relative)
def test_no_module_is_too_long(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= MAX_LINES


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_every_ignored_type_has_a_code_and_a_reason(path: Path) -> None:
    assert not unexplained(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_nothing_is_left_open_or_named_from_outside(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [word for word in UNSAID if re.search(rf"(?<!\w){re.escape(word)}", text)]


def test_an_unexplained_ignore_is_seen() -> None:
    hash_sign = "#"
    assert unexplained(f"x = 1  {hash_sign} type: ignore\n")
    assert unexplained(f"x = 1  {hash_sign} type: ignore[arg-type]\n")
    assert unexplained(f"x = 1  {hash_sign}type:ignore[arg-type]  {hash_sign} why\n")
    assert not unexplained(f"x = 1  {hash_sign} type: ignore[arg-type]  {hash_sign} why\n")
