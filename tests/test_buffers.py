"""`StreamBuffers`: what passes at once, what is held, when it is drained, and how a stream ends."""

from __future__ import annotations

from typing import Any

import pytest

from tokwire import (
    Block,
    DroppedToolCall,
    Finish,
    FinishReason,
    InvalidToolArguments,
    LimitExceeded,
    Limits,
    LocalProtocolError,
    Reasoning,
    Refusal,
    StreamBuffers,
    StreamEvent,
    TextBlock,
    ToolUseBlock,
)
from tokwire._drain import StreamRecord

STOP, TOOL_CALLS, LENGTH = FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.LENGTH


def fill(buffers: StreamBuffers, index: int, call_id: str | None, name: str | None, *pieces: str) -> None:
    """Open a call by hand, as a user of the class does."""
    call = buffers.tool_call(index)
    call.id, call.name = call_id, name
    for piece in pieces:
        call.append(piece)


def tool(call_id: str, name: str, value: Any, choice: int = 0) -> StreamEvent:
    """The event of a call."""
    return Block(ToolUseBlock(call_id, name, value), choice=choice)


def text(fragment: str) -> StreamEvent:
    """The event of a text fragment."""
    return Block(TextBlock(fragment))


def test_nothing_held_drains_to_nothing() -> None:
    assert StreamBuffers().flush() == []


def test_text_and_reasoning_pass_at_once_and_calls_wait_for_the_drain() -> None:
    buffers = StreamBuffers(include_reasoning=True)
    assert buffers.push_reasoning("let me see") == Reasoning("let me see")
    assert buffers.push_text("so:") == text("so:")
    fill(buffers, 0, "id1", "look")
    assert buffers.push_refusal("no") == Refusal("no")
    assert buffers.flush() == [tool("id1", "look", {})]


def test_an_empty_fragment_gives_no_event() -> None:
    buffers = StreamBuffers(include_reasoning=True)
    assert buffers.push_text("") is None
    assert buffers.push_reasoning("") is None
    assert buffers.push_refusal("") is None
    assert (buffers.has_text, buffers.channel) == (False, None)
    assert buffers.push_text("a") == text("a")


@pytest.mark.parametrize("fragment", [" ", "\n\n", "\t", "\u200b", " a ", "\ufeff", "<think>", "\0"])
def test_a_fragment_is_neither_trimmed_nor_read(fragment: str) -> None:
    assert StreamBuffers().push_text(fragment) == text(fragment)


def test_half_a_surrogate_pair_waits_for_its_other_half_or_the_drain() -> None:
    buffers = StreamBuffers()
    assert [buffers.push_text(part) for part in ("a\ud83d", "\ude00", "\ud83d")] == [
        text("a"),
        text("\U0001f600"),
        None,
    ]
    assert buffers.has_half
    assert buffers.flush() == [text("\ufffd")]
    assert not buffers.has_half


def test_reasoning_that_nobody_asked_for_is_dropped_and_never_becomes_text() -> None:
    buffers = StreamBuffers()
    assert buffers.push_reasoning("") is None
    assert buffers.push_reasoning("secret") is None
    assert buffers.push_text("open") == text("open")
    assert buffers.finalize() == [Finish(FinishReason.UNSPECIFIED)]


def test_calls_come_out_in_ascending_index_order_whatever_the_arrival() -> None:
    buffers = StreamBuffers()
    for index, name in ((2, "third"), (0, "first"), (1, "second")):
        fill(buffers, index, f"id{index}", name, "{}")
    assert buffers.flush() == [tool("id0", "first", {}), tool("id1", "second", {}), tool("id2", "third", {})]


def test_an_index_opens_once_and_is_then_the_same_call() -> None:
    buffers = StreamBuffers()
    assert buffers.open_tool_call(0) is None
    call = buffers.tool_call(0)
    assert buffers.tool_call(0) is call
    assert buffers.open_tool_call(0) is call
    assert buffers.open_tool_call(1) is None
    call.append("{}")
    assert buffers.flush() == []
    (dropped,) = buffers.record.dropped
    assert (dropped.id, dropped.name, dropped.arguments) == (None, None, "{}")


def test_argument_text_is_appended() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "i", "f", '{"a"')
    call = buffers.open_tool_call(0)
    assert call is not None
    assert call.append(": 1}") == ": 1}"
    assert call.arguments == '{"a": 1}'
    assert buffers.flush() == [tool("i", "f", {"a": 1})]


def test_empty_arguments_are_an_empty_object() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "i", "now", "")
    assert buffers.flush() == [tool("i", "now", {})]


def test_a_call_without_id_or_name_is_dropped_and_recorded() -> None:
    buffers = StreamBuffers(choice=1)
    fill(buffers, 0, None, "anonymous", "{}")
    fill(buffers, 1, "unnamed", None, "[]")
    fill(buffers, 2, "i", "kept")
    assert buffers.flush() == [tool("i", "kept", {}, choice=1)]
    first, second = buffers.record.dropped
    assert first == DroppedToolCall(1, 0, None, "anonymous", "{}", first.reason)
    assert second == DroppedToolCall(1, 1, "unnamed", None, "[]", second.reason)


def test_an_index_can_be_used_again_after_a_drain() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "a", "f")
    assert buffers.flush() == [tool("a", "f", {})]
    fill(buffers, 0, "b", "g")
    assert buffers.finalize() == [tool("b", "g", {}), Finish(FinishReason.UNSPECIFIED)]


def test_a_second_call_can_open_under_an_index_and_the_first_stays() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "a", "f", "[1]")
    second = buffers.start_tool_call(0)
    second.id, second.name = "b", "g"
    buffers.tool_call(0).append("[2]")
    assert buffers.flush() == [tool("a", "f", [1]), tool("b", "g", [2])]


