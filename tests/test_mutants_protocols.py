"""The protocols, where a change of the code went unseen: whole answers, calls side by side, what belongs to what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.bodies import (
    added,
    api_error,
    begun,
    block,
    call,
    candidate,
    completed,
    decode,
    events,
    function,
    message_end,
    stopped,
    written,
)
from tests.support import DONE, chunk
from tests.wire import ABSENT, anthropic, message, openai, rows, tool_use

from tokwire import Limits, RedactedThinkingBlock, ThinkingBlock

# ---- Anthropic -----------------------------------------------------------------------------------------------


def test_each_call_keeps_the_input_that_came_with_its_start() -> None:
    parts = [tool_use(0, "a", input={"x": 1}), tool_use(1, "b", "g", input={"y": 2})]
    assert rows(anthropic(message(*parts, reason="tool_use")))[:2] == [
        ("call", "a", "f", '{"x":1}'),
        ("call", "b", "g", '{"y":2}'),
    ]


# ---- Chat Completions ----------------------------------------------------------------------------------------


def test_a_signature_belongs_to_the_choice_that_it_came_with() -> None:
    detail = {"type": "reasoning.encrypted", "data": "s1"}
    body = chunk({"content": "a"}) + chunk({"reasoning_details": [detail]}, choice=1) + chunk({}, "stop") + DONE
    assert [(each.choice, each.data) for each in openai(body).summary.signatures] == [(1, "s1")]


def test_a_thought_signature_belongs_to_the_call_that_it_came_with() -> None:
    google = {"google": {"thought_signature": "s1"}}
    calls = [
        {"index": place, "id": name, "function": {"name": "f", "arguments": "{}"}} for place, name in enumerate("ab")
    ]
    body = chunk({"tool_calls": [calls[0], calls[1] | {"extra_content": google}]}) + chunk({}, "tool_calls") + DONE
    assert [(each.tool_use_id, each.data) for each in openai(body).summary.signatures] == [("b", "s1")]


# ---- Responses -----------------------------------------------------------------------------------------------


def test_a_call_that_has_fragments_is_not_written_anew_by_the_snapshot() -> None:
    parts = [added(function("a", id="x1"), 0), written(0, "[1]"), completed(function("a", id="x1", arguments="[2]"))]
    assert rows(decode("openai-responses", *parts))[0] == ("call", "a", "f", "[1]")


def test_a_call_of_the_snapshot_is_known_by_the_id_of_its_item() -> None:
    parts = [
        added(function("a", id="x1"), 0),
        written(0, "[1]"),
        completed(function(ABSENT, id="x1", arguments="[1]")),
    ]
    assert rows(decode("openai-responses", *parts)) == [("call", "a", "f", "[1]"), ("finish", "tool_calls")]


# ---- Gemini --------------------------------------------------------------------------------------------------


def pieces(name: str, text: str) -> dict[str, Any]:
    """The begin of a call whose only argument comes in pieces."""
    return call(name, call_id=name, partialArgs=[{"jsonPath": "$.a", "stringValue": text}], willContinue=True)


def test_arguments_that_were_replaced_count_no_longer() -> None:
    parts = [
        pieces("a", "x" * 20),
        pieces("b", "y" * 20),
        call(args={"a": "z" * 18}, call_id="a"),
        call(args={"a": "z" * 18}, call_id="b"),
    ]
    body = events(*map(candidate, parts), candidate(reason="STOP"))
    found = decode("gemini", body, limits=Limits(max_tool_arguments_bytes=54))
    assert found.failure is None
    assert [value for _, _, value in found.calls] == [{"a": "z" * 18}] * 2


# ---- Bedrock -------------------------------------------------------------------------------------------------


def test_reasoning_of_two_blocks_is_kept_apart() -> None:
    parts = [
        block(0, reasoningContent={"text": "one", "signature": "s1"}),
        block(1, reasoningContent={"redactedContent": "r1"}),
        block(2, reasoningContent={"text": "two", "signature": "s2"}),
        block(3, reasoningContent={"redactedContent": "r2"}),
        stopped(),
    ]
    assert decode("bedrock", *parts, keep_thinking=True).summary.thinking_blocks == (
        ThinkingBlock("one", "s1"),
        RedactedThinkingBlock("r1"),
        ThinkingBlock("two", "s2"),
        RedactedThinkingBlock("r2"),
    )


def test_a_call_that_begins_without_an_index_stands_behind_the_blocks_before_it() -> None:
    parts = [begun(0, "a"), begun(ABSENT, "b"), block(1, toolUse={"input": "[1]"}), stopped("tool_use")]
    assert rows(decode("bedrock", *parts))[:2] == [("call", "a", "f", "{}"), ("call", "b", "f", "[1]")]


# ---- Cohere --------------------------------------------------------------------------------------------------


def test_a_whole_answer_tells_its_model() -> None:
    answer = {
        "id": "c1",
        "model": "m1",
        "message": {"role": "assistant", "content": "Hi."},
        "finish_reason": "COMPLETE",
    }
    assert decode("cohere", json.dumps(answer).encode()).summary.model == "m1"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"message": "no", "type": "overloaded"}).encode(),
        message_end("ERROR", error={"message": "no", "type": "overloaded"}),
    ],
    ids=["body", "end"],
)
def test_an_error_with_a_type_tells_it(body: bytes) -> None:
    error = api_error("cohere", body)
    assert (error.message, error.type) == ("no", "overloaded")
