"""Bedrock's InvokeModelWithResponseStream: the payloads of every family, with and without metrics, and bad chunks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bodies import api_error, cut_off, decode, failed, frame, invoked
from tests.wire import Row, rows

import tokwire
from tokwire import Limits

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")
METRICS = {
    "amazon-bedrock-invocationMetrics": {
        "inputTokenCount": 5,
        "outputTokenCount": 7,
        "cacheReadInputTokenCount": 2,
        "cacheWriteInputTokenCount": 3,
        "invocationLatency": 100,
    }
}
COUNTS = ("usage", {"input_tokens": 5, "output_tokens": 7, "cached_tokens": 2, "cache_write_tokens": 3})

ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "a1", "model": "m1", "usage": {"input_tokens": 5}}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"k":'}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


def chat(delta: dict[str, Any], finish: str | None = None, **members: Any) -> dict[str, Any]:
    """A chunk of Chat Completions."""
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **members}


FAMILIES: dict[str, tuple[list[dict[str, Any]], Row]] = {
    "titan": ([{"outputText": "a", "index": 0}, {"outputText": "b", "completionReason": "FINISH"}], STOPPED),
    "titan at its limit": ([{"outputText": "ab", "completionReason": "LENGTH"}], ("finish", "length")),
    "titan filtered": ([{"outputText": "ab", "completionReason": "CONTENT_FILTERED"}], ("finish", "content_filter")),
    "cohere": ([{"text": "ab", "is_finished": False}, {"is_finished": True, "finish_reason": "COMPLETE"}], STOPPED),
    "cohere at its limit": ([{"text": "ab", "is_finished": True, "finish_reason": "MAX_TOKENS"}], ("finish", "length")),
    "llama": ([{"generation": "ab", "stop_reason": None}, {"generation": "", "stop_reason": "stop"}], STOPPED),
    "llama at its limit": ([{"generation": "ab", "stop_reason": "length"}], ("finish", "length")),
    "claude 2": ([{"completion": "ab"}, {"completion": "", "stop_reason": "stop_sequence", "stop": "H:"}], STOPPED),
    "mistral": ([{"outputs": [{"text": "ab", "stop_reason": None}]}, {"outputs": [{"stop_reason": "stop"}]}], STOPPED),
    "chat": ([chat({"content": "ab"}), chat({}, "stop")], STOPPED),
    "whole chat": ([{"object": "chat.completion.chunk", **chat({"content": "ab"}, "length")}], ("finish", "length")),
    "nova": (
        [
            {"messageStart": {"role": "assistant"}},
            {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "ab"}}},
            {"messageStop": {"stopReason": "end_turn"}},
        ],
        STOPPED,
    ),
    "another word": ([{"generation": "ab", "stop_reason": "Tired"}], ("finish", "Tired", "other")),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name: str) -> None:
    payloads, end = FAMILIES[name]
    found = decode("bedrock", invoked(*payloads))
    assert (found.text, rows(found)[-1]) == ("ab", end)
    last = {**payloads[-1], **METRICS}
    measured = decode("bedrock", invoked(*payloads[:-1], last), invoked({"outputText": "late"}))
    assert (measured.text, rows(measured)[-2:]) == ("ab", [COUNTS, end])
    assert measured.summary.end_marker


@pytest.mark.parametrize("name", FAMILIES)
def test_metrics_in_a_chunk_of_their_own_end_the_stream(name: str) -> None:
    payloads, end = FAMILIES[name]
    body = invoked(*payloads, {**METRICS, "amazon-bedrock-guardrailAction": "NONE"})
    decoder = tokwire.StreamDecoder("bedrock", include_usage=True)
    decoder.receive_data(body)
    found = list(decoder.events())
    assert found[-1].finish_reason() == decode("bedrock", body).finish
    assert rows(decode("bedrock", body))[-1] == end


def test_only_metrics() -> None:
    assert rows(decode("bedrock", invoked(METRICS))) == [COUNTS, UNSAID]
    assert rows(decode("bedrock", invoked({"amazon-bedrock-invocationMetrics": None}))) == [UNSAID]


def test_payloads_of_anthropic() -> None:
    found = decode("bedrock", invoked(*ANTHROPIC[:-1], {**ANTHROPIC[-1], **METRICS}))
    assert rows(found) == [("call", "c1", "f", '{"k":1}'), COUNTS, ("finish", "tool_calls")]
    assert (found.summary.response_id, found.summary.model) == ("a1", "m1")
    assert rows(decode("bedrock", invoked(*ANTHROPIC), b"rest"))[-1] == ("finish", "tool_calls")
    assert cut_off("bedrock", invoked(*ANTHROPIC[:-2])) == [("error", "StreamTruncated")]


def test_input_at_the_start_of_a_block_is_used_at_the_end_of_the_body() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {"k": 1}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    assert rows(decode("bedrock", invoked(start))) == [("call", "c1", "f", '{"k":1}'), UNSAID]


def test_an_error_of_anthropic() -> None:
    inner = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}}
    error = api_error("bedrock", invoked(*ANTHROPIC[:3], inner))
    assert (error.status_code, error.type, error.body) == (529, "overloaded_error", inner["error"])


def test_an_error_beside_content() -> None:
    body = invoked({"outputText": "a", "completionReason": "FINISH", "error": "boom", **METRICS})
    assert rows(decode("bedrock", body)) == [("text", "a"), ("error", "APIError")]


def test_a_detail_is_an_error_only_where_nobody_knows_the_payload() -> None:
    assert rows(decode("bedrock", invoked({"outputText": "a", "detail": "x"}))) == [("text", "a"), UNSAID]
    assert api_error("bedrock", invoked({"detail": "No such model."})).message == "No such model."


def test_calls_of_chat_completions() -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    body = invoked(chat({"tool_calls": [call]}), chat({}, "tool_calls", usage={"prompt_tokens": 5}))
    expected = [("call", "c1", "f", "{}"), ("usage", {"input_tokens": 5}), ("finish", "tool_calls")]
    assert rows(decode("bedrock", body)) == expected


def test_tools_of_nova() -> None:
    start = {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}
    delta = {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "[1]"}}}
    usage = {"metadata": {"usage": {"inputTokens": 5}}, **METRICS}
    body = [
        {"contentBlockStart": start},
        {"contentBlockDelta": delta},
        {"messageStop": {"stopReason": "tool_use"}},
        usage,
    ]
    assert rows(decode("bedrock", invoked(*body))) == [("call", "c1", "f", "[1]"), COUNTS, ("finish", "tool_calls")]
    assert rows(decode("bedrock", invoked({"contentBlockDelta": None}))) == [UNSAID]


def test_counts_of_families_without_metrics() -> None:
    llama = [{"generation": "a", "prompt_token_count": 5, "generation_token_count": 1}]
    llama += [{"generation": "", "prompt_token_count": None, "generation_token_count": 2, "stop_reason": "stop"}]
    assert rows(decode("bedrock", invoked(*llama)))[1] == ("usage", {"input_tokens": 5, "output_tokens": 2})
    titan = {
        "outputText": "a",
        "inputTextTokenCount": 3,
        "totalOutputTextTokenCount": None,
        "completionReason": "FINISH",
    }
    assert rows(decode("bedrock", invoked(titan)))[1] == ("usage", {"input_tokens": 3})


def test_what_a_guardrail_did_is_no_reason() -> None:
    body = invoked({"outputText": "a", "amazon-bedrock-guardrailAction": "INTERVENED"})
    assert rows(decode("bedrock", body)) == [("text", "a"), UNSAID]


@pytest.mark.parametrize("payload", [{"type": "ping"}, {"type": "keepalive"}])
def test_heartbeats_prove_nothing(payload: dict[str, Any]) -> None:
    assert rows(decode("bedrock", invoked(payload))) == [UNSAID]
    assert rows(decode("bedrock", invoked(payload, {"k": 1}))) == [("error", "RemoteProtocolError")]


@pytest.mark.parametrize("payload", [{"k": 1}, [1], 5, {}, {"choices": []}, {"type": "later"}])
def test_payloads_of_no_known_family(payload: object) -> None:
    assert rows(decode("bedrock", invoked(payload))) == [("error", "RemoteProtocolError")]
    assert rows(decode("bedrock", invoked({"outputText": "a"}, payload))) == [("text", "a"), UNSAID]


@pytest.mark.parametrize(
    "members", [{"outputs": None}, {"outputs": [None, 5, {}]}, {"generation": 5}, {"outputText": []}]
)
def test_members_of_other_types(members: dict[str, Any]) -> None:
    assert rows(decode("bedrock", invoked(members))) == [UNSAID]


@pytest.mark.parametrize("encoded", ["!!", "Zm9", "", None, 5, "e\u00e9", "e3 0="])
def test_bytes_that_are_no_base64_or_no_json(encoded: object) -> None:
    body = frame("chunk", bytes=encoded)
    assert rows(decode("bedrock", invoked({"outputText": "a"}), body)) == [
        ("text", "a"),
        ("error", "RemoteProtocolError"),
    ]
    assert "a chunk does not hold" in str(failed("bedrock", body))


def test_chunks_that_hold_no_json() -> None:
    assert "does not hold JSON" in str(failed("bedrock", invoked(b"{no")))
    assert rows(decode("bedrock", frame("chunk", p="abc"))) == [("error", "RemoteProtocolError")]


def test_nesting_inside_a_chunk() -> None:
    deep = b'{"outputText":"a","x":' + b"[" * 60 + b"]" * 60 + b"}"
    assert rows(decode("bedrock", invoked(deep), limits=Limits(max_json_depth=40))) == [("error", "LimitExceeded")]
    assert rows(decode("bedrock", invoked(deep), limits=Limits(max_json_depth=None))) == [("text", "a"), UNSAID]
    endless = b"[" * 200_000
    with pytest.raises(tokwire.RemoteProtocolError, match="a chunk"):
        tokwire.decode(invoked(endless), "bedrock", limits=Limits(max_json_depth=None))
