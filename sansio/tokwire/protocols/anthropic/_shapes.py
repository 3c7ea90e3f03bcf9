"""The ordinary shapes of a `content_block_delta`, as types: an event that fits one holds what the shape names."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._shape import NO_SHAPE, REASONING, TEXT, TOOL_CALL, Shape, leads_of

__all__: list[str] = []

Tag = Literal["content_block_delta"]


class TextDelta(Struct, gc=False):
    """Text."""

    type: Literal["text_delta"]
    text: str


class ThinkingDelta(Struct, gc=False):
    """Reasoning."""

    type: Literal["thinking_delta"]
    thinking: str


class InputDelta(Struct, gc=False):
    """A fragment of the input of a tool."""

    type: Literal["input_json_delta"]
    partial_json: str


class TextEvent(Struct, gc=False):
    """An event with text."""

    type: Tag
    delta: TextDelta
    error: None = None
    object: None = None


class ThinkingEvent(Struct, gc=False):
    """An event with reasoning."""

    type: Tag
    delta: ThinkingDelta
    error: None = None
    object: None = None


class InputEvent(Struct, gc=False):
    """An event with a fragment of the input of a tool."""

    type: Tag
    index: int
    delta: InputDelta
    error: None = None
    object: None = None


LEADS = leads_of("content_block_delta")
TEXT_SHAPE = Shape(LEADS, TEXT, typed_decoder(TextEvent), lambda event: event.delta.text)
THINKING_SHAPE = Shape(LEADS, REASONING, typed_decoder(ThinkingEvent), lambda event: event.delta.thinking)
INPUT_SHAPE = Shape(
    LEADS, TOOL_CALL, typed_decoder(InputEvent), lambda event: event.delta.partial_json, lambda event: event.index
)


def choose_shape(state: DecodeState, *, is_delta: bool) -> None:
    """After an event that was read in full: which shape the next one probably has, if any is safe to expect."""
    options, buffers = state.options, state.buffers()
    if options.include_raw or buffers.has_half:
        state.expect(NO_SHAPE)
    elif is_delta and buffers.channel == "tool_call":
        is_plain = not options.include_tool_deltas and not state.record.budget.has_halves
        state.open_calls = buffers.table.by_index
        state.expect(INPUT_SHAPE if is_plain else NO_SHAPE)
    elif is_delta and buffers.channel == "reasoning":
        state.expect(NO_SHAPE if options.keep_thinking else THINKING_SHAPE)
    elif is_delta and buffers.has_text:
        state.expect(TEXT_SHAPE)
