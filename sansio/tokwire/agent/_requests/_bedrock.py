"""Requests of Amazon Bedrock's ConverseStream. The base URL is that of the runtime of a region.

The key is one of Bedrock's own, and is sent as a bearer token. For AWS credentials leave it out, and send the requests
with a transport of `tokwire_bedrock`.
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
from ._common import as_object, bearer
from ._parts import image_data, names_called, percent_encoded, without_last_blanks
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions
    from .._tools import Tool

__all__: list[str] = []

FORMATS = {"gif": "gif", "jpeg": "jpeg", "jpg": "jpeg", "png": "png", "webp": "webp"}


def path(options: AgentOptions) -> str:
    """Where the model answers. Its id may be an ARN: it is one segment, whatever it holds, or no signature fits."""
    return f"/model/{percent_encoded(options.model)}/converse-stream"


def headers(options: AgentOptions) -> list[tuple[str, str]]:
    """The key, and the framing of the answer."""
    return [("accept", "application/vnd.amazon.eventstream"), *bearer(options)]


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. The model stands in the path, and the counts of tokens come without being asked for."""
    system, spoken = hoisted(options.system_prompt, messages)
    turns = without_last_blanks(alternating(spoken, replay_thinking=options.replay_thinking))
    config = {"maxTokens": options.max_tokens, "temperature": options.temperature}
    tools = [wire_tool(tool) for tool in options.tools] or tools_called(turns)
    return {
        "messages": [{"role": turn.role, "content": [wire_block(block) for block in turn.content]} for turn in turns],
        "system": [{"text": system}] if system else None,
        "inferenceConfig": {name: value for name, value in config.items() if value is not None} or None,
        "toolConfig": {"tools": tools} if tools else None,
    }


def wire_block(block: ContentBlock) -> dict[str, Any]:
    """One block."""
    match block:
        case TextBlock(text=text):
            return {"text": text}
        case ImageBlock():
            return wire_image(block)
        case ToolUseBlock():
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": as_object(block.input)}}
        case ToolResultBlock():
            return wire_result(block)
        case ThinkingBlock(text=text, signature=signature):
            return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}
        case RedactedThinkingBlock(data=data):
            return {"reasoningContent": {"redactedContent": data}}


def wire_image(image: ImageBlock) -> dict[str, Any]:
    """An image. There is no level of detail here.

    Raises:
        ValueError: It is an image by its URL, or in a format that the API does not take.
    """
    media_type, data = image_data(image, "bedrock")
    name = FORMATS.get(media_type.removeprefix("image/"))
    if name is None:
        raise ValueError(
            f"a message holds an image of the type {media_type:.60}; bedrock takes PNG, JPEG, GIF and WebP"
        )
    return {"image": {"format": name, "source": {"bytes": data}}}


def wire_result(result: ToolResultBlock) -> dict[str, Any]:
    """A tool's result. Only failure is told, since not every model may be told of either."""
    blocks = (TextBlock(result.content),) if isinstance(result.content, str) else result.content
    shown = [wire_block(block) for block in blocks if not isinstance(block, TextBlock) or block.text.strip()]
    # Blank text is refused, and so is a result of nothing.
    wire = {"toolUseId": result.tool_use_id, "content": shown or [{"json": {}}]}
    return {"toolResult": wire | {"status": "error"} if result.is_error else wire}


def wire_tool(tool: Tool) -> dict[str, Any]:
    """A tool."""
    described = tool.to_anthropic_format()
    schema = described.pop("input_schema")
    return {"toolSpec": {**described, "inputSchema": {"json": schema}}}


def tools_called(turns: Sequence[Message]) -> list[dict[str, Any]]:
    """The tools that a history calls, by name alone: it is refused where none are declared."""
    names = dict.fromkeys(name for turn in turns for name in names_called(turn.content))
    return [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in names]


SHAPE = RequestShape(path=path, headers=headers, body=body)
