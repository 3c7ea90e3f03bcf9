"""Errors that servers report inside a stream: every shape, every place. Each body for every cut on both paths."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support import (
    DONE,
    PROTOCOLS,
    START,
    chunk,
    data,
    decoded,
    delta,
    event,
    marker_of,
    reason_of,
    text_stream,
    tool,
)

import tokwire

NOT_ERRORS: list[Any] = [None, False, ""]


def fail(protocol: str, body: bytes, text: str = "a") -> tokwire.APIError:
    """The error that ends the body, once it was shown to come behind `text` for every cut."""
    found = decoded(protocol, body)
    assert found.text == text
    assert not any(isinstance(each, tokwire.Finish) for each in found.events)
    assert found.failure is not None
    assert found.failure.kind == "APIError"
    with pytest.raises(tokwire.APIError) as caught:
        tokwire.decode(body, protocol)
    assert list(caught.value.events) == found.events
    return caught.value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("error", "message", "kind"),
    [
        ({"message": "no", "type": "t"}, "no", "t"),
        ("no", "no", None),
        ({}, "", None),
        (17, "", None),
        (True, "", None),
        ([], "", None),
        ({"msg": "no"}, "no", None),
        ({"detail": "no", "status": "UNAVAILABLE"}, "no", "UNAVAILABLE"),
    ],
)
def test_an_error_member(protocol: str, error: object, message: str, kind: str | None) -> None:
    found = fail(protocol, text_stream(protocol, "a") + data({"error": error}) + marker_of(protocol))
    assert (found.message, found.type, found.body) == (message, kind, error)
    assert fail(protocol, data({"error": error}), "").message == message


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("blank", NOT_ERRORS)
def test_a_blank_error_member_is_none(protocol: str, blank: object) -> None:
    if protocol == "openai-chat":
        body = chunk({"content": "a"}, error=blank) + chunk({"content": "b"}, error=blank) + chunk({}, "stop") + DONE
    else:
        body = START + b"".join(
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}, error=blank)
            for text in "ab"
        )
    found = decoded(protocol, body + marker_of(protocol))
    assert (found.text, found.failure) == ("ab", None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("payload", "message", "code"),
    [
        ({"object": "error", "message": "no", "code": 40303}, "no", 40303),
        ({"detail": "no"}, "no", None),
        ({"detail": {"why": "no"}}, '{"why":"no"}', None),
        ({"type": "error", "message": "no"}, "no", None),
    ],
)
def test_a_flat_error(protocol: str, payload: dict[str, Any], message: str, code: int | None) -> None:
    found = fail(protocol, text_stream(protocol, "a") + data(payload))
    assert (found.message, found.code, found.body) == (message, code, payload)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_detail_of_a_known_payload_is_no_error(protocol: str) -> None:
    if protocol == "openai-chat":
        body = chunk({"content": "a"}, detail="x") + chunk({"content": "b"}, detail="x")
    else:
        body = START + event("content_block_delta", detail="x", delta={"type": "text_delta", "text": "ab"})
    assert decoded(protocol, body + marker_of(protocol)).text == "ab"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'{"message":"no"}', "no"),
        (b'{"error":{"message":"no"}}', "no"),
        (b"{}", ""),
        (b"some text", "some text"),
        (b"", ""),
        (b'"text"', "text"),
        (b"[1]", ""),
    ],
)
def test_an_event_named_error(protocol: str, payload: bytes, message: str) -> None:
    found = fail(protocol, text_stream(protocol, "a") + data(payload, name="error") + marker_of(protocol))
    assert found.message == message


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_event_named_error_without_data(protocol: str) -> None:
    for rest in (b"event: error\n\n", b"event: error\n", b"event: error"):
        assert fail(protocol, text_stream(protocol, "a") + rest).message == ""


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("line", "message", "status"),
    [
        (b'error: {"message":"no","code":500}\n\n', "no", 500),
        (b'error:{"error":{"message":"no"}}\n', "no", None),
        (b"error: some text\n\n", "some text", None),
        (b"error: some text", "some text", None),
    ],
)
def test_a_field_named_error(protocol: str, line: bytes, message: str, status: int | None) -> None:
    for body in (text_stream(protocol, "a") + line, text_stream(protocol, "a")[:-1] + line):
        found = fail(protocol, body)
        assert (found.message, found.status_code) == (message, status)
    assert fail(protocol, line, "").message == message


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "text", [b'{"error":{"message":"no"}}', b'[{"error":\n{"message":\n"no"}}]', b'{"error":"no"}']
)
def test_an_error_without_framing(protocol: str, text: bytes) -> None:
    for rest in (text, text + b"\n", text + b"\n\n", text.replace(b"\n", b"\r\n") + b"\r\n"):
        assert fail(protocol, text_stream(protocol, "a") + rest).message == "no"
        assert fail(protocol, text_stream(protocol, "a")[:-1] + rest).message == "no"


def test_content_beside_an_error_comes_first() -> None:
    found = fail("openai-chat", chunk({"content": "a"}, "stop", error={"message": "no", "code": "429"}))
    assert (found.status_code, found.code, found.retryable) == (429, "429", True)


def test_pending_calls_are_not_drained() -> None:
    calls = tool(0, "c1", "f", "{}")
    for rest in (data({"error": "no"}), chunk({}, "tool_calls", error="no"), b"error: no\n\n"):
        assert decoded("openai-chat", calls + rest).calls == []
    drained = decoded("openai-chat", calls + chunk({}, "tool_calls") + data({"error": "no"}))
    assert drained.calls == [("c1", "f", {})]
    assert drained.failure is not None


def test_the_summary_keeps_no_reason_of_a_payload_with_an_error() -> None:
    found = decoded("openai-chat", chunk({"content": "a"}, "stop", error="no"))
    assert found.summary.raw_finish_reason is None


def test_error_as_a_finish_word_is_only_a_word() -> None:
    found = decoded("openai-chat", chunk({"content": "a"}, "error") + DONE)
    assert found.finish == tokwire.FinishReason.other("error")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("invalid_request_error", 400),
        ("authentication_error", 401),
        ("billing_error", 402),
        ("permission_error", 403),
        ("not_found_error", 404),
        ("request_too_large", 413),
        ("rate_limit_error", 429),
        ("api_error", 500),
        ("timeout_error", 504),
        ("overloaded_error", 529),
        ("brand_new_error", None),
    ],
)
def test_the_types_of_anthropic(kind: str, status: int | None) -> None:
    body = text_stream("anthropic", "a") + event("error", error={"type": kind, "message": "no"}, request_id="req_1")
    found = fail("anthropic", body)
    assert (found.type, found.status_code, found.message, found.request_id) == (kind, status, "no", "req_1")
    assert str(found) == f"{kind}: no" + ("" if status is None else f" (status {status})")
    assert found.retryable == (status in (429, 500, 504, 529))


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({"code": 503}, 503),
        ({"code": "404"}, 404),
        ({"code": "x", "status": 400}, 400),
        ({"code": 200, "status_code": "599"}, 599),
        ({"code": 399, "status": 600}, None),
        ({"code": True}, None),
        ({"code": 429.0}, None),
        ({"code": "0429"}, None),
        ({"status": "500", "status_code": 400}, 500),
        ({}, None),
    ],
)
def test_the_status(members: dict[str, Any], status: int | None) -> None:
    for payload in ({"error": {"message": "no"} | members}, {"object": "error", "message": "no"} | members):
        found = fail("openai-chat", text_stream("openai-chat", "a") + data(payload))
        assert found.status_code == status
        assert found.retryable == (status in (429, 500, 503))


def test_what_is_missing_in_the_error_comes_from_beside_it() -> None:
    beside = {"message": "beside", "code": 502, "type": "bad_gateway", "param": "p"}
    found = fail("openai-chat", text_stream("openai-chat", "a") + data({"error": {}} | beside))
    assert (found.message, found.code, found.status_code) == ("beside", 502, 502)
    assert (found.type, found.param, found.body) == ("bad_gateway", "p", {})


def test_the_words_for_an_event_are_no_type() -> None:
    payload = {"type": "error", "error": {"type": "error", "message": "no"}}
    assert fail("anthropic", text_stream("anthropic", "a") + data(payload)).type is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_body_that_is_an_error(protocol: str) -> None:
    payload = {"error": {"message": "no", "code": 401}}
    for body in (
        json.dumps(payload),
        json.dumps(payload, indent=2) + "\n",
        json.dumps([payload]),
        "\n" + json.dumps(payload),
    ):
        assert fail(protocol, body.encode(), "").status_code == 401


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_part_can_be_encoded(protocol: str) -> None:
    payload = b'{"error":{"message":"\\ud83d","type":"\\udc00","n":["\\ud83d"]}}'
    found = fail(protocol, text_stream(protocol, "a") + data(payload))
    assert (found.message, found.type, found.body["n"]) == ("\ufffd", "\ufffd", ["\ufffd"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error_behind_the_marker_is_ignored(protocol: str) -> None:
    body = text_stream(protocol, "a") + reason_of(protocol) + marker_of(protocol) + data({"error": "no"})
    assert decoded(protocol, body).failure is None


def test_a_half_of_a_pair_comes_out_before_the_error() -> None:
    half = START + delta(0, "text", "a") + event("content_block_delta", delta={"type": "text_delta", "text": "b\ud83d"})
    assert fail("anthropic", half + data({"error": "no"}), "ab\ufffd").message == "no"
