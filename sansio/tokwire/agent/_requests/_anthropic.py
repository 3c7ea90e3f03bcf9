"""Requests of Anthropic's messages, of the servers that take the same, and of Vertex AI, which takes almost the same.

For Vertex the base URL is the whole address of the method, `.../publishers/anthropic/models/<model>:streamRawPredict`,
and `extra_body={"anthropic_version": "vertex-2023-10-16", "model": None}`; its token goes into `headers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import (
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from ..._messages import Message
from ._arrange import alternating, hoisted
from ._common import as_object, inline_image, key_header
from ._parts import without_last_blanks
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__: list[str] = []

VERSION = "2023-06-01"
VERTEX_METHOD = ":streamRawPredict"


def path(options: AgentOptions) -> str:
    """Where answers are made: nothing more where the base URL names the method already, as on Vertex."""
    return "" if options.base_url.partition("?")[0].endswith(VERTEX_METHOD) else "/messages"


def headers(options: AgentOptions) -> list[tuple[str, str]]:
    """The version of the API, and the key: never as a bearer token, which is another kind of credential here."""
    return [("anthropic-version", VERSION), *key_header(options, "x-api-key")]


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request."""
    system, spoken = hoisted(options.system_prompt, messages)
    turns = without_last_blanks(alternating(spoken, replay_thinking=options.replay_thinking))
    return {
        "model": options.model,
        "max_tokens": options.max_tokens,
        "system": system,
        "messages": [{"role": turn.role, "content": wire_content(turn)} for turn in turns],
        "stream": True,
        "temperature": options.temperature,
        "tools": [tool.to_anthropic_format() for tool in options.tools] or None,
    }


def wire_content(turn: Message) -> str | list[dict[str, Any]]:
    """The content of one message: a lone text as it is, everything else as blocks."""
    match turn.content:
        case (TextBlock(text=text),):
            return text
        case blocks:
            return [wire_block(block) for block in blocks]


def wire_block(block: ContentBlock) -> dict[str, Any]:
    """One block."""
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ImageBlock():
            return wire_image(block)
        case ToolUseBlock():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": as_object(block.input)}
        case ToolResultBlock():
            return wire_result(block)
        case ThinkingBlock():
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        case RedactedThinkingBlock():
            return {"type": "redacted_thinking", "data": block.data}


def wire_image(image: ImageBlock) -> dict[str, Any]:
    """An image. There is no level of detail here."""
    inline = inline_image(image)
    if inline is None:
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    media_type, data = inline
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def wire_result(result: ToolResultBlock) -> dict[str, Any]:
    """A tool's result: a text as it is, also an empty one; of blocks those that are not blank."""
    content: str | list[dict[str, Any]] = ""
    if isinstance(result.content, str):
        content = result.content
    else:
        shown = [block for block in result.content if not isinstance(block, TextBlock) or block.text.strip()]
        content = [wire_block(block) for block in shown] or ""
    wire = {"type": "tool_result", "tool_use_id": result.tool_use_id, "content": content}
    return wire | {"is_error": True} if result.is_error else wire


SHAPE = RequestShape(path=path, headers=headers, body=body)
