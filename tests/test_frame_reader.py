"""What frames mean under any protocol: framing departures, heartbeats, junk, ends and foreign bodies in short.

The whole of each rule stands in `test_stream_end`, `test_stream_errors` and `test_foreign_bodies`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support import (
    DONE,
    PROTOCOLS,
    START,
    STOP,
    chunk,
    data,
    decoded,
    delta,
    end_of_content,
    event,
    marker_of,
    outcome,
    reason_of,
    text_stream,
    tool,
)

import tokwire
from tokwire import ApiProtocol, Finish, FinishReason, Limits, RawPayload, StreamDecoder, Verdict

STOPPED, UNSPECIFIED = Finish(FinishReason.STOP), Finish(FinishReason.UNSPECIFIED)
A, B = chunk({"content": "a"}), chunk({"content": "b"}, "stop")


def kind(protocol: str, body: bytes, *, complete: bool = True, **options: Any) -> str:
    """The name of the error that a body ends with, for every cut."""
    found = decoded(protocol, body, complete=complete, **options)
    assert found.failure is not None
    return found.failure.kind


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_line_end(protocol: str, end: bytes) -> None:
    body = text_stream(protocol, "a", "b") + reason_of(protocol) + marker_of(protocol)
    found = decoded(protocol, body.replace(b"\n", end))
    assert (found.text, found.events[-1], found.failure) == ("ab", STOPPED, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_mixed_line_ends(protocol: str) -> None:
    body = text_stream(protocol, "a", "b")
    first = body.index(b"\n\n") + 2
    mixed = body[:first].replace(b"\n", b"\r") + body[first:].replace(b"\n\n", b"\r\n\n", 1)
    assert decoded(protocol, mixed).text == "ab"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_byte_order_mark_comments_and_blank_lines(protocol: str) -> None:
    body = text_stream(protocol, "a").replace(b"\n\n", b"\n\n: keep-alive\n\n\n\n:\n")
    assert decoded(protocol, b"\xef\xbb\xbf\n\n" + body).text == "a"
    assert decoded(protocol, b"\xef\xbb\xbf" + body).text == "a"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_fields_in_any_form(protocol: str) -> None:
    body = text_stream(protocol, "a", "b")
    assert decoded(protocol, body.replace(b"data: ", b"data:").replace(b"event: ", b"event:")).text == "ab"
    assert decoded(protocol, body.replace(b"data: ", b"id: 7\nretry: 10\nunknown: x\nData: x\ndata: ")).text == "ab"
    assert decoded(protocol, body.replace(b'{"', b'{\ndata: "').replace(b"data: {", b"data:  {")).text == "ab"


@pytest.mark.parametrize(
    "beat",
    [
        b"data:\n\n",
        b"data: \n\n",
        b"data\n\n",
        b"data: : keepalive\n\n",
        b"event: x\n\n",
        b"id: 4\n\n",
        data({"type": "ping"}),
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_heartbeats(protocol: str, beat: bytes) -> None:
    body = text_stream(protocol, "a")
    assert decoded(protocol, beat + body + beat + reason_of(protocol) + beat).text == "a"
    assert decoded(protocol, beat).events == [UNSPECIFIED]


def test_events_with_a_single_newline_between_them() -> None:
    lines = b"".join(part.replace(b"\n\n", b"\n") for part in (A, B))
    for end in (b"\n", b"data: [DONE]\n", b"data: [DONE]", b"[DONE]\n", b""):
        found = decoded("openai-chat", lines + end)
        assert (found.text, found.events[-1]) == ("ab", STOPPED)
    found = decoded("openai-chat", A[:-1] + b"data: \ndata: : beat\n" + A[:-1] + b'data: {"cut')
    assert (found.text, found.failure and found.failure.kind) == ("aa", "StreamTruncated")
    assert decoded("openai-chat", A[:-1] + b"data: : beat\ndata: [DONE]\n\n").summary.end_marker
    assert kind("openai-chat", A[:-1] + b"data: {cut\n\n" + B) == "RemoteProtocolError"
    assert kind("openai-chat", b"data: {cut\n" + A) == "RemoteProtocolError"


def test_events_with_a_single_newline_between_them_in_anthropic() -> None:
    body = (START + delta(0, "text", "a") + delta(0, "text", "b")).replace(b"\n\n", b"\n")
    assert decoded("anthropic", body).text == "ab"


@pytest.mark.parametrize("payload", [b"junk", b"{", b'{"a":1}}', b"[DONE", b"{'a':1}", b"undefined"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_payload_that_is_not_json(protocol: str, payload: bytes) -> None:
    body = text_stream(protocol, "a")
    found = decoded(protocol, body + data(payload) + text_stream(protocol, "late"))
    assert found.text == "a"
    assert found.failure is not None
    assert (found.failure.kind, found.failure.offset) == ("RemoteProtocolError", len(body))
    assert found.failure.excerpt == payload


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_invalid_text(protocol: str) -> None:
    body = text_stream(protocol, "a", "?", "\ud83d", "\ude00b", "\udc00").replace(b'"?"', b'"\xff\xe2\x82"')
    found = decoded(protocol, body)
    assert found.text == "a\ufffd\ufffd😀b\ufffd"


def test_the_name_of_an_event_counts_only_without_a_type() -> None:
    text = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}
    assert decoded("anthropic", START + data(text, name="message_stop") + data(text, name="message")).text == "aa"
    assert decoded("openai-chat", A.replace(b"data:", b"event: x\ndata:")).text == "a"


def test_raw_payloads_stand_before_their_events() -> None:
    body = A + data({"error": None}, name="n") + b": c\n\n" + chunk({}, "stop")
    found = decoded("openai-chat", body, include_raw=True)
    raw = [each for each in found.events if isinstance(each, RawPayload)]
    assert found.events[0] == RawPayload(None, A[6:-2])
    assert found.events[1].as_text() == "a"
    assert raw[1:] == [RawPayload("n", b'{"error":null}'), RawPayload(None, body.split(b"data: ")[-1][:-2])]
    whole = {"object": "chat.completion", "choices": []}
    assert decoded("openai-chat", json.dumps(whole).encode(), include_raw=True).events[0] == RawPayload(
        None, json.dumps(whole).encode()
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ends_in_short(protocol: str) -> None:
    body = text_stream(protocol, "a")
    assert decoded(protocol, body + reason_of(protocol) + b"junk").events[-1] == STOPPED
    assert decoded(protocol, body + reason_of(protocol) + b'data: {"cut').events[-1] == STOPPED
    assert decoded(protocol, body).events[-1] == UNSPECIFIED
    assert decoded(protocol, body[:-1]).events[-1] == UNSPECIFIED
    assert kind(protocol, body[:-8]) == "StreamTruncated"
    assert kind(protocol, body, complete=False) == "StreamTruncated"
    assert kind(protocol, body + b"data: 1", complete=False) == "StreamTruncated"
    assert kind(protocol, body + b"data: 1\n", complete=False) == "StreamTruncated"
    assert decoded(protocol, body + reason_of(protocol) + b"data: 1", complete=False).events[-1] == STOPPED
    assert decoded(protocol, body + b"[DONE]\n", complete=False).summary.end_marker
    assert kind(protocol, body + reason_of(protocol) + b'data: {"error":"no"}') == "APIError"
    late = decoded(protocol, body + b"[DONE]\n" + b'data: {"error":"no"}')
    assert (late.events[-1], late.failure) == (UNSPECIFIED, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_errors_in_short(protocol: str) -> None:
    for error in (
        b'data: {"error":{}}\n\n',
        b"event: error\n\n",
        b"event: error\ndata: x\n\n",
        b"error: x\n\n",
        b'{"error":1}\n',
        b'[{"error":1}]\n',
    ):
        assert kind(protocol, text_stream(protocol, "a") + error) == "APIError"
    assert kind(protocol, b'{"error":"no"}') == "APIError"
    assert kind(protocol, b'[{"error":"no"}]') == "APIError"
    assert decoded(protocol, text_stream(protocol, "a") + b"error:\n\n").failure is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_foreign_bodies_in_short(protocol: str) -> None:
    for body in (
        b"<html>\n",
        b"\x1f\x8b\x08",
        b"text",
        b'{"a":1}\n{"b":2}\n',
        b"[1]",
        b'{"a":\nx}',
        data({"n": 1}),
        data([1]),
    ):
        assert kind(protocol, body) == "RemoteProtocolError"
    assert kind(protocol, b'{"model":"m","response":"x","done":false}\n{}\n') == "RemoteProtocolError"
    assert decoded(protocol, text_stream(protocol, "a") + b'{"n":1}\n{"x"}\n[1]\n').text == "a"
    assert decoded(protocol, text_stream(protocol, "a") + b'{"n":1}\n' + reason_of(protocol)).events[-1] == STOPPED


def test_whole_answers_in_short() -> None:
    chat = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    message = {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    for protocol, answer in (("openai-chat", chat), ("anthropic", message)):
        found = decoded(protocol, json.dumps(answer, indent=1).encode())
        assert (found.text, found.events[-1], found.summary.end_marker) == ("hi", STOPPED, True)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_depth(protocol: str) -> None:
    limits = Limits(max_json_depth=10)
    for depth, is_fine in ((9, True), (10, False)):
        nested = b'{"error":null,"n":' + b"[" * depth + b"]" * depth + b"}"
        found = decoded(protocol, text_stream(protocol, "a") + data(nested), limits=limits)
        assert (found.failure is None) == is_fine
    assert found.failure is not None
    assert (found.failure.kind, found.failure.offset) == ("LimitExceeded", len(text_stream(protocol, "a")))
    deep = b'{"n":' + b"[" * 100_000
    body = text_stream(protocol, "a") + data(deep)
    found = outcome(lambda: StreamDecoder(protocol, limits=Limits(max_json_depth=None)), [body])
    assert found.failure is not None
    assert found.failure.kind == "RemoteProtocolError"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_limits_of_calls_name_the_frame(protocol: str) -> None:
    if protocol == "openai-chat":
        body, last = tool(0, "c1", "f", "{}"), tool(1, "c2", "g", "{}")
    else:
        body = START + event(
            "content_block_start", index=0, content_block={"type": "tool_use", "id": "c1", "name": "f"}
        )
        last = event("content_block_start", index=1, content_block={"type": "tool_use", "id": "c2", "name": "g"})
    found = decoded(protocol, body + last, limits=Limits(max_tool_calls=1))
    assert found.failure is not None
    assert (found.failure.kind, found.failure.offset) == ("LimitExceeded", len(body))


def test_what_a_protocol_says_of_its_payloads() -> None:
    def on_payload(state: Any, payload: dict[str, Any], sse_name: str | None) -> Verdict:
        if payload.get("type") == "beat":
            return Verdict.HEARTBEAT
        if payload.get("deep"):
            raise RecursionError
        if payload.get("bad"):
            raise ValueError(f"a bad payload named {sse_name}")
        state.text(payload["text"])
        return Verdict.RECOGNISED

    protocol = ApiProtocol(name="mine", on_payload=on_payload, recognises=lambda payload, _: "text" in payload)
    beat, text = data({"type": "beat"}), data({"text": "a"})

    def run(body: bytes) -> Any:
        return outcome(lambda: StreamDecoder(protocol), [body])

    assert run(beat).events == [UNSPECIFIED]
    assert run(beat + text + DONE + text).text == "aa"
    assert run(text + DONE).summary.end_marker
    assert run(data({"bad": 1}, name="n")).failure.text.startswith("a bad payload named n (at byte 0 of the body)")
    assert run(text + data({"deep": 1})).failure.offset == len(text)
    assert run(b'{"text":"a"}').summary.end_marker


def test_the_error_of_bad_arguments_stands_in_the_place_of_the_finish() -> None:
    body = tool(0, "c1", "f", "{") + chunk({}, "tool_calls") + chunk({"content": "late"}) + DONE
    found = decoded("openai-chat", body, include_usage=True)
    assert (found.text, found.calls) == ("late", [])
    assert found.failure is not None
    assert found.failure.kind == "InvalidToolArguments"
    with pytest.raises(tokwire.InvalidToolArguments) as caught:
        tokwire.decode(body, "openai-chat")
    assert (caught.value.calls[0].id, caught.value.finish_reason) == ("c1", FinishReason.TOOL_CALLS)


def test_a_reason_without_words_is_none() -> None:
    found = decoded("anthropic", START + end_of_content(None) + end_of_content("") + STOP)
    assert found.events == [UNSPECIFIED]
