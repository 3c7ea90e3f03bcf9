"""`DecodeState`: what a protocol may do to a stream, and what events and facts come of it."""

from __future__ import annotations

from typing import Any, Unpack

import pytest
from tests.support import PROTOCOLS, STOP, chunk, data, decode_options, decoded, tool

import tokwire
from tokwire import (
    Block,
    DroppedToolCall,
    Finish,
    FinishReason,
    InvalidToolArguments,
    Limits,
    Reasoning,
    Refusal,
    TextBlock,
    ToolCallDelta,
    ToolUseBlock,
    Usage,
)
from tokwire._arguments import argument_text
from tokwire._finish import OPENAI_WORDS
from tokwire._state import DecodeState

PATHS = {"input_tokens": (("in", "new"), ("in_old",)), "output_tokens": (("out",),)}


def new(*, last_reason_wins: bool = False, **options: Unpack[tokwire.DecoderOptions]) -> DecodeState:
    return DecodeState(decode_options(**options), OPENAI_WORDS, last_reason_wins=last_reason_wins)


def blocks(state: DecodeState) -> list[tuple[str, Any]]:
    """Name and input of the calls that came out."""
    found = [event.as_block() for event in state.out]
    return [(block.name, block.input) for block in found if isinstance(block, ToolUseBlock)]


def test_an_empty_stream() -> None:
    state = new(include_usage=True)
    assert state.finalize() is None
    assert state.out == [Finish(FinishReason.UNSPECIFIED)]
    assert state.summary() == tokwire.StreamSummary(
        finish_reason=FinishReason.UNSPECIFIED,
        raw_finish_reason=None,
        end_marker=False,
        response_id=None,
        model=None,
        finish_reasons={},
        usage=None,
        media={},
        signatures=(),
        thinking_blocks=(),
        dropped_tool_calls=(),
    )


def test_fragments_of_every_channel() -> None:
    for asked in (True, False):
        state = new(include_reasoning=asked)
        state.text("a", 1)
        state.text("")
        state.reasoning("hm")
        state.reasoning("")
        state.refusal("no")
        reasoning = [Reasoning("hm")] if asked else []
        assert state.out == [Block(TextBlock("a"), choice=1), *reasoning, Refusal("no")]


def test_halves_of_a_pair() -> None:
    state = new(include_reasoning=True)
    for half in ("\ud83d", "\ude00!", "\ud83d"):
        state.text(half)
    state.reasoning("\ud83d")
    assert state.out == [Block(TextBlock("😀!"))]
    state.flush_halves()
    assert state.out[1:] == [Block(TextBlock("\ufffd")), Reasoning("\ufffd")]
    state.flush_halves()
    assert len(state.out) == 3
    new().flush_halves()


def test_halves_leave_in_the_order_of_their_choices() -> None:
    state = new()
    for choice in (2, 0, 1):
        state.text("\ud83d", choice)
    state.flush_halves()
    assert [event.choice for event in state.out] == [0, 1, 2]


def test_the_identity_of_the_response() -> None:
    state = new()
    for response_id, model in ((None, 3), ("", ""), ("r1", "m1\ud83d"), ("r2", "m2")):
        state.identify(response_id, model)
    assert (state.response_id, state.model) == ("r1", "m1\ufffd")
    state.identify("r3", "", again=True)
    assert (state.response_id, state.model) == ("r3", "m1\ufffd")
    assert state.record.response_id == "r3"
    state.identify("r4\udc00", "m4", again=True)
    assert (state.record.response_id, state.model) == ("r4\ufffd", "m4")


