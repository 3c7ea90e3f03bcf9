"""Anthropic Messages: stop reasons, usage, message_start twice, errors, whole JSON bodies, and what is recognised."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support import START, STOP, data, decoded, event
from tests.wire import Row, anthropic, begin, message, rows, said, tool_use, written

import tokwire
from tokwire.protocols import find_protocol

PROTOCOL = find_protocol("anthropic")
TEXT = ("text", "x")
STOPPED, UNSPECIFIED = ("finish", "stop"), ("finish", "unspecified")
API, REMOTE = ("error", "APIError"), ("error", "RemoteProtocolError")


def end(reason: object, **members: Any) -> bytes:
    """The event with the stop reason."""
    return event("message_delta", delta={"stop_reason": reason}, **members)


def begun(name: str, **usage: object) -> bytes:
    """A message_start with this id."""
    return event("message_start", message={"id": name, "model": name.upper(), "usage": usage})


# ---- stop reasons --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", ("stop",)),
        ("Stop_Sequence", ("stop",)),
        ("max_tokens", ("length",)),
        ("model_context_window_exceeded", ("length",)),
        ("tool_use", ("tool_calls",)),
        ("REFUSAL", ("content_filter",)),
        ("pause_turn", ("pause_turn", "other")),
        ("compaction", ("compaction", "other")),
        ("stop", ("stop", "other")),
    ],
)
def test_words(word: str, reason: Row) -> None:
    found = anthropic(message(said(0, "x"), reason=word))
    assert rows(found) == [TEXT, ("finish", *reason)]
    assert (found.summary.raw_finish_reason, found.summary.finish_reasons) == (word, {0: word})


@pytest.mark.parametrize("word", [None, "", 5, [], False])
def test_what_is_no_word(word: object) -> None:
    assert rows(anthropic(message(said(0, "x"), reason=word))) == [TEXT, UNSPECIFIED]
    assert rows(anthropic(START + said(0, "x") + end(word) + end("max_tokens") + STOP)) == [TEXT, ("finish", "length")]


def test_the_first_word_stays() -> None:
    body = START + said(0, "x") + end("max_tokens") + said(0, "y") + end("end_turn") + STOP
    assert rows(anthropic(body)) == [TEXT, ("text", "y"), ("finish", "length")]


@pytest.mark.parametrize("nothing", [event("message_delta"), event("message_delta", delta=None, usage=None)])
def test_a_message_delta_that_says_nothing(nothing: bytes) -> None:
    assert rows(anthropic(START + said(0, "x") + nothing + STOP)) == [TEXT, UNSPECIFIED]


def test_without_message_stop() -> None:
    for complete in (True, False):
        found = decoded("anthropic", START + said(0, "x") + end("end_turn"), complete=complete)
        assert (rows(found), found.summary.end_marker) == ([TEXT, STOPPED], False)


def test_a_call_without_reason_and_marker_is_not_drained_where_the_body_was_cut() -> None:
    body = START + tool_use(0, input={"k": 1}) + tool_use(1, "t2") + written(1, "{}")
    assert len(rows(decoded("anthropic", body))) == 3
    assert rows(decoded("anthropic", body, complete=False)) == [("error", "StreamTruncated")]


def test_done_counts_as_a_marker_but_ends_nothing() -> None:
    body = START + said(0, "x") + data(b"[DONE]", name="data") + said(0, "y")
    found = decoded("anthropic", body, complete=False)
    assert (rows(found), found.summary.end_marker) == ([TEXT, ("text", "y"), UNSPECIFIED], True)


def test_what_comes_behind_message_stop_is_ignored() -> None:
    body = message(said(0, "x")) + event("ping", cost="0") + data(b"[DONE]", name="data") + event("error", error={})
    assert rows(anthropic(body)) == [TEXT, STOPPED]


# ---- usage ---------------------------------------------------------------------------------------------------


def test_usage_is_merged_over_the_message() -> None:
    first = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 4, "cache_creation_input_tokens": None}
    second = {"output_tokens": 9, "input_tokens": None, "output_tokens_details": {"thinking_tokens": 2}}
    body = begun("m", **first) + said(0, "x") + end("end_turn", usage=second) + end(None, usage=None) + STOP
    found = anthropic(body)
    counts = {"input_tokens": 3, "output_tokens": 9, "cached_tokens": 4, "reasoning_tokens": 2}
    assert rows(found) == [TEXT, ("usage", counts), STOPPED]
    assert isinstance(found.events[1], tokwire.Usage)
    assert found.events[1].raw["output_tokens_details"] == {"thinking_tokens": 2}


@pytest.mark.parametrize("usage", [None, {}, 5, []])
def test_usage_that_says_nothing(usage: object) -> None:
    assert rows(anthropic(message(said(0, "x"), usage=usage))) == [TEXT, STOPPED]


def test_usage_only_at_the_end() -> None:
    found = rows(anthropic(message(said(0, "x"), usage={"input_tokens": 3, "cache_creation_input_tokens": 5})))
    assert found == [TEXT, ("usage", {"input_tokens": 3, "cache_write_tokens": 5}), STOPPED]


# ---- message_start -------------------------------------------------------------------------------------------


def test_a_second_message_start_replaces_id_model_and_usage() -> None:
    body = begun("m1", input_tokens=1, output_tokens=2) + event("ping") + begun("m2", input_tokens=3) + said(0, "x")
    found = anthropic(body + end("end_turn") + STOP)
    assert rows(found) == [TEXT, ("usage", {"input_tokens": 3}), STOPPED]
    assert (found.summary.response_id, found.summary.model) == ("m2", "M2")


def test_a_second_message_start_without_id_keeps_the_first() -> None:
    body = begun("m1") + event("message_start", message={"id": "", "model": None}) + event("message_start")
    found = anthropic(body + said(0, "x") + STOP)
    assert (found.summary.response_id, found.summary.model) == ("m1", "M1")


@pytest.mark.parametrize("block", [begin(0, "text", text=""), tool_use(0), begin(0, "thinking", thinking="")])
def test_a_second_message_start_behind_a_block_is_a_splice(block: bytes) -> None:
    body = begun("m1") + block + begun("m2") + said(0, "x") + STOP
    found = anthropic(body)
    assert rows(found) == [REMOTE]
    assert found.failure is not None
    assert found.failure.offset == body.index(b"event: message_start", 1)
    assert found.summary.response_id == "m1"


def test_a_first_message_start_may_come_late() -> None:
    body = begin(0, "text", text="") + said(0, "x") + begun("m1") + end("end_turn") + STOP
    assert rows(anthropic(body)) == [TEXT, STOPPED]


# ---- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "retryable"),
    [
        ("overloaded_error", 529, True),
        ("rate_limit_error", 429, True),
        ("api_error", 500, True),
        ("timeout_error", 504, True),
        ("invalid_request_error", 400, False),
        ("authentication_error", 401, False),
        ("billing_error", 402, False),
        ("permission_error", 403, False),
        ("not_found_error", 404, False),
        ("request_too_large", 413, False),
        ("new_error", None, False),
    ],
)
def test_types_of_errors_have_their_documented_status(kind: str, status: int | None, retryable: bool) -> None:  # noqa: FBT001
    error = {"type": kind, "message": "no"}
    stream = START + said(0, "x") + tool_use(1) + event("error", error=error, request_id="q") + STOP
    whole = json.dumps({"type": "error", "error": error, "request_id": "q"}).encode()
    for body, before in ((stream, [TEXT]), (whole, [])):
        assert rows(anthropic(body)) == [*before, API]
        with pytest.raises(tokwire.APIError) as caught:
            tokwire.decode(body, "anthropic")
        found = caught.value
        assert (found.type, found.status_code, found.retryable, found.message) == (kind, status, retryable, "no")
        assert (found.body, found.request_id) == (error, "q")


@pytest.mark.parametrize(
    "bad",
    [
        event("error", error="no"),
        event("error", message="no"),
        data(b'"no"', name="error"),
        data(b"no", name="error"),
        data({"message": "no"}, name="error"),
        event("content_block_stop", index=0, error={"message": "no"}),
    ],
)
def test_errors_of_other_shapes(bad: bytes) -> None:
    body = START + said(0, "x") + said(0, "y") + bad
    assert rows(anthropic(body)) == [TEXT, ("text", "y"), API]
    with pytest.raises(tokwire.APIError) as caught:
        tokwire.decode(body, "anthropic")
    assert caught.value.message == "no"


def test_content_and_reason_beside_an_error() -> None:
    delta = {"type": "text_delta", "text": "z"}
    lead = START + said(0, "x") + said(0, "y") + tool_use(1, input={"k": 1})
    bad = event("content_block_delta", index=0, delta=delta, error={"message": "no"})
    assert rows(anthropic(lead + bad)) == [TEXT, ("text", "y"), ("text", "z"), API]
    late = event("message_delta", delta={"stop_reason": "tool_use"}, error={"message": "no"})
    found = anthropic(lead + late + STOP)
    assert (rows(found), found.summary.raw_finish_reason) == ([TEXT, ("text", "y"), API], None)


# ---- whole bodies and recognition ----------------------------------------------------------------------------


def test_a_whole_answer_in_one_json_body() -> None:
    content = [
        {"type": "thinking", "thinking": "T", "signature": "S"},
        {"type": "text", "text": "x"},
        {"type": "server_tool_use", "id": "s", "name": "w", "input": {"q": 1}},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"k": 1}},
        {"type": "tool_use", "id": "b", "name": "f", "input": {}},
        None,
    ]
    answer = {
        "type": "message",
        "id": "m",
        "model": "o",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3},
    }
    expected: list[Row] = [("reasoning", "T"), TEXT, ("call", "a", "f", '{"k":1}'), ("call", "b", "f", "{}")]
    for indent in (None, 1):
        found = anthropic(json.dumps(answer, indent=indent).encode(), keep_thinking=True)
        assert rows(found) == [*expected, ("usage", {"input_tokens": 3}), ("finish", "tool_calls")]
        assert (found.summary.end_marker, found.summary.response_id, found.summary.model) == (True, "m", "o")
        assert found.summary.thinking_blocks == (tokwire.ThinkingBlock("T", "S"),)


@pytest.mark.parametrize(
    ("payload", "name", "is_recognised"),
    [
        ({"type": "message_start"}, None, True),
        ({"type": "content_block_delta"}, "other", True),
        ({}, "message_stop", True),
        ({"type": ""}, "message_stop", True),
        ({"type": 5}, "message_stop", True),
        ({"type": "ping"}, "message_stop", False),
        ({"type": "message", "content": []}, None, True),
        ({"type": "message"}, None, False),
        ({"content": []}, "message", False),
        ({"type": "new"}, None, False),
        ({}, None, False),
    ],
)
def test_what_is_recognised(payload: dict[str, Any], name: str | None, is_recognised: bool) -> None:  # noqa: FBT001
    assert PROTOCOL.recognises(payload, name) is is_recognised
    assert PROTOCOL.marks(payload, name) is is_recognised


def test_the_name_of_the_event_stands_in_for_a_missing_type() -> None:
    start = data({"message": {"id": "m"}}, name="message_start")
    delta = data({"index": 0, "delta": {"type": "text_delta", "text": "x"}}, name="content_block_delta")
    reason = data({"type": None, "delta": {"stop_reason": "end_turn"}}, name="message_delta")
    found = anthropic(start + delta + reason + data({"type": 5}, name="message_stop"))
    assert (rows(found), found.summary.end_marker, found.summary.response_id) == ([TEXT, STOPPED], True, "m")


@pytest.mark.parametrize("payload", [{"type": [1]}, {"type": {}}, {"foo": 1}, {"choices": [{"delta": {}}]}, [1], "x"])
def test_payloads_of_others_are_skipped_beside_ours(payload: object) -> None:
    assert rows(anthropic(data(payload) + message(said(0, "x")))) == [TEXT, STOPPED]
    assert rows(anthropic(data(payload) + event("ping"))) == [REMOTE]


def test_heartbeats_are_no_payloads() -> None:
    assert rows(anthropic(event("ping") + data({"type": "keepalive"}) + data({"x": 1}, name="ping"))) == [UNSPECIFIED]
