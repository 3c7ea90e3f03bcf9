"""Requests of OpenAI's chat completions, which many other servers take as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock
from ..._messages import Message
from ._common import bearer, json_text, result_images, result_text
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__: list[str] = []


def path(options: AgentOptions) -> str:
    """Where answers are made."""
    return "/chat/completions"


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. `max_tokens` is the name that all servers know; OpenAI's newest models want another one."""
    return {
        "model": options.model,
        "messages": system_message(options) + [part for message in messages for part in wire_messages(message)],
        "stream": True,
        "stream_options": {"include_usage": True} if options.include_usage else None,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "tools": [tool.to_openai_format() for tool in options.tools] or None,
    }


def system_message(options: AgentOptions) -> list[dict[str, Any]]:
    """The system prompt, which stands ahead of the history."""
    return [{"role": "system", "content": options.system_prompt}] if options.system_prompt else []


def wire_messages(message: Message) -> list[dict[str, Any]]:
    """One message of an arranged history: several where it holds results, none where there is nothing to tell."""
    results = [block for block in message.content if isinstance(block, ToolResultBlock)]
    if results:
        return result_messages(results)
    if message.role == "assistant":
        return assistant_messages(message.content)
    if message.role == "user" and any(isinstance(block, ImageBlock) for block in message.content):
        return [{"role": "user", "content": parts(message.content)}]
    return [{"role": message.role, "content": lines(message.content)}]


def assistant_messages(content: Sequence[ContentBlock]) -> list[dict[str, Any]]:
    """What the model said. Without text its calls stand beside "", since local servers refuse null or lose the message.

    A message with neither is left out: it would only be a reason to refuse the request.
    """
    text = lines(content)
    calls = [wire_call(block) for block in content if isinstance(block, ToolUseBlock)]
    if calls:
        return [{"role": "assistant", "content": text, "tool_calls": calls}]
    return [{"role": "assistant", "content": text}] if text else []


def wire_call(call: ToolUseBlock) -> dict[str, Any]:
    """A call, with its signature where Gemini stands behind the server: it sends and wants it in this place."""
    function = {"name": call.name, "arguments": json_text(call.input)}
    signed = {"extra_content": {"google": {"thought_signature": call.signature}}} if call.signature else {}
    return {"id": call.id, "type": "function", "function": function, **signed}


def result_messages(results: Sequence[ToolResultBlock]) -> list[dict[str, Any]]:
    """Each result as a message of its own, as text; their images follow as the user's, who alone may send some."""
    wire: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.tool_use_id, "content": result_text(result)} for result in results
    ]
    images = [image for result in results for image in result_images(result)]
    return [*wire, {"role": "user", "content": parts(images)}] if images else wire


def lines(content: Sequence[ContentBlock]) -> str:
    """The text blocks, each on a line of its own."""
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))


def parts(content: Sequence[ContentBlock]) -> list[dict[str, Any]]:
    """Text and images in order."""
    wire: list[dict[str, Any]] = []
    for block in content:
        if isinstance(block, TextBlock):
            wire.append({"type": "text", "text": block.text})
        elif isinstance(block, ImageBlock):
            wire.append({"type": "image_url", "image_url": {"url": block.url, "detail": block.detail}})
    return wire


SHAPE = RequestShape(path=path, headers=bearer, body=body)
