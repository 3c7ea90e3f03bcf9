"""`StreamEvent` and its kinds: values, accessors, pattern matching, pickling, JSON both ways; and `collect`."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import msgspec
import pytest

from tokwire import (
    Block,
    ContentBlock,
    Finish,
    FinishReason,
    ImageBlock,
    RawPayload,
    Reasoning,
    Refusal,
    StreamEvent,
    TextBlock,
    ToolCallDelta,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    collect,
    event_from_json,
)

CALL = ToolUseBlock("call_1", "lookup", {"q": "\u00e9\u2028\U0001f600", "n": 2**100, "deep": [{"x": None}]})
FINISHES: list[StreamEvent] = [
    *[Finish(reason) for reason in FinishReason],
    *[Finish(FinishReason.other(word)) for word in ("eos", "EOS", "stop", "", "\U0001f6d1")],
]
SAMPLES: list[StreamEvent] = [
    Block(TextBlock("hi")),
    Block(TextBlock("hi"), choice=3),
    Block(TextBlock("")),
    Block(CALL),
    Block(ToolUseBlock("i", "f", [1.5, True, "s", -(2**70)]), choice=1),
    Reasoning("hm"),
    Reasoning("hm", choice=1),
    *FINISHES,
    Refusal("I cannot"),
    Usage(raw={}),
    Usage(1, 2, 3, 4, 5, 6, raw={"prompt_tokens": 1, "unknown": {"x": [None, 2**90]}}),
    Usage(input_tokens=2**80, raw={"input_tokens": 2**80}),
    ToolCallDelta(0),
    ToolCallDelta(2, "call_1", "look", '{"q"', choice=1),
    RawPayload(None, b""),
    RawPayload("content_block_delta", bytes(range(256))),
]
KINDS = (Block, Reasoning, Finish, Refusal, Usage, ToolCallDelta, RawPayload)
ANSWERS = {
    "as_block": ContentBlock,
    "into_block": ContentBlock,
    "as_text": str,
    "as_reasoning": str,
    "finish_reason": FinishReason,
}


def answers(event: StreamEvent) -> dict[str, Any]:
    """What the accessors of an event say, those left out that say None."""
    said = {name: getattr(event, name)() for name in ANSWERS}
    return {name: value for name, value in said.items() if value is not None}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (StreamEvent(), {}),
        (Block(TextBlock("hi")), {"as_block": TextBlock("hi"), "into_block": TextBlock("hi"), "as_text": "hi"}),
        (Block(TextBlock("")), {"as_block": TextBlock(""), "into_block": TextBlock(""), "as_text": ""}),
        (Block(CALL), {"as_block": CALL, "into_block": CALL}),
        (Reasoning("hm"), {"as_reasoning": "hm"}),
        (Finish(FinishReason.STOP), {"finish_reason": FinishReason.STOP}),
        (Finish(FinishReason.other("eos")), {"finish_reason": FinishReason.other("eos")}),
        (Finish(FinishReason.UNSPECIFIED), {"finish_reason": FinishReason.UNSPECIFIED}),
        (Refusal("no"), {}),
        (Usage(1), {}),
        (ToolCallDelta(0, arguments="{}"), {}),
        (RawPayload(None, b"x"), {}),
    ],
    ids=repr,
)
def test_each_accessor_answers_only_for_its_own_kind(event: StreamEvent, expected: dict[str, Any]) -> None:
    assert answers(event) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_stream_event(kind: type) -> None:
    assert issubclass(kind, StreamEvent)


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_an_event_equals_its_pickled_copy_and_nothing_else(event: StreamEvent) -> None:
    copied = pickle.loads(pickle.dumps(event))
    assert type(copied) is type(event)
    assert [other for other in SAMPLES if other == copied] == [event]


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_an_event_survives_copying(event: StreamEvent) -> None:
    assert copy.copy(event) == event
    assert copy.deepcopy(event) == event


def test_the_choice_is_part_of_the_value() -> None:
    assert Reasoning("a") != Reasoning("a", choice=1)
    assert Reasoning("a") == Reasoning("a", choice=0)


@pytest.mark.parametrize("event", [Reasoning("a"), Refusal("a"), *FINISHES, ToolCallDelta(0), Block(TextBlock("a"))])
def test_events_of_hashable_fields_can_be_hashed(event: StreamEvent) -> None:
    assert len({event, copy.copy(event)}) == 1


@pytest.mark.parametrize("event", [Usage(1), Block(CALL)])
def test_events_that_hold_a_dict_cannot_be_hashed(event: StreamEvent) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(event)


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_an_event_cannot_be_changed(event: StreamEvent) -> None:
    for name in event.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(event, name, getattr(event, name))


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_the_repr_names_the_kind_and_every_field(event: StreamEvent) -> None:
    shown = repr(event)
    assert shown.startswith(type(event).__name__ + "(")
    assert all(f"{name}=" in shown for name in event.__struct_fields__)


def described(event: StreamEvent) -> str:
    """One line about an event, by pattern matching on positions."""
    match event:
        case Block(TextBlock(text)):
            line = f"text {text}"
        case Block(ToolUseBlock(call_id, name)):
            line = f"call {call_id} {name}"
        case Reasoning(text, choice=0):
            line = f"thought {text}"
        case Finish(FinishReason.LENGTH):
            line = "cut"
        case Finish(reason, raw):
            line = f"end {reason} {raw}"
        case Refusal(text):
            line = f"refusal {text}"
        case Usage(input_tokens, output_tokens):
            line = f"usage {input_tokens} {output_tokens}"
        case ToolCallDelta(index, call_id, name, arguments):
            line = f"delta {index} {call_id} {name} {arguments}"
        case RawPayload(raw_name, data):
            line = f"raw {raw_name} {len(data)}"
        case _:
            line = "something else"
    return line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Block(TextBlock("hi")), "text hi"),
        (Block(CALL), "call call_1 lookup"),
        (Reasoning("hm"), "thought hm"),
        (Reasoning("hm", choice=1), "something else"),
        (Finish(FinishReason.LENGTH), "cut"),
        (Finish(FinishReason.STOP), "end stop None"),
        (Finish(FinishReason.other("eos")), "end eos eos"),
        (Refusal("no"), "refusal no"),
        (Usage(1, None), "usage 1 None"),
        (ToolCallDelta(0, "i", "n", "{}"), "delta 0 i n {}"),
        (RawPayload("x", b"12"), "raw x 2"),
    ],
    ids=repr,
)
def test_an_event_can_be_matched_by_position(event: StreamEvent, line: str) -> None:
    assert described(event) == line


@pytest.mark.parametrize("reason", [*FinishReason, FinishReason.other("eos")])
def test_the_raw_word_of_a_finish_follows_from_its_reason(reason: FinishReason) -> None:
    expected = "eos" if reason.is_other else None
    assert Finish(reason).raw == expected
    assert Finish(reason, "something else") == Finish(reason)


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_an_event_survives_json(event: StreamEvent) -> None:
    written = msgspec.json.encode(event)
    for text in (written, written.decode()):
        read = event_from_json(text)
        assert read == event
        assert type(read) is type(event)
    assert msgspec.json.encode(event_from_json(written)) == written


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Block(TextBlock("hi")), '{"type":"block","block":{"type":"text","text":"hi"},"choice":0}'),
        (Finish(FinishReason.other("eos")), '{"type":"finish","reason":"other","raw":"eos","choice":0}'),
        (Finish(FinishReason.STOP), '{"type":"finish","reason":"stop","raw":null,"choice":0}'),
        (Reasoning("r", choice=2), '{"type":"reasoning","text":"r","choice":2}'),
        (ToolCallDelta(1), '{"type":"tool_call_delta","index":1,"id":null,"name":null,"arguments":"","choice":0}'),
        (RawPayload(None, b"\x00\xff"), '{"type":"raw_payload","name":null,"data":"AP8=","choice":0}'),
    ],
    ids=repr,
)
def test_the_json_of_an_event_is_fixed(event: StreamEvent, text: str) -> None:
    assert msgspec.json.encode(event).decode() == text


@pytest.mark.parametrize("event", SAMPLES, ids=repr)
def test_the_json_of_an_event_is_an_object_with_a_snake_case_type(event: StreamEvent) -> None:
    value = json.loads(msgspec.json.encode(event))
    name = type(event).__name__
    expected = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix("_")
    assert value["type"] == expected
    assert value.keys() == {"type", *event.__struct_fields__}


@pytest.mark.parametrize(
    "block",
    [
        ToolResultBlock("t", "42"),
        ToolResultBlock("t", (TextBlock("see"), ImageBlock("http://a/b.png", "low")), is_error=True),
    ],
)
def test_blocks_that_the_client_adds_survive_json_too(block: Any) -> None:
    assert event_from_json(msgspec.json.encode(Block(block))) == Block(block)


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{}", b"[]", b"null", b"nope", b'{"type":"finish"', b'{"type":"reasoning","text":"a"} x'),
        *(b'{"type":"weather","text":"a"}', b'{"type":"Block","block":{"type":"text","text":"a"}}', b'{"type":1}'),
        *(b'{"type":"reasoning"}', b'{"type":"reasoning","text":5}', b'{"type":"tool_call_delta"}'),
        *(b'{"type":"finish","reason":"eos"}', b'{"type":"finish","reason":null}'),
        *(b'{"type":"block","block":{"type":"video"}}', b'{"type":"raw_payload","name":null,"data":"?"}'),
        *(b"\xff\xfe", b'{"type":"reasoning","text":"\xff"}', "\ud800", b'{"type":"usage","raw":{"x":' + b"[" * 99_999),
    ],
    ids=lambda text: repr(text[:40]),
)
def test_what_is_no_event_is_a_value_error(text: bytes | str) -> None:
    with pytest.raises(ValueError, match="stream event") as caught:
        event_from_json(text)
    assert type(caught.value) is ValueError


def test_an_unknown_type_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match="weather"):
        event_from_json(b'{"type":"weather","degrees":21}')


def test_collect_folds_every_kind() -> None:
    usage = Usage(3, 4, raw={"prompt_tokens": 3})
    events = [
        *(Reasoning("so "), Reasoning("then"), Block(TextBlock("Hello")), Refusal("but"), RawPayload(None, b"x")),
        *(Block(CALL), Block(TextBlock(" there")), ToolCallDelta(0), usage, Finish(FinishReason.STOP)),
    ]
    folded = collect(iter(events))
    assert (folded.text, folded.reasoning, folded.refusal) == ("Hello there", "so then", "but")
    assert (folded.tool_calls, folded.usage, folded.finish) == ((CALL,), usage, FinishReason.STOP)


def test_collect_keeps_to_one_choice_but_for_usage_and_the_end() -> None:
    events = [Block(TextBlock("a")), Block(TextBlock("b"), choice=1), Usage(1), Finish(FinishReason.LENGTH)]
    assert [collect(events, choice=choice).text for choice in range(3)] == ["a", "b", ""]
    assert {collect(events, choice=choice).finish for choice in range(3)} == {FinishReason.LENGTH}
    assert collect(events, choice=2).usage == Usage(1)
