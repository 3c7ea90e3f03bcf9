"""What becomes of the outcome of a tool, and sums of token counts."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest
from tests.machine import told

import tokwire
from tokwire import ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock, Usage
from tokwire._blocks import result_content
from tokwire.agent._results import error_result, tool_result
from tokwire.agent._usage import sum_of_usage

CALL = ToolUseBlock("c1", "tide", {})
PICTURE = ImageBlock.from_url("https://quay.example/a.png")


@dataclasses.dataclass
class Tide:
    height: float
    at: datetime.date


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("noon", "noon"),
        ("", ""),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ({"x": ["\ud83d"]}, '{"x":["\ufffd"]}'),
        (None, "null"),
        (5, "5"),
        ({"b": 1, "a": "ü"}, '{"b":1,"a":"ü"}'),
        ([], "[]"),
        ((), ()),
        ((1, "x"), '[1,"x"]'),
        (Tide(1.5, datetime.date(2026, 11, 30)), '{"height":1.5,"at":"2026-11-30"}'),
        (TextBlock("noon"), (TextBlock("noon"),)),
        (PICTURE, (PICTURE,)),
        ([TextBlock("see"), PICTURE], (TextBlock("see"), PICTURE)),
    ],
)
def test_texts_and_blocks_stay_and_all_else_becomes_json(value: object, content: object) -> None:
    assert result_content(value) == content
    assert tool_result(CALL, value) == ToolResultBlock("c1", content)


def loop() -> list[Any]:
    """A list that contains itself."""
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize("value", [object(), loop(), {1.5: object()}])
def test_what_json_cannot_hold_is_an_error_that_the_model_can_read(value: object) -> None:
    found = told(tool_result(CALL, value))
    assert f"the tool returned a {type(value).__name__} that is not JSON" in found["error"]


def test_an_exception_is_an_error_with_its_text_or_its_kind() -> None:
    assert told(tool_result(CALL, ValueError("no such harbour")))["error"] == "no such harbour"
    assert told(tool_result(CALL, KeyError())) == {"error": "KeyError", "tool": "tide", "id": "c1"}


def test_an_error_has_a_reason_only_where_a_hook_gave_one() -> None:
    assert told(error_result(CALL, "no", "late"))["reason"] == "late"
    assert told(error_result(CALL, "no", ""))["reason"] == "no reason was given"
    assert "reason" not in told(error_result(CALL, "no"))


def test_counts_are_added_where_both_sides_know_them() -> None:
    first = Usage(input_tokens=1, output_tokens=2, cached_tokens=3, raw={"a": 1})
    second = Usage(input_tokens=10, total_tokens=7, raw={"b": 2})
    assert sum_of_usage(first, second) == Usage(
        input_tokens=11, output_tokens=2, total_tokens=7, cached_tokens=3, raw={"b": 2}
    )
    assert sum_of_usage(None, second) is second
    assert sum_of_usage(first, None) is first
    assert sum_of_usage(None, None) is None
    assert tokwire.Usage() == sum_of_usage(Usage(), Usage())
