"""Requests of Ollama's own API. The base URL is that of the server, with or without `/api`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import ImageBlock, ToolResultBlock, ToolUseBlock
from ..._messages import Message
from ._common import as_object, bearer, result_images, result_text
from ._openai_chat import lines, system_message
from ._parts import image_data, names_called, path_below, something
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__: list[str] = []


def path(options: AgentOptions) -> str:
    """Where the model chats."""
    return path_below(options, "/api", "/chat")


def headers(options: AgentOptions) -> list[tuple[str, str]]:
    """The key, which only servers on the net ask for."""
    return [("accept", "application/x-ndjson"), *bearer(options)]


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. The counts of tokens come without being asked for."""
    settings = {"num_predict": options.max_tokens, "temperature": options.temperature}
    return {
        "model": options.model,
        "messages": system_message(options) + something(wire_history(messages)),
        "stream": True,
        "options": {name: value for name, value in settings.items() if value is not None} or None,
        "tools": [tool.to_openai_format() for tool in options.tools] or None,
    }


def wire_history(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The messages of an arranged history."""
    wire: list[dict[str, Any]] = []
    called: list[str] = []
    for message in messages:
        results = [block for block in message.content if isinstance(block, ToolResultBlock)]
        wire += [wire_result(result, name) for result, name in zip(results, called, strict=True)]
        wire += wire_messages(message)
        called = names_called(message.content)
    return wire


def wire_result(result: ToolResultBlock, name: str) -> dict[str, Any]:
    """A tool's result, which is a message of its own."""
    return {"role": "tool", "tool_name": name, "content": result_text(result), **wire_images(result_images(result))}


def wire_messages(message: Message) -> list[dict[str, Any]]:
    """What is no result in a message; nothing where that is nothing."""
    calls = [
        {"function": {"name": block.name, "arguments": as_object(block.input)}}
        for block in message.content
        if isinstance(block, ToolUseBlock)
    ]
    images = [block for block in message.content if isinstance(block, ImageBlock)]
    said = {"content": lines(message.content), **wire_images(images), **({"tool_calls": calls} if calls else {})}
    return [{"role": message.role, **said}] if any(said.values()) else []


def wire_images(images: Sequence[ImageBlock]) -> dict[str, Any]:
    """The images of a message, which stand beside its text."""
    return {"images": [image_data(image, "ollama")[1] for image in images]} if images else {}


SHAPE = RequestShape(path=path, headers=headers, body=body)
