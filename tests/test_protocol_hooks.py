"""What a protocol of a third party can say of itself, beside its payloads, and what the engine does for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.pigeon import on_payload, pigeon, post

from tokwire import (
    APIError,
    Block,
    Finish,
    FinishReason,
    RemoteProtocolError,
    StreamDecoder,
    StreamEvent,
    StreamTruncated,
    TextBlock,
    ToolUseBlock,
    Verdict,
    decode,
)
from tokwire._engine import plain_events
from tokwire._intake import Intake
from tokwire._state import DecodeState

UNSPECIFIED = Finish(FinishReason.UNSPECIFIED)


def text(fragment: str) -> StreamEvent:
    """The event of a text fragment."""
    return Block(TextBlock(fragment))


def test_finish_words_and_error_words_are_those_of_the_protocol() -> None:
    assert decode(post({"landed": "Tired"}), pigeon()) == [Finish(FinishReason.LENGTH)]
    assert decode(post({"landed": "stop"}), pigeon()) == [Finish(FinishReason.other("stop"))]
    with pytest.raises(APIError, match="hawk") as caught:
        decode(post({"say": "help"}, {"error": {"type": "hawk", "message": "m"}}), pigeon())
    assert (caught.value.status_code, caught.value.events) == (503, (text("help"),))


def test_what_a_reader_refuses_is_an_error_of_the_peer_that_says_where() -> None:
    body = post({"say": "off"}, {"lost": "the sea"})
    with pytest.raises(RemoteProtocolError, match="lost over the sea") as caught:
        decode(body, pigeon())
    assert caught.value.events == (text("off"),)
    assert caught.value.offset == body.index(b"data", 1)
    assert b"the sea" in caught.value.excerpt


def test_heartbeats_prove_nothing_and_hurt_nothing() -> None:
    assert decode(post({"tick": 1}, {"tick": 2}), pigeon()) == [UNSPECIFIED]
    assert decode(post({"tick": 1}, {"say": "a"}, {"tick": 2}), pigeon()) == [text("a"), UNSPECIFIED]


def test_a_stream_without_one_known_payload_is_an_error_that_names_the_protocol() -> None:
    with pytest.raises(RemoteProtocolError, match="pigeon-post"):
        decode(post({"tick": 1}, {"hoot": 1}), pigeon())
    assert decode(post({"hoot": 1}, {"say": "a"}), pigeon()) == [text("a"), UNSPECIFIED]


def test_a_reader_gets_objects_only() -> None:
    seen: list[Any] = []

    def reader(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
        seen.append((payload, sse_name))
        return Verdict.RECOGNISED

    body = b"event: wing\n" + post({"a": 1}) + post([], "x", 5, None) + post({"b": 2})
    assert decode(body, pigeon(on_payload=reader)) == [UNSPECIFIED]
    assert seen == [({"a": 1}, "wing"), ({"b": 2}, None)]


DONE = b"data: [DONE]\n\n"


def test_done_ends_a_stream_only_where_the_protocol_says_so() -> None:
    body = post({"say": "a"}) + DONE + post({"say": "b"})
    assert decode(body, pigeon(done_ends=True)) == [text("a"), UNSPECIFIED]
    assert decode(body, pigeon()) == [text("a"), text("b"), UNSPECIFIED]


def test_done_counts_as_a_marker_when_the_body_was_cut() -> None:
    for body, is_cut in ((post({"say": "a"}), True), (post({"say": "a"}) + DONE, False)):
        decoder = StreamDecoder(pigeon())
        decoder.receive_data(body)
        decoder.receive_eof(complete=False)
        if is_cut:
            with pytest.raises(StreamTruncated):
                list(decoder.events())
        else:
            assert list(decoder.events()) == [text("a"), UNSPECIFIED]


def test_ids_are_made_where_the_protocol_has_none() -> None:
    body = post({"ask": "f", "slot": 0}, {"over": 1})
    assert decode(body, pigeon()) == [UNSPECIFIED]
    (event, _) = decode(body, pigeon(makes_ids=True))
    block = event.as_block()
    assert isinstance(block, ToolUseBlock)
    assert block.id.startswith("call_")
    assert decode(body, pigeon(makes_ids=True)) == [Block(block), UNSPECIFIED]


def test_the_last_reason_wins_only_where_the_protocol_says_so() -> None:
    body = post({"landed": "home"}, {"say": "a"}, {"landed": "tired"})
    assert decode(body, pigeon())[-1] == Finish(FinishReason.STOP)
    assert decode(body, pigeon(last_reason_wins=True))[-1] == Finish(FinishReason.LENGTH)


def test_the_protocol_is_asked_once_before_the_last_drain() -> None:
    def on_eof(state: DecodeState) -> None:
        state.text("last words")

    for body in (post({"say": "a"}), post({"say": "a"}, {"over": 1})):
        assert decode(body, pigeon(on_eof=on_eof)) == [text("a"), text("last words"), UNSPECIFIED]


def test_a_body_that_is_one_json_answer_has_a_reader_of_its_own() -> None:
    def on_body(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
        for letter in payload["letters"]:
            on_payload(state, {"say": letter}, sse_name)
        return Verdict.RECOGNISED

    whole = json.dumps({"pigeon": 1, "letters": ["x", "y"]}).encode()
    assert decode(whole, pigeon(on_body=on_body)) == [text("x"), text("y"), UNSPECIFIED]
    assert decode(json.dumps({"say": "z"}).encode(), pigeon()) == [text("z"), UNSPECIFIED]


def test_a_protocol_can_bring_the_generator_behind_events() -> None:
    taken: list[StreamEvent] = []

    def events(intake: Intake) -> Iterator[StreamEvent]:
        for event in plain_events(intake):
            taken.append(event)
            yield event

    decoded = decode(post({"say": "a"}, {"over": 1}), pigeon(events=events))
    assert decoded == taken == [text("a"), UNSPECIFIED]
