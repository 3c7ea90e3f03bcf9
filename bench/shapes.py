"""The objects that the floors make, and the least of a payload that has to be read to make them."""

from __future__ import annotations

from msgspec import Struct


class Text(Struct, frozen=True, gc=False):
    """A fragment of text."""

    text: str


class Reasoning(Struct, frozen=True, gc=False):
    """A fragment of reasoning."""

    text: str


class ToolCall(Struct, frozen=True, gc=False):
    """A whole tool call, its arguments not parsed."""

    id: str
    name: str
    arguments: str


class Finish(Struct, frozen=True, gc=False):
    """Why the answer ended."""

    reason: str


class Function(Struct, gc=False):
    """Of a tool call in Chat Completions."""

    arguments: str = ""
    name: str = ""


class Entry(Struct, gc=False):
    """A fragment of a tool call."""

    index: int
    function: Function
    id: str = ""


class Delta(Struct, gc=False):
    """Text or reasoning."""

    content: str | None = None
    reasoning_content: str | None = None


class Choice(Struct, gc=False):
    """The only choice of a chunk."""

    delta: Delta
    finish_reason: str | None = None


class Chunk(Struct, gc=False):
    """A chunk of Chat Completions with text or reasoning."""

    choices: list[Choice]


class ToolDelta(Struct, gc=False):
    """Fragments of tool calls."""

    tool_calls: tuple[Entry, ...] = ()


class ToolChoice(Struct, gc=False):
    """The only choice of a chunk."""

    delta: ToolDelta
    finish_reason: str | None = None


class ToolChunk(Struct, gc=False):
    """A chunk of Chat Completions with tool calls."""

    choices: list[ToolChoice]


class BlockDelta(Struct, gc=False):
    """A delta of a content block of Anthropic Messages; its kind is told by what is there."""

    text: str = ""
    thinking: str = ""
    partial_json: str = ""


class BlockEvent(Struct, gc=False):
    """The event around it."""

    delta: BlockDelta


class Block(Struct, gc=False):
    """A content block; only tool calls have an id."""

    id: str = ""
    name: str = ""


class BlockStart(Struct, gc=False):
    """The event around it."""

    content_block: Block


class MessageDelta(Struct, gc=False):
    """The end of an answer."""

    stop_reason: str


class MessageEnd(Struct, gc=False):
    """The event around it."""

    delta: MessageDelta
