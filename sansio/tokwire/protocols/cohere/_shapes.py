"""The ordinary shapes of a `content-delta`, as types: an event that fits one holds what the shape names.

Whatever else means anything is typed so that only its absence fits.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._envelope import NO_SHAPE, REASONING, TEXT, Shape, expect
from .._readers import as_dict

__all__: list[str] = []

Nothing = Literal["", None]
NoList = tuple[()] | None


class Text(Struct, gc=False):
    """Content that is text."""

    text: str
    thinking: Nothing = None


class Thinking(Struct, gc=False):
    """Content that is reasoning."""

    thinking: str
    text: Nothing = None


class TextMessage(Struct, gc=False):
    """A message with text."""

    content: Text
    tool_plan: Nothing = None
    tool_calls: NoList = None


class ThinkingMessage(Struct, gc=False):
    """A message with reasoning."""

    content: Thinking
    tool_plan: Nothing = None
    tool_calls: NoList = None


class TextDelta(Struct, gc=False):
    """What is new: text."""

    message: TextMessage


class ThinkingDelta(Struct, gc=False):
    """What is new: reasoning."""

    message: ThinkingMessage


class TextEvent(Struct, gc=False):
    """An event with text."""

    type: Literal["content-delta"]
    delta: TextDelta
    error: None = None
    object: None = None


class ThinkingEvent(Struct, gc=False):
    """An event with reasoning."""

    type: Literal["content-delta"]
    delta: ThinkingDelta
    error: None = None
    object: None = None


TEXT_SHAPE = Shape(TEXT, typed_decoder(TextEvent), lambda event: event.delta.message.content.text)
THINKING_SHAPE = Shape(REASONING, typed_decoder(ThinkingEvent), lambda event: event.delta.message.content.thinking)


def choose_shape(state: DecodeState, message: dict[str, Any]) -> None:
    """After an event that was read in full: the shape of the next delta, if any is safe to expect."""
    content = as_dict(message.get("content"))
    text, thinking = content.get("text"), content.get("thinking")
    if state.options.include_raw or not state.response_id or state.buffers().has_half or message.get("tool_calls"):
        expect(state, NO_SHAPE)
    elif isinstance(text, str) and text and not thinking:
        expect(state, TEXT_SHAPE)
    elif isinstance(thinking, str) and thinking and not text:
        expect(state, THINKING_SHAPE)
