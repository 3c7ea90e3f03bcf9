"""Bedrock's ConverseStream: blocks by index, reasons, usage behind the stop, exceptions, and frames that are cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import (
    begun,
    block,
    cut_off,
    decode,
    frame,
    invalid_calls,
    stopped,
)
from tests.support import cut, outcome
from tests.wire import ABSENT, Row, dropped, rows

import tokwire
from tokwire import FinishReason, RedactedThinkingBlock, ThinkingBlock

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")
CUT = ("error", "StreamTruncated")
USAGE = frame("metadata", usage={"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}, metrics={"latencyMs": 1})
COUNTS = ("usage", {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12})


def said(text: object, index: object = 0) -> bytes:
    """A fragment of text."""
    return block(index, text=text)


def written(index: object, text: object) -> bytes:
    """A fragment of the input of a tool."""
    return block(index, toolUse={"input": text})


def thought(index: object = 0, **members: object) -> bytes:
    """A fragment of reasoning."""
    return block(index, reasoningContent=members)


def called(*parts: bytes) -> list[Row]:
    """The rows of an answer that stops for its tools, without the end."""
    found = rows(decode("bedrock", *parts, stopped("tool_use")))
    assert found[-1] == ("finish", "tool_calls")
    return found[:-1]


def run(call_id: str, value: str, name: str = "f") -> Row:
    """The row of a call."""
    return ("call", call_id, name, value)


# ---- content -------------------------------------------------------------------------------------------------


def test_text_and_reasoning() -> None:
    body = [frame("messageStart", role="assistant"), thought(text="hm"), thought(text=""), said("a", 1), said("", 1)]
    found = rows(decode("bedrock", *body, said("b", 1), frame("contentBlockStop", contentBlockIndex=1), stopped()))
    assert found == [("reasoning", "hm"), ("text", "a"), ("text", "b"), STOPPED]


def test_inside_one_delta_reasoning_comes_first() -> None:
    assert called(block(0, text="a", reasoningContent={"text": "hm"})) == [("reasoning", "hm"), ("text", "a")]


@pytest.mark.parametrize("delta", [None, [], "x", {"text": None}, {"text": 5}, {"citation": {"title": "x"}}, {}])
def test_deltas_without_content(delta: object) -> None:
    assert called(frame("contentBlockDelta", contentBlockIndex=0, delta=delta), said("a")) == [("text", "a")]


def test_signatures_and_kept_thinking() -> None:
    parts = [
        thought(text="h"),
        thought(text="m"),
        thought(signature="s1"),
        thought(1, redactedContent="AA"),
        said("a", 2),
    ]
    summary = decode("bedrock", *parts, stopped(), keep_thinking=True).summary
    assert [(each.kind, each.block_index, each.data) for each in summary.signatures] == [
        ("signature", 0, "s1"),
        ("redacted_thinking", 1, "AA"),
    ]
    assert summary.thinking_blocks == (ThinkingBlock("hm", "s1"), RedactedThinkingBlock("AA"))
    assert decode("bedrock", *parts, stopped()).summary.thinking_blocks == ()


# ---- calls ---------------------------------------------------------------------------------------------------


def test_blocks_are_told_apart_by_their_index() -> None:
    parts = [begun(1, "a"), begun(0, "b"), written(1, '{"k"'), written(0, "[]"), written(1, ":1}")]
    assert called(*parts) == [run("b", "[]"), run("a", '{"k":1}')]


def test_a_missing_index_means_the_block_opened_last() -> None:
    parts = [begun(0, "a"), begun(4, "b"), written(0, "["), written(ABSENT, "7"), written(0, "]")]
    assert called(*parts) == [run("a", "[]"), run("b", "7")]
    assert called(written(ABSENT, "7")) == []


def test_starts_without_an_index_open_one_block_after_the_other() -> None:
    parts = [begun(ABSENT, "a"), written(ABSENT, "1"), begun(None, "b"), written(ABSENT, "2"), said("x", ABSENT)]
    assert called(*parts) == [("text", "x"), run("a", "1"), run("b", "2")]


def test_one_index_for_text_and_a_call() -> None:
    assert called(thought(text="hm"), said("x"), begun(0), written(0, "7")) == [
        ("reasoning", "hm"),
        ("text", "x"),
        run("a", "7"),
    ]


def test_a_second_start_under_a_used_index() -> None:
    again = [begun(0, "a"), written(0, "["), begun(0, "a"), written(0, "]")]
    assert called(*again) == [run("a", "[]")]
    other = [begun(0, "a"), written(0, "1"), begun(0, "b", "g"), written(0, "2")]
    assert called(*other) == [run("a", "1"), run("b", "2", "g")]


def test_another_kind_of_block_takes_the_index() -> None:
    start = frame("contentBlockStart", contentBlockIndex=0, start={"image": {"format": "png"}})
    assert called(begun(0), written(0, "7"), start, written(0, "x")) == [run("a", "7")]
    nothing = frame("contentBlockStart", contentBlockIndex=0, start={})
    found = decode("bedrock", begun(0), nothing, written(0, "x"), stopped())
    assert (rows(found)[0], dropped(found)) == (run("a", "{}"), [(0, None, None, "x")])


def test_tools_of_the_server_are_nobodys() -> None:
    found = decode(
        "bedrock", begun(0, type="server_tool_use"), written(0, "{}"), begun(1, "b", type="tool_use"), stopped()
    )
    assert (rows(found), dropped(found)) == ([run("b", "{}"), STOPPED], [])


def test_fragments_of_a_block_that_was_never_opened_are_recorded() -> None:
    found = decode("bedrock", written(3, '{"k":1}'), stopped())
    assert (rows(found), dropped(found)) == ([STOPPED], [(3, None, None, '{"k":1}')])


@pytest.mark.parametrize(("given", "value"), [("", "{}"), (None, "{}"), ({"k": 1}, '{"k":1}'), ("null", "{}")])
def test_input_of_any_form(given: object, value: str) -> None:
    assert called(begun(0), written(0, given)) == [run("a", value)]


def test_at_the_token_limit_the_last_call_needs_input_unless_something_follows() -> None:
    end = frame("contentBlockStop", contentBlockIndex=0), stopped("max_tokens")
    assert invalid_calls("bedrock", begun(0), *end) == [("a", "f", "")]
    assert invalid_calls("bedrock", said("x", 5), begun(0), thought(5, signature="s"), *end) == [("a", "f", "")]
    start = frame("contentBlockStart", contentBlockIndex=1, start={"image": {}})
    for after in (said("x", 1), thought(1, signature="s"), start, thought(text="hm")):
        assert run("a", "{}") in rows(decode("bedrock", begun(0), after, *end))
    assert invalid_calls("bedrock", begun(0), written(0, '{"k":'), *end) == [("a", "f", '{"k":')]


# ---- reasons and usage ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("guardrail_intervened", FinishReason.CONTENT_FILTER),
        ("content_filtered", FinishReason.CONTENT_FILTER),
        ("pause_turn", FinishReason.other("pause_turn")),
        ("malformed_tool_use", FinishReason.other("malformed_tool_use")),
        (None, FinishReason.UNSPECIFIED),
    ],
)
def test_reasons(word: object, reason: FinishReason) -> None:
    assert decode("bedrock", said("a"), stopped(word)).finish == reason


def test_usage_behind_the_stop_ends_the_stream() -> None:
    body = [said("a"), stopped(), frame("metadata", metrics={}), frame("metadata", usage={}), USAGE, said("late")]
    found = outcome(lambda: tokwire.StreamDecoder("bedrock", include_usage=True), [b"".join(body)], complete=None)
    assert rows(found) == [("text", "a"), COUNTS, STOPPED]
    assert rows(decode("bedrock", *body)) == [("text", "a"), COUNTS, STOPPED]


def test_usage_before_the_stop() -> None:
    assert rows(decode("bedrock", USAGE, said("a"), frame("metadata", usage=None), stopped(), said("b"))) == [
        ("text", "a"),
        ("text", "b"),
        COUNTS,
        STOPPED,
    ]


def test_the_counts_of_a_cache() -> None:
    usage = {"inputTokens": 1, "cacheReadInputTokens": 2, "cacheWriteInputTokens": 3}
    ((_, counts), _) = rows(decode("bedrock", stopped(), frame("metadata", usage=usage)))
    assert counts == {"input_tokens": 1, "cached_tokens": 2, "cache_write_tokens": 3}


def test_the_stop_is_the_marker() -> None:
    assert decode("bedrock", said("a"), stopped()).summary.end_marker
    assert cut_off("bedrock", said("a"), stopped()) == [("text", "a"), STOPPED]
    for rest in (USAGE[:3], USAGE[:40]):
        assert rows(decode("bedrock", said("a"), stopped(), rest)) == [("text", "a"), STOPPED]
        assert cut_off("bedrock", said("a"), stopped(), rest) == [("text", "a"), STOPPED]


def test_a_body_without_a_stop() -> None:
    assert rows(decode("bedrock", said("a"), begun(1))) == [("text", "a"), run("a", "{}"), UNSAID]
    assert cut_off("bedrock", said("a"), begun(1)) == [("text", "a"), CUT]
    for rest in (USAGE[:3], USAGE[:40]):
        assert rows(decode("bedrock", said("a"), rest)) == [("text", "a"), CUT]
    assert rows(decode("bedrock")) == [UNSAID]


# ---- generated answers -----------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
BLOCKS = st.lists(st.tuples(st.sampled_from(["text", "reasoning", "call"]), st.lists(WORDS, max_size=3)), max_size=5)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.lists(st.integers(0, 4000), max_size=8))
def test_what_was_generated_comes_out(blocks: list[tuple[str, list[str]]], places: list[int]) -> None:
    parts: list[bytes] = []
    inputs: list[Any] = []
    for index, (kind, words) in enumerate(blocks):
        if kind == "call":
            text = json.dumps(words)
            inputs.append((f"c{index}", "f", words))
            ends = [0, len(text) // 2, len(text)]
            parts += [begun(index, f"c{index}"), *(written(index, text[start:end]) for start, end in pairwise(ends))]
        else:
            parts += [said(word, index) if kind == "text" else thought(index, text=word) for word in words]
        parts.append(frame("contentBlockStop", contentBlockIndex=index))
    body = b"".join([frame("messageStart", role="assistant"), *parts, stopped("tool_use"), USAGE])
    reads = cut(body, [min(place, len(body)) for place in places])
    found = outcome(lambda: tokwire.StreamDecoder("bedrock", include_reasoning=True), reads)
    assert found.text == "".join(word for kind, words in blocks if kind == "text" for word in words)
    assert found.reasoning == "".join(word for kind, words in blocks if kind == "reasoning" for word in words)
    assert (found.calls, found.finish) == (inputs, FinishReason.TOOL_CALLS)
