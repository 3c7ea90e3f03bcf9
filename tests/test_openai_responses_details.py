"""OpenAI Responses, where a change of the code went unseen: places of parts, what counts, and reasons."""

from __future__ import annotations

import pytest
from tests.bodies import added, completed, decode, done, function, message, said, text_delta, written
from tests.quick import check
from tests.wire import rows

from tokwire import Limits

STOPPED = ("finish", "stop")


@pytest.mark.parametrize("end", [b"\n", b"\r"])
@pytest.mark.parametrize("together", [False, True])
def test_a_line_end_between_members_is_one(end: bytes, *, together: bool) -> None:
    deltas = [text_delta(letter) for letter in "abc"]
    deltas[2] = deltas[2].replace(b",", b"," + end, 1)
    assert rows(decode("openai-responses", *deltas))[-1] == ("error", "RemoteProtocolError")
    check("openai-responses", [b"".join(deltas)] if together else deltas)


@pytest.mark.parametrize(
    ("kind", "place", "shown"),
    [
        ("output_text", "content_index", "text"),
        ("reasoning_text", "content_index", "reasoning"),
        ("reasoning_summary_text", "summary_index", "reasoning"),
    ],
)
def test_the_parts_of_one_item_are_told_apart_by_their_place(kind: str, place: str, shown: str) -> None:
    """A part that came in fragments is not repeated by its end; one that came only with its end is shown."""
    parts = [
        said(f"{kind}.delta", output_index=0, delta="a", **{place: 0}),
        said(f"{kind}.done", output_index=0, text="b", **{place: 1}),
        said(f"{kind}.done", output_index=0, text="a", **{place: 0}),
    ]
    assert rows(decode("openai-responses", *parts, completed())) == [(shown, "a"), (shown, "b"), STOPPED]


def test_the_last_event_tells_the_model_where_none_did_before() -> None:
    assert decode("openai-responses", text_delta("a"), completed(model="m7")).summary.model == "m7"


def test_an_incomplete_call_without_arguments_says_so() -> None:
    item = function("a", status="incomplete")
    failure = decode("openai-responses", added(item, 0), done(item, 0), completed()).failure
    assert failure is not None
    assert ": the server says that the call is incomplete, and sent no arguments; the server finished" in failure.text


@pytest.mark.parametrize("kind", ["delta", "done"])
def test_arguments_of_no_item_say_why_they_were_dropped(kind: str) -> None:
    text = {"delta": "1"} if kind == "delta" else {"arguments": "1"}
    found = decode("openai-responses", said(f"function_call_arguments.{kind}", output_index=4, **text), completed())
    (dropped,) = found.summary.dropped_tool_calls
    assert dropped.reason == "no item with its index was announced as a tool call"


def test_final_arguments_take_the_place_of_fragments_as_a_value_too() -> None:
    final = said("function_call_arguments.done", output_index=0, arguments={"x": 1})
    found = decode("openai-responses", added(function("a"), 0), written(0, '{"x'), final, completed())
    assert rows(found) == [("call", "a", "f", '{"x":1}'), ("finish", "tool_calls")]


def test_every_name_of_an_item_counts_as_a_label() -> None:
    """Three items, five ids and one part: nine labels."""
    parts = [
        added(function("a", id="x"), 0),
        added(function("b", id="y"), 1),
        added(message(id="z"), 2),
        text_delta("t", 2),
        completed(),
    ]
    limits = [
        limit
        for limit in range(1, 20)
        if decode("openai-responses", *parts, limits=Limits(max_tool_calls=limit)).failure is None
    ]
    assert limits[0] == 9


def test_an_announced_call_is_shown_at_once_where_deltas_are_asked_for() -> None:
    found = decode("openai-responses", added(function("a"), 0), written(0, "[]"), completed(), include_tool_deltas=True)
    assert [row for row in rows(found) if row[0] == "delta"] == [
        ("delta", 0, "a", "f", ""),
        ("delta", 0, "a", "f", "[]"),
    ]
