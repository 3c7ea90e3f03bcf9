"""The ordinary shapes of a line, as types, and the readers of lines that fit one.

A shape has no room for anything that means more than its text. What it does not name does not fit, and goes the exact
way: fewer members are quicker to tell apart than many that must be absent.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._json import refuse, typed_decoder
from ..._state import DecodeState
from ...framing._quick_frames import without_event

__all__: list[str] = []

Nothing = Literal["", None]


class Shape(Struct, gc=False, kw_only=True, forbid_unknown_fields=True):
    """What fits holds no other members."""


class TextMessage(Shape, gc=False, kw_only=True):
    """A message with text."""

    role: str = ""
    content: str
    thinking: Nothing = None


class ThinkingMessage(Shape, gc=False, kw_only=True):
    """A message with reasoning."""

    role: str = ""
    content: Nothing = None
    thinking: str


class Line(Shape, gc=False, kw_only=True):
    """A line that is not the last. No type is only false, so `done` has to be looked at."""

    model: str = ""
    remote_model: str = ""
    remote_host: str = ""
    created_at: str = ""
    done: bool


class TextLine(Line, gc=False, kw_only=True):
    """Of a chat, with text."""

    message: TextMessage


class ThinkingLine(Line, gc=False, kw_only=True):
    """Of a chat, with reasoning."""

    message: ThinkingMessage


class GeneratedText(Line, gc=False, kw_only=True):
    """Of a completion, with text."""

    response: str
    thinking: Nothing = None


class GeneratedThinking(Line, gc=False, kw_only=True):
    """Of a completion, with reasoning."""

    response: Nothing = None
    thinking: str


_decode_text = typed_decoder(TextLine)
_decode_thinking = typed_decoder(ThinkingLine)
_decode_generated_text = typed_decoder(GeneratedText)
_decode_generated_thinking = typed_decoder(GeneratedThinking)


def read_text(line: bytes) -> StreamEvent | None:
    """Read a line of a chat with text."""
    if 10 in line or 13 in line or (found := _decode_text(line)).done:
        raise ValueError
    return Block(TextBlock(text)) if (text := found.message.content) else None


def read_thinking(line: bytes) -> StreamEvent | None:
    """Read a line of a chat with reasoning."""
    if 10 in line or 13 in line or (found := _decode_thinking(line)).done:
        raise ValueError
    return Reasoning(text) if (text := found.message.thinking) else None


def read_generated_text(line: bytes) -> StreamEvent | None:
    """Read a line of a completion with text."""
    if 10 in line or 13 in line or (found := _decode_generated_text(line)).done:
        raise ValueError
    return Block(TextBlock(text)) if (text := found.response) else None


def read_generated_thinking(line: bytes) -> StreamEvent | None:
    """Read a line of a completion with reasoning."""
    if 10 in line or 13 in line or (found := _decode_generated_thinking(line)).done:
        raise ValueError
    return Reasoning(text) if (text := found.thinking) else None


def choose_reader(state: DecodeState, *, is_chat: bool, text: str, reasoning: str) -> None:
    """After a line without tool calls that was read in full: the reader of the next one, if any is safe to expect."""
    state.hot_decode = refuse
    if state.options.include_raw or not state.model or state.buffers().has_half or bool(text) == bool(reasoning):
        return
    if text:
        state.hot_decode = read_text if is_chat else read_generated_text
    else:
        read = read_thinking if is_chat else read_generated_thinking
        state.hot_decode = read if state.with_reasoning else without_event(read)
