"""The ordinary shapes of a `content_block_delta`, as types: an event that fits one holds what the shape names."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..._json import refuse, typed_decoder
from ..._state import DecodeState

__all__: list[str] = []

TEXT, THINKING, INPUT = 1, 2, 3

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


decode_text = typed_decoder(TextEvent)
decode_thinking = typed_decoder(ThinkingEvent)
decode_input = typed_decoder(InputEvent)


def choose_shape(state: DecodeState, *, is_delta: bool) -> None:
    """After an event that was read in full: which shape the next one probably has, if any is safe to expect."""
    options, buffers = state.options, state.buffers()
    if options.include_raw or buffers.has_half:
        state.hot_decode = refuse
    elif is_delta and buffers.channel == "tool_call":
        is_plain = not options.include_tool_deltas and not state.record.budget.has_halves
        state.hot_kind, state.hot_decode = INPUT, decode_input if is_plain else refuse
        state.open_calls = buffers.table.by_index
    elif is_delta and buffers.channel == "reasoning":
        state.hot_kind, state.hot_decode = THINKING, refuse if options.keep_thinking else decode_thinking
    elif is_delta and buffers.has_text:
        state.hot_kind, state.hot_decode = TEXT, decode_text
