"""The types that users see, judged by mypy: `tests/typing/api.py` is right, and the code below is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRONG = """
from typing import assert_never

import tokwire


def forgets_tools(event: tokwire.Block) -> str:
    match event.block:
        case tokwire.TextBlock(text):
            return text
        case rest:
            assert_never(rest)  # wrong: a tool call is left


def forgets_the_end(answer: tokwire.Need) -> int:
    match answer:
        case tokwire.Need.NEED_DATA:
            return 1
        case rest:
            assert_never(rest)  # wrong: FINISHED is left


def changes_an_event(event: tokwire.Reasoning) -> None:
    event.text = ""  # wrong: events are frozen


tokwire.StreamDecoder("openai-chat").receive_data("text")  # wrong: text is not bytes
tokwire.StreamDecoder("openai-chat", include_everything=True)  # wrong: no such option
"""


def test_mypy_accepts_typical_code_and_refuses_mistakes(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_code.py"
    wrong.write_text(WRONG)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--no-error-summary",
        "--hide-error-context",
        "tests/typing/api.py",
        str(wrong),
    ]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    problems = [line for line in answer.stdout.splitlines() if ": error: " in line]
    assert [line for line in problems if "wrong_code.py" not in line] == []
    refused = {int(line.split("wrong_code.py:")[1].split(":")[0]) for line in problems}
    expected = {number for number, line in enumerate(WRONG.splitlines(), 1) if "# wrong" in line}
    assert refused == expected, answer.stdout
