"""Requests of Cohere's chat, in its second version. The base URL is that of the API, with or without `/v2`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import TextBlock
from ..._messages import Message
from ._common import bearer
from ._openai_chat import system_message, wire_messages
from ._parts import path_below, something
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__: list[str] = []


def path(options: AgentOptions) -> str:
    """Where the model chats."""
    return path_below(options, "/v2", "/chat")


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. The counts of tokens come without being asked for."""
    history = [entry for message in messages for entry in told(message)]
    return {
        "model": options.model,
        "messages": system_message(options) + something(history),
        "stream": True,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "tools": [tool.to_openai_format() for tool in options.tools] or None,
    }


def told(message: Message) -> Iterator[dict[str, Any]]:
    """One message as on `openai-chat`, without empty text: the API refuses that, though not of a tool."""
    content = tuple(block for block in message.content if not isinstance(block, TextBlock) or block.text.strip())
    for entry in wire_messages(Message(message.role, content)):
        if entry["content"] or entry["role"] == "tool":
            yield entry
        elif "tool_calls" in entry:
            del entry["content"]
            yield entry


SHAPE = RequestShape(path=path, headers=bearer, body=body)
