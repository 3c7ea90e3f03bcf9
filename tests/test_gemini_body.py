"""Gemini: the two forms of a body, how each begins and ends, what is neither, and generated answers in both."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import array, call, candidate, cut_off, decode, events, failed
from tests.support import DONE, cut, outcome, single_bytes
from tests.wire import rows

import tokwire
from tokwire import Limits, StreamDecoder
from tokwire.protocols import find_protocol

STOPPED = ("finish", "stop")
CUT = ("error", "StreamTruncated")


def text(fragment: str, **members: object) -> dict[str, Any]:
    """A part with text."""
    return {"text": fragment, **members}


@pytest.mark.parametrize("lead", [b"", b"\xef\xbb\xbf", b" \r\n\t", b"\xef\xbb\xbf\n "])
def test_the_first_byte_decides_the_form(lead: bytes) -> None:
    payload = candidate(text('"]},{[\\'), reason="STOP")
    found = decode("gemini", lead + array(payload) + b"\n]rest")
    assert rows(found) == [("text", '"]},{[\\'), STOPPED]
    decoder = StreamDecoder("gemini")
    decoder.receive_data(lead + array(payload))
    assert list(decoder.events())[-1].finish_reason() is tokwire.FinishReason.STOP
    if b"\n" not in lead.removeprefix(b"\xef\xbb\xbf") or lead == b"":
        assert rows(decode("gemini", lead + events(payload)))[-1] == STOPPED


@pytest.mark.parametrize("body", [b"", b" \r\n", b"\xef\xbb\xbf", b"[]", b"\n[ ]"])
def test_bodies_without_anything(body: bytes) -> None:
    assert rows(decode("gemini", body)) == [("finish", "unspecified")]


@pytest.mark.parametrize("body", [b"\xef", b"\xef\xbb", b"no", b"[1]", b'["x"]', b'[{"k":1}]', b"[}", b"[{},x]"])
def test_bodies_that_are_something_else(body: bytes) -> None:
    assert rows(decode("gemini", body)) == [("error", "RemoteProtocolError")]


def test_a_whole_answer_is_no_array() -> None:
    payload = candidate(text("a"), reason="STOP")
    found = decode("gemini", json.dumps(payload, indent=1).encode())
    assert (rows(found), found.summary.end_marker) == ([("text", "a"), STOPPED], True)
    lines = json.dumps(payload).encode() + b"\n" + json.dumps(payload).encode() + b"\n"
    assert "JSON lines" in str(failed("gemini", lines))


@pytest.mark.parametrize("end", ["", ","])
def test_an_array_without_its_bracket(end: str) -> None:
    begin, last = candidate(text("a")), candidate(text("b"), reason="STOP")
    assert rows(decode("gemini", array(begin, end=end))) == [("text", "a"), ("finish", "unspecified")]
    assert cut_off("gemini", array(begin, end=end))[-1] == CUT
    assert cut_off("gemini", array(last, begin, end=end)) == [("text", "b"), ("text", "a"), STOPPED]


def test_an_element_that_is_cut() -> None:
    whole = array(candidate(text("a")), candidate(text("b")), end="")
    assert rows(decode("gemini", whole[:-9])) == [("text", "a"), CUT]
    reported = array(candidate(text("a"), reason="STOP"), candidate(text("b")), end="")
    assert rows(decode("gemini", reported[:-9])) == [("text", "a"), STOPPED]
    assert rows(decode("gemini", b"[")) == [CUT]


def test_the_event_form_ends_with_the_body() -> None:
    assert cut_off("gemini", events(candidate(text("a")))) == [("text", "a"), CUT]
    assert cut_off("gemini", events(candidate(text("a"), reason="STOP"))) == [("text", "a"), STOPPED]
    found = decode("gemini", events(candidate(text("a"))), DONE, events(candidate(text("b"))))
    assert (found.text, found.summary.end_marker) == ("ab", True)


def test_limits_hold_in_both_forms() -> None:
    payload = candidate(text("x" * 200), reason="STOP")
    for body in (events(payload), array(payload)):
        assert rows(decode("gemini", body, limits=Limits(max_event_bytes=150))) == [("error", "LimitExceeded")]


# ---- generated answers ---------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
PARTS = st.lists(st.tuples(st.sampled_from(["text", "reasoning", "call"]), WORDS), max_size=6)


@settings(max_examples=150, deadline=None)
@given(PARTS, st.booleans(), st.lists(st.integers(0, 2000), max_size=6))
def test_what_was_generated_comes_out(parts: list[tuple[str, str]], form: Any, places: list[int]) -> None:
    written = [
        call("f", {"k": word}) if kind == "call" else text(word, thought=kind == "reasoning") for kind, word in parts
    ]
    payloads = [*map(candidate, written), candidate(reason="STOP")]
    body = array(*payloads) if form else events(*payloads)
    reads = cut(body, [min(place, len(body)) for place in places])
    found = outcome(lambda: StreamDecoder("gemini", include_reasoning=True), reads)
    assert found.text == "".join(word for kind, word in parts if kind == "text")
    assert found.reasoning == "".join(word for kind, word in parts if kind == "reasoning")
    assert [value for _, _, value in found.calls] == [{"k": word} for kind, word in parts if kind == "call"]
    assert len({call_id for call_id, _, _ in found.calls}) == len(found.calls)


# ---- the protocol's own parts --------------------------------------------------------------------------------


def test_nothing_is_held_before_the_form_is_known() -> None:
    framing = find_protocol("gemini").framing(Limits())
    assert (framing.is_idle, framing.held, framing.error) == (True, 0, None)
    assert framing.feed(b"\xef\xbb\xbf \n", 0) == []
    assert (framing.is_idle, framing.held) == (True, 0)
    framing.feed(b'[{"k":', 5)
    assert (framing.is_idle, framing.held, framing.error) == (False, 5, None)
    (frame,) = framing.feed(b"1},", 11)
    assert (frame.data, frame.offset) == (b'{"k":1}', 6)


def test_blanks_before_the_form_count_for_the_limit_of_a_line() -> None:
    for body in (b"    [{}]", b"    data: {}\n\n"):
        found = outcome(lambda: StreamDecoder("gemini", limits=Limits(max_line_bytes=3)), [body])
        assert found.failure is not None
        assert found.failure.kind == "LimitExceeded"
        assert found == outcome(lambda: StreamDecoder("gemini", limits=Limits(max_line_bytes=3)), single_bytes(body))


def test_the_first_limit_that_is_exceeded_is_reported() -> None:
    body = b'[{"a": 1}, {"b": 2}]'
    limits = Limits(max_event_bytes=3)
    found = outcome(lambda: StreamDecoder("gemini", limits=limits), [body])
    assert found.failure is not None
    assert "at byte 1 " in found.failure.text
    assert found == outcome(lambda: StreamDecoder("gemini", limits=limits), single_bytes(body))


@pytest.mark.parametrize(
    ("payload", "is_marked"),
    [
        ({"promptFeedback": {}}, True),
        ({"usageMetadata": {}}, True),
        (candidate(text("a")), True),
        (candidate(reason="STOP"), True),
        ({"candidates": [{"content": {"role": "model"}}]}, True),
        ({"candidates": [{"content": {"role": "user"}}]}, False),
        ({"candidates": [5]}, False),
        ({"candidates": []}, False),
        ({}, False),
    ],
)
def test_marks(payload: dict[str, Any], *, is_marked: bool) -> None:
    assert find_protocol("gemini").marks(payload, None) is is_marked