def test_usage_is_merged() -> None:
    state = new(include_usage=True)
    nothing: list[object] = [None, 3, {}, []]
    for raw in nothing:
        state.usage(raw, PATHS)
    assert state.usage_event() is None
    state.usage({"in": {"new": 5}, "out": 1, "x": "\ud83d"}, PATHS)
    state.usage({"in": None, "in_old": 7, "out": None, "y": [1]}, PATHS)
    state.usage({"in": 3, "out": True}, PATHS)
    state.usage({"out": "9"}, PATHS)
    merged = state.usage_event()
    assert merged == Usage(
        input_tokens=7, output_tokens=1, raw={"in": 3, "out": "9", "x": "\ufffd", "in_old": 7, "y": [1]}
    )
    assert state.finalize() is None
    assert state.out == [merged, Finish(FinishReason.UNSPECIFIED)]
    state.usage({"out": 2}, PATHS, again=True)
    assert state.usage_event() == Usage(output_tokens=2, raw={"out": 2})
    state.usage(None, PATHS, again=True)
    assert state.usage_event() is None


def test_the_first_word_wins() -> None:
    state = new()
    for word in (None, "", 7, "Eos\ud83d", "stop"):
        state.finish(word)
    state.finish("length", 2)
    state.finish("stop", 2)
    summary = state.summary()
    assert (summary.finish_reason, summary.raw_finish_reason) == (FinishReason.other("Eos\ufffd"), "Eos\ufffd")
    assert summary.finish_reasons == {0: "Eos\ufffd", 2: "length"}


def test_the_last_word_wins_where_the_protocol_says_so() -> None:
    state = new(last_reason_wins=True)
    for word, choice in (("stop", 1), ("length", 0), ("content_filter", 1)):
        state.finish(word, choice)
    assert (state.reason, state.raw_reason) == (FinishReason.CONTENT_FILTER, "content_filter")
    assert state.finish_reasons == {0: "length", 1: "content_filter"}
    assert state.finalize() is None
    assert state.out == [Finish(FinishReason.CONTENT_FILTER)]


def test_a_payload_that_fails_drains_and_ends_nothing() -> None:
    state = new()
    state.merge_tool_call(0, "c1", "f", "{}")
    state.is_failing = True
    state.finish("stop")
    state.end()
    assert (state.out, state.reason, state.end_marker, state.is_ended) == ([], None, False, False)
    state.is_failing = False
    state.end()
    assert (state.end_marker, state.is_ended) == (True, True)


def test_calls_that_are_merged() -> None:
    state = new(include_tool_deltas=True)
    call = state.merge_tool_call(3, "c1", "f", '{"a":', 1)
    assert state.merge_tool_call(3, None, None, "1}", 1) is call
    state.merge_tool_call(3, None, None, None, 1)
    state.merge_legacy_call(None, None)
    state.merge_legacy_call("old", {"n": [1]})
    assert state.out == [
        ToolCallDelta(0, "c1", "f", '{"a":', choice=1),
        ToolCallDelta(0, "c1", "f", "1}", choice=1),
        ToolCallDelta(0, None, "old", '{"n":[1]}'),
    ]
    state.finish("tool_calls", 1)
    assert state.out[-1] == Block(ToolUseBlock("c1", "f", {"a": 1}), choice=1)
    assert state.finalize() is None
    assert state.summary().dropped_tool_calls[0].name == "old"


def test_calls_that_are_opened_by_index() -> None:
    state = new(include_tool_deltas=True)
    first = state.open_tool_call(1, "c1", "f")
    assert state.open_tool_call(1, "c1", None) is first
    assert state.open_tool_call(1, None, None) is first
    second = state.open_tool_call(1, "c2", "g")
    assert second is not first
    state.extend_tool_call(first, '{"x":')
    state.extend_tool_call(first, "1}")
    state.extend_tool_call(second, None)
    state.extend_tool_call(second, "")
    assert [event.arguments for event in state.out if isinstance(event, ToolCallDelta)] == [
        "",
        "",
        "",
        "",
        '{"x":',
        "1}",
    ]
    assert state.finalize() is None
    assert blocks(state) == [("f", {"x": 1}), ("g", {})]


def test_calls_that_come_whole() -> None:
    state = new(include_tool_deltas=True)
    for arguments in ({"a": 1}, None, '{"b":2}'):
        state.take_tool_call("c1", "f", arguments)
    assert [event.arguments for event in state.out if isinstance(event, ToolCallDelta)] == ['{"a":1}', "", '{"b":2}']
    assert state.finalize() is None
    assert blocks(state) == [("f", {"a": 1}), ("f", {"b": 2})]


