"""Anthropic Messages: tool calls by the index of their block, input in fragments or whole, and their ids."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import START, STOP, close_block, event
from tests.wire import ABSENT, Row, anthropic, begin, dropped, message, more, rows, said, tool_use, written

import tokwire

INVALID = ("error", "InvalidToolArguments")
FINISHED = ("finish", "tool_calls")


def called(*parts: bytes, reason: object = "tool_use", **options: Any) -> list[Row]:
    """The rows of a message with these parts, without its end."""
    found = rows(anthropic(message(*parts, reason=reason), **options))
    assert found[-1] == FINISHED
    return found[:-1]


# ---- which call ----------------------------------------------------------------------------------------------


def test_blocks_are_told_apart_by_their_index() -> None:
    parts = [
        tool_use(1, "a"),
        tool_use(0, "b", "g"),
        written(1, "["),
        written(0, "{"),
        written(1, "]"),
        written(0, "}"),
    ]
    assert called(*parts, close_block(1), close_block(0)) == [("call", "b", "g", "{}"), ("call", "a", "f", "[]")]


@pytest.mark.parametrize("index", ["4", 4.0, 10**30, -1])
def test_an_index_of_any_whole_number(index: object) -> None:
    parts = [tool_use(0, "a"), tool_use(index, "b"), written(index, "["), written(0, "7"), written(index, "]")]
    assert sorted(called(*parts)) == [("call", "a", "f", "7"), ("call", "b", "f", "[]")]


@pytest.mark.parametrize("missing", [ABSENT, None, True, "x", 0.5, []])
def test_a_missing_index_means_the_block_opened_last(missing: object) -> None:
    parts = [tool_use(3, "a"), tool_use(5, "b"), written(missing, "["), written(3, "7"), written(missing, "]")]
    assert called(*parts) == [("call", "a", "f", "7"), ("call", "b", "f", "[]")]


def test_starts_without_an_index_open_one_block_after_the_other() -> None:
    parts = [tool_use(ABSENT, "a"), written(ABSENT, "1"), tool_use(None, "b"), written(ABSENT, "2")]
    assert called(*parts) == [("call", "a", "f", "1"), ("call", "b", "f", "2")]


def test_a_second_start_with_the_same_id_is_the_same_call() -> None:
    assert called(tool_use(0), written(0, "["), tool_use(0), written(0, "]")) == [("call", "t1", "f", "[]")]


def test_a_second_start_with_another_id_is_another_call() -> None:
    parts = [tool_use(0, "a"), written(0, "[1"), written(0, "]"), tool_use(0, "b"), written(0, "[2"), written(0, "]")]
    assert called(*parts) == [("call", "a", "f", "[1]"), ("call", "b", "f", "[2]")]


def test_another_kind_of_block_takes_the_index() -> None:
    parts = [tool_use(0, "a"), written(0, "7"), begin(0, "text", text="x"), written(0, "{}")]
    found = anthropic(message(*parts, reason="tool_use"))
    assert rows(found)[:-1] == [("text", "x"), ("call", "a", "f", "7")]
    assert dropped(found) == [(0, None, None, "{}")]


@pytest.mark.parametrize("before", [[], [begin(0, "text", text="")], [begin(0, "thinking", thinking="")]])
def test_fragments_of_a_block_that_is_no_call_are_recorded(before: list[bytes]) -> None:
    found = anthropic(message(*before, written(0, '{"k":'), written(0, ""), written(0, "1}"), reason="tool_use"))
    assert rows(found) == [FINISHED]
    assert dropped(found) == [(0, None, None, '{"k":'), (0, None, None, "1}")]


def test_fragments_of_a_drained_call_are_recorded() -> None:
    end = event("message_delta", delta={"stop_reason": "tool_use"})
    found = anthropic(START + tool_use(0) + written(0, "7") + written(0, " ") + end + written(0, "8") + STOP)
    assert (rows(found), dropped(found)) == ([("call", "t1", "f", "7"), FINISHED], [(0, None, None, "8")])


def test_a_call_behind_a_reason_is_drained_at_the_end() -> None:
    end = event("message_delta", delta={"stop_reason": "tool_use"})
    body = START + end + tool_use(1, "b", input={"k": 1}) + said(0, "x") + STOP
    assert rows(anthropic(body)) == [("text", "x"), ("call", "b", "f", '{"k":1}'), FINISHED]


# ---- ids and names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", None, "null", [], True])
def test_a_call_without_an_id_is_dropped_unless_one_is_made(nothing: object) -> None:
    found = anthropic(message(tool_use(0, nothing), written(0, "7"), reason="tool_use"))
    assert (rows(found), dropped(found)) == ([FINISHED], [(0, None, "f", "7")])
    assert called(tool_use(0, nothing), written(0, "7"), synthesize_tool_ids=True) == [("call", "call_a1_0", "f", "7")]


@pytest.mark.parametrize("nothing", ["", None, 5])
def test_a_call_without_a_name_is_dropped(nothing: object) -> None:
    found = anthropic(message(tool_use(0, "a", nothing), reason="tool_use"), synthesize_tool_ids=True)
    assert (rows(found), dropped(found)) == ([FINISHED], [(0, "a", None, "")])


def test_an_id_that_is_a_number_becomes_text() -> None:
    assert called(tool_use(0, 7), written(0, "{}")) == [("call", "7", "f", "{}")]


def test_echoes_are_dropped_and_ids_stay_unique() -> None:
    parts = [tool_use(0), written(0, "7"), tool_use(1), written(1, "7"), tool_use(2), written(2, "8"), tool_use(3)]
    found = anthropic(message(*parts, reason="tool_use"))
    assert rows(found)[:-1] == [("call", "t1", "f", "7"), ("call", "call_a1_0", "f", "8")]
    assert dropped(found) == [(1, "t1", "f", "7"), (3, "t1", "f", "")]


# ---- input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [{}, {"input": {}}, {"input": None}, {"input": ""}])
@pytest.mark.parametrize("fragments", [[], [""], [None], [ABSENT], [" "], ["null"], ["{", "}"]])
def test_no_input_is_an_empty_object(start: dict[str, object], fragments: list[object]) -> None:
    parts = [more(0, "input_json_delta") if each is ABSENT else written(0, each) for each in fragments]
    assert called(tool_use(0, **start), *parts, close_block(0)) == [("call", "t1", "f", "{}")]


@pytest.mark.parametrize(("whole", "text"), [({"k": 1}, '{"k":1}'), ([1], "[1]"), ('{"k":1}', '{"k":1}'), (7, "7")])
def test_input_in_the_start_is_used_where_no_fragment_follows(whole: object, text: str) -> None:
    assert called(tool_use(0, input=whole)) == [("call", "t1", "f", text)]
    assert called(tool_use(0, input=whole), written(0, ""), close_block(0)) == [("call", "t1", "f", text)]
    assert called(tool_use(0, input=whole), written(0, '{"m":'), written(0, "2}")) == [("call", "t1", "f", '{"m":2}')]


def test_input_in_the_start_without_a_reason() -> None:
    assert rows(anthropic(START + tool_use(0, input={"k": 1})))[0] == ("call", "t1", "f", '{"k":1}')


def test_a_fragment_that_is_an_object() -> None:
    assert called(tool_use(0), written(0, {"k": 1})) == [("call", "t1", "f", '{"k":1}')]


def test_input_that_is_sent_again_whole() -> None:
    assert called(tool_use(0), written(0, '{"k":'), written(0, "1}"), written(0, '{"k":1}')) == [
        ("call", "t1", "f", '{"k":1}')
    ]


def test_input_with_halves_of_pairs() -> None:
    parts = [tool_use(0), written(0, '["'), written(0, "\ud83d"), written(0, "\ude00"), written(0, '"]')]
    assert called(*parts) == [("call", "t1", "f", '["\U0001f600"]')]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
@pytest.mark.parametrize("last", [[tool_use(1, "b")], [tool_use(1, "b", input={}), written(1, ""), close_block(1)]])
def test_the_last_call_without_a_fragment_is_cut_by_the_limit(last: list[bytes], reason: str) -> None:
    body = message(tool_use(0, "a"), *last, reason=reason)
    assert rows(anthropic(body)) == [("call", "a", "f", "{}"), INVALID]
    with pytest.raises(tokwire.InvalidToolArguments) as caught:
        tokwire.decode(body, "anthropic")
    assert caught.value.finish_reason is tokwire.FinishReason.LENGTH


@pytest.mark.parametrize(
    "after",
    [
        begin(2, "text", text=""),
        begin(2, "server_tool_use", id="s", name="w", input={}),
        said(2, "x"),
        more(2, "thinking_delta", thinking="x"),
        written(1, "{}"),
    ],
)
def test_it_is_not_cut_where_anything_came_after_it(after: bytes) -> None:
    found = rows(anthropic(message(tool_use(1, "b", input={}), after, reason="max_tokens")))
    assert found[-2:] == [("call", "b", "f", "{}"), ("finish", "length")]


def test_input_in_the_start_is_not_cut() -> None:
    assert rows(anthropic(message(tool_use(0, input={"k": 1}), reason="max_tokens")))[0] == (
        "call",
        "t1",
        "f",
        '{"k":1}',
    )


def test_input_that_the_limit_cut_is_invalid() -> None:
    found = rows(anthropic(message(said(0, "x"), tool_use(1), written(1, '{"k":'), reason="max_tokens")))
    assert found == [("text", "x"), INVALID]


# ---- deltas and limits ---------------------------------------------------------------------------------------


def test_deltas_show_each_fragment_as_it_came() -> None:
    parts = [tool_use(4, "a"), written(4, ""), written(4, "["), tool_use(7, "b", input={"k": 1}), written(4, "]")]
    found = called(*parts, include_tool_deltas=True)
    assert found[:4] == [
        ("delta", 0, "a", "f", ""),
        ("delta", 0, "a", "f", "["),
        ("delta", 1, "b", "f", ""),
        ("delta", 0, "a", "f", "]"),
    ]
    assert found[4:] == [("delta", 1, "b", "f", '{"k":1}'), ("call", "a", "f", "[]"), ("call", "b", "f", '{"k":1}')]


@pytest.mark.parametrize("size", [6, 7])
def test_the_limit_for_input_holds_on_the_quick_path(size: int) -> None:
    parts = [tool_use(0), written(0, "[1"), written(0, ",2"), written(0, " " * (size - 5) + "]")]
    found = rows(anthropic(message(*parts, reason="tool_use"), limits=tokwire.Limits(max_tool_arguments_bytes=6)))
    assert found[0] == (("call", "t1", "f", "[1,2]") if size == 6 else ("error", "LimitExceeded"))


def test_the_limit_for_calls() -> None:
    parts = [tool_use(index, f"t{index}") for index in range(3)]
    limits = tokwire.Limits(max_tool_calls=2)
    assert rows(anthropic(message(*parts[:2], reason="tool_use"), limits=limits))[-1] == FINISHED
    assert rows(anthropic(message(*parts, reason="tool_use"), limits=limits)) == [("error", "LimitExceeded")]
