"""Streams in rare shapes, each of which once came out wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import START, chunk, event
from tests.wire import (
    ABSENT,
    anthropic,
    begin,
    choices,
    dropped,
    ended,
    message,
    more,
    openai,
    piece,
    rows,
    said,
    tool_use,
    written,
)

import tokwire

TOOLS = ("finish", "tool_calls")


def test_an_open_index_goes_before_an_id_that_two_calls_share() -> None:
    body = piece(0, "x", "f", "[1") + piece(1, "x", "g", "[2") + piece(0, "x", ABSENT, "]") + piece(1, "x", ABSENT, "]")
    assert rows(openai(body + ended()))[:-1] == [("call", "x", "f", "[1]"), ("call", "call_r1_0", "g", "[2]")]


@pytest.mark.parametrize("repaired", [{"k": object()}, {"k": {1, 2}}, {1: 2}, {"k": {1: 2}}])
def test_a_repair_with_what_is_no_json_raises_nothing_of_others(repaired: dict[Any, Any]) -> None:
    found = rows(openai(piece(0, "a", "f", "oops") + ended(), repair_arguments=lambda _: repaired))
    assert found == [("error", "InvalidToolArguments")]


def test_usage_of_groq_beside_text() -> None:
    body = (
        chunk({"content": "a"})
        + chunk({"content": "b"})
        + chunk({"content": "c"}, x_groq={"usage": {"prompt_tokens": 3}})
    )
    found = rows(openai(body + ended("stop")))
    assert found[3:] == [("usage", {"input_tokens": 3}), ("finish", "stop")]


def test_a_flat_error_in_an_ordinary_delta() -> None:
    delta = {"type": "text_delta", "text": "c"}
    bad = event("content_block_delta", index=0, delta=delta, object="error", message="no")
    assert rows(anthropic(START + said(0, "a") + said(0, "b") + bad))[-2:] == [("text", "c"), ("error", "APIError")]


def test_null_sent_again_is_no_object() -> None:
    assert rows(openai(piece(0, "a", "f", "null") + piece(0, arguments="null") + ended())) == [
        ("error", "InvalidToolArguments")
    ]


def test_of_two_equal_calls_the_bare_one_goes() -> None:
    found = openai(piece(0, "a", "f") + piece(1, "b", "g", "1") + piece(2, "a", "f", "{}") + ended())
    assert rows(found)[:-1] == [("call", "b", "g", "1"), ("call", "a", "f", "{}")]
    assert dropped(found) == [(0, "a", "f", "")]


def test_a_second_thinking_block_under_a_used_index_is_a_block_of_its_own() -> None:
    blocks = [
        begin(0, "thinking", thinking="A", signature="s1"),
        begin(0, "redacted_thinking", data="R"),
        begin(0, "thinking", thinking="B"),
        more(0, "signature_delta", signature="s2"),
    ]
    kept = anthropic(message(*blocks), keep_thinking=True).summary.thinking_blocks
    assert kept == (
        tokwire.ThinkingBlock("A", "s1"),
        tokwire.RedactedThinkingBlock("R"),
        tokwire.ThinkingBlock("B", "s2"),
    )


@pytest.mark.parametrize(("whole", "text"), [("null", "{}"), (" ", "{}")])
def test_input_as_text_is_argument_text(whole: str, text: str) -> None:
    assert rows(anthropic(message(tool_use(0, input=whole), reason="tool_use")))[0] == ("call", "t1", "f", text)


def test_input_that_is_no_json_is_invalid() -> None:
    assert rows(anthropic(message(tool_use(0, input="junk"), reason="tool_use"))) == [("error", "InvalidToolArguments")]


def test_a_fragment_that_is_an_object_is_recorded_too() -> None:
    assert dropped(anthropic(message(written(3, {"k": 1})))) == [(3, None, None, '{"k":1}')]


def test_an_empty_old_call_carries_nothing() -> None:
    delta = {"function_call": {"name": "", "arguments": None}}
    assert rows(openai(choices({"delta": delta, "message": {"content": "x"}}) + ended("stop"))) == [
        ("text", "x"),
        ("finish", "stop"),
    ]


def test_half_a_pair_stays_at_its_place_before_a_fragment_that_waits() -> None:
    lead = piece(0, "a", "f", '["\ud83d')
    assert rows(openai(lead + piece(1, arguments='x"]') + ended()))[0] == ("call", "a", "f", '["\ufffdx"]')
    assert rows(openai(lead + piece(1, arguments='\ude00"]') + ended()))[0] == ("call", "a", "f", '["\U0001f600"]')


def test_halves_of_a_pair_in_a_name() -> None:
    assert rows(openai(piece(0, "a", "f\ud83d") + piece(0, ABSENT, "\ude00") + ended()))[0][2] == "f\U0001f600"