def test_ids_that_are_made() -> None:
    state = new(synthesize_tool_ids=True)
    state.merge_tool_call(0, None, "f", "{}")
    state.identify("r1", None)
    state.merge_tool_call(1, None, "g", "{}", 2)
    assert state.finalize() is None
    made = [event.block.id for event in state.out if isinstance(event, Block) and isinstance(event.block, ToolUseBlock)]
    assert made == ["call_r1_0", "call_r1_1"]


def test_bad_arguments_stand_in_the_place_of_the_finish() -> None:
    state = new(include_usage=True)
    state.usage({"out": 1}, PATHS)
    state.merge_tool_call(0, "c1", "f", "{")
    state.finish("length")
    error = state.finalize()
    assert isinstance(error, InvalidToolArguments)
    assert (error.calls[0].id, error.finish_reason) == ("c1", FinishReason.LENGTH)
    assert state.out == [Usage(output_tokens=1, raw={"out": 1})]


def test_arguments_that_the_caller_repairs() -> None:
    state = new(repair_arguments=lambda text: {"was": text})
    state.merge_tool_call(0, "c1", "f", "{")
    assert state.finalize() is None
    assert blocks(state) == [("f", {"was": "{"})]


def test_fragments_of_no_call() -> None:
    state = new()
    state.drop_fragment(4, "", "nothing")
    assert state.summary().dropped_tool_calls == ()
    state.drop_fragment(4, "{\ud83d", "why", 2)
    assert state.summary().dropped_tool_calls == (DroppedToolCall(2, 4, None, None, "{\ufffd", "why"),)


def test_facts_are_capped() -> None:
    state = new(limits=Limits(max_tool_calls=2))
    for number in range(4):
        state.note().sign("signature", f"s{number}")
        state.drop_fragment(number, "x", "why")
        state.note().count_media("image")
    summary = state.summary()
    assert [signature.data for signature in summary.signatures] == ["s0", "s1"]
    assert len(summary.dropped_tool_calls) == 2
    assert summary.media == {"image": 4}


def test_the_summary_is_a_snapshot() -> None:
    state = new()
    state.finish("stop")
    before = state.summary()
    before.finish_reasons[9] = "mine"
    before.media["mine"] = 1
    state.finish("length", 1)
    assert state.summary().finish_reasons == {0: "stop", 1: "length"}
    assert state.summary().media == {}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(None, ""), ("x", "x"), ({"a": [1, "é"]}, '{"a":[1,"é"]}'), ([], "[]"), ({"a": "\ud83d"}, '{"a":"\ufffd"}')],
)
def test_arguments_as_text(arguments: object, text: str) -> None:
    assert argument_text(arguments) == text


def test_calls_come_out_in_the_order_of_choice_and_index() -> None:
    calls = [(1, 0), (0, 5), (0, 2), (1, 1)]
    state = new()
    for choice, index in calls:
        state.merge_tool_call(index, f"c{choice}{index}", "f", "{}", choice)
    assert state.finalize() is None
    ids = [event.block.id for event in state.out if isinstance(event, Block) and isinstance(event.block, ToolUseBlock)]
    assert ids == ["c02", "c05", "c10", "c11"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_without_id_or_name_are_recorded(protocol: str) -> None:
    if protocol == "openai-chat":
        body = tool(0, None, "f", "{}") + tool(1, "c2", None, "{}") + tool(2, None, None, "{}") + chunk({}, "stop")
    else:
        start = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "f"}}
        body = data(start) + data(start | {"index": 1, "content_block": {"type": "tool_use", "id": "c2"}}) + STOP
    found = decoded(protocol, body)
    assert found.calls == []
    dropped = {(call.index, call.id, call.name) for call in found.summary.dropped_tool_calls}
    assert {(0, None, "f"), (1, "c2", None)} <= dropped
    assert [name for _, name, _ in decoded(protocol, body, synthesize_tool_ids=True).calls] == ["f"]
