"""Which call a fragment belongs to, how calls grow, and what they may use together."""

from __future__ import annotations

import pytest

from tokwire import LimitExceeded, Limits, PartialToolCall
from tokwire._budget import CallBudget
from tokwire._calls import ToolCallTable

Fragment = tuple[int | None, str | None, str | None, str]
Call = tuple[int | None, str | None, str | None, str]

HIGH, LOW, PAIR, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"


def new_table(**limits: int | None) -> tuple[ToolCallTable, CallBudget]:
    """An empty table and its budget."""
    budget = CallBudget(Limits(**limits))
    return ToolCallTable(budget), budget


def feed(table: ToolCallTable, fragment: Fragment) -> PartialToolCall:
    """Give one fragment to the call that it belongs to."""
    index, call_id, name, text = fragment
    call = table.merge(index, call_id, name)
    if call is None:
        assert index is not None
        return table.wait(index, text)
    call.append(text)
    return call


def shown(calls: list[PartialToolCall]) -> list[Call]:
    """What can be seen of calls."""
    return [(call.index, call.id, call.name, call.arguments) for call in calls]


def assemble(*fragments: Fragment) -> list[Call]:
    """The calls that fragments make, in the order of opening."""
    table, _ = new_table()
    for fragment in fragments:
        feed(table, fragment)
    return shown(table.take())


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        # The index is open: that call.
        ([(0, "a", "f", "1"), (0, None, None, "2")], [(0, "a", "f", "12")]),
        ([(0, "a", "f", "1"), (0, "a", "f", "2")], [(0, "a", "f", "12")]),
        ([(0, "a", "f", "1"), (0, "a", None, "2")], [(0, "a", "f", "12")]),
        ([(0, "a", None, "1"), (0, None, "f", "2")], [(0, "a", "f", "12")]),
        ([(0, None, "f", "1"), (0, "a", None, "2")], [(0, "a", "f", "12")]),
        ([(0, None, "f", "1"), (0, "a", "f", "2")], [(0, "a", "f", "12")]),
        ([(0, "a", "f", "1"), (0, "b", None, "2")], [(0, "a", "f", "12")]),
        ([(0, "a", "f", "1"), (1, "b", "g", "2"), (0, None, None, "3")], [(0, "a", "f", "13"), (1, "b", "g", "2")]),
        # But another id together with a name is another call, as from servers that label every call 0.
        ([(0, "a", "f", "1"), (0, "b", "f", "2")], [(0, "a", "f", "1"), (0, "b", "f", "2")]),
        ([(0, "b", "f", "2"), (0, "a", "f", "1")], [(0, "b", "f", "2"), (0, "a", "f", "1")]),
        ([(0, "a", "f", ""), (0, "b", "g", "2"), (0, None, None, "3")], [(0, "a", "f", ""), (0, "b", "g", "23")]),
        ([(0, "a", "f", ""), (0, "b", "g", "2"), (0, "a", None, "3")], [(0, "a", "f", "3"), (0, "b", "g", "2")]),
        # The index is not open: an id or a name opens it, and so does anything while no call is open.
        ([(3, "a", None, "1")], [(3, "a", None, "1")]),
        ([(3, None, "f", "1")], [(3, None, "f", "1")]),
        ([(3, None, None, "1"), (3, "a", "f", "2")], [(3, "a", "f", "12")]),
        ([(-7, "a", "f", "1"), (2**70, "b", "g", "2")], [(-7, "a", "f", "1"), (2**70, "b", "g", "2")]),
        # A fragment without a name whose id is that of an open call continues it, whatever its index.
        ([(0, "a", "f", "1"), (9, "a", None, "2")], [(0, "a", "f", "12")]),
        ([(0, "a", "f", "1"), (1, "b", "g", "2"), (1, "a", None, "3")], [(0, "a", "f", "13"), (1, "b", "g", "2")]),
        ([(0, "a", "f", "1"), (1, "b", "g", "2"), (0, "b", None, "3")], [(0, "a", "f", "1"), (1, "b", "g", "23")]),
        ([(0, "a", "f", "1"), (9, "a", "f", "2")], [(0, "a", "f", "1"), (9, "a", "f", "2")]),
    ],
)
def test_an_index_names_a_call(fragments: list[Fragment], calls: list[Call]) -> None:
    assert assemble(*fragments) == calls


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        # A known id continues its own call.
        (
            [(None, "a", "f", "1"), (None, "b", "g", "2"), (None, "a", None, "3")],
            [(0, "a", "f", "13"), (1, "b", "g", "2")],
        ),
        (
            [(None, "a", "f", "1"), (None, "b", "g", "2"), (None, "a", "f", "3")],
            [(0, "a", "f", "13"), (1, "b", "g", "2")],
        ),
        ([(4, "a", "f", "1"), (None, "a", None, "2")], [(4, "a", "f", "12")]),
        # A new id opens a call behind the highest index.
        ([(None, "a", "f", ""), (None, "b", None, "")], [(0, "a", "f", ""), (1, "b", None, "")]),
        (
            [(4, "a", "f", ""), (1, "b", "g", ""), (None, "c", "h", "")],
            [(4, "a", "f", ""), (1, "b", "g", ""), (5, "c", "h", "")],
        ),
        ([(-4, "a", "f", ""), (None, "b", "g", "")], [(-4, "a", "f", ""), (-3, "b", "g", "")]),
        # A name opens a call only while none is open.
        ([(None, None, "f", "1"), (None, None, None, "2")], [(0, None, "f", "12")]),
        ([(None, "a", "f", "1"), (None, None, "g", "2")], [(0, "a", "fg", "12")]),
        ([(None, "a", None, "1"), (None, None, "g", "2")], [(0, "a", "g", "12")]),
        # All else continues the call that was opened last, wherever its index sorts.
        ([(5, "a", "f", "1"), (0, "b", "g", "2"), (None, None, None, "3")], [(5, "a", "f", "1"), (0, "b", "g", "23")]),
        ([(0, "b", "g", "2"), (5, "a", "f", "1"), (None, None, None, "3")], [(0, "b", "g", "2"), (5, "a", "f", "13")]),
        ([(None, None, None, "1"), (None, "a", "f", "2")], [(0, None, None, "1"), (1, "a", "f", "2")]),
    ],
)
def test_without_an_index_the_id_or_the_order_decides(fragments: list[Fragment], calls: list[Call]) -> None:
    assert assemble(*fragments) == calls


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        # An id or a name comes under the index: what waited is its, at its place.
        ([(0, "a", "f", "1"), (1, None, None, "2"), (1, "b", "g", "3")], [(0, "a", "f", "1"), (1, "b", "g", "23")]),
        ([(0, "a", "f", "1"), (1, None, None, "2"), (1, "b", None, "3")], [(0, "a", "f", "1"), (1, "b", None, "23")]),
        ([(0, "a", "f", "1"), (1, None, None, "2"), (1, None, "g", "3")], [(0, "a", "f", "1"), (1, None, "g", "23")]),
        (
            [(0, "a", "f", "1"), (1, None, None, "2"), (0, None, None, "3"), (1, None, None, "4"), (1, "b", "g", "5")],
            [(0, "a", "f", "13"), (1, "b", "g", "245")],
        ),
        # Nothing comes: it continues the call that was the last opened when it came, in order of arrival.
        ([(0, "a", "f", "1"), (7, None, None, "2"), (0, None, None, "3")], [(0, "a", "f", "123")]),
        (
            [(0, "a", "f", "1"), (7, None, None, "2"), (1, "b", "g", "3"), (7, None, None, "4"), (0, None, None, "5")],
            [(0, "a", "f", "125"), (1, "b", "g", "34")],
        ),
        (
            [(0, "a", "f", "1"), (7, None, None, "2"), (8, None, None, "3"), (7, None, None, "4")],
            [(0, "a", "f", "1234")],
        ),
        # Each index waits for itself.
        (
            [(0, "a", "f", "1"), (7, None, None, "2"), (8, None, None, "3"), (8, "c", "h", "4")],
            [(0, "a", "f", "12"), (8, "c", "h", "34")],
        ),
    ],
)
def test_a_fragment_with_an_index_alone_waits(fragments: list[Fragment], calls: list[Call]) -> None:
    assert assemble(*fragments) == calls


