"""Bodies that are not the stream that was expected. Each for every cut on both paths."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.support import (
    DONE,
    PROTOCOLS,
    START,
    STOP,
    Failure,
    chunk,
    data,
    decoded,
    event,
    reason_of,
    text_stream,
)

from tokwire import Finish, FinishReason

UNSPECIFIED = Finish(FinishReason.UNSPECIFIED)
CHAT: dict[str, Any] = {
    "id": "r1",
    "object": "chat.completion",
    "model": "m1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "hi", "tool_calls": [{"id": "c1", "function": {"name": "f"}}]},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 1},
}
MESSAGE: dict[str, Any] = {
    "id": "r1",
    "type": "message",
    "model": "m1",
    "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1},
}
ANSWERS = {"openai-chat": CHAT, "anthropic": MESSAGE}
OTHERS = {"openai-chat": "anthropic", "anthropic": "openai-chat"}


def refused(protocol: str, body: bytes, *, complete: bool = True) -> Failure:
    """The error of a body that gives no event, for every cut."""
    found = decoded(protocol, body, complete=complete)
    assert found.events == []
    assert found.failure is not None
    return found.failure


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("before", [b"", b"\n", b"\xef\xbb\xbf", b" \n\t\n"])
def test_a_whole_answer(protocol: str, before: bytes, complete: bool) -> None:  # noqa: FBT001
    for indent in (None, 1):
        for after in (b"", b"\n", b"\r\n\r\n"):
            body = before + json.dumps(ANSWERS[protocol], indent=indent).encode() + after
            found = decoded(protocol, body, complete=complete)
            assert (found.text, found.calls) == ("hi", [("c1", "f", {})])
            assert found.events[-1] == Finish(FinishReason.TOOL_CALLS)
            assert (found.summary.end_marker, found.summary.response_id) == (True, "r1")
            assert found.summary.usage is not None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_whole_answer_as_the_only_event(protocol: str) -> None:
    found = decoded(protocol, data(ANSWERS[protocol]))
    assert (found.text, found.events[-1]) == ("hi", Finish(FinishReason.TOOL_CALLS))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_json_body_that_was_cut(protocol: str) -> None:
    body = json.dumps(ANSWERS[protocol], indent=1).encode()
    for size in (1, 2, 20, len(body) - 2, len(body) - 1):
        for complete in (True, False):
            assert refused(protocol, body[:size], complete=complete).kind == "StreamTruncated"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    "body",
    [b"<!DOCTYPE html>\n<p>Bad gateway", b"<html>", b"\n\n <html>\n\n</html>\n", b'<?xml version="1.0"?>\r\n<e/>'],
)
def test_a_page(protocol: str, body: bytes, complete: bool) -> None:  # noqa: FBT001
    found = refused(protocol, body, complete=complete)
    assert found.kind == "RemoteProtocolError"
    assert f"the body is an HTML or XML page, not a stream of {protocol}" in found.text
    assert found.offset == body.index(b"<") - body.startswith(b"\n\n ")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("complete", [True, False])
def test_compressed_bytes(protocol: str, complete: bool) -> None:  # noqa: FBT001
    squeezed = gzip.compress(text_stream(protocol, "a"), mtime=0)
    for body, looks in (
        (squeezed, "gzip"),
        (b"\x1f\x8b\n\n", "gzip"),
        (b"\x1f\x8b\r\nabc\n", "gzip"),
        (b"\x28\xb5\x2f\xfd\x00\n\ndata", "zstd"),
    ):
        found = refused(protocol, body, complete=complete)
        assert (found.kind, found.offset) == ("RemoteProtocolError", 0)
        assert f"{looks}-compressed bytes" in found.text
        assert "content coding" in found.text


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "body",
    [
        b"upstream is down",
        b"upstream is down\n",
        b"down\n\n",
        b"two\n\nparts",
        b"{not json",
        b"[done]",
        b"dat",
        b"502 Bad\r\n\r\n",
    ],
)
def test_plain_text(protocol: str, body: bytes) -> None:
    found = refused(protocol, body)
    assert (found.kind, found.offset) == ("RemoteProtocolError", 0)
    assert "plain text" in found.text
    assert found.excerpt == body.split(b"\n")[0].strip(b"\r")
    assert refused(protocol, body, complete=False).kind == "StreamTruncated"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_text_before_a_stream_is_an_unknown_field(protocol: str) -> None:
    found = decoded(protocol, b"hello there\n\n" + text_stream(protocol, "a") + b"and here\n\n")
    assert (found.text, found.events[-1]) == ("a", UNSPECIFIED)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_json_lines_are_another_protocol(protocol: str) -> None:
    line = {"model": "m", "message": {"role": "assistant", "content": "hi"}, "done": False}
    for end in (b"\n", b"\r\n", b"\n\n"):
        body = (json.dumps(line).encode() + end) * 2
        found = refused(protocol, body)
        assert (found.kind, found.offset) == ("RemoteProtocolError", 0)
        assert "JSON lines of ollama" in found.text
    assert "JSON lines," in refused(protocol, b'{"a":1}\n{"b":2}\n').text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_another_protocol_is_named(protocol: str) -> None:
    other = OTHERS[protocol]
    body = text_stream(other, "a") + reason_of(other)
    found = refused(protocol, body)
    assert (found.kind, found.offset) == ("RemoteProtocolError", 0)
    assert f"no payload of this stream is one of {protocol}" in found.text
    assert f"looks like {other}" in found.text
    assert refused(protocol, body, complete=False).kind == "StreamTruncated"
    assert f"looks like {other}" in refused(protocol, json.dumps(ANSWERS[other]).encode()).text


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"type": "response.created", "response": {}}, "openai-responses"),
        ({"candidates": [{"content": {"parts": []}}]}, "gemini"),
        ({"type": "message-start", "delta": {"message": {}}}, "cohere"),
        ({"model": "m", "response": "x", "done": False}, "ollama"),
        ({"n": 1}, None),
        (17, None),
        ([], None),
        ({}, None),
    ],
)
def test_no_payload_was_recognised(protocol: str, payload: object, name: str | None) -> None:
    for before in (b"", b": c\n\n", data({"type": "ping"})):
        found = refused(protocol, before + data(payload) + data({"n": 2}))
        assert (found.kind, found.offset) == ("RemoteProtocolError", len(before))
        assert found.excerpt == json.dumps(payload, separators=(",", ":")).encode()[:64]
        assert (f"looks like {name}: use that protocol" if name else "the first one is unknown") in found.text


def test_no_payload_was_recognised_before_the_mark() -> None:
    assert refused("openai-chat", data({"n": 1}) + DONE).offset == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_payload_is_enough(protocol: str) -> None:
    found = decoded(protocol, data({"n": 1}) + text_stream(protocol, "a") + data({"n": 1}) + data([1]))
    assert (found.text, found.events[-1]) == ("a", UNSPECIFIED)


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": []},
        {"choices": [{"delta": None}]},
        {"choices": [{"message": {}}]},
        {"object": "chat.completion.chunk"},
        {"usage": {"prompt_tokens": 1}},
    ],
)
def test_what_openai_chat_recognises(payload: object) -> None:
    assert decoded("openai-chat", data(payload)).events == [UNSPECIFIED]


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": [{"text": "x"}]},
        {"object": "text_completion"},
        {"usage": {}, "type": "x"},
        {"usage": 3},
        {"choices": "x"},
    ],
)
def test_what_openai_chat_does_not_recognise(payload: object) -> None:
    assert refused("openai-chat", data(payload)).kind == "RemoteProtocolError"


def test_what_anthropic_recognises_by_the_name_of_the_event() -> None:
    assert decoded("anthropic", data({"message": {"id": "x"}}, name="message_start")).summary.response_id == "x"
    assert decoded("anthropic", data({}, name="message_stop")).summary.end_marker
    assert decoded("anthropic", START + data({"type": "content_block_stop"}, name="message_stop")).failure is None
    assert refused("anthropic", data({"message": {}}, name="message")).kind == "RemoteProtocolError"


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "beat", [data({"type": "ping"}), data({}, name="ping"), data({"type": "keepalive", "cost": "0"})]
)
def test_heartbeats_prove_nothing(protocol: str, beat: bytes) -> None:
    assert decoded(protocol, beat * 2).events == [UNSPECIFIED]
    assert decoded(protocol, beat + text_stream(protocol, "a") + beat).text == "a"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_before_a_stream(protocol: str) -> None:
    found = decoded(protocol, json.dumps(ANSWERS[protocol]).encode() + b"\n\n" + text_stream(protocol, "late"))
    assert (found.text, found.events[-1]) == ("hi", Finish(FinishReason.TOOL_CALLS))


def test_two_answers_spliced_into_one() -> None:
    body = START + event("content_block_start", index=0, content_block={"type": "text", "text": "a"})
    found = decoded("anthropic", body + START + STOP)
    assert found.failure is not None
    assert (found.text, found.failure.kind, found.failure.offset) == ("a", "RemoteProtocolError", len(body))
    assert decoded("anthropic", START + START + STOP).events == [UNSPECIFIED]


def test_an_unknown_chunk_between_others() -> None:
    body = chunk({"content": "a"}) + b'{"unframed":1}\n' + chunk({"content": "b"}) + DONE
    assert decoded("openai-chat", body).text == "ab"
