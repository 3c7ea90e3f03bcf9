"""Options and requests for the tests of the agent layer, and what those tests talk about: types, tools, and blocks."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from tokwire import (
    AgentOptions,
    HTTPRequest,
    ImageBlock,
    Message,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
    build_request,
    tool,
)

KEY = "sk-herring-4711"
HELLO = Message.user("Hello")
QUAY = ImageBlock("https://images.example/quay.png?size=2", "low")
PNG = ImageBlock("data:image/png;charset=utf-8;base64,iVBORw0K", "high")
TIDE, FERRY = ToolUseBlock("1", "tide", {"port": "Ayr"}), ToolUseBlock("2", "ferry", {})
PORT_SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
TIDE_TOOL = Tool("tide", "Height of the tide", {"port": "str"}, print)
BARE_TOOL = Tool("ferry", "", {}, print)
HOME: dict[str, Any] = {"model": "gull-1", "base_url": "http://harbour.example/v1"}


class Unit(enum.Enum):
    METRE = "m"
    FATHOM = "f"


class Spot(Struct):
    """A spot in the water."""

    north: float
    unit: Unit = Unit.METRE


def sound(spot: Spot, times: int = 1) -> None:
    """Measure the depth.

    Args:
        spot: Where.
        times: How often.
    """


class Flag(enum.Enum):
    """A signal flag."""

    ALFA = "a"
    BRAVO = "b"


class Berth(Struct):
    """A place to moor."""

    pier: int
    flags: list[Flag] = []


FLAG = {"title": "Flag", "description": "A signal flag.", "enum": ["a", "b"]}
BERTH = {
    "title": "Berth",
    "description": "A place to moor.",
    "type": "object",
    "properties": {"pier": {"type": "integer"}, "flags": {"type": "array", "items": FLAG, "default": []}},
    "required": ["pier"],
}


@tool
def add(a: int, b: Annotated[int, Meta(ge=0)] = 1) -> int:
    """Add two
    numbers.

    It is exact.

    Args:
        a: The first.
    """
    return a + b


def options(**changes: Any) -> AgentOptions:
    """Options with a model and a URL."""
    return AgentOptions(**HOME | changes)


def refusal(**changes: Any) -> str:
    """Why options are refused; always by a `ValueError` or a `TypeError`, and never in the name of another error."""
    with pytest.raises((ValueError, TypeError)) as caught:
        options(**changes)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def tide_tool(name: str = "tide") -> Tool:
    """A tool."""
    return Tool(name, "Height of the tide", {"port": "str"}, lambda arguments: arguments["port"])


def request(protocol: str, *history: Message, **changes: Any) -> HTTPRequest:
    """A request of a protocol."""
    fields: dict[str, Any] = {"model": "gull-1", "base_url": "http://harbour.example", "protocol": protocol}
    return build_request(AgentOptions(**fields | changes), history or (HELLO,))


def body(protocol: str, *history: Message, **changes: Any) -> dict[str, Any]:
    """The JSON of its body."""
    parsed: dict[str, Any] = json.loads(request(protocol, *history, **changes).body)
    return parsed


def results(*blocks: ToolResultBlock) -> Message:
    """The message that holds results."""
    return Message("user", blocks)
