"""Envelopes: what is learned from one event, what is proved of it, and when a stream is given up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import decode_options

from tokwire._state import DecodeState
from tokwire.framing._envelope import (
    FEW_EVENTS,
    MAX_EVENT_BYTES,
    NO_ENVELOPE,
    TRIES,
    UNLEARNED,
    WAITS,
    Envelope,
    decode_string,
    learn,
)
from tokwire.framing._shape import TEXT, Shape, leads_of
from tokwire.protocols.anthropic._shapes import INPUT_SHAPE
from tokwire.protocols.openai_chat._shapes import reasoning_shape, text_shape, tool_call_shape

TEXT_SHAPE, REASONING_SHAPE, TOOL_CALL_SHAPE = text_shape(), reasoning_shape(), tool_call_shape()

LEAD = b"data: "


def event(payload: object) -> bytes:
    """One event; what is not bytes becomes JSON."""
    text = payload if isinstance(payload, bytes) else json.dumps(payload, separators=(",", ":")).encode()
    return LEAD + text + b"\n\n"


def chunk(delta: dict[str, Any], **members: object) -> bytes:
    """A chunk with this delta, and more members behind the choices."""
    return event({"id": "i", "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **members})


def new_state(shape: Shape = TEXT_SHAPE) -> DecodeState:
    """A state that expects a shape."""
    state = DecodeState(decode_options(), {})
    state.respell(LEAD)
    state.expect(shape)
    state.envelope = UNLEARNED
    return state


def learned(*events: bytes, shape: Shape = TEXT_SHAPE) -> Envelope:
    """What is known after these events, each of which did not fit the envelope before it."""
    state, offset = new_state(shape), 0
    for found in events:
        learn(state, found, offset)
        offset += len(found)
    return state.envelope


def test_the_bytes_around_the_text_are_learned() -> None:
    found = learned(chunk({"content": 'a"b\\é\U0001f600'}))
    start = b'data: {"id":"i","choices":[{"index":0,"delta":{"content":'
    end = b'},"finish_reason":null}]}\n\n'
    assert (found.start, found.middle, found.end) == (start, b"", end)
    assert (found.piece_start, found.piece_end) == (start[len(LEAD) :], end[:-2])


@pytest.mark.parametrize("text", ["é", "\U0001f600", 'a"b', "a\\b", "a\nb", "\u2028"])
def test_text_in_utf8_and_in_escapes(text: str) -> None:
    as_it_is = json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False).encode()
    assert learned(event(as_it_is)).end
    assert learned(event(json.dumps({"choices": [{"delta": {"content": text}}]}).encode())).end


def test_text_in_a_spelling_of_its_own_is_not_learned() -> None:
    found = learned(event(rb'{"choices":[{"delta":{"content":"a\/b"}}]}'))
    assert not found.end
    assert found.tries == TRIES - 1


def test_text_that_stands_elsewhere_first_is_not_learned() -> None:
    assert not learned(chunk({"role": "assistant", "content": "assistant"})).end
    assert learned(chunk({"role": "assistant", "content": "assistants"})).end


@pytest.mark.parametrize(
    ("delta", "before"),
    [
        (b'{"content":"a","content":"b"}', b'"content":"a","content":'),
        (b'{"content":"b","content":"a"}', b'"content":"b","content":'),
        (b'{"content":"a","content":"a"}', b""),
        (b'{"refusal":"","content":"b","content":"a","role":"b"}', b'"content":"b","content":'),
    ],
)
def test_of_two_members_of_one_name_the_last_counts(delta: bytes, before: bytes) -> None:
    found = learned(event(b'{"choices":[{"delta":' + delta + b"}]}"))
    assert bool(found.end) is bool(before)
    assert found.start.endswith(before)


def test_an_empty_text_must_be_none() -> None:
    beside = chunk({"reasoning_content": "a", "reasoning": "b"})
    assert not learned(beside, shape=REASONING_SHAPE).end
    assert learned(chunk({"reasoning_content": "a", "reasoning": ""}), shape=REASONING_SHAPE).end


def test_the_index_of_a_call_is_kept() -> None:
    found = learned(chunk({"tool_calls": [{"index": 7, "function": {"arguments": "{"}}]}), shape=TOOL_CALL_SHAPE)
    assert (found.index, bool(found.end)) == (7, True)


@pytest.mark.parametrize(
    "lead", [b"event: content_block_delta\ndata: ", b"data: ", b"event:content_block_delta\ndata:"]
)
def test_any_lead_can_stand_before_a_payload(lead: bytes) -> None:
    delta = {"type": "input_json_delta", "partial_json": "{"}
    payload = json.dumps({"type": "content_block_delta", "index": 2, "delta": delta}).encode()
    state = new_state(INPUT_SHAPE)
    state.respell(lead)
    assert state.lead.whole == lead
    found = learn(state, lead + payload + b"\n\n", 0)
    assert (found.index, found.piece_end) == (2, b"}}")
    assert found.start == state.lead.common + found.piece_start


def test_the_first_events_of_a_shape_are_waited_for() -> None:
    state = new_state()
    state.expect(REASONING_SHAPE)
    state.expect(TEXT_SHAPE)
    events = [chunk({"content": "a"}) for _ in range(WAITS + 1)]
    assert [bool(learn(state, found, 0).end) for found in events] == [False] * WAITS + [True]
    assert state.envelope.tries == TRIES - 1


# ---- noise ---------------------------------------------------------------------------------------------------


def test_noise_is_learned_from_the_second_event() -> None:
    first, second = (
        chunk({"content": text}, usage=None, obfuscation=noise) for text, noise in (("a", "x1"), ("b", "Z"))
    )
    assert learned(first).end.endswith(b'"obfuscation":"x1"}\n\n')
    found = learned(first, second)
    assert found.middle == b'},"finish_reason":null}],"usage":null,"obfuscation":"'
    assert (found.end, found.piece_end) == (b'"}\n\n', b'"}')
    assert [word for word in (b"a", b"aZ9", b"a b", b"\xe9", b'"', b"  ") if found.is_noise(word)] == [b"a", b"aZ9"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"obfuscation": "a b"}, {"obfuscation": "c d"}),
        ({"object": "chat.completion"}, {"object": ""}),
        ({"n": 1}, {"n": 2}),
        ({"obfuscation": "x"}, {"padding": "x"}),
        ({"obfuscation": ["x"]}, {"obfuscation": ["y", "z"]}),
    ],
)
def test_what_is_no_word_is_no_noise(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert not learned(chunk({"content": "a"}, **first), chunk({"content": "b"}, **second)).middle


def test_a_word_that_means_something_is_no_noise() -> None:
    shape = Shape(leads_of(None), TEXT, decode_with_words, lambda message: message["text"])
    first, second = event({"text": "a", "word": "yes"}), event({"text": "b", "word": "no"})
    assert learned(first, shape=shape).end
    assert not learned(first, second, shape=shape).end


def decode_with_words(payload: bytes) -> Any:
    """A reader that knows two words."""
    message = json.loads(payload)
    if message["word"] not in ("yes", "no"):
        raise ValueError
    return message


def test_noise_that_shows_where_there_is_no_text_is_none() -> None:
    shape = Shape(leads_of(None), TEXT, json.loads, lambda message: message["text"] or message["word"])
    first, second = event({"text": "a", "word": "x"}), event({"text": "b", "word": "y"})
    assert not learned(first, shape=shape).end
    assert not learned(first, second, shape=shape).end


def test_blanks_before_the_last_bracket_are_noise() -> None:
    first, second = (chunk({"content": "a"}).replace(b"}\n", blanks + b"}\n") for blanks in (b"", b"   "))
    found = learned(first, second)
    assert found.middle == b'},"finish_reason":null}]'
    assert (found.end, found.piece_end) == (b"}\n\n", b"}")
    assert [noise for noise in (b" ", b"   ", b" \t", b"\n", b" a", b"X", b"\x0b") if found.is_noise(noise)] == [
        b" ",
        b"   ",
    ]
    again = learned(second, first)
    assert (again.middle, again.is_noise, again.end) == (found.middle, found.is_noise, found.end)


# ---- giving up -----------------------------------------------------------------------------------------------


def test_a_stream_in_which_all_changes_is_given_up() -> None:
    events = [chunk({"content": "a"}, n=number) for number in range(TRIES + 1)]
    assert learned(*events[:-1]).end
    assert learned(*events[:-1]).tries == 0
    assert learned(*events) is NO_ENVELOPE


def test_an_envelope_that_lasted_is_worth_another() -> None:
    state = new_state()
    events = [chunk({"content": "a"}, n=number) for number in range(10)]
    for number, found in enumerate(events):
        learn(state, found, number * FEW_EVENTS * len(found))
    assert state.envelope.tries == TRIES - 1
    assert state.envelope.end.endswith(b'"n":9}\n\n')


def test_what_lasts_is_counted_from_where_it_was_learned() -> None:
    state = new_state()
    events = [chunk({"content": "a"}, n=number) for number in range(TRIES + 1)]
    for number, found in enumerate(events):
        learn(state, found, 1_000_000 + number * len(found))
    assert state.envelope is NO_ENVELOPE


def test_what_was_never_learned_does_not_last() -> None:
    state = new_state()
    odd = event(rb'{"choices":[{"delta":{"content":"a\/b"}}]}')
    for number in range(TRIES):
        learn(state, odd, number * 1_000_000)
    assert state.envelope.tries == 0
    assert learn(state, odd, 1 << 40) is NO_ENVELOPE


def test_long_events_are_not_held() -> None:
    for size, is_learned in ((MAX_EVENT_BYTES, True), (MAX_EVENT_BYTES + 1, False)):
        short = chunk({"content": "a"}, padding="")
        found = chunk({"content": "a"}, padding="p" * (size - len(short)))
        assert len(found) == size
        assert bool(learned(found).end) is is_learned


# ---- what was proved holds -----------------------------------------------------------------------------------

MEMBERS = st.dictionaries(
    st.sampled_from(["id", "role", "refusal", "object", "obfuscation", "n", "reasoning", "content2"]),
    st.none() | st.sampled_from(["", "a", "content", '"content":', "x9"]) | st.integers(0, 2),
    max_size=3,
)


@settings(max_examples=300, deadline=None)
@given(MEMBERS, MEMBERS, MEMBERS, st.text(min_size=1, max_size=4), st.text(max_size=8))
def test_an_envelope_holds_for_every_text(
    before: dict[str, Any], beside: dict[str, Any], behind: dict[str, Any], text: str, other: str
) -> None:
    first = event({**before, "choices": [{"delta": {**beside, "content": text}}], **behind})
    try:
        TEXT_SHAPE.decode(first[len(LEAD) : -2])
    except ValueError:
        return
    found = learned(first)
    if found.end:
        payload = found.piece_start + json.dumps(other, ensure_ascii=False).encode("utf-8", "replace") + found.piece_end
        shown = TEXT_SHAPE.text_of(TEXT_SHAPE.decode(payload))
        assert shown == decode_string(json.dumps(other, ensure_ascii=False).encode("utf-8", "replace"))
