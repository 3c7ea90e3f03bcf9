"""The ordinary shapes of a `content_block_delta`, as types: an event that fits one holds what the shape names."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._shape import NO_SHAPE, REASONING, TEXT, TOOL_CALL, Shape, leads_of

__all__: list[str] = []

Tag = Literal["content_block_delta"]
MAX_IGNORED = 64


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


_ignored: dict[int, Shape] = {}


def ignored_input(index: int) -> Shape:
    """The shape of fragments of an input that is not for the caller: that of a tool which the server runs itself.

    Nothing comes of them. The first shapes are kept: a message has few blocks.
    """
    shape = _ignored.get(index, NO_SHAPE)
    if shape is NO_SHAPE and len(_ignored) < MAX_IGNORED:
        members = [("type", Tag), ("index", Literal[index]), ("delta", InputDelta)]
        absent = [("error", None, None), ("object", None, None)]
        kind = msgspec.defstruct("IgnoredInput", [*members, *absent], gc=False)
        shape = _ignored[index] = Shape(LEADS, TEXT, typed_decoder(kind), lambda event: None)
    return shape


def choose_shape(state: DecodeState, index: int | None, *, is_delta: bool, is_ignored: bool) -> None:
    """After an event that was read in full: which shape the next one probably has, if any is safe to expect.

    Args:
        state: What is known of the stream.
        index: The index of the block that the event is of.
        is_delta: Whether it was a delta.
        is_ignored: Whether it was a delta of an input that is not for the caller.
    """
    options, buffers = state.options, state.buffers()
    if options.include_raw or buffers.has_half:
        state.expect(NO_SHAPE)
    elif is_ignored:
        state.expect(NO_SHAPE if index is None else ignored_input(index))
    elif is_delta and buffers.channel == "tool_call":
        state.open_calls = buffers.table.by_index
        state.expect(INPUT_SHAPE if state.has_plain_arguments else NO_SHAPE)
    elif is_delta and buffers.channel == "reasoning":
        state.expect(NO_SHAPE if options.keep_thinking else THINKING_SHAPE)
    elif is_delta and buffers.has_text:
        state.expect(TEXT_SHAPE)