def test_a_waiting_fragment_counts_for_the_next_index() -> None:
    assert assemble((0, "a", "f", ""), (7, None, None, "2"), (None, "b", "g", "3")) == [
        (0, "a", "f", "2"),
        (8, "b", "g", "3"),
    ]


def test_the_legacy_slot_is_no_index_and_no_last_call() -> None:
    table, _ = new_table()
    legacy = table.legacy_call()
    legacy.identify(None, "old")
    feed(table, (None, None, "new", "1"))
    feed(table, (None, None, None, "2"))
    assert table.legacy_call() is legacy
    legacy.append("{}")
    assert shown(table.take()) == [(None, None, "old", "{}"), (0, None, "new", "12")]


def test_the_legacy_call_sorts_between_the_negative_indexes_and_zero() -> None:
    table, _ = new_table()
    for index in (1, 0, -1):
        table.open(index)
    table.legacy_call()
    assert [call.index for call in sorted(table.take(), key=lambda call: call.sort_key)] == [-1, None, 0, 1]


def test_an_index_gives_its_newest_call() -> None:
    table, _ = new_table()
    assert table.at(0) is None
    first = table.open(0)
    assert table.at(0) is first
    second = table.open(0)
    assert table.at(0) is second
    assert table.calls == [first, second]
    assert [first.ordinal, second.ordinal] == [0, 1]


