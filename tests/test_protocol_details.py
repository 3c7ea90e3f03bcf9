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
    part,
    stopped,
    written,
)
from tests.quick import check
from tests.support import DONE, chunk, event
from tests.wire import ABSENT, anthropic, begin, message, openai, rows, tool_use
from tests.wire import said as text

import tokwire
from tokwire import Limits, RedactedThinkingBlock, RemoteProtocolError, ThinkingBlock

# ---- every event stream ---------------------------------------------------------------------------------------

DELTAS = {
    "openai-chat": [chunk({"content": letter}) for letter in "abc"],
    "anthropic": [text(0, each) for each in "abc"],
}


@pytest.mark.parametrize("end", [b"\n", b"\r"])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("protocol", DELTAS)
def test_a_line_end_between_members_is_one(protocol: str, end: bytes, *, together: bool) -> None:
    first, second, third = DELTAS[protocol]
    reads = [first, second, third.replace(b",", b"," + end, 1)]
    assert rows(decode(protocol, *reads))[-1] == ("error", "RemoteProtocolError")
    check(protocol, [b"".join(reads)] if together else reads)


# ---- Anthropic -----------------------------------------------------------------------------------------------


def test_each_call_keeps_the_input_that_came_with_its_start() -> None:
    parts = [tool_use(0, "a", input={"x": 1}), tool_use(1, "b", "g", input={"y": 2})]
    assert rows(anthropic(message(*parts, reason="tool_use")))[:2] == [
        ("call", "a", "f", '{"x":1}'),
        ("call", "b", "g", '{"y":2}'),
    ]


def test_the_input_of_a_start_counts_once_and_no_longer_than_it_waits() -> None:
    """Sixteen characters wait, are given to the call, and leave room for as many again."""
    value = {"a": "x" * 8}
    starts = [tool_use(0, "a", input=value), tool_use(1, "b", input=value)]
    for limit, failed in ((32, False), (31, True)):
        found = anthropic(message(*starts, reason="tool_use"), limits=Limits(max_tool_arguments_bytes=limit))
        assert [value for _, _, value in found.calls] == [value] * (0 if failed else 2)
        assert (found.failure is not None) == failed


def test_every_block_counts_as_a_label_once() -> None:
    parts = [begin(0, "text"), begin(1, "text"), begin(1, "text"), begin(ABSENT, "text"), text(0, "x")]
    for limit, is_enough in ((2, False), (3, True)):
        found = anthropic(message(*parts), limits=Limits(max_tool_calls=limit))
        assert (found.failure is None) == is_enough


def test_usage_that_says_nothing_is_none() -> None:
    start = event("message_start", message={"id": "m", "usage": {"input_tokens": None}})
    found = anthropic(start + text(0, "x") + event("message_stop"), include_usage=True)
    assert found.summary.usage is None
    assert [row[0] for row in rows(found)] == ["text", "finish"]


def test_redacted_thinking_of_two_blocks_is_kept_apart() -> None:
    parts = [begin(0, "redacted_thinking", data="r1"), begin(1, "redacted_thinking", data="r2"), text(2, "x")]
    found = anthropic(message(*parts), keep_thinking=True)
    assert found.summary.thinking_blocks == (RedactedThinkingBlock("r1"), RedactedThinkingBlock("r2"))


def test_a_whole_message_tells_its_usage_and_has_its_blocks_in_order() -> None:
    answer = {
        "type": "message",
        "id": "m1",
        "model": "m",
        "content": [
            {"type": "redacted_thinking", "data": "r1"},
            {"type": "text", "text": "Hi."},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            {"type": "redacted_thinking", "data": "r2"},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    found = anthropic(json.dumps(answer).encode(), keep_thinking=True, include_usage=True)
    assert rows(found) == [
        ("text", "Hi."),
        ("call", "a", "f", '{"x":1}'),
        ("usage", {"input_tokens": 3, "output_tokens": 4}),
        ("finish", "tool_calls"),
    ]
    assert [signature.block_index for signature in found.summary.signatures] == [0, 3]


@pytest.mark.parametrize(
    ("protocol", "parts", "reason"),
    [
        (
            "anthropic",
            [event("content_block_delta", index=4, delta={"type": "input_json_delta", "partial_json": "1"})],
            "no block with its index was opened as a tool call",
        ),
        ("bedrock", [block(4, toolUse={"input": "1"})], "no block with its index was opened as a tool call"),
        (
            "cohere",
            [part("tool-call-delta", 4, tool_calls={"function": {"arguments": "1"}})],
            "no tool call was opened under its index",
        ),
    ],
    ids=["anthropic", "bedrock", "cohere"],
)
def test_a_fragment_of_no_call_says_why_it_was_dropped(protocol: str, parts: list[bytes], reason: str) -> None:
    (dropped,) = decode(protocol, *parts).summary.dropped_tool_calls
    assert (dropped.index, dropped.arguments, dropped.reason) == (4, "1", reason)


def test_a_second_message_says_what_it_is() -> None:
    start = event("message_start", message={"id": "m"})
    with pytest.raises(RemoteProtocolError, match=r"^a second message_start after content had begun: two answers were"):
        tokwire.decode(start + text(0, "a") + start, "anthropic")


@pytest.mark.parametrize(
    ("protocol", "payload"),
    [
        ("ollama", {"model": "m", "response": "x"}),
        ("ollama", {"model": "m", "message": {"content": "x"}}),
        ("ollama", {"done": False}),
        ("gemini", {"usageMetadata": {}}),
        ("gemini", {"promptFeedback": {}}),
        ("gemini", {"candidates": []}),
        ("cohere", {"type": "content-start"}),
        ("cohere", {"message": {}, "finish_reason": "COMPLETE"}),
        ("anthropic", {"type": "message_start"}),
        ("openai-responses", {"type": "response.created"}),
    ],
)
def test_a_detail_is_an_error_only_in_a_payload_that_nobody_knows(protocol: str, payload: dict[str, Any]) -> None:
    """`detail` is how some frameworks report an error; in an event of the protocol it is a member like any other."""
    end = b"\n" if protocol == "ollama" else b"\n\n"
    lead = b"" if protocol == "ollama" else b"data: "
    for members, is_error in ((payload, False), ({}, True)):
        found = decode(protocol, lead + json.dumps({**members, "detail": "no"}).encode() + end)
        assert (rows(found)[-1] == ("error", "APIError")) == is_error


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