def test_a_closed_index_keeps_its_call_but_gives_it_no_more() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "a", "f", "[1]")
    buffers.close_index(0)
    buffers.close_index(5)
    assert buffers.open_tool_call(0) is None
    assert buffers.flush() == [tool("a", "f", [1])]


# The end.


def test_the_first_reason_stays() -> None:
    buffers = StreamBuffers()
    buffers.record_finish(TOOL_CALLS)
    buffers.record_finish(STOP)
    assert buffers.reason is TOOL_CALLS
    assert buffers.finalize() == [Finish(TOOL_CALLS)]


def test_the_last_reason_stays_where_a_protocol_replaces_it() -> None:
    buffers = StreamBuffers()
    buffers.record_finish(STOP)
    buffers.replace_finish(LENGTH)
    assert buffers.finalize() == [Finish(LENGTH)]


def test_without_a_reason_the_end_is_unspecified_and_not_stop() -> None:
    buffers = StreamBuffers()
    assert buffers.reason is None
    (finish,) = buffers.finalize()
    assert finish.finish_reason() is FinishReason.UNSPECIFIED


def test_the_end_repeats_nothing_that_was_drained() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "a", "f")
    assert buffers.flush() == [tool("a", "f", {})]
    assert buffers.flush() == []
    assert buffers.finalize() == [Finish(FinishReason.UNSPECIFIED)]


def test_the_finish_belongs_to_choice_zero() -> None:
    buffers = StreamBuffers(choice=3)
    buffers.record_finish(STOP)
    fill(buffers, 0, "a", "f")
    assert buffers.finalize() == [tool("a", "f", {}, choice=3), Finish(STOP, choice=0)]


def test_a_stream_has_one_end() -> None:
    buffers = StreamBuffers()
    buffers.record_finish(STOP)
    assert buffers.finalize() == [Finish(STOP)]
    with pytest.raises(LocalProtocolError, match="twice"):
        buffers.finalize()


def test_a_drain_never_raises_and_the_error_stands_where_the_end_would() -> None:
    buffers = StreamBuffers()
    fill(buffers, 0, "bad", "find", '{"q": "unter')
    fill(buffers, 1, "good", "find", "{}")
    buffers.record_finish(TOOL_CALLS)
    assert buffers.flush() == [tool("good", "find", {})]
    assert buffers.push_text("late") == text("late")
    fill(buffers, 0, "later", "find", "[]")
    with pytest.raises(InvalidToolArguments, match="'find'") as caught:
        buffers.finalize()
    assert caught.value.events == (tool("later", "find", []),)
    assert caught.value.finish_reason is TOOL_CALLS
    assert [(call.id, call.name, call.arguments) for call in caught.value.calls] == [("bad", "find", '{"q": "unter')]


def test_after_an_error_at_the_end_there_is_no_finish_either() -> None:
    buffers = StreamBuffers()
    buffers.record_finish(STOP)
    fill(buffers, 0, "bad", "find", "{")
    with pytest.raises(InvalidToolArguments):
        buffers.finalize()
    with pytest.raises(LocalProtocolError):
        buffers.finalize()


def test_every_bad_call_of_the_stream_is_named_in_the_order_of_the_drains() -> None:
    buffers = StreamBuffers()
    fill(buffers, 4, "a", "f", "{")
    fill(buffers, 2, "b", "g", "}")
    assert buffers.flush() == []
    fill(buffers, 0, "c", "h", "[")
    with pytest.raises(InvalidToolArguments) as caught:
        buffers.finalize()
    assert [(call.index, call.id) for call in caught.value.calls] == [(2, "b"), (4, "a"), (0, "c")]
    assert caught.value.finish_reason is FinishReason.UNSPECIFIED


def test_choices_of_one_stream_share_limits_and_bad_calls() -> None:
    record = StreamRecord(Limits(max_tool_calls=2))
    one, other = (StreamBuffers(choice=choice, record=record) for choice in range(2))
    fill(one, 0, "a", "f", "{")
    fill(other, 0, "a", "f", "{}")
    with pytest.raises(LimitExceeded, match="max_tool_calls=2"):
        one.tool_call(1)
    assert one.flush() == []
    with pytest.raises(InvalidToolArguments) as caught:
        other.finalize()
    assert caught.value.events == (tool("a", "f", {}, choice=1),)


# Fragments of the OpenAI shape.


def test_merged_fragments_find_their_call_and_say_what_can_be_shown() -> None:
    buffers = StreamBuffers()
    assert [
        buffers.merge_tool_call(*fragment)[1]
        for fragment in [(0, "a", "f", ""), (0, None, None, "[1\ud83d"), (1, "b", "g", "[2"), (0, None, None, "\ude00")]
    ] == ["", "[1", "[2", "\U0001f600"]
    call, shown = buffers.merge_tool_call(9, None, None, "]")
    assert (call.id, shown, buffers.channel) == ("b", "]", "tool_call")
    assert buffers.table.calls[0].arguments == "[1\U0001f600"
    assert buffers.flush() == [tool("b", "g", [2])]


def test_the_legacy_call_has_a_slot_of_its_own_and_no_id() -> None:
    buffers = StreamBuffers(record=StreamRecord(Limits(), synthesize=True))
    buffers.record.response_id = "R"
    buffers.merge_tool_call(0, "a", "f", "{}")
    first, shown = buffers.merge_legacy_call("old", "")
    second, more = buffers.merge_legacy_call(None, "[3]")
    assert (first is second, shown, more) == (True, "", "[3]")
    assert buffers.flush() == [tool("call_R_0", "old", [3]), tool("a", "f", {})]
