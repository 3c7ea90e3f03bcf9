"""The ordinary shapes of a chunk, as types: a chunk that fits one holds nothing but what the shape names.

Whatever else means anything is typed so that only its absence fits. A chunk that does not fit is refused by the typed
decoder, so the quick reader tests no member that an ordinary stream does not have.
"""

from __future__ import annotations

from typing import Literal

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
    """The only choice, without a finish word."""

    index: Literal[0] = 0
    finish_reason: Nothing = None
    message: None = None
    usage: None = None


class TextChoice(Choice, gc=False, kw_only=True):
    """With text."""

    delta: TextDelta


class ReasoningChoice(Choice, gc=False, kw_only=True):
    """With reasoning."""

    delta: ReasoningDelta


class ToolCallChoice(Choice, gc=False, kw_only=True):
    """With a fragment of a call."""

    delta: ToolCallDelta


class Chunk(Struct, gc=False):
    """A chunk without usage and without an error."""

    object: Literal["chat.completion.chunk", "chat.completion", "", None] = None
    usage: None = None
    x_groq: None = None
    error: None = None
    type: None = None


class TextChunk(Chunk, gc=False, kw_only=True):
    """With text."""

    choices: tuple[TextChoice]


class ReasoningChunk(Chunk, gc=False, kw_only=True):
    """With reasoning."""

    choices: tuple[ReasoningChoice]


class ToolCallChunk(Chunk, gc=False, kw_only=True):
    """With a fragment of a call."""

    choices: tuple[ToolCallChoice]


def _reasoning_of(chunk: ReasoningChunk) -> str | None:
    delta = chunk.choices[0].delta
    found = delta.reasoning_content or delta.reasoning
    if not found and delta.reasoning_details:
        return "".join(detail.text or detail.summary or "" for detail in delta.reasoning_details)
    return found


LEADS = leads_of(None)
TEXT_SHAPE = Shape(LEADS, TEXT, typed_decoder(TextChunk), lambda chunk: chunk.choices[0].delta.content)
REASONING_SHAPE = Shape(LEADS, REASONING, typed_decoder(ReasoningChunk), _reasoning_of)
TOOL_CALL_SHAPE = Shape(
    LEADS,
    TOOL_CALL,
    typed_decoder(ToolCallChunk),
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
        is_plain = not options.include_tool_deltas and not state.record.budget.has_halves
        return TOOL_CALL_SHAPE if is_plain else NO_SHAPE
    if buffers.channel == "reasoning":
        return REASONING_SHAPE
    return TEXT_SHAPE if buffers.has_text else NO_SHAPE
