"""The ordinary shapes of deltas, as types: an event that fits one holds what the shape names.

Whatever else means anything is typed so that only its absence fits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._shape import NO_SHAPE, REASONING, TEXT, TOOL_CALL, Shape, leads_of
from .._readers import as_dict

__all__: list[str] = []

Nothing = Literal["", None]
NoList = tuple[()] | None


class Text(Struct, gc=False):
    """Content that is text."""

    text: str
    thinking: Nothing = None


class Thinking(Struct, gc=False):
    """Content that is reasoning."""

    thinking: str
    text: Nothing = None


class TextMessage(Struct, gc=False):
    """A message with text."""

    content: Text
    tool_plan: Nothing = None
    tool_calls: NoList = None


class ThinkingMessage(Struct, gc=False):
    """A message with reasoning."""

    content: Thinking
    tool_plan: Nothing = None
    tool_calls: NoList = None


class PlanMessage(Struct, gc=False):
    """A message with a part of the plan."""

    tool_plan: str
    content: None = None
    tool_calls: NoList = None


class Function(Struct, gc=False):
    """Arguments of a call that is open."""

    arguments: str
    name: Nothing = None


class Call(Struct, gc=False):
    """A fragment of a call."""

    function: Function
    id: Nothing = None


class CallMessage(Struct, gc=False):
    """A message with a fragment of a call."""

    tool_calls: Call
    tool_plan: Nothing = None
    content: None = None


def _reader_of(event: str, message: type[Struct], *members: tuple[str, type]) -> Callable[[bytes], Any]:
    """The typed decoder of events with such a message and nothing beside it, but for these members."""
    delta = msgspec.defstruct("Delta", [("message", message)], gc=False)
    absent = [("error", None, None), ("object", None, None)]
    kind = msgspec.defstruct("Event", [("type", Literal[event]), *members, ("delta", delta), *absent], gc=False)
    return typed_decoder(kind)


@cache
def text_shape() -> Shape:
    """Text. This shape and the others are made when they are first needed."""
    decode = _reader_of("content-delta", TextMessage)
    return Shape(leads_of("content-delta"), TEXT, decode, lambda event: event.delta.message.content.text)


@cache
def thinking_shape() -> Shape:
    """Reasoning."""
    decode = _reader_of("content-delta", ThinkingMessage)
    return Shape(leads_of("content-delta"), REASONING, decode, lambda event: event.delta.message.content.thinking)


@cache
def plan_shape() -> Shape:
    """A part of the plan, which is reasoning."""
    decode = _reader_of("tool-plan-delta", PlanMessage)
    return Shape(leads_of("tool-plan-delta"), REASONING, decode, lambda event: event.delta.message.tool_plan)


@cache
def call_shape() -> Shape:
    """A fragment of a call."""
    return Shape(
        leads_of("tool-call-delta"),
        TOOL_CALL,
        _reader_of("tool-call-delta", CallMessage, ("index", int)),
        lambda event: event.delta.message.tool_calls.function.arguments,
        lambda event: event.index,
    )


def choose_shape(state: DecodeState, kind: str, message: dict[str, Any]) -> None:
    """After an event that was read in full: the shape of the next delta, if any is safe to expect."""
    state.expect(_next_shape(state, kind, message))


def _next_shape(state: DecodeState, kind: str, message: dict[str, Any]) -> Shape:
    content = as_dict(message.get("content"))
    text, thinking, plan = content.get("text"), content.get("thinking"), message.get("tool_plan")
    if state.options.include_raw or not state.response_id or state.buffers().has_half:
        return NO_SHAPE
    if kind == "tool-call-delta":
        state.open_calls = state.buffers().table.by_index
        return call_shape() if state.has_plain_arguments else NO_SHAPE
    if message.get("tool_calls"):
        return NO_SHAPE
    if kind == "tool-plan-delta":
        return plan_shape() if isinstance(plan, str) and plan and not content else NO_SHAPE
    if isinstance(text, str) and text and not thinking:
        return text_shape()
    return thinking_shape() if isinstance(thinking, str) and thinking and not text else state.shape
