"""Content blocks: what a message is made of, and what a stream delivers inside `Block` events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

__all__ = ["ContentBlock", "ImageBlock", "TextBlock", "ToolResultBlock", "ToolUseBlock", "coalesce_text_blocks"]


class TextBlock(Struct, frozen=True, gc=False, tag="text"):
    """Text of the model, or of a message. In a stream it is one fragment: join them to get the answer."""

    text: str


class ToolUseBlock(Struct, frozen=True, tag="tool_use"):
    """A tool call, complete: run tool `name` with `input` and answer under `id`.

    Attributes:
        id: The id to send back with the result.
        name: The tool's name.
        input: The parsed arguments, a JSON value: almost always a dict.
    """

    id: str
    name: str
    input: Any


class ImageBlock(Struct, frozen=True, gc=False, tag="image"):
    """An image, by http(s) or data URL, with the detail level that the model should look at."""

    url: str
    detail: str = "auto"


class ToolResultBlock(Struct, frozen=True, tag="tool_result"):
    """The outcome of a tool call, as it is sent back to the model.

    Attributes:
        tool_use_id: Id of the call that this answers.
        content: Text, or a tuple of text and image blocks.
        is_error: True when the tool failed and `content` says why.
    """

    tool_use_id: str
    content: str | tuple[TextBlock | ImageBlock, ...]
    is_error: bool = False


ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock | ImageBlock
"""Any block that a message can hold."""


def coalesce_text_blocks(blocks: Iterable[ContentBlock]) -> list[ContentBlock]:
    """Join neighbouring text blocks without a separator, and drop empty ones; all other blocks stay and separate.

    Use it before streamed blocks enter a history, so that the next request reads as if nothing had been streamed.
    """
    joined: list[ContentBlock] = []
    run: list[str] = []

    def close_run() -> None:
        text = "".join(run)
        run.clear()
        if text:
            joined.append(TextBlock(text))

    for block in blocks:
        if isinstance(block, TextBlock):
            run.append(block.text)
        else:
            close_run()
            joined.append(block)
    close_run()
    return joined
