"""The README and the pages under `docs` are run: what they show is what happens.

Every `python` block of a page is executed, from top to bottom in one namespace, and every `bash` block in a shell that
knows the command `tokwire`. A `text` block right behind one of them is its exact output. Blocks in other languages are
not run; the two set-up commands of the README stand in `sh` blocks, and `.ci/run` runs the second of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import tokwire
import tokwire_cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)\)")
TEST_COMMAND = "python3.11 run_tests.py"


class Fenced(NamedTuple):
    """One fenced block of a page."""

    language: str
    code: str
    line: int


def fenced_blocks(text: str) -> list[Fenced]:
    """The fenced blocks of a page, in order."""
    return [Fenced(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in re.finditer(FENCE, text)]


def run_python(block: Fenced, page: str, namespace: dict[str, object]) -> str:
    """Execute a block as part of its page; what it prints."""
    code = compile("\n" * (block.line - 1) + block.code, page, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    return printed.getvalue()


def run_bash(block: Fenced) -> str:
    """Execute a block in a shell that stops at the first failing command; what it prints."""
    roots = [str(Path(str(package.__file__)).parent.parent) for package in (tokwire, tokwire_cli)]
    function = f'tokwire() {{ "{sys.executable}" -m tokwire "$@"; }}\n'
    answer = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", function + block.code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, f"line {block.line}: {answer.stderr}"
    return answer.stdout


def run_page(text: str, page: str) -> int:
    """Run what a page shows; how many blocks were run."""
    namespace: dict[str, object] = {"__name__": page}
    printed: str | None = None
    count = 0
    for block in fenced_blocks(text):
        if block.language == "text" and printed is not None:
            assert printed == block.code, f"{page}, line {block.line}"
            printed = None
        elif block.language in ("python", "bash"):
            printed = run_python(block, page, namespace) if block.language == "python" else run_bash(block)
            count += 1
        else:
            printed = None
    return count


def page_name(path: Path) -> str:
    """The name of a test case."""
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def beside_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the examples and may be written to."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=page_name)
@pytest.mark.usefixtures("beside_the_examples")
def test_what_the_page_shows_is_what_happens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    count = run_page(text, page_name(path))
    assert count == len(re.findall(r"^```(?:python|bash)$", text, re.MULTILINE))


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\nassert False\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```bash\nfalse\n```\n",
        "```bash\ntokwire decode missing.sse\n```\n",
    ],
)
@pytest.mark.usefixtures("beside_the_examples")
def test_a_page_that_is_wrong_fails(wrong: str) -> None:
    with pytest.raises(AssertionError):
        run_page(wrong, "wrong.md")


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"], ids=page_name)
def test_links_lead_to_files(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(([a-z-]+\.md)\)", index))
    assert listed == {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme = fenced_blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    commands = [block.code.strip() for block in readme if block.language == "sh"]
    assert len(commands) == 2
    assert commands[1] == TEST_COMMAND
    assert TEST_COMMAND in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert TEST_COMMAND in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()


def test_every_kind_of_event_has_a_row() -> None:
    page = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    kinds = {kind.__name__ for kind in tokwire.StreamEvent.__subclasses__() if kind.__name__ in tokwire.__all__}
    assert kinds
    assert kinds == set(re.findall(r"^\| `([A-Z]\w+)` \| `", page, re.MULTILINE))


def test_every_error_is_in_the_tree() -> None:
    page = (ROOT / "docs" / "errors-and-truncation.md").read_text(encoding="utf-8")
    tree = next(block.code for block in fenced_blocks(page) if "TokwireError" in block.code and not block.language)
    for name in tokwire.__all__:
        value = getattr(tokwire, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert re.search(rf"\b{name}\b", tree), name


def test_every_limit_has_a_row_with_its_default() -> None:
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(max_\w+)` \| ([^|]+) \|", page, re.MULTILINE))
    units = {"MiB": 1 << 20, "KiB": 1 << 10}
    limits = tokwire.Limits()
    assert set(rows) == set(limits.__struct_fields__)
    for name, words in rows.items():
        number, _, unit = words.partition(" ")
        assert getattr(limits, name) == int(number) * units.get(unit, 1), name


def test_every_option_of_the_decoder_is_explained() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    for option in tokwire.DecoderOptions.__annotations__:
        assert option in pages, option
