"""Ids that come again: which call is an echo of another, and which gets an id of its own."""

from __future__ import annotations

import json

import pytest
from tests.choices import Choice, Given, synthesizing

from tokwire import FinishReason, Limits
from tokwire._drain import StreamRecord

TOOL_CALLS = FinishReason.TOOL_CALLS

BARE = ("", " \n")
FULL = ('{"n": 1}', '{"n":  1}', '{ "n":1}')


@pytest.mark.parametrize("first", [*BARE, *FULL])
@pytest.mark.parametrize("second", [*BARE, *FULL])
@pytest.mark.parametrize("indexes", [(0, 1), (0, 0), (1, 0)])
def test_of_two_calls_in_one_drain_the_bare_one_is_an_echo_else_the_later(
    first: str, second: str, indexes: tuple[int, int]
) -> None:
    choice = Choice()
    calls: list[Given] = [(indexes[0], "a", "f", first), (indexes[1], "a", "f", second)]
    gone = 0 if first in BARE and second in FULL else 1
    assert choice.give(*calls) == [("a", "f", {} if first in BARE and second in BARE else {"n": 1})]
    assert choice.dropped() == [calls[gone]]
    assert "repeats" in choice.record.dropped[0].reason


@pytest.mark.parametrize("second", [*BARE, *FULL])
def test_an_echo_of_a_call_of_an_earlier_drain_is_dropped(second: str) -> None:
    choice = Choice()
    assert choice.give((0, "a", "f", '{"n": 1}')) == [("a", "f", {"n": 1})]
    assert choice.give((3, "a", "f", second)) == []
    assert choice.dropped() == [(3, "a", "f", second)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0, "a", "f", '{"n": 1}'), (1, "a", "f", '{"n": 2}')),
        ((0, "a", "f", '{"n": 1}'), (1, "a", "f", '{"n": 1.0}')),
        ((0, "a", "f", '{"n": 1}'), (1, "a", "f", '{"n": true}')),
        ((0, "a", "f", '{"n": 0}'), (1, "a", "f", '{"n": false}')),
        ((0, "a", "f", '{"n": "1"}'), (1, "a", "f", '{"n": 1}')),
        ((0, "a", "f", '{"n": [1, 2]}'), (1, "a", "f", '{"n": [2, 1]}')),
        ((0, "a", "f", '{"n": 1}'), (1, "a", "g", '{"n": 1}')),
        ((0, "a", "f", ""), (1, "a", "g", "")),
        ((0, "a", "f", '{"t": "%s"}' % ("x" * 90)), (1, "a", "f", '{"t": "%s"}' % ("x" * 89 + "y"))),
    ],
)
@pytest.mark.parametrize("drains", [1, 2])
def test_any_other_later_use_of_an_id_gets_a_made_one(first: Given, second: Given, drains: int) -> None:
    choice = Choice()
    drained = choice.give(first, second) if drains == 1 else choice.give(first) + choice.give(second)
    assert [(call_id, name) for call_id, name, _ in drained] == [("a", first[2]), ("call_R_0", second[2])]
    assert [json.dumps(value) for *_, value in drained] == [
        json.dumps(json.loads(c[3] or "{}")) for c in (first, second)
    ]
    assert choice.dropped() == []


def test_what_was_delivered_bare_is_not_taken_back() -> None:
    choice = Choice()
    assert choice.give((0, "a", "f", "")) == [("a", "f", {})]
    assert choice.give((0, "a", "f", "{}")) == []
    assert choice.give((0, "a", "f", '{"n": 1}')) == [("call_R_0", "f", {"n": 1})]


def test_of_three_uses_of_an_id_only_the_bare_ones_are_echoes() -> None:
    choice = Choice()
    calls: list[Given] = [(0, "a", "f", ""), (1, "a", "f", '{"n": 1}'), (2, "a", "f", ""), (3, "a", "f", '{"n": 2}')]
    assert choice.give(*calls) == [("a", "f", {"n": 1}), ("call_R_0", "f", {"n": 2})]
    assert choice.dropped() == [calls[0], calls[2]]


def test_an_id_belongs_to_the_call_that_came_first_wherever_it_sorts() -> None:
    drained = Choice().give((5, "a", "f", '{"n": 1}'), (2, "a", "f", '{"n": 2}'))
    assert drained == [("call_R_0", "f", {"n": 2}), ("a", "f", {"n": 1})]


def test_a_made_id_is_taken_like_any_other() -> None:
    choice = Choice(record=synthesizing())
    assert choice.give((0, None, "f", '{"n": 1}')) == [("call_R_0", "f", {"n": 1})]
    assert choice.give((0, "call_R_0", "f", '{"n": 2}')) == [("call_R_1", "f", {"n": 2})]


def test_choices_do_not_share_ids() -> None:
    record = StreamRecord(Limits())
    one, other = Choice(record=record), Choice(record=record, number=1)
    assert one.give((0, "a", "f", "")) == other.give((0, "a", "f", "")) == [("a", "f", {})]


@pytest.mark.parametrize(("second", "made"), [('{"n": ', "call_R_0"), ('{"n": 1}', "call_R_0")])
def test_calls_with_invalid_arguments_are_no_echoes_of_each_other(second: str, made: str) -> None:
    choice = Choice()
    drained = choice.give((0, "a", "f", '{"n": '), (1, "a", "f", second))
    assert {call_id for call_id, *_ in drained} | {call.id for call in choice.record.invalid} == {"a", made}


def test_a_bare_call_is_an_echo_of_an_invalid_one() -> None:
    choice = Choice()
    assert choice.give((0, "a", "f", '{"n": '), (1, "a", "f", "")) == []
    assert [call.arguments for call in choice.record.invalid] == ['{"n": ']
    assert choice.dropped() == [(1, "a", "f", "")]
