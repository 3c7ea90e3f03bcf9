"""OpenAI Responses: the quick path. Text of one part runs through it; whatever else comes leaves it unharmed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import added, completed, decode, done, function, incomplete, message, said, text_delta, written
from tests.quick import (
    OPTIONS,
    check,
    check_that_nothing_waits,
    one_by_one,
    read_in_full,
    respelled,
    ways,
    without_blanks,
    without_names,
)
from tests.support import cut, data
from tests.wire import ABSENT, Row, rows

import tokwire

STOPPED = ("finish", "stop")
KIND = "response.output_text.delta"
START = said("created", response={"id": "r1", "model": "m1"}) + added(message(id="i1"), 0)
END = completed()


def thought(kind: str, text: object, position: object = 0, *, place: str = "content_index") -> bytes:
    """A delta of reasoning in one of its spellings."""
    return said(f"{kind}.delta", output_index=3, **{place: position}, delta=text, sequence_number=5)


THINKING = [thought("reasoning_text", letter) for letter in "ab"]
CUSTOM = added({"type": "custom_tool_call", "id": "i4", "call_id": "c4", "name": "f"}, 4)


def custom(text: object) -> bytes:
    """A fragment of the input of a custom tool."""
    return said("custom_tool_call_input.delta", output_index=4, delta=text)


def event(**members: object) -> bytes:
    """A text delta with exactly these members, under its own name."""
    return data(members, name=KIND)


def test_ordinary_deltas_are_read_quickly() -> None:
    events = [START, *(text_delta(letter, sequence_number=5, item_id="i1", logprobs=[]) for letter in "abcdefgh")]
    body = b"".join(events)
    for reads in (events, [body], cut(body, [len(START) + 200, 600, 610])):
        assert read_in_full("openai-responses", reads) == 3
        check("openai-responses", [*reads, END])
    expected = [("text", letter) for letter in "abcdefgh"]
    assert rows(decode("openai-responses", body, END)) == [*expected, STOPPED]


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("reasoning_text", "content_index"),
        ("reasoning", "content_index"),
        ("reasoning_summary_text", "summary_index"),
        ("reasoning_summary", "summary_index"),
    ],
)
@pytest.mark.parametrize("position", [0, 1, 63, 64, ABSENT])
def test_reasoning_is_read_quickly(kind: str, place: str, position: object) -> None:
    events = [START, *(thought(kind, letter, position, place=place) for letter in "abcdef")]
    for with_reasoning in (True, False):
        expected = 8 if position == 64 else 3
        assert read_in_full("openai-responses", events, include_reasoning=with_reasoning) == expected
        check("openai-responses", [*events, END], include_reasoning=with_reasoning)
    found = rows(decode("openai-responses", *events, END, include_reasoning=True))
    assert found == [*(("reasoning", letter) for letter in "abcdef"), STOPPED]


def test_the_same_reasoning_in_another_spelling_is_not_shown() -> None:
    events = [*(thought("reasoning_text", letter) for letter in "abc"), thought("reasoning_summary_text", "x")]
    events += [thought("reasoning_summary_text", letter) for letter in "yz"] + [thought("reasoning_text", "d")]
    assert rows(decode("openai-responses", START, *events, END))[:-1] == [("reasoning", letter) for letter in "abcd"]


@pytest.mark.parametrize("make", [lambda text: written(1, text), custom])
def test_arguments_are_read_quickly(make: Any) -> None:
    begun = [START, added(function(), 1), CUSTOM]
    events = [*begun, *map(make, ["{", '"k"', ":", "1", "}"])]
    assert read_in_full("openai-responses", events) == 5
    assert read_in_full("openai-responses", events, include_tool_deltas=True) == len(events) + 1
    found = rows(decode("openai-responses", *events, END))
    expected = ("call", "c4", "f", '"{\\"k\\":1}"') if make is custom else ("call", "a", "f", '{"k":1}')
    assert expected in found


def test_fragments_go_to_the_item_of_their_index() -> None:
    begun = [START, added(function("a"), 1), added(function("b"), 2)]
    parts = [written(index, text) for text in ("[1", ",2", ",3", "]") for index in (1, 2)]
    found = rows(decode("openai-responses", *begun, *parts, END))
    assert found[:2] == [("call", "a", "f", "[1,2,3]"), ("call", "b", "f", "[1,2,3]")]


@pytest.mark.parametrize("spell", [without_names, without_blanks, lambda event: without_names(without_blanks(event))])
def test_other_spellings_are_read_quickly(spell: Any) -> None:
    events = [spell(event) for event in (START, *map(text_delta, "abcdef"))]
    assert read_in_full("openai-responses", events) == 3
    block = b"".join(events)
    assert read_in_full("openai-responses", cut(block, [len(events[0]) // 2, len(events[0]) + 10])) == 3
    found = rows(decode("openai-responses", *events, END))
    assert found == [*(("text", letter) for letter in "abcdef"), STOPPED]


def test_text_of_a_part_that_was_empty_at_first_is_not_said_again() -> None:
    second = [text_delta(letter, 1) for letter in ("", "x", "y")]
    whole = said("output_text.done", output_index=1, content_index=0, text="xy")
    found = rows(decode("openai-responses", START, text_delta("a"), *second, whole, END))
    assert found == [("text", "a"), ("text", "x"), ("text", "y"), STOPPED]


ODD: list[tuple[bytes, list[Row]]] = [
    (event(output_index=0, content_index=0, delta="y"), [("text", "y")]),
    (event(type=None, output_index=0, content_index=0, delta="y"), [("text", "y")]),
    (event(type="", output_index=0, content_index=0, delta="y"), [("text", "y")]),
    (event(type=5, output_index=0, content_index=0, delta="y"), [("text", "y")]),
    (event(type="response.refusal.delta", output_index=0, content_index=1, delta="y"), [("refusal", "y")]),
    (event(type="response.unheard_of", output_index=0, content_index=0, delta="y"), []),
    (event(delta="y", content_index=0, output_index=0, type=KIND), [("text", "y")]),
    (event(type=KIND, output_index=0, delta="y"), [("text", "y")]),
    (event(type=KIND, content_index=0, delta="y"), [("text", "y")]),
    (event(type=KIND, output_index=0, content_index=0, text="y"), []),
    (text_delta("y", 1), [("text", "y")]),
    (text_delta("y", content_index=1), [("text", "y")]),
    (text_delta("y", "0"), [("text", "y")]),
    (text_delta("y", 0.0, content_index="0"), [("text", "y")]),
    (text_delta("y", 100), [("text", "y")]),
    (text_delta(""), []),
    (text_delta(None), []),
    (text_delta(5), []),
    (text_delta("\ud83d") + text_delta("\ude00"), [("text", "\U0001f600")]),
    (text_delta("y", error=None, object=None, response=None), [("text", "y")]),
    (text_delta("y", error="", unknown=[{}]), [("text", "y")]),
    (text_delta("y", response={"id": "r2"}), []),
    (text_delta("y").replace(b'"type":"', b'"type":"x","type":"'), [("text", "y")]),
    (text_delta("y").replace(b'"delta":"y"', b'"delta":"a","delta":"y","n":NaN,"big":1e999'), [("text", "y")]),
    (text_delta("y").replace(b'"y"', b'"a\tb\xff"'), [("text", "a\tb\ufffd")]),
    (text_delta("y").replace(b"event: response.output_text.delta\n", b""), [("text", "y")]),
    (text_delta("y").replace(b"event: response.output_text.delta\n", b"event: other\n"), [("text", "y")]),
    (text_delta("y").replace(b"data: {", b"data: {\ndata: "), [("text", "y")]),
    (text_delta("y").replace(b"\n", b"\r\n"), [("text", "y")]),
    (b": comment\n\n", []),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_event_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    body = START, text_delta("a"), text_delta("b"), odd, text_delta("c"), text_delta("d"), END
    assert rows(decode("openai-responses", *body)) == [
        *(("text", letter) for letter in "ab"),
        *events,
        *(("text", letter) for letter in "cd"),
        STOPPED,
    ]


@pytest.mark.parametrize("members", [{"error": {"message": "bad"}}, {"object": "error"}])
def test_an_error_in_an_otherwise_ordinary_delta(members: dict[str, Any]) -> None:
    body = START, text_delta("a"), text_delta("b"), text_delta("x", **members), text_delta("lost")
    found = rows(decode("openai-responses", *body))
    assert found == [*(("text", letter) for letter in "abx"), ("error", "APIError")]


def test_what_was_read_quickly_is_not_said_again() -> None:
    texts = [text_delta(letter) for letter in "abcd"]
    whole = [said("output_text.done", output_index=0, content_index=0, text="abcd")]
    whole += [said("content_part.done", output_index=0, content_index=0, part={"type": "output_text", "text": "abcd"})]
    item = message({"type": "output_text", "text": "abcd"})
    body = START, *texts, *whole, done(item, 0), completed(item)
    assert rows(decode("openai-responses", *body)) == [*(("text", letter) for letter in "abcd"), STOPPED]


def test_a_delta_that_names_another_place_is_of_another_part() -> None:
    """What a part had is seen in its `.done`, which says nothing again."""
    letters = [text_delta(letter) for letter in "abc"]
    elsewhere = text_delta("d", content_index=ABSENT, summary_index=1)
    ended = said("output_text.done", output_index=0, summary_index=1, text="d")
    found = rows(decode("openai-responses", START, *letters, elsewhere, ended, END))
    assert found == [*(("text", letter) for letter in "abcd"), STOPPED]
    thoughts = [thought("reasoning_summary_text", letter, place="summary_index") for letter in "abc"]
    other = said("reasoning_summary_text.delta", output_index=3, summary_index=0, content_index=1, delta="d")
    ended = said("reasoning_summary_text.done", output_index=3, content_index=1, text="d")
    found = rows(decode("openai-responses", START, *thoughts, other, ended, END))
    assert found == [*(("reasoning", letter) for letter in "abcd"), STOPPED]


@pytest.mark.parametrize(
    "make", [text_delta, lambda text: thought("reasoning_text", text), lambda text: written(1, text)]
)
def test_raw_payloads_leave_the_quick_path(make: Any) -> None:
    events = [START, added(function(), 1), *map(make, "abcd")]
    assert read_in_full("openai-responses", events, include_raw=True) == len(events) + 1
    raw = [row for row in rows(decode("openai-responses", *events, END, include_raw=True)) if row[0] == "raw"]
    assert len(raw) == len(events) + 2


def test_generators_that_are_dropped_lose_nothing() -> None:
    decoder = tokwire.StreamDecoder("openai-responses")
    body = START + b"".join(map(text_delta, "abcdef"))
    found: list[Any] = []
    for read in cut(body, [len(START) + len(text_delta("a")) * 3 + 50]):
        decoder.receive_data(read)
        found += [event.as_text() for event in one_by_one(decoder)]
    assert found == list("abcdef")


def test_nothing_waits() -> None:
    check_that_nothing_waits("openai-responses", START, [*map(text_delta, "abcd")], "abcd")


FRAMES = [*map(text_delta, "ab"), text_delta("c", 1), *(odd for odd, _ in ODD), START, END, incomplete()]
FRAMES += [added(function(), 1), written(1, "{"), written(1, "}"), done(function(arguments="{}"), 1)]
FRAMES += [*THINKING, thought("reasoning_text", "c", 1), thought("reasoning_summary_text", "d", place="summary_index")]
FRAMES += [custom("x"), custom("y"), written(1, "\ud83d"), written(1, "\ude00"), written(2, "z"), written(ABSENT, "w")]
FRAMES += [text_delta("x" * 1100), text_delta("q")[:60], text_delta("z", ABSENT), said("failed", response={})]


@given(st.lists(st.sampled_from(FRAMES[:3]) | st.sampled_from(FRAMES), max_size=12), st.data())
@settings(max_examples=200, deadline=None)
def test_both_paths_show_the_same(frames: list[bytes], draw: st.DataObject) -> None:
    options = draw.draw(OPTIONS, label="options")
    complete = draw.draw(st.booleans(), label="complete")
    check("openai-responses", ways(respelled([START, *frames], draw), draw), complete=complete, **options)
