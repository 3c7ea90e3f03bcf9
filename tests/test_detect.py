"""Detection: the right protocol from the first payloads, None when unsure, and at no prefix a wrong one."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import (
    DONE,
    PROTOCOLS,
    START,
    STOP,
    chunk,
    data,
    delta,
    event,
    marker_of,
    open_block,
    reason_of,
    text_stream,
)

import tokwire
from tokwire._detect import MAX_BYTES, MAX_PAYLOADS, detect, detect_name, name_of_payload


def lines(*payloads: object) -> bytes:
    return b"".join(json.dumps(payload).encode() + b"\n" for payload in payloads)


def frame(headers: bytes, payload: bytes = b"{}", *, total: int | None = None, crc: int | None = None) -> bytes:
    """One frame of an AWS event stream; nobody looks at its last checksum here."""
    prelude = struct.pack(">II", 16 + len(headers) + len(payload) if total is None else total, len(headers))
    checksum = zlib.crc32(prelude) if crc is None else crc
    return prelude + struct.pack(">I", checksum) + headers + payload + b"\0\0\0\0"


def header(value: bytes, name: bytes = b":event-type") -> bytes:
    return bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value


CHAT = text_stream("openai-chat", "Hel", "lo") + reason_of("openai-chat") + DONE
RESPONSES = (
    data({"type": "response.created", "response": {"id": "x"}}, name="response.created")
    + data({"type": "response.output_text.delta", "delta": "hi"}, name="response.output_text.delta")
)  # fmt: skip
GEMINI = {"candidates": [{"content": {"parts": [{"text": "hi"}], "role": "model"}}], "modelVersion": "g"}
OLLAMA = {"model": "m", "created_at": "now", "message": {"role": "assistant", "content": "hi"}, "done": False}
COHERE = data({"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}})
WHOLE_CHAT = {"id": "c", "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "hi"}}]}
WHOLE_MESSAGE = {"type": "message", "id": "m", "content": [{"type": "text", "text": "hi"}], "role": "assistant"}

BODIES: dict[str, list[bytes]] = {
    "openai-chat": [
        CHAT,
        b": first a comment\n\n" + CHAT,
        b"\xef\xbb\xbf" + CHAT.replace(b"\n", b"\r\n"),
        CHAT.replace(b"data: ", b"data:").replace(b"\n", b"\r"),
        data({"error": None, "usage": None}) + data({"choices": [], "prompt_filter_results": []}) + CHAT,
        data({"choices": [{"delta": {"content": "x"}}]}),
        data({"choices": [{"message": {"content": "x"}}]}),
        data({"object": "chat.completion.chunk", "choices": []}),
        json.dumps(WHOLE_CHAT).encode(),
        json.dumps(WHOLE_CHAT, indent=1).encode(),
        data(b"{not json") + CHAT,
    ],
    "anthropic": [
        START + open_block(0, type="text", text="") + delta(0, "text", "hi") + STOP,
        event("ping") + START,
        data({}, name="message_start"),
        data({"message": {}}, name="message_start"),
        data({"type": "message_stop"}),
        b"\n\n  " + json.dumps(WHOLE_MESSAGE).encode(),
    ],
    "openai-responses": [
        RESPONSES,
        data({"response": {}}, name="response.created"),
        lines({"id": "x", "object": "response", "output": []}),
    ],
    "gemini": [
        data(GEMINI),
        data(GEMINI).replace(b"\n", b"\r\n"),
        b"[" + json.dumps(GEMINI).encode() + b"\n,\r\n" + json.dumps(GEMINI).encode() + b"]",
        b" [\n " + json.dumps(GEMINI, indent=2).encode(),
        data({"promptFeedback": {"blockReason": "SAFETY"}}),
        data({"usageMetadata": {"totalTokenCount": 1}}),
        data({"candidates": [{"finishReason": "STOP"}]}),
        data({"candidates": [{"content": {"role": "model"}}]}),
    ],
    "ollama": [
        lines(OLLAMA, OLLAMA | {"done": True}),
        lines({"model": "m", "response": "hi", "done": False}),
        json.dumps(OLLAMA, indent=2).encode(),
    ],
    "cohere": [
        COHERE,
        data({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
        data({"delta": {"message": {}}}, name="content-delta"),
    ],
    "bedrock": [frame(header(b"messageStart")), frame(header(b"chunk")), frame(header(b"throttlingException"))],
}

UNSURE: list[bytes] = [
    b"",
    b"\xef\xbb\xbf",
    b"<html><body>data: nothing</body></html>",
    b"plain words",
    b"{",
    b"[",
    b"[]",
    b"[1, 2]",
    b"data: [DONE]\n\n",
    b"data: 17\n\n",
    data({"error": {"message": "no"}}, name="error"),
    data({"usage": {"prompt_tokens": 1}}),
    data({"object": "text_completion", "choices": [{"text": "x", "delta": {}}]}),
    data({"choices": []}),
    data({"choices": [{"text": "x"}]}),
    data({"type": "ping"}, name="ping"),
    data({"type": "message", "content": "text"}),
    data({"type": "message-start"}),
    data({"type": "message-start", "delta": {"text": "x"}}),
    data({"object": "response"}),
    data({"candidates": []}),
    data({"candidates": [{}]}),
    data({"candidates": [{"content": {"role": "user"}}]}),
    data({"promptFeedback": 1, "usageMetadata": None}),
    lines({"done": True, "model": "m"}),
    lines({"done": 1, "model": "m", "response": "x"}),
    lines({"done": True, "response": "x"}),
    lines({"done": True, "model": "m", "message": {}}),
    frame(header(b"somethingElse")),
    frame(header(b"messageStart"), crc=1),
    frame(header(b"messageStart"), total=15),
    frame(header(b"messageStart"))[:15],
    b"[" * 100_000,
]

CASES = [(name, body) for name, bodies in BODIES.items() for body in bodies]


@pytest.mark.parametrize(("name", "body"), CASES)
def test_the_right_name_and_at_no_prefix_a_wrong_one(name: str, body: bytes) -> None:
    found = [detect_name(body[:size]) for size in range(len(body) + 1)]
    assert found[0] is None
    assert found[-1] == name
    assert set(found) == {None, name}


@pytest.mark.parametrize(("name", "body"), CASES)
def test_only_what_can_be_decoded_is_a_protocol(name: str, body: bytes) -> None:
    protocol = detect(body)
    known = {each.name for each in tokwire.protocols()}
    assert (protocol and protocol.name) == (name if name in known else None)


@pytest.mark.parametrize("body", UNSURE, ids=range(len(UNSURE)))
def test_unsure(body: bytes) -> None:
    assert detect_name(body) is None
    assert detect(body) is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_plain_stream(protocol: str, end: bytes) -> None:
    body = text_stream(protocol, "a") + reason_of(protocol) + marker_of(protocol)
    found = detect(body.replace(b"\n", end), "text/event-stream")
    assert found is not None
    assert found.name == protocol


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("application/vnd.amazon.eventstream", "bedrock"),
        (" Application/VND.amazon.EventStream ; x=y", "bedrock"),
        ("application/vnd.amazon", None),
        ("", None),
        (None, None),
    ],
)
def test_the_content_type_decides_for_frames_alone(content_type: str | None, name: str | None) -> None:
    assert detect_name(b"", content_type) == name


def test_marks_of_two_protocols_prove_neither() -> None:
    both: dict[str, Any] = GEMINI | {"choices": [{"delta": {}}]}
    assert name_of_payload(both, None) is None
    assert detect_name(data(both) + data(GEMINI)) == "gemini"


def test_the_names_error_and_message_prove_nothing() -> None:
    assert name_of_payload({"message": {}}, "message") is None
    assert name_of_payload({"message": {}}, "error") is None
    assert name_of_payload("text", "message_start") is None


def test_a_name_holds_for_its_event_alone() -> None:
    assert detect_name(b"event: message_start\n\ndata: {}\n\n") is None
    assert detect_name(b"event: message_start\ndata: {}\n\n") == "anthropic"


def test_only_the_first_payloads_count() -> None:
    filler = data({"n": 1})
    assert detect_name(filler * (MAX_PAYLOADS - 1) + CHAT) == "openai-chat"
    assert detect_name(filler * MAX_PAYLOADS + CHAT) is None
    assert detect_name(lines({"n": 1}) * (MAX_PAYLOADS - 1) + lines(OLLAMA)) == "ollama"
    assert detect_name(lines({"n": 1}) * MAX_PAYLOADS + lines(OLLAMA)) is None


def test_only_the_first_bytes_count() -> None:
    comment = b":" * (MAX_BYTES - 2) + b"\n\n"
    assert tokwire.detect(comment + CHAT) is None
    shorter = tokwire.detect(comment[len(CHAT) :] + CHAT)
    assert shorter is not None
    assert shorter.name == "openai-chat"


@given(st.binary(max_size=200))
def test_any_bytes(prefix: bytes) -> None:
    assert detect_name(prefix) is None or b"{" in prefix


PAYLOADS = st.sampled_from([GEMINI, OLLAMA, WHOLE_CHAT, WHOLE_MESSAGE, {"n": 1}, json.loads(COHERE[6:])])


@given(st.lists(PAYLOADS, min_size=1, max_size=4), st.booleans())
def test_the_first_payload_with_marks_decides(payloads: list[dict[str, Any]], framed: bool) -> None:  # noqa: FBT001
    body = b"".join(map(data, payloads)) if framed else lines(*payloads)
    names = [name_of_payload(payload, None) for payload in payloads]
    assert detect_name(body) == next((name for name in names if name), None)


def test_a_chunk_is_no_other_protocol() -> None:
    assert detect_name(chunk({"content": "type: response.created"})) == "openai-chat"
