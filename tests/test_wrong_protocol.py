"""The body of each protocol on the decoder of each other one: an error that says what came, and never an event."""

from __future__ import annotations

import json

import pytest
from tests.bodies import (
    added,
    array,
    begun,
    block,
    call,
    candidate,
    completed,
    events,
    frame,
    function,
    invoked,
    line,
    message_end,
    part,
    piece,
    stopped,
    text_delta,
    tool,
)
from tests.support import BODIES as TWO
from tests.support import cut, outcome, single_bytes
from tests.wire import Row, rows

import tokwire

PAYLOADS = (candidate({"text": "a"}), candidate(call("f", {}), reason="STOP"))
BODIES = {
    "openai-chat": TWO["openai-chat"],
    "anthropic": TWO["anthropic"],
    "openai-responses": text_delta("a") + added(function(), 1) + completed(),
    "openai-responses, without names": (text_delta("a") + completed()).replace(b"event: response.", b": response."),
    "gemini": events(*PAYLOADS),
    "gemini, as an array": array(*PAYLOADS),
    "gemini, one payload": json.dumps(PAYLOADS[0]).encode(),
    "ollama": line("a") + line("", tool("f", {}), done=True, done_reason="stop"),
    "ollama, one line": line("a", done=True, done_reason="stop"),
    "bedrock": block(0, text="a") + begun(1) + stopped("tool_use") + frame("metadata", usage={"inputTokens": 1}),
    "bedrock, invoked": invoked({"outputText": "a", "completionReason": "FINISH"}),
    "cohere": part("content-delta", 0, content={"text": "a"}) + piece(0, "c", "f", "{}") + message_end("TOOL_CALL"),
}
PROTOCOLS = ("openai-chat", "anthropic", "openai-responses", "gemini", "ollama", "bedrock", "cohere")
WRONG = [(body, decoder) for body in BODIES for decoder in PROTOCOLS if decoder != body.partition(",")[0]]
REFUSED: list[Row] = [("error", "RemoteProtocolError")]
UNNAMED: tuple[str, ...] = ()
"""Bodies that an error calls something else than by the name of their protocol."""


def reads_of(body: bytes) -> list[list[bytes]]:
    """The body whole, one byte per read, and cut in two at some places."""
    return [[body], single_bytes(body), *(cut(body, [place]) for place in range(1, len(body), 7))]


def text_of(body: bytes, decoder: str) -> str:
    """The error that a body gives, the same however it is cut."""
    found = {
        (tuple(rows(each)), each.failure)
        for reads in reads_of(body)
        for each in [outcome(lambda: tokwire.StreamDecoder(decoder, include_reasoning=True), reads)]
    }
    ((events_of, failure),) = found
    assert list(events_of) == REFUSED
    assert failure is not None
    return failure.text


@pytest.mark.parametrize(("body", "decoder"), WRONG)
def test_the_wrong_decoder_says_so(body: str, decoder: str) -> None:
    text = text_of(BODIES[body], decoder)
    if decoder == "bedrock":
        assert "not an event-stream message" in text
    else:
        assert decoder in text or "not JSON" in text
    if body not in UNNAMED and decoder != "bedrock":
        assert body.partition(",")[0] in text


@pytest.mark.parametrize("body", BODIES)
def test_detection_and_the_right_decoder(body: str) -> None:
    name = body.partition(",")[0]
    found = tokwire.detect(BODIES[body])
    assert found is not None
    assert found.name == name
    assert [
        row for row in rows(outcome(lambda: tokwire.StreamDecoder(name), [BODIES[body]])) if row[0] == "error"
    ] == []


@pytest.mark.parametrize("body", BODIES)
def test_no_prefix_is_taken_for_another_protocol(body: str) -> None:
    name, data = body.partition(",")[0], BODIES[body]
    answers = {found.name for end in range(len(data)) if (found := tokwire.detect(data[:end])) is not None}
    assert answers <= {name}
