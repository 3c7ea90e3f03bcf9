"""`StreamBuffers`: halves of surrogate pairs, calls that the token limit cut off, and properties of any stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    Block,
    FinishReason,
    InvalidToolArguments,
    Limits,
    Reasoning,
    Refusal,
    StreamBuffers,
    StreamEvent,
    TextBlock,
    ToolUseBlock,
)
from tokwire._drain import StreamRecord

HIGH, LOW, PAIR, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"
LENGTH = FinishReason.LENGTH

Push = Callable[[StreamBuffers, str], StreamEvent | None]

PUSHES: dict[str, Push] = {
    "text": StreamBuffers.push_text,
    "reasoning": StreamBuffers.push_reasoning,
    "refusal": StreamBuffers.push_refusal,
}


def shown(event: StreamEvent | None) -> str | None:
    """The text of an event, whatever its kind."""
    match event:
        case Block(TextBlock(text)) | Reasoning(text) | Refusal(text):
            return text
    return None


@pytest.mark.parametrize("channel", PUSHES)
@pytest.mark.parametrize(
    ("fragments", "events"),
    [
        (["a" + HIGH, LOW + "b"], ["a", PAIR + "b"]),
        ([HIGH, LOW], [None, PAIR]),
        ([HIGH, "", LOW], [None, None, PAIR]),
        ([HIGH, "x"], [None, LOST + "x"]),
        ([HIGH, HIGH, LOW], [None, LOST, PAIR]),
        ([LOW, "x"], [LOST, "x"]),
        (["a" + LOW + "b" + HIGH + "c"], ["a" + LOST + "b" + LOST + "c"]),
        ([PAIR, "x"], [PAIR, "x"]),
        ([HIGH + LOW], [PAIR]),
    ],
)
def test_halves_of_a_pair_meet_in_the_next_event_of_their_kind(
    channel: str, fragments: list[str], events: list[str | None]
) -> None:
    buffers = StreamBuffers(include_reasoning=True)
    assert [shown(PUSHES[channel](buffers, fragment)) for fragment in fragments] == events
    assert not buffers.has_half
    assert buffers.flush() == []


@pytest.mark.parametrize("channel", PUSHES)
def test_a_half_waits_while_other_kinds_pass(channel: str) -> None:
    buffers = StreamBuffers(include_reasoning=True)
    assert PUSHES[channel](buffers, HIGH) is None
    assert buffers.has_half
    for other in PUSHES.keys() - {channel}:
        assert shown(PUSHES[other](buffers, "x")) == "x"
    assert shown(PUSHES[channel](buffers, LOW)) == PAIR


@pytest.mark.parametrize("channel", PUSHES)
def test_a_half_waits_no_longer_than_the_drain(channel: str) -> None:
    buffers = StreamBuffers(include_reasoning=True, choice=2)
    PUSHES[channel](buffers, "a" + HIGH)
    (event,) = buffers.flush()
    assert (shown(event), event.choice) == (LOST, 2)
    assert buffers.flush() == []
    assert shown(PUSHES[channel](buffers, LOW)) == LOST


def test_a_half_comes_before_the_calls_of_its_drain() -> None:
    buffers = StreamBuffers()
    call = buffers.tool_call(0)
    call.id, call.name = "a", "f"
    buffers.push_text(HIGH)
    assert buffers.flush() == [Block(TextBlock(LOST)), Block(ToolUseBlock("a", "f", {}))]


def test_reasoning_that_nobody_asked_for_leaves_no_half_behind() -> None:
    buffers = StreamBuffers()
    assert buffers.push_reasoning(HIGH) is None
    assert not buffers.has_half
    assert shown(buffers.push_text(LOW)) == LOST


@given(st.lists(st.text(st.sampled_from([HIGH, LOW, PAIR, "a", "\u00e9"]), max_size=4), max_size=8))
def test_all_text_that_is_handed_out_can_be_encoded_and_none_is_lost(fragments: list[str]) -> None:
    buffers = StreamBuffers()
    events = [event for fragment in fragments if (event := buffers.push_text(fragment)) is not None]
    joined = "".join(shown(event) or "" for event in [*events, *buffers.flush()])
    whole = "".join(fragments).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert joined.encode().decode() == whole
    assert all(shown(event) for event in events)


# Calls that the token limit cut off.

Step = Callable[[StreamBuffers], object]


def opened(index: int, call_id: str, *pieces: str) -> Step:
    """Open a call under an index."""

    def step(buffers: StreamBuffers) -> None:
        call = buffers.start_tool_call(index)
        call.id, call.name = call_id, "f"
        for piece in pieces:
            call.append(piece)

    return step


def merged(index: int, call_id: str | None, arguments: str) -> Step:
    """Add a fragment of the OpenAI shape."""
    return lambda buffers: buffers.merge_tool_call(index, call_id, call_id and "f", arguments)


def pushed(channel: str, text: str = "x") -> Step:
    """Add text of one kind."""
    return lambda buffers: PUSHES[channel](buffers, text)


def closed(index: int) -> Step:
    """Begin something else under an index."""
    return lambda buffers: buffers.close_index(index)


def bad_ids(steps: list[Step], reason: FinishReason | None) -> list[str]:
    """The calls that cannot run at the end of a stream."""
    buffers = StreamBuffers()
    for step in steps:
        step(buffers)
    if reason is not None:
        buffers.record_finish(reason)
    try:
        buffers.finalize()
    except InvalidToolArguments as error:
        return [call.id for call in error.calls]
    return []


CUT: list[tuple[list[Step], list[str]]] = [
    ([opened(0, "a")], ["a"]),
    ([opened(0, "a", "")], ["a"]),
    ([merged(0, "a", "")], ["a"]),
    ([opened(0, "a"), opened(1, "b")], ["b"]),
    ([opened(1, "b"), opened(0, "a")], ["a"]),
    ([opened(0, "a"), opened(0, "b")], ["b"]),
    ([pushed("text"), opened(0, "a")], ["a"]),
    ([opened(0, "a"), pushed("text"), opened(1, "b")], ["b"]),
    ([opened(0, "a"), pushed("text"), merged(1, "b", "")], ["b"]),
    ([opened(0, "a", "{}"), merged(1, "b", ""), merged(0, None, " ")], ["b"]),
    ([opened(0, "a"), pushed("text", "")], ["a"]),
]
WHOLE: list[list[Step]] = [
    [opened(0, "a", "{}")],
    [merged(0, "a", ""), merged(0, None, "{}")],
    [opened(0, "a"), pushed("text")],
    [opened(0, "a"), pushed("reasoning")],
    [opened(0, "a"), pushed("refusal")],
    [opened(0, "a"), closed(1)],
    [opened(0, "a"), closed(0)],
    [opened(0, "a"), opened(1, "b", "{}")],
    [merged(0, "a", ""), merged(1, "b", "{}")],
]


@pytest.mark.parametrize(("steps", "bad"), CUT)
def test_the_call_opened_last_is_invalid_if_the_limit_cut_it_before_its_first_fragment(
    steps: list[Step], bad: list[str]
) -> None:
    assert bad_ids(steps, LENGTH) == bad


@pytest.mark.parametrize("steps", WHOLE)
def test_a_call_that_something_came_after_is_whole(steps: list[Step]) -> None:
    assert bad_ids(steps, LENGTH) == []


@pytest.mark.parametrize("steps", [steps for steps, _ in CUT] + WHOLE)
@pytest.mark.parametrize("reason", [None, FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.other("length")])
def test_without_the_reason_length_no_call_was_cut(steps: list[Step], reason: FinishReason | None) -> None:
    assert bad_ids(steps, reason) == []


def test_the_legacy_call_can_be_cut_too() -> None:
    buffers = StreamBuffers(record=StreamRecord(Limits(), synthesize=True))
    buffers.push_text("x")
    buffers.merge_legacy_call("old", "")
    buffers.record_finish(LENGTH)
    with pytest.raises(InvalidToolArguments) as caught:
        buffers.finalize()
    assert [call.name for call in caught.value.calls] == ["old"]
    assert caught.value.finish_reason.is_truncated


# Properties.

arguments = st.dictionaries(st.text("abc", max_size=2), st.integers() | st.text("xyz\u00e9", max_size=4), max_size=3)
calls_of_a_stream = st.lists(st.tuples(st.integers(-2, 4), arguments), max_size=6)


@given(calls_of_a_stream, st.lists(st.integers(0, 40), max_size=4), st.integers(0, 6))
def test_calls_come_out_once_in_order_for_every_cut_and_every_drain(
    calls: list[tuple[int, dict[str, Any]]], cuts: list[int], drain_after: int
) -> None:
    record = StreamRecord(Limits())
    buffers = StreamBuffers(record=record)
    events: list[StreamEvent] = []
    for number, (index, value) in enumerate(calls):
        call = buffers.start_tool_call(index)
        call.id, call.name = f"id{number}", "f"
        text = json.dumps(value)
        places = [0, *sorted(min(place, len(text)) for place in cuts), len(text)]
        for start, end in pairwise(places):
            call.append(text[start:end])
        if number == drain_after:
            events += buffers.flush()
            assert record.budget.characters == 0
            assert buffers.flush() == []
    events += buffers.finalize()[:-1]
    assert record.budget.characters == 0
    numbered = list(enumerate(calls))
    expected = [
        Block(ToolUseBlock(f"id{number}", "f", value))
        for part in (numbered[: drain_after + 1], numbered[drain_after + 1 :])
        for number, (_, value) in sorted(part, key=lambda item: item[1][0])
    ]
    assert events == expected


@pytest.mark.parametrize("code", [0x10000, 0x10FFFF])
def test_the_outermost_halves_wait_for_their_other_half_too(code: int) -> None:
    first, second = divmod(code - 0x10000, 0x400)
    buffers = StreamBuffers()
    assert buffers.push_text(chr(0xD800 + first)) is None
    assert buffers.push_text(chr(0xDC00 + second)) == Block(TextBlock(chr(code)))
