"""OpenAI Responses: how a stream ends, errors in every shape, whole JSON bodies, usage, and generated answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import (
    added,
    api_error,
    completed,
    cut_off,
    decode,
    done,
    function,
    incomplete,
    message,
    said,
    text_delta,
)
from tests.bodies import written as fragment
from tests.support import DONE, cut, data, outcome
from tests.wire import Row, rows

import tokwire
from tokwire.framing._shape import NO_SHAPE
from tokwire.protocols.openai_responses import _shapes
from tokwire.protocols.openai_responses._shapes import shape_for

FAILED = {"id": "r1", "status": "failed", "error": None}
TEXT = message({"type": "output_text", "text": "a"})


def end(*parts: bytes, **options: Any) -> Row:
    """The last row of a body."""
    return rows(decode("openai-responses", *parts, **options))[-1]


@pytest.mark.parametrize(
    ("last", "row", "raw"),
    [
        (completed(), ("finish", "stop"), "completed"),
        (said("completed"), ("finish", "stop"), "completed"),
        (said("done", response={"status": "completed"}), ("finish", "stop"), "completed"),
        (completed(function()), ("finish", "tool_calls"), "completed"),
        (incomplete("max_output_tokens"), ("finish", "length"), "max_output_tokens"),
        (incomplete("content_filter"), ("finish", "content_filter"), "content_filter"),
        (incomplete("Tired"), ("finish", "Tired", "other"), "Tired"),
        (incomplete(None), ("finish", "incomplete", "other"), "incomplete"),
        (said("cancelled", response={"status": "cancelled"}), ("finish", "cancelled", "other"), "cancelled"),
        (completed(status="cancelled"), ("finish", "cancelled", "other"), "cancelled"),
        (
            completed(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            ("finish", "length"),
            "max_output_tokens",
        ),
    ],
)
def test_the_last_event(last: bytes, row: Row, raw: str) -> None:
    found = decode("openai-responses", last, text_delta("late"), DONE)
    assert rows(found)[-1] == row
    assert (found.summary.raw_finish_reason, found.summary.end_marker) == (raw, True)
    assert found.text == ""


def test_the_last_event_ends_the_stream_without_waiting_for_the_end_of_the_body() -> None:
    found = outcome(lambda: tokwire.StreamDecoder("openai-responses"), [text_delta("a"), completed()], complete=None)
    assert rows(found) == [("text", "a"), ("finish", "stop")]


def test_a_clean_end_without_a_last_event() -> None:
    found = decode("openai-responses", text_delta("a"), added(function(), 1))
    assert rows(found) == [("text", "a"), ("call", "a", "f", "{}"), ("finish", "unspecified")]
    assert not found.summary.end_marker


def test_a_last_event_without_its_blank_line() -> None:
    assert end(text_delta("a"), completed()[:-2]) == ("finish", "stop")


def test_the_end_mark_of_another_api_is_a_marker_at_the_end_only() -> None:
    body = [text_delta("a"), DONE, text_delta("b")]
    found = decode("openai-responses", *body)
    assert rows(found) == [("text", "a"), ("text", "b"), ("finish", "unspecified")]
    assert found.summary.end_marker
    assert cut_off("openai-responses", *body)[-1] == ("finish", "unspecified")


def test_a_cut_body_runs_nothing() -> None:
    call = [added(function(), 0), said("function_call_arguments.done", output_index=0, arguments="{}")]
    assert cut_off("openai-responses", text_delta("a"), *call) == [("text", "a"), ("error", "StreamTruncated")]


def test_heartbeats_prove_nothing() -> None:
    beat = data({"type": "keepalive", "sequence_number": 3})
    assert rows(decode("openai-responses", beat, text_delta("a"), beat, completed())) == [
        ("text", "a"),
        ("finish", "stop"),
    ]
    assert rows(decode("openai-responses", beat, b": keepalive\n\n")) == [("finish", "unspecified")]


# ---- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "kind", "text"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow", "param": None}, 429, None, "slow"),
        ({"type": "error", "code": "server_error", "message": "boom"}, 500, None, "boom"),
        ({"type": "error", "code": "invalid_prompt", "message": "no"}, None, None, "no"),
        ({"type": "error", "code": "400", "message": "no"}, 400, None, "no"),
    ],
)
def test_an_error_event(body: dict[str, Any], status: int | None, kind: str | None, text: str) -> None:
    error = api_error("openai-responses", text_delta("a"), added(function(), 1), data(body, name="error"))
    assert (error.status_code, error.type, error.message, error.body) == (status, kind, text, body)


def test_an_error_event_with_its_fields_inside() -> None:
    inner = {"type": "server_error", "code": "rate_limit_exceeded", "message": "slow"}
    error = api_error("openai-responses", text_delta("a"), data({"type": "error", "error": inner}))
    assert (error.status_code, error.type, error.body) == (429, "server_error", inner)


def test_a_failed_response_with_its_error() -> None:
    body = FAILED | {"error": {"code": "server_error", "message": "boom"}, "output": [TEXT]}
    found = decode("openai-responses", said("failed", response=body))
    assert rows(found) == [("text", "a"), ("error", "APIError")]
    assert api_error("openai-responses", said("failed", response=body)).body == body["error"]


@pytest.mark.parametrize("empty", [None, "", False])
@pytest.mark.parametrize("kind", ["failed", "completed", "done"])
def test_a_failed_response_without_an_error_is_the_error_itself(empty: object, kind: str) -> None:
    response = FAILED | {"error": empty}
    last = said(kind, response=response)
    for rest in (
        [],
        [data({"type": "keepalive"})],
        [text_delta("late")],
        [b'data: {"type":"respon'],
        [text_delta("x")[:-2]],
    ):
        assert api_error("openai-responses", text_delta("a"), last, *rest).body == response
    assert cut_off("openai-responses", text_delta("a"), last) == [("text", "a"), ("error", "APIError")]


@pytest.mark.parametrize("end_of_body", [b"", b"\n", b"\n\n"])
def test_an_error_event_after_a_failed_response_has_the_detail(end_of_body: bytes) -> None:
    detail = data({"type": "error", "error": {"code": "server_error", "message": "boom"}}).rstrip() + end_of_body
    error = api_error("openai-responses", said("failed", response=FAILED), detail)
    assert (error.message, error.status_code) == ("boom", 500)


# ---- bodies that are one JSON answer -------------------------------------------------------------------------


def whole(**members: object) -> bytes:
    """A whole answer, printed for people."""
    answer = {"object": "response", "id": "r1", "model": "m1", "status": "completed", "error": None, "output": [TEXT]}
    return json.dumps(answer | members, indent=1).encode()


@pytest.mark.parametrize(
    ("members", "row"),
    [
        ({}, ("finish", "stop")),
        ({"output": [TEXT, function()]}, ("finish", "tool_calls")),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, ("finish", "content_filter")),
        ({"status": "cancelled"}, ("finish", "cancelled", "other")),
        ({"status": "in_progress"}, ("finish", "unspecified")),
        ({"status": None}, ("finish", "unspecified")),
        ({"status": "failed"}, ("error", "APIError")),
        ({"status": "failed", "error": {"message": "boom"}}, ("error", "APIError")),
    ],
)
def test_a_whole_answer(members: dict[str, object], row: Row) -> None:
    found = decode("openai-responses", whole(**members))
    assert rows(found)[0] == ("text", "a")
    assert rows(found)[-1] == row
    assert found.summary.response_id == "r1"


def test_a_whole_answer_that_failed_never_waits() -> None:
    body = json.loads(whole(status="failed"))
    assert api_error("openai-responses", whole(status="failed")).body == body
    assert api_error("openai-responses", b'{"error":{"message":"no","code":401}}').status_code == 401


def test_a_whole_body_with_one_event() -> None:
    body = {"type": "response.completed", "response": {"output": [TEXT]}}
    assert rows(decode("openai-responses", json.dumps(body).encode())) == [("text", "a"), ("finish", "stop")]
    assert end(b'{"type":"other","object":"thing"}') == ("error", "RemoteProtocolError")


def test_an_answer_as_the_payload_of_an_event() -> None:
    assert rows(decode("openai-responses", data(json.loads(whole())))) == [("text", "a"), ("finish", "stop")]


# ---- facts beside the events ---------------------------------------------------------------------------------


def test_id_model_and_usage() -> None:
    counts = {
        "input_tokens": 5,
        "input_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 1},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 12,
    }
    begin = said("created", response={"id": "r9", "model": "m9", "usage": None})
    found = decode("openai-responses", begin, text_delta("a"), completed(usage=counts))
    names = ("input", "output", "total", "cached", "cache_write", "reasoning")
    usage = dict(zip((f"{name}_tokens" for name in names), (5, 7, 12, 2, 1, 3), strict=True))
    assert rows(found) == [("text", "a"), ("usage", usage), ("finish", "stop")]
    assert (found.summary.response_id, found.summary.model) == ("r9", "m9")


def test_a_shape_is_made_once_and_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    event = "response.output_text.delta"
    shape = shape_for(event, 3, 0)
    assert shape_for(event, 3, 0) is shape
    found = shape.decode(json.dumps({"type": event, "output_index": 3, "delta": "x"}).encode())
    assert (shape.text_of(found), shape.index_of(found)) == ("x", 3)
    monkeypatch.setattr(_shapes, "MAX_SHAPES", 0)
    assert shape_for(event, 3, 0) is shape
    assert shape_for(event, 3, 60) is NO_SHAPE


# ---- generated answers ---------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
ITEMS = st.lists(
    st.tuples(st.just("text"), st.lists(WORDS, max_size=4))
    | st.tuples(st.just("reasoning"), st.lists(WORDS, max_size=4))
    | st.tuples(st.just("call"), st.dictionaries(WORDS, st.integers() | WORDS, max_size=2)),
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(ITEMS, st.booleans(), st.booleans(), st.lists(st.integers(0, 3000), max_size=6))
def test_what_was_generated_comes_out(items: Any, named: Any, repeated: Any, places: list[int]) -> None:
    parts: list[bytes] = []
    for index, (kind, value) in enumerate(items):
        if kind == "call":
            text = json.dumps(value)
            parts += [added(function(f"c{index}"), index), fragment(index, text[:3]), fragment(index, text[3:])]
            parts += [done(function(f"c{index}", arguments=text), index)] * repeated
            continue
        name = "output_text" if kind == "text" else "reasoning_summary_text"
        parts += [said(f"{name}.delta", output_index=index, content_index=0, delta=word) for word in value]
        part = {"type": "output_text" if kind == "text" else "summary_text", "text": "".join(value)}
        parts += [done({"type": "x", "content" if kind == "text" else "summary": [part]}, index)] * repeated
    body = b"".join([*parts, completed()])
    if not named:
        body = b"\n".join(line for line in body.split(b"\n") if not line.startswith(b"event: "))
    reads = cut(body, [min(place, len(body)) for place in places])
    found = outcome(lambda: tokwire.StreamDecoder("openai-responses", include_reasoning=True), reads)
    assert found.text == "".join(word for kind, value in items if kind == "text" for word in value)
    assert found.reasoning == "".join(word for kind, value in items if kind == "reasoning" for word in value)
    assert found.calls == [(f"c{index}", "f", value) for index, (kind, value) in enumerate(items) if kind == "call"]
    assert found.finish is (tokwire.FinishReason.TOOL_CALLS if found.calls else tokwire.FinishReason.STOP)
