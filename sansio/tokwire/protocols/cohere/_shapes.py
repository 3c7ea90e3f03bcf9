"""The ordinary shapes of a `content-delta`, as types, and the readers of events that fit one.

Whatever else means anything is typed so that only its absence fits.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._json import refuse, typed_decoder
from ..._state import DecodeState
from ...framing._quick_frames import without_event
from .._readers import as_dict

__all__: list[str] = []

LEAD = b"event: content-delta\ndata: "

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


_decode_text = typed_decoder(TextEvent)
_decode_thinking = typed_decoder(ThinkingEvent)


def read_text(event: bytes) -> StreamEvent | None:
    """Read an event with text."""
    payload = event.removeprefix(LEAD)
    if payload is event or 10 in payload or 13 in payload:
        raise ValueError
    return Block(TextBlock(text)) if (text := _decode_text(payload).delta.message.content.text) else None


def read_thinking(event: bytes) -> StreamEvent | None:
    """Read an event with reasoning."""
    payload = event.removeprefix(LEAD)
    if payload is event or 10 in payload or 13 in payload:
        raise ValueError
    return Reasoning(text) if (text := _decode_thinking(payload).delta.message.content.thinking) else None


def choose_reader(state: DecodeState, message: dict[str, Any]) -> None:
    """After an event that was read in full: the reader of the next delta, if any is safe to expect."""
    content = as_dict(message.get("content"))
    text, thinking = content.get("text"), content.get("thinking")
    if state.options.include_raw or not state.response_id or state.buffers().has_half or message.get("tool_calls"):
        state.hot_decode = refuse
    elif isinstance(text, str) and text and not thinking:
        state.hot_decode = read_text
    elif isinstance(thinking, str) and thinking and not text:
        state.hot_decode = read_thinking if state.with_reasoning else without_event(read_thinking)
