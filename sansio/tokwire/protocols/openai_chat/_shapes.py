"""The ordinary shapes of a chunk, as types: a chunk that fits one holds nothing but what the shape names.

Whatever else means anything is typed so that only its absence fits. A chunk that does not fit is refused by the typed
decoder, so the quick reader tests no member that an ordinary stream does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._shape import NO_SHAPE, REASONING, TEXT, TOOL_CALL, Shape, leads_of

__all__: list[str] = []

Nothing = Literal["", None]
NoList = tuple[()] | None


class Delta(Struct, gc=False):
    """A delta without anything but, in the subtypes, one kind of content. It names all that the exact reader reads."""

    content: Nothing = None
    refusal: Nothing = None
    reasoning_content: Nothing = None
    reasoning: Nothing = None
    tool_calls: NoList = None
    function_call: None = None
    reasoning_details: NoList = None
    reasoning_text: Nothing = None
    thinking: Nothing = None
    reasoning_opaque: Nothing = None
    reasoning_encrypted: Nothing = None
    extra_content: None = None
    images: NoList = None
    audio: None = None


class TextDelta(Delta, gc=False):
    """Text."""

    content: str | None = None  # type: ignore[assignment]  # the one member that this shape may have


class Detail(Struct, gc=False):
    """Reasoning once more, in the list that OpenRouter sends beside it."""

    text: str | None = None
    summary: str | None = None
    signature: Nothing = None
    data: Nothing = None


class ReasoningDelta(Delta, gc=False):
    """Reasoning, under one of the two common names."""

    reasoning_content: str | None = None  # type: ignore[assignment]  # the members that this shape may have
    reasoning: str | None = None  # type: ignore[assignment]  # as above
    reasoning_details: list[Detail] | None = None  # type: ignore[assignment]  # as above


class Function(Struct, gc=False):
    """Arguments of a call that is open already."""

    arguments: str
    name: Nothing = None


class ToolCallEntry(Struct, gc=False):
    """One fragment, told by its index alone."""

    index: int
    function: Function
    id: Nothing = None
    extra_content: None = None


class ToolCallDelta(Delta, gc=False, kw_only=True):
    """One fragment of one call."""

    tool_calls: tuple[ToolCallEntry]  # type: ignore[assignment]  # the one member that this shape has


class Choice(Struct, gc=False):
    """The only choice, without a finish word. The delta is added to it."""

    index: Literal[0] = 0
    finish_reason: Nothing = None
    message: None = None
    usage: None = None


class Chunk(Struct, gc=False):
    """A chunk without usage and without an error. The choice is added to it."""

    object: Literal["chat.completion.chunk", "chat.completion", "", None] = None
    usage: None = None
    x_groq: None = None
    error: None = None
    type: None = None


def _reader_of(delta: type[Struct]) -> Callable[[bytes], Any]:
    """The typed decoder of chunks with such a delta."""
    choice = msgspec.defstruct("DeltaChoice", [("delta", delta)], bases=(Choice,), gc=False, kw_only=True)
    choices: Any = tuple[choice]  # type: ignore[valid-type]  # a type that is made here
    return typed_decoder(
        msgspec.defstruct("DeltaChunk", [("choices", choices)], bases=(Chunk,), gc=False, kw_only=True)
    )


def _reasoning_of(chunk: Any) -> str | None:
    delta: ReasoningDelta = chunk.choices[0].delta
    found = delta.reasoning_content or delta.reasoning
    if not found and delta.reasoning_details:
        return "".join(detail.text or detail.summary or "" for detail in delta.reasoning_details)
    return found


@cache
def text_shape() -> Shape:
    """Text. This shape and the others are made when they are first needed."""
    return Shape(leads_of(None), TEXT, _reader_of(TextDelta), lambda chunk: chunk.choices[0].delta.content)


@cache
def reasoning_shape() -> Shape:
    """Reasoning."""
    return Shape(leads_of(None), REASONING, _reader_of(ReasoningDelta), _reasoning_of)


@cache
def tool_call_shape() -> Shape:
    """A fragment of a call."""
    return Shape(
        leads_of(None),
        TOOL_CALL,
        _reader_of(ToolCallDelta),
        lambda chunk: chunk.choices[0].delta.tool_calls[0].function.arguments,
        lambda chunk: chunk.choices[0].delta.tool_calls[0].index,
    )


def choose_shape(state: DecodeState) -> None:
    """After a chunk that was read in full: which shape the next one probably has, if any is safe to expect."""
    state.expect(_next_shape(state))


def _next_shape(state: DecodeState) -> Shape:
    options, buffers = state.options, state.buffers()
    if options.include_raw or not state.response_id or not state.model or buffers.has_half:
        return NO_SHAPE
    if buffers.channel == "tool_call":
        state.open_calls = buffers.table.by_index
        return tool_call_shape() if state.has_plain_arguments else NO_SHAPE
    if buffers.channel == "reasoning":
        return reasoning_shape()
    return text_shape() if buffers.has_text else NO_SHAPE
