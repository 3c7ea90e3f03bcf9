"""Requests of OpenAI's Responses API, and of the servers that take the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock
from ..._messages import Message
from ._arrange import alternating
from ._common import bearer, json_text
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions
    from .._tools import Tool

__all__: list[str] = []


def path(options: AgentOptions) -> str:
    """Where answers are made."""
    return "/responses"


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. The counts of tokens come without being asked for."""
    return {
        "model": options.model,
        "instructions": options.system_prompt or None,
        "input": [item for message in alternating(messages) for item in wire_items(message)],
        "stream": True,
        "max_output_tokens": options.max_tokens,
        "temperature": options.temperature,
        "tools": [wire_tool(tool) for tool in options.tools] or None,
    }


def wire_items(message: Message) -> list[dict[str, Any]]:
    """The items of one message, in order: each call and each result is one, and so is what the user says."""
    if message.role == "assistant":
        return [wire_answer(block) for block in message.content]
    wire = [wire_result(block) for block in message.content if isinstance(block, ToolResultBlock)]
    said = [block for block in message.content if isinstance(block, TextBlock | ImageBlock)]
    return [*wire, {"role": message.role, "content": wire_content(said)}] if said else wire


def wire_answer(block: ContentBlock) -> dict[str, Any]:
    """What the model said, or called."""
    if isinstance(block, TextBlock):
        return {"role": "assistant", "content": block.text}
    assert isinstance(block, ToolUseBlock)
    arguments = json_text(block.input)
    return {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}


def wire_content(content: Sequence[TextBlock | ImageBlock]) -> str | list[dict[str, Any]]:
    """Texts and images in order; a lone text as it is."""
    if len(content) == 1 and isinstance(content[0], TextBlock):
        return content[0].text
    return [wire_part(block) for block in content]


def wire_part(block: TextBlock | ImageBlock) -> dict[str, Any]:
    """A text or an image of the user, or of a result."""
    if isinstance(block, TextBlock):
        return {"type": "input_text", "text": block.text}
    return {"type": "input_image", "image_url": block.url, "detail": block.detail}


def wire_result(result: ToolResultBlock) -> dict[str, Any]:
    """A tool's result. There is no field for an error: the text of it says so."""
    output = result.content if isinstance(result.content, str) else wire_content(result.content) or ""
    return {"type": "function_call_output", "call_id": result.tool_use_id, "output": output}


def wire_tool(tool: Tool) -> dict[str, Any]:
    """A tool. Unless told otherwise, the server would be strict, and refuse schemas with optional parameters."""
    return {"type": "function", **tool.to_openai_format()["function"], "strict": False}


SHAPE = RequestShape(path=path, headers=bearer, body=body)
