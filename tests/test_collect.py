"""Folding events with `collect`, and JSON both ways for events of any content."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    Block,
    CollectedResponse,
    Finish,
    FinishReason,
    RawPayload,
    Reasoning,
    Refusal,
    StreamEvent,
    StreamTruncated,
    TextBlock,
    ToolCallDelta,
    ToolUseBlock,
    Usage,
    collect,
    event_from_json,
)

integers = st.integers(-(10**40), 10**40)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
calls = st.builds(ToolUseBlock, words, words, json_values)
reasons = st.sampled_from(list(FinishReason)) | words.map(FinishReason.other)
choices = st.integers(0, 3)
maybe_word = st.none() | words
counts = st.none() | integers
events = st.one_of(
    st.builds(Block, st.builds(TextBlock, words) | calls, choice=choices),
    st.builds(Reasoning, words, choice=choices),
    st.builds(Refusal, words, choice=choices),
    st.builds(Finish, reasons, choice=choices),
    st.builds(
        Usage, counts, counts, counts, counts, counts, counts, raw=st.dictionaries(words, json_values, max_size=3)
    ),
    st.builds(ToolCallDelta, st.integers(0, 99), maybe_word, maybe_word, words, choice=choices),
    st.builds(RawPayload, maybe_word, st.binary(max_size=20), choice=choices),
)


@given(events)
def test_any_event_survives_json_and_pickling(event: StreamEvent) -> None:
    assert event_from_json(msgspec.json.encode(event)) == event
    assert pickle.loads(pickle.dumps(event)) == event


@given(events)
def test_the_json_of_any_event_is_read_alike_by_another_reader(event: StreamEvent) -> None:
    written = msgspec.json.encode(event)
    rewritten = json.dumps(json.loads(written))
    assert event_from_json(rewritten) == event


@given(st.lists(events, max_size=12))
def test_folding_is_the_sum_of_the_parts(sequence: list[StreamEvent]) -> None:
    for choice in range(4):
        folded = collect(sequence, choice=choice)
        mine = [event for event in sequence if event.choice == choice]
        assert folded.text == "".join(event.as_text() or "" for event in mine)
        assert folded.reasoning == "".join(event.as_reasoning() or "" for event in mine)
        assert folded.refusal == "".join(event.text for event in mine if isinstance(event, Refusal))
        assert list(folded.tool_calls) == [
            block for event in mine if isinstance(block := event.as_block(), ToolUseBlock)
        ]
        assert folded.finish == next((e.finish_reason() for e in reversed(sequence) if isinstance(e, Finish)), None)
        assert folded.usage == next((event for event in reversed(sequence) if isinstance(event, Usage)), None)


def test_nothing_folds_to_nothing() -> None:
    assert collect([]) == CollectedResponse(text="", reasoning="", refusal="", tool_calls=(), usage=None, finish=None)


def test_a_stream_that_was_not_read_to_its_end_has_no_finish() -> None:
    assert collect([Block(TextBlock("half"))]).finish is None


def test_a_stream_that_ended_without_a_reason_is_told_from_one_that_did_not_end() -> None:
    assert collect([Finish(FinishReason.UNSPECIFIED)]).finish is FinishReason.UNSPECIFIED


def test_what_comes_of_folding_is_a_value() -> None:
    one, other = collect([Reasoning("a")]), collect([Reasoning("a"), Reasoning("")])
    assert one == other
    assert pickle.loads(pickle.dumps(one)) == one
    frozen: Any = one
    with pytest.raises(AttributeError):
        frozen.text = "b"


def test_events_are_taken_one_by_one_and_their_error_passes_through() -> None:
    taken: list[StreamEvent] = []

    def stream() -> Iterator[StreamEvent]:
        for letter in "ab":
            taken.append(Block(TextBlock(letter)))
            yield taken[-1]
        raise StreamTruncated("cut")

    with pytest.raises(StreamTruncated, match="cut"):
        collect(stream())
    assert taken == [Block(TextBlock("a")), Block(TextBlock("b"))]


class Weather(StreamEvent, frozen=True):
    """A kind of event that does not exist yet."""

    degrees: int


def test_a_kind_of_event_that_is_not_known_yet_is_passed_over() -> None:
    assert collect([Weather(21), Block(TextBlock("sunny"))]).text == "sunny"


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ('{"type":"finish","reason":"other","raw":"x"}', Finish(FinishReason.other("x"))),
        ('{"type":"finish","reason":"stop"}', Finish(FinishReason.STOP)),
        ('{"reason":"stop","type":"finish","choice":2}', Finish(FinishReason.STOP, choice=2)),
        ('{"type":"usage"}', Usage()),
        ('{"type":"reasoning","text":"a","added_in_2030":[1]}', Reasoning("a")),
        (' {"type" : "refusal", "text" : "\\u00e9\\ud83d\\ude00"} \n', Refusal("\u00e9\U0001f600")),
    ],
)
def test_members_may_be_missing_moved_or_added(text: str, event: StreamEvent) -> None:
    assert event_from_json(text) == event


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_arbitrary_input_gives_an_event_or_a_value_error(text: bytes | str) -> None:
    try:
        event = event_from_json(text)
    except ValueError:
        return
    assert isinstance(event, StreamEvent)
