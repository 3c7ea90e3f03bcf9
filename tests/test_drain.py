"""Draining: what is delivered and in what order, made ids, echoes, and what is recorded of the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.choices import Choice, Given, partial, synthesizing

from tokwire import DroppedToolCall, FinishReason, InvalidToolCall, Limits, ToolUseBlock
from tokwire._drain import StreamRecord, ToolCallDrain

STOP, TOOL_CALLS, LENGTH = FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.LENGTH


def digest_id(name: str, arguments: str, number: int) -> str:
    """The id that is made where no response id is known."""
    digest = hashlib.sha256(name.encode() + b"\0" + arguments.encode() + b"\0" + str(number).encode())
    return f"call_{digest.hexdigest()[:12]}_{number}"


def test_a_drain_of_nothing_gives_nothing() -> None:
    choice = Choice()
    assert choice.give() == []
    assert (choice.record.dropped, choice.record.invalid) == ([], [])


def test_calls_come_out_as_tool_use_blocks() -> None:
    blocks = ToolCallDrain(0, StreamRecord(Limits())).deliver([partial(0, "a", "f", '{"x"', ": 1}")], STOP, None)
    assert blocks == [ToolUseBlock("a", "f", {"x": 1})]


@given(st.lists(st.integers(-3, 3), max_size=10))
def test_the_order_is_by_index_then_arrival(indexes: list[int]) -> None:
    calls: list[Given] = [(index, f"id{place}", "f", "{}") for place, index in enumerate(indexes)]
    expected = [f"id{place}" for _, place in sorted((index, place) for place, index in enumerate(indexes))]
    assert [call_id for call_id, *_ in Choice().give(*calls)] == expected


def test_the_legacy_call_comes_before_index_zero() -> None:
    drained = Choice(record=synthesizing()).give((1, "b", "g", ""), (0, "a", "f", ""), (None, None, "old", ""))
    assert [name for _, name, _ in drained] == ["old", "f", "g"]


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        ((0, None, "f", '{"x": 1}'), "id"),
        ((1, "a", None, '{"x": 1}'), "name"),
        ((2, None, None, '{"x": 1}'), "id or name"),
        ((None, None, "old", "{}"), "id"),
        ((3, "", "f", "{}"), "id"),
    ],
)
def test_a_call_without_id_or_name_is_dropped_and_recorded(call: Given, missing: str) -> None:
    choice = Choice(number=2)
    assert choice.give(call, (9, "k", "kept", "{}")) == [("k", "kept", {})]
    index, call_id, name, arguments = call
    (dropped,) = choice.record.dropped
    assert dropped == DroppedToolCall(2, index, call_id, name, arguments, dropped.reason)
    assert missing in dropped.reason
    assert choice.record.invalid == []


def test_an_entry_that_says_nothing_is_not_recorded() -> None:
    choice = Choice()
    assert choice.give((0, None, None, ""), (None, None, None, "")) == []
    assert choice.record.dropped == []


def test_a_dropped_call_is_never_parsed() -> None:
    choice = Choice()
    assert choice.give((0, None, "f", '{"x": ')) == []
    assert choice.record.invalid == []


@pytest.mark.parametrize(("cap", "kept"), [(1, 1), (4, 4), (5, 5), (6, 5), (None, 5)])
def test_the_record_of_dropped_calls_is_capped_and_keeps_the_first(cap: int | None, kept: int) -> None:
    choice = Choice(record=StreamRecord(Limits(max_tool_calls=cap)))
    choice.give(*[(index, None, f"f{index}", "") for index in range(5)])
    assert [name for _, _, name, _ in choice.dropped()] == [f"f{index}" for index in range(kept)]


# Ids that are made.


def test_a_made_id_holds_the_response_id_and_counts() -> None:
    choice = Choice(record=synthesizing(), response_id="chatcmpl-7")
    drained = choice.give((0, None, "f", ""), (1, "own", "g", ""), (2, None, "f", ""))
    assert [call_id for call_id, *_ in drained] == ["call_chatcmpl-7_0", "own", "call_chatcmpl-7_1"]
    assert choice.give((0, None, "f", "")) == [("call_chatcmpl-7_2", "f", {})]


@pytest.mark.parametrize("response_id", [None, ""])
def test_without_a_response_id_a_digest_stands_in_its_place(response_id: str | None) -> None:
    choice = Choice(record=synthesizing(), response_id=response_id)
    same, other = '{"a": 1}', ' {"\u00e9":2}'
    calls: list[Given] = [(0, None, "f", same), (1, None, "f", same), (2, None, "f\u00fcr", other)]
    assert [call_id for call_id, *_ in choice.give(*calls)] == [
        digest_id("f", same, 0),
        digest_id("f", same, 1),
        digest_id("f\u00fcr", other, 2),
    ]


def test_a_call_without_arguments_is_digested_as_empty_text() -> None:
    assert Choice(record=synthesizing(), response_id=None).give((0, None, "f", "")) == [
        (digest_id("f", "", 0), "f", {})
    ]


def test_made_ids_count_over_all_choices_of_a_stream() -> None:
    record = synthesizing()
    one, other = Choice(record=record), Choice(record=record, number=1)
    made = [choice.give((0, None, "f", ""))[0][0] for choice in (one, other, one)]
    assert made == ["call_R_0", "call_R_1", "call_R_2"]


def test_a_made_id_steps_over_an_id_of_the_server() -> None:
    choice = Choice(record=synthesizing())
    drained = choice.give((0, None, "f", ""), (1, "call_R_0", "g", ""), (2, "call_R_1", "h", ""))
    assert [call_id for call_id, *_ in drained] == ["call_R_2", "call_R_0", "call_R_1"]


def test_an_id_is_made_only_where_it_was_asked_for_and_never_for_a_nameless_call() -> None:
    assert Choice().give((0, None, "f", "")) == []
    choice = Choice(record=synthesizing())
    assert choice.give((0, None, None, "{}"), (1, "a", None, "{}")) == []
    assert len(choice.record.dropped) == 2


# Ids that come again; more of them in the tests of echoes.


@pytest.mark.parametrize(
    ("first", "second", "delivered"),
    [
        ("", '{"n": 1}', [("a", {"n": 1})]),
        ('{"n": 1}', "", [("a", {"n": 1})]),
        ('{"n": 1}', '{"n":1}', [("a", {"n": 1})]),
        ('{"n": 1}', '{"n": 2}', [("a", {"n": 1}), ("call_R_0", {"n": 2})]),
        ('{"n": ', '{"n": 2}', [("call_R_0", {"n": 2})]),
    ],
)
def test_an_echo_is_dropped_and_any_other_use_of_an_id_gets_a_made_one(
    first: str, second: str, delivered: list[tuple[str, Any]]
) -> None:
    choice = Choice()
    drained = choice.give((0, "a", "f", first), (1, "a", "f", second))
    assert [(call_id, value) for call_id, _, value in drained] == delivered
    assert len(drained) + len(choice.record.invalid) + len(choice.record.dropped) == 2


def test_a_long_echo_is_seen_too_whatever_the_order_of_its_keys() -> None:
    long = {"b": "x" * 100, "a": {"d": 1, "c": 2}}
    choice = Choice()
    assert len(choice.give((0, "a", "f", json.dumps(long)), (1, "a", "f", json.dumps(long, sort_keys=True)))) == 1


# Calls that cannot run.


def test_an_invalid_call_is_kept_for_the_end_and_the_others_are_delivered() -> None:
    choice = Choice()
    drained = choice.give((2, "c", "h", "{}"), (1, "b", "g", '{"q": "unfin'), (0, "a", "f", "{}{}"), (3, "d", "i", ""))
    assert [call_id for call_id, *_ in drained] == ["c", "d"]
    assert [(call.index, call.id, call.name, call.arguments) for call in choice.record.invalid] == [
        (0, "a", "f", "{}{}"),
        (1, "b", "g", '{"q": "unfin'),
    ]
    assert all(call.detail for call in choice.record.invalid)
    assert choice.dropped() == []


def cut_call(*pieces: str, cut: str = "") -> tuple[Sequence[ToolUseBlock], list[InvalidToolCall]]:
    """What comes of a call that the token limit cut off."""
    record = StreamRecord(Limits())
    call = partial(0, "a", "f", *pieces)
    call.cut = cut
    return ToolCallDrain(0, record).deliver([call], LENGTH, call), record.invalid


@pytest.mark.parametrize("pieces", [(), ("",), ("", "")])
def test_a_call_cut_before_its_first_fragment_is_invalid(pieces: tuple[str, ...]) -> None:
    blocks, invalid = cut_call(*pieces)
    assert blocks == []
    assert [(call.id, call.name, call.arguments) for call in invalid] == [("a", "f", "")]


def test_a_call_that_got_its_arguments_is_not_cut() -> None:
    assert cut_call("{}") == ([ToolUseBlock("a", "f", {})], [])


@pytest.mark.parametrize("pieces", [(), ("{}",), ('{"n": 1}',)])
def test_a_call_that_the_server_calls_incomplete_is_invalid_whatever_came(pieces: tuple[str, ...]) -> None:
    blocks, invalid = cut_call(*pieces, cut="the server says that it is incomplete")
    assert blocks == []
    assert [call.arguments for call in invalid] == ["".join(pieces)]
    assert invalid[0].detail


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_depth_limit_of_the_stream_holds_and_its_repair_is_asked(depth: int) -> None:
    text = '{"a": ' * depth + "1" + "}" * depth
    strict = Choice(record=StreamRecord(Limits(max_json_depth=2)))
    mending = Choice(record=StreamRecord(Limits(max_json_depth=2), repair=lambda text: {"was": len(text)}))
    value = json.loads(text)
    assert strict.give((0, "a", "f", text)) == ([("a", "f", value)] if depth <= 2 else [])
    assert mending.give((0, "a", "f", text)) == [("a", "f", value if depth <= 2 else {"was": len(text)})]
