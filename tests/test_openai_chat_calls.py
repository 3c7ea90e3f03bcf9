"""Chat Completions: which call a fragment belongs to, and how its id and name are put together."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import DONE, chunk
from tests.wire import ABSENT, choices, dropped, ended, entry, openai, piece, row, rows

import tokwire

TOOLS = ("finish", "tool_calls")


def called(*pieces: bytes, **options: Any) -> list[Any]:
    """The rows of a stream of these chunks that ends as it should."""
    found = rows(openai(b"".join(pieces) + ended(), **options))
    assert found[-1] == TOOLS
    return found[:-1]


# ---- the index -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, "0", 0.0, -3, 7, "7", "-3", 10**30, 4.0])
def test_an_index_of_any_whole_number_keeps_its_call_apart(index: object) -> None:
    pieces = piece(index, "a", "f", '{"k":') + piece(1, "b", "g", "[") + piece(index, arguments="1}")
    expected = [("call", "a", "f", '{"k":1}'), ("call", "b", "g", "[2]")]
    assert sorted(called(pieces, piece(1, arguments="2]"))) == expected


@pytest.mark.parametrize("index", [True, False, None, "", "x", "--1", "1.5", 1.5, [], {}, ABSENT])
def test_what_is_no_number_is_no_index(index: object) -> None:
    first = piece(4, "a", "f", "{}")
    second = piece(index, "b", "g", "[") + piece(index, arguments="1]") + piece(5, arguments=" ")
    assert called(first, second) == [("call", "a", "f", "{}"), ("call", "b", "g", "[1]")]


def test_true_is_no_index_of_one() -> None:
    wrong: object = True
    body = piece(1, "a", "f", "{") + piece(2, "b", "g", "[") + piece(wrong, arguments="]") + piece(1, arguments="}")
    assert called(body) == [("call", "a", "f", "{}"), ("call", "b", "g", "[]")]


def test_calls_come_out_by_index_then_by_arrival() -> None:
    late_first = piece(9, "a", "f", "1") + piece(-1, "b", "g", "2") + piece(2, "c", "h", "3") + piece(2, "d", "i", "4")
    assert [found[1] for found in called(late_first)] == ["b", "c", "d", "a"]


def test_a_new_id_with_a_name_opens_a_new_call_under_a_used_index() -> None:
    body = piece(0, "a", "f", "{}") + piece(0, "b", "g", "[") + piece(0, arguments="]")
    assert called(body) == [("call", "a", "f", "{}"), ("call", "b", "g", "[]")]


def test_a_new_id_without_a_name_does_not() -> None:
    body = piece(0, "a", "f", "[") + piece(0, "b", arguments="]")
    assert called(body) == [("call", "a", "f", "[]")]


def test_a_name_with_an_id_that_comes_late_is_the_rest_of_the_name() -> None:
    body = piece(0, ABSENT, "get_", "") + piece(0, "a", "time", "{}")
    assert called(body) == [("call", "a", "get_time", "{}")]


def test_a_fragment_without_a_name_goes_by_the_id_of_an_open_call() -> None:
    body = (
        piece(0, "a", "f", "[1") + piece(1, "b", "g", "[2") + piece(9, "a", arguments="]") + piece(0, "b", ABSENT, "]")
    )
    assert called(body) == [("call", "a", "f", "[1]"), ("call", "b", "g", "[2]")]


# ---- fragments that wait -------------------------------------------------------------------------------------


def test_a_fragment_for_an_index_that_opens_later_is_that_calls() -> None:
    body = piece(0, "a", "f", '{"k":') + piece(1, arguments="[1") + piece(0, arguments="0}")
    assert called(body + piece(1, "b", "g", "]")) == [("call", "a", "f", '{"k":0}'), ("call", "b", "g", "[1]")]


def test_a_fragment_whose_index_never_opens_continues_the_last_call() -> None:
    body = piece(0, "a", "f", "[") + piece(8, arguments="1,") + piece(3, arguments="2") + piece(0, arguments="]")
    assert called(body) == [("call", "a", "f", "[1,2]")]


def test_of_two_waiting_indexes_one_opens() -> None:
    body = piece(0, "a", "f", "[") + piece(1, arguments="5") + piece(2, arguments="{") + piece(0, arguments="]")
    assert called(body, piece(2, "c", "h", "}")) == [("call", "a", "f", "[5]"), ("call", "c", "h", "{}")]


def test_it_continues_the_call_that_was_the_last_when_it_came() -> None:
    body = piece(0, "a", "f", "[") + piece(5, arguments="1") + piece(1, "b", "g", "[") + piece(5, arguments="2")
    expected = [("call", "a", "f", "[1]"), ("call", "b", "g", "[2]")]
    assert called(body, piece(0, arguments="]"), piece(1, arguments="]")) == expected


def test_an_id_alone_claims_what_waits_under_its_index() -> None:
    body = piece(0, "a", "f", "{}") + piece(1, arguments="[1]") + piece(1, "b") + piece(1, ABSENT, "g")
    assert called(body) == [("call", "a", "f", "{}"), ("call", "b", "g", "[1]")]


def test_a_call_without_index_does_not_take_an_index_that_waits() -> None:
    body = piece(0, "a", "f", "[") + piece(1, arguments="]") + piece(ABSENT, "b", "g", "7")
    assert called(body) == [("call", "a", "f", "[]"), ("call", "b", "g", "7")]


# ---- no index ------------------------------------------------------------------------------------------------


def test_without_index_a_new_id_opens_and_a_known_one_continues() -> None:
    body = piece(ABSENT, "a", "f", "[1") + piece(ABSENT, "b", "g", "[2") + piece(ABSENT, "a", ABSENT, "]")
    assert called(body, piece(None, "b", "g", "]")) == [("call", "a", "f", "[1]"), ("call", "b", "g", "[2]")]


def test_without_index_and_id_the_last_call_goes_on() -> None:
    body = piece(6, "a", "f", "{}") + piece(ABSENT, "b", "g", "[") + piece(arguments="1") + piece(None, None, "", "]")
    assert called(body) == [("call", "a", "f", "{}"), ("call", "b", "g", "[1]")]


def test_a_name_alone_opens_a_call_only_where_none_is_open() -> None:
    body = piece(ABSENT, ABSENT, "get_", "") + piece(ABSENT, ABSENT, "time", "") + piece(ABSENT, "a", ABSENT, "")
    found = openai(body + ended(), synthesize_tool_ids=True)
    assert rows(found) == [("call", "call_r1_0", "get_time", "{}"), TOOLS]
    assert dropped(found) == [(1, "a", None, "")]


def test_a_call_without_index_comes_after_the_highest() -> None:
    body = piece(3, "a", "f", "1") + piece(ABSENT, "b", "g", "2") + piece(0, "c", "h", "3")
    assert [found[1] for found in called(body)] == ["c", "a", "b"]


# ---- ids and names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", None, "null", ABSENT, True, [], {}])
def test_the_real_id_may_come_late(nothing: object) -> None:
    assert called(piece(0, nothing, "f", "["), piece(0, "a", ABSENT, "]")) == [("call", "a", "f", "[]")]
    lost = openai(piece(0, nothing, "f", "[]") + ended())
    assert (rows(lost), dropped(lost)) == ([TOOLS], [(0, None, "f", "[]")])


@pytest.mark.parametrize(
    ("wire", "call_id"), [(0, "0"), (12, "12"), (10**25, "1" + "0" * 25), (" ", " "), ("Null", "Null")]
)
def test_an_id_that_is_a_number_becomes_text(wire: object, call_id: str) -> None:
    assert called(piece(0, wire, "f", "["), piece(0, wire, ABSENT, "]")) == [("call", call_id, "f", "[]")]


def test_the_first_id_stays() -> None:
    assert called(piece(0, "a", "f", "["), piece(0, "zz", ABSENT, "]")) == [("call", "a", "f", "[]")]


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["get_", "time"], "get_time"),
        (["get", "get", "get"], "get"),
        (["get", "", None, "get"], "get"),
        (["a", "b", "ab"], "ab"),
        (["a", "b", "b"], "abb"),
        ([None, "late"], "late"),
        (["null"], "null"),
        (["f", 5, ["g"]], "f"),
    ],
)
def test_a_name_in_pieces(names: list[object], name: str) -> None:
    body = b"".join(piece(0, "a", each, "") for each in names)
    assert called(body) == [("call", "a", name, "{}")]


def test_a_call_without_a_name_is_recorded() -> None:
    found = openai(piece(0, "a", ABSENT, "{}") + ended(), synthesize_tool_ids=True)
    assert (rows(found), dropped(found)) == ([TOOLS], [(0, "a", None, "{}")])


@pytest.mark.parametrize("half", ["a\ud83d", "\ude00a"])
def test_ids_and_names_can_be_encoded(half: str) -> None:
    (found,) = called(piece(0, half, half, "{}"))
    assert found[1] == found[2] == half.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# ---- entries of any shape ------------------------------------------------------------------------------------


def test_what_is_no_entry_is_skipped() -> None:
    entries: list[object] = [
        None,
        7,
        "x",
        [],
        entry(0, "a", "f", "{}") | {"function": {"name": "f"}},
        {"index": 0, "function": None},
    ]
    assert called(chunk({"tool_calls": entries})) == [("call", "a", "f", "{}")]


@pytest.mark.parametrize("nothing", [None, [], "", 0, False])
def test_tool_calls_without_entries(nothing: object) -> None:
    body = piece(0, "a", "f", "[") + chunk({"tool_calls": nothing}) + piece(0, ABSENT, ABSENT, "]")
    assert called(body) == [("call", "a", "f", "[]")]


def test_one_entry_without_its_list() -> None:
    assert called(chunk({"tool_calls": entry(0, "a", "f", "{}")})) == [("call", "a", "f", "{}")]


def test_two_entries_of_one_index_in_one_chunk() -> None:
    body = chunk({"tool_calls": [entry(0, "a", "f", ""), entry(0, arguments="["), entry(1, "b", "g", "{}")]})
    assert called(body, piece(0, arguments="]")) == [("call", "a", "f", "[]"), ("call", "b", "g", "{}")]


# ---- the old function_call -----------------------------------------------------------------------------------


def test_the_old_call_is_dropped_without_an_id_and_sorts_first_with_one() -> None:
    old = chunk({"function_call": {"name": "look", "arguments": ""}}) + chunk({"function_call": {"arguments": "{}"}})
    body = piece(0, "a", "f", "1") + piece(-1, "b", "g", "2") + old + chunk({}, "function_call") + DONE
    assert rows(openai(body)) == [
        ("call", "b", "g", "2"),
        ("call", "a", "f", "1"),
        ("finish", "function_call", "other"),
    ]
    assert dropped(openai(body)) == [(None, None, "look", "{}")]
    named = rows(openai(body, synthesize_tool_ids=True))
    assert named[:3] == [("call", "b", "g", "2"), ("call", "call_r1_0", "look", "{}"), ("call", "a", "f", "1")]


@pytest.mark.parametrize("stub", [None, {}, {"name": "", "arguments": ""}, {"name": None, "arguments": None}, "x", []])
def test_an_empty_old_call_is_none(stub: object) -> None:
    found = openai(chunk({"function_call": stub, "content": "x"}) + ended("stop"))
    assert (rows(found), dropped(found)) == ([("text", "x"), ("finish", "stop")], [])


# ---- choices and deltas --------------------------------------------------------------------------------------


def test_each_choice_has_its_own_calls() -> None:
    first = {"index": 0, "delta": {"tool_calls": [entry(0, "a", "f", "[")]}}
    second = {"index": 1, "delta": {"tool_calls": [entry(0, "a", "f", "{")]}, "finish_reason": None}
    third = {"index": 1, "delta": {"tool_calls": [entry(0, arguments="}")]}, "finish_reason": "tool_calls"}
    body = choices(first, second) + choices(third) + piece(0, arguments="]") + ended("stop")
    expected = [("call", "a", "f", "{}", 1), ("call", "a", "f", "[]"), ("finish", "tool_calls")]
    assert rows(openai(body)) == expected


def test_deltas_show_each_fragment_as_it_came() -> None:
    body = piece(4, "a", "f", "[") + piece(9, arguments="1") + piece(4, arguments="]") + piece(9, "b", "g", "")
    shown = openai(body + ended(), include_tool_deltas=True)
    deltas = [row(each) for each in shown.events if isinstance(each, tokwire.ToolCallDelta)]
    assert deltas == [
        ("delta", 0, "a", "f", "["),
        ("delta", 0, "a", "f", "1"),
        ("delta", 0, "a", "f", "]"),
        ("delta", 1, "b", "g", ""),
    ]
    assert rows(shown)[4:] == [("call", "a", "f", "[]"), ("call", "b", "g", "1"), TOOLS]


def test_a_fragment_with_nothing_in_it_gives_no_delta() -> None:
    body = piece(0, "a", "f", "{}") + piece(0) + piece(0, "", "", "") + chunk({"function_call": {"name": ""}})
    shown = rows(openai(body + ended(), include_tool_deltas=True))
    assert shown == [("delta", 0, "a", "f", "{}"), ("call", "a", "f", "{}"), TOOLS]
