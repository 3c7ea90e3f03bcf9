"""One tool call while it grows, and properties of any mixture of fragments."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import Limits, PartialToolCall
from tokwire._budget import CallBudget
from tokwire._calls import ToolCallTable

HIGH, LOW, PAIR, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"

Fragment = tuple[int | None, str | None, str | None, str]

fragments_of_any_kind = st.lists(
    st.tuples(
        st.none() | st.integers(-1, 3),
        st.none() | st.sampled_from(["a", "b", "c"]),
        st.none() | st.sampled_from(["f", "g"]),
        st.text("xyz\u00e9", max_size=3),
    ),
    max_size=12,
)


def new_table() -> tuple[ToolCallTable, CallBudget]:
    """An empty table and its budget."""
    budget = CallBudget(Limits())
    return ToolCallTable(budget), budget


def feed(table: ToolCallTable, fragment: Fragment) -> None:
    """Give one fragment to the call that it belongs to."""
    index, call_id, name, text = fragment
    call = table.merge(index, call_id, name)
    if call is not None:
        call.append(text)
    elif index is not None:
        table.wait(index, text)


@pytest.mark.parametrize(
    ("pieces", "merged"),
    [
        ([("a", None), ("b", None)], ("a", None)),
        ([(None, None), ("b", None)], ("b", None)),
        ([(None, "get"), (None, "get")], (None, "get")),
        ([(None, "get"), (None, "_weather"), (None, "get")], (None, "get_weatherget")),
        ([(None, "get_"), (None, None), (None, ""), (None, "it")], (None, "get_it")),
        ([("a", "f"), ("b", "f")], ("a", "f")),
    ],
)
def test_the_first_id_stays_and_names_grow(
    pieces: list[tuple[str | None, str | None]], merged: tuple[str | None, str | None]
) -> None:
    call = PartialToolCall()
    for call_id, name in pieces:
        call.identify(call_id, name)
    assert (call.id, call.name) == merged


def test_a_call_of_its_own_begins_empty_and_grows() -> None:
    call = PartialToolCall()
    assert (call.id, call.name, call.arguments, call.size) == (None, None, "", 0)
    assert [call.append(text) for text in ('{"a"', "", ": 1}")] == ['{"a"', "", ": 1}"]
    assert call.arguments == '{"a": 1}'
    assert call.fragments() == ['{"a"', ": 1}"]
    call.replace("{}")
    assert (call.arguments, call.size) == ("{}", 2)


@pytest.mark.parametrize(
    ("pieces", "returned", "arguments"),
    [
        (["a" + HIGH, LOW + "b"], ["a", PAIR + "b"], "a" + PAIR + "b"),
        ([HIGH, LOW], ["", PAIR], PAIR),
        ([HIGH, "", LOW], ["", "", PAIR], PAIR),
        ([HIGH, "x"], ["", LOST + "x"], LOST + "x"),
        ([HIGH, HIGH, LOW], ["", LOST, PAIR], LOST + PAIR),
        ([LOW], [LOST], LOST),
        (["a" + HIGH], ["a"], "a" + LOST),
        ([PAIR], [PAIR], PAIR),
    ],
)
def test_halves_of_a_surrogate_pair_meet_across_fragments(
    pieces: list[str], returned: list[str], arguments: str
) -> None:
    call = PartialToolCall()
    assert [call.append(piece) for piece in pieces] == returned
    assert call.arguments == arguments


@given(st.text(max_size=30), st.lists(st.integers(0, 60), max_size=6))
def test_fragments_cut_anywhere_make_the_same_arguments(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    places = [0, *sorted(2 * cut for cut in cuts if 2 * cut <= len(units)), len(units)]
    call = PartialToolCall()
    for start, end in pairwise(places):
        call.append(units[start:end].decode("utf-16-le", "surrogatepass"))
    assert call.arguments == text


def test_replacing_forgets_halves_and_fragments_that_wait() -> None:
    table, budget = new_table()
    call = table.open(0)
    call.append("1" + HIGH)
    feed(table, (7, None, None, "22"))
    assert (call.arguments, budget.characters) == ("1" + LOST + "22", 4)
    call.replace("{}")
    assert call.arguments == "{}"
    assert budget.characters == 2


@given(fragments_of_any_kind)
def test_no_character_is_lost_or_doubled_whatever_the_labels(fragments: list[Fragment]) -> None:
    table, budget = new_table()
    for fragment in fragments:
        feed(table, fragment)
        assert budget.characters == sum(call.size for call in table.calls)
    calls = table.take()
    assert budget.characters == 0
    assert sorted("".join(call.arguments for call in calls)) == sorted("".join(text for *_, text in fragments))
    assert [call.ordinal for call in calls] == list(range(len(calls)))


@given(fragments_of_any_kind)
def test_the_place_of_every_character_in_its_call_is_that_of_its_arrival(fragments: list[Fragment]) -> None:
    table, _ = new_table()
    for number, (index, call_id, name, _text) in enumerate(fragments):
        feed(table, (index, call_id, name, chr(0x4E00 + number)))
    for call in table.take():
        assert list(call.arguments) == sorted(call.arguments)


@given(st.lists(st.tuples(st.integers(0, 3), st.text("xyz", max_size=3)), max_size=20))
def test_with_an_index_and_an_id_at_the_start_every_call_gets_its_own(pieces: list[tuple[int, str]]) -> None:
    table, _ = new_table()
    expected: dict[int, str] = {}
    for index, text in pieces:
        is_new = index not in expected
        feed(table, (index, f"id{index}" if is_new else None, "f" if is_new else None, text))
        expected[index] = expected.get(index, "") + text
    assert {call.index: call.arguments for call in table.take()} == expected


@given(fragments_of_any_kind)
def test_an_empty_fragment_between_any_two_changes_nothing(fragments: list[Fragment]) -> None:
    plain, padded = new_table()[0], new_table()[0]
    for fragment in fragments:
        feed(plain, fragment)
        feed(padded, fragment)
        if padded.calls:
            padded.calls[-1].append("")
    assert [call.fragments() for call in plain.take()] == [call.fragments() for call in padded.take()]
