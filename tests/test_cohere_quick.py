"""Cohere: the quick path. Ordinary deltas run through it; whatever is not ordinary leaves it unharmed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import decode, message_end, part, piece
from tests.quick import OPTIONS, check, check_that_nothing_waits, one_by_one, read_in_full, respelled, ways
from tests.support import DONE, cut, data
from tests.wire import Row, rows

import tokwire

STOPPED = ("finish", "stop")
START = data({"type": "message-start", "id": "i", "delta": {"message": {"role": "assistant"}}}, name="message-start")
END = message_end() + DONE


def said(text: object, **content: object) -> bytes:
    """A delta with text."""
    return part("content-delta", 0, content={"text": text, **content})


def thought(text: object) -> bytes:
    """A delta with reasoning."""
    return part("content-delta", 0, content={"thinking": text})


def delta(message: object, **members: object) -> bytes:
    """A delta with these members and this message."""
    payload = {"type": "content-delta", "index": 0, "delta": {"message": message}, **members}
    return data(payload, name="content-delta")


@pytest.mark.parametrize("make", [said, thought])
@pytest.mark.parametrize("with_reasoning", [True, False])
def test_ordinary_deltas_are_read_quickly(make: Any, with_reasoning: bool) -> None:  # noqa: FBT001 - a parameter
    events = [START, *map(make, "abcdefgh")]
    body = b"".join(events)
    for reads in (events, [body], cut(body, [len(START) + 140, 400, 410])):
        assert read_in_full("cohere", reads, include_reasoning=with_reasoning) == 2
        check("cohere", [*reads, END], include_reasoning=with_reasoning)
    kind = "text" if make is said else "reasoning"
    assert rows(decode("cohere", body, END)) == [*((kind, letter) for letter in "abcdefgh"), STOPPED]


def plan(text: object) -> bytes:
    """A delta of the plan."""
    return part("tool-plan-delta", tool_plan=text)


def test_the_plan_and_the_arguments_are_read_quickly() -> None:
    plans = [START, *map(plan, "abcdef")]
    assert read_in_full("cohere", plans, include_reasoning=True) == 2
    calls = [START, piece(0, "t", "f", ""), *(piece(0, arguments=text) for text in ("{", '"k"', ":", "1", "}"))]
    assert read_in_full("cohere", calls) == 3
    assert read_in_full("cohere", calls, include_tool_deltas=True) == len(calls)
    found = rows(decode("cohere", *plans, *calls[1:], message_end("TOOL_CALL")))
    assert found == [
        *(("reasoning", letter) for letter in "abcdef"),
        ("call", "t", "f", '{"k":1}'),
        ("finish", "tool_calls"),
    ]


def test_kinds_alternate() -> None:
    events = [START, thought("R"), thought("S"), said("a"), said("b"), thought("T"), said("c")]
    expected = [("reasoning", "R"), ("reasoning", "S"), ("text", "a"), ("text", "b"), ("reasoning", "T"), ("text", "c")]
    assert rows(decode("cohere", *events, END)) == [*expected, STOPPED]
    assert read_in_full("cohere", events) == 5


def test_citations_do_not_stop_the_quick_path() -> None:
    citation = part("citation-start", 0, citations={"start": 0, "end": 1, "text": "a"})
    events = [START, said("a"), citation, data({"type": "citation-end", "index": 0}, name="citation-end"), said("b")]
    assert rows(decode("cohere", *events, END)) == [("text", "a"), ("text", "b"), STOPPED]
    assert read_in_full("cohere", events) == 4


ODD: list[tuple[bytes, list[Row]]] = [
    (said("y", thinking="R"), [("reasoning", "R"), ("text", "y")]),
    (said("y", thinking=""), [("text", "y")]),
    (said("y", thinking=None, type="text", unknown=[{}]), [("text", "y")]),
    (said(""), []),
    (said(None), []),
    (said(5), []),
    (said("\ud83d") + said("\ude00"), [("text", "\U0001f600")]),
    (delta({"content": "y"}), [("text", "y")]),
    (delta({"content": [{"text": "y"}, {"text": "z"}]}), [("text", "y"), ("text", "z")]),
    (delta({"content": {"text": "y"}, "tool_plan": "P"}), [("reasoning", "P"), ("text", "y")]),
    (delta({"content": {"text": "y"}, "tool_calls": []}), [("text", "y")]),
    (delta({"content": {"text": "y"}, "unknown": 1}, unknown=1), [("text", "y")]),
    (delta({"content": {"text": "y"}}, error=None, object=None), [("text", "y")]),
    (delta({"content": {"text": "y"}}, error="", id="other"), [("text", "y")]),
    (delta({"content": {"text": "y"}}, type="content-start"), [("text", "y")]),
    (delta({"content": {"text": "y"}}, type=None), [("text", "y")]),
    (delta({"content": {"text": "y"}}, type="content-unheard"), []),
    (delta(None), []),
    (data({"type": "content-delta", "delta": {"message": {"content": {"text": "y"}}}}), [("text", "y")]),
    (said("y").replace(b"data: ", b"data:"), [("text", "y")]),
    (said("y").replace(b"data: {", b"data: {\ndata: "), [("text", "y")]),
    (said("y").replace(b"\n\n", b"\nid: 7\n\n\n"), [("text", "y")]),
    (said("y").replace(b"\n", b"\r\n"), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a","text":"y"'), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a\tb\xff"'), [("text", "a\tb\ufffd")]),
    (said("y").replace(b'"index":0', b'"index":NaN,"big":1e999'), [("text", "y")]),
    (said("y").partition(b"data: ")[2], []),
    (b'{"unknown":\n\n[]}\n\n', []),
    (b": comment\n\n", []),
    (b"event: content-delta\ndata: \n\n", []),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_event_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    found = rows(decode("cohere", START, said("a"), said("b"), odd, said("c"), said("d"), END))
    assert found == [("text", "a"), ("text", "b"), *events, ("text", "c"), ("text", "d"), STOPPED]


@pytest.mark.parametrize("members", [{"error": {"message": "bad"}}, {"object": "error"}, {"type": "error"}])
def test_an_error_in_an_otherwise_ordinary_delta(members: dict[str, object]) -> None:
    found = rows(decode("cohere", START, said("a"), said("b"), delta({"content": {"text": "x"}}, **members)))
    assert found[:2] == [("text", "a"), ("text", "b")]
    assert found[-1] == ("error", "APIError")


CALL = {"id": "t", "type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    "between", [piece(0, "t", "f"), delta({"tool_calls": CALL}), delta({"content": {"text": "x"}, "tool_calls": CALL})]
)
def test_text_behind_a_call_makes_it_complete(between: bytes) -> None:
    events = START, said("a"), said("b"), between, said("c"), said("d"), message_end("MAX_TOKENS")
    assert [each[0] for each in rows(decode("cohere", *events))][-4:] == ["text", "text", "call", "finish"]


def test_text_behind_half_a_pair() -> None:
    events = START, said("a"), said("b"), said("\ud83d"), said("c"), said("d"), END
    assert rows(decode("cohere", *events)) == [*(("text", text) for text in ("a", "b", "\ufffdc", "d")), STOPPED]


def test_a_whole_answer_among_deltas() -> None:
    answer = data(
        {"message": {"content": "y", "tool_calls": [{"id": "t", "function": {"name": "f"}}]}, "finish_reason": ""}
    )
    found = rows(decode("cohere", START, said("a"), said("b"), answer, said("c"), said("d"), message_end("MAX_TOKENS")))
    assert [each[0] for each in found] == ["text"] * 5 + ["call", "finish"]


def test_deltas_of_an_answer_without_an_id_are_read_as_well() -> None:
    events = [said("a"), said("b"), said("c")]
    assert rows(decode("cohere", *events, END)) == [("text", "a"), ("text", "b"), ("text", "c"), STOPPED]
    assert read_in_full("cohere", events) == 3


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_end_between_members_is_one(end: bytes) -> None:
    broken = said("x").replace(b',"index"', b"," + end + b'"index"')
    found = rows(decode("cohere", START, said("a"), said("b"), broken, END))
    assert found == [("text", "a"), ("text", "b"), ("error", "RemoteProtocolError")]
    for each in (said, thought):
        check("cohere", [START, each("a"), each("b"), each("x").replace(b',"index"', b"," + end + b'"index"'), END])


@pytest.mark.parametrize("spare", [0, 1])
def test_the_limit_for_a_line_holds_on_the_quick_path(spare: int) -> None:
    long = said("y" * 300)
    limits = tokwire.Limits(max_line_bytes=len(long) - 2 - len(b"event: content-delta\n") - spare)
    found = rows(decode("cohere", START, said("a"), said("b"), long, END, limits=limits))
    assert found[2:] == ([("error", "LimitExceeded")] if spare else [("text", "y" * 300), STOPPED])


def test_raw_payloads_come_before_what_they_give() -> None:
    found = rows(decode("cohere", START, said("a"), said("b"), include_raw=True))
    assert [row[1] for row in found if row[0] == "raw"] == ["message-start", "content-delta", "content-delta"]


def test_generators_that_are_dropped_lose_nothing() -> None:
    decoder = tokwire.StreamDecoder("cohere")
    body = START + b"".join(map(said, "abcdef"))
    found: list[Any] = []
    for read in cut(body, [len(START) + len(said("a")) * 3 + 50]):
        decoder.receive_data(read)
        found += [event.as_text() for event in one_by_one(decoder)]
    assert found == list("abcdef")


def test_nothing_waits() -> None:
    check_that_nothing_waits("cohere", START, [*map(said, "abcd")], "abcd")


FRAMES = [START, *map(said, "ab"), thought("R"), *(odd for odd, _ in ODD), END, message_end("MAX_TOKENS")]
FRAMES += [
    piece(0, "t", "f", "{"),
    piece(0, arguments="}"),
    piece(1, "u", "g", ""),
    piece(1, arguments="{}"),
    *map(plan, "PQ"),
]
FRAMES += [said("x" * 1100), said("q")[:60], b"\n", b"data: [DONE]\n\n", b"event: error\ndata: x\n\n"]


@given(st.lists(st.sampled_from(FRAMES[:4]) | st.sampled_from(FRAMES), max_size=12), st.data())
@settings(max_examples=200, deadline=None)
def test_both_paths_show_the_same(frames: list[bytes], draw: st.DataObject) -> None:
    options = draw.draw(OPTIONS, label="options")
    check(
        "cohere",
        ways(respelled([START, *frames], draw), draw),
        complete=draw.draw(st.booleans(), label="complete"),
        **options,
    )