def test_taking_the_calls_forgets_them_but_not_how_many_there_were() -> None:
    table, _ = new_table()
    feed(table, (4, "a", "f", "1"))
    feed(table, (5, None, None, "2"))
    table.legacy_call()
    assert len(table.take()) == 2
    assert table.take() == []
    assert table.at(4) is None
    assert table.next_index() == 0
    again = feed(table, (4, None, None, "3"))
    assert (again.id, again.arguments, again.ordinal) == (None, "3", 2)
    assert table.legacy_call().ordinal == 3


def test_an_id_that_left_is_not_known_any_more() -> None:
    table, _ = new_table()
    feed(table, (0, "a", "f", "1"))
    table.take()
    assert shown([feed(table, (None, "a", None, "2"))]) == [(0, "a", None, "2")]


def test_a_call_grows_joins_halves_and_can_be_replaced() -> None:
    call = PartialToolCall()
    assert [call.append(text) for text in ('{"a', HIGH, LOW + '": 1}', HIGH)] == ['{"a', "", PAIR + '": 1}', ""]
    assert call.arguments == '{"a' + PAIR + '": 1}' + LOST
    call.replace("{}")
    assert (call.arguments, call.fragments(), call.size) == ("{}", ["{}"], 2)


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_calls_are_counted_one_under_at_and_over_the_limit(limit: int) -> None:
    table, _ = new_table(max_tool_calls=limit)
    for index in range(limit):
        feed(table, (index, f"id{index}", "f", "{}"))
    feed(table, (0, None, None, " "))
    with pytest.raises(LimitExceeded) as caught:
        feed(table, (limit, "one more", "f", "{}"))
    assert (caught.value.limit, caught.value.value) == ("max_tool_calls", limit)


def test_calls_are_counted_over_the_whole_stream_and_all_choices() -> None:
    budget = CallBudget(Limits(max_tool_calls=3))
    one, other = ToolCallTable(budget), ToolCallTable(budget)
    one.open(0)
    one.take()
    other.open(0)
    one.legacy_call()
    with pytest.raises(LimitExceeded, match="max_tool_calls=3"):
        other.open(1)


def test_an_index_that_waits_is_counted_once_and_not_again_when_its_call_opens() -> None:
    table, _ = new_table(max_tool_calls=2)
    for fragment in [(0, "a", "f", "1"), (1, None, None, "2"), (1, None, None, "3"), (1, "b", "g", "4")]:
        feed(table, fragment)
    with pytest.raises(LimitExceeded, match="max_tool_calls=2"):
        feed(table, (2, None, None, "5"))


@pytest.mark.parametrize("last", [(0, None, None, "6"), (9, None, None, "6"), (8, None, None, "6"), (2, "c", "h", "6")])
def test_pending_characters_are_counted_one_under_at_and_over_the_limit(last: Fragment) -> None:
    fragments: list[Fragment] = [(0, "a", "f", "12"), (1, "b", "g", "\u00e9" + PAIR), (9, None, None, "5"), last]
    for limit in (6, 7):
        table, budget = new_table(max_tool_arguments_bytes=limit)
        for fragment in fragments:
            feed(table, fragment)
        assert budget.characters == 6
    table, _ = new_table(max_tool_arguments_bytes=5)
    for fragment in fragments[:-1]:
        feed(table, fragment)
    with pytest.raises(LimitExceeded) as caught:
        feed(table, last)
    assert (caught.value.limit, caught.value.value) == ("max_tool_arguments_bytes", 5)


def test_what_left_with_a_drain_is_not_counted_any_more() -> None:
    table, budget = new_table(max_tool_arguments_bytes=10)
    for _ in range(5):
        feed(table, (0, "a", "f", "12345678"))
        feed(table, (3, None, None, "90"))
        assert budget.characters == 10
        table.take()
        assert budget.characters == 0


def test_without_limits_nothing_is_too_much() -> None:
    table, _ = new_table(max_tool_calls=None, max_tool_arguments_bytes=None)
    for index in range(5000):
        feed(table, (index, f"id{index}", "f", "x" * 100))
    assert len(table.take()) == 5000


def test_the_quick_way_counts_and_keeps_like_the_other() -> None:
    table, budget = new_table(max_tool_arguments_bytes=5)
    call = feed(table, (0, "a", "f", "12"))
    for text in ("34", "", "5"):
        call.append_quick(text)
    assert (call.fragments(), budget.characters) == (["12", "34", "5"], 5)
    with pytest.raises(ValueError, match=r"^$"):
        call.append_quick("6")
    assert (call.arguments, budget.characters) == ("12345", 5)
