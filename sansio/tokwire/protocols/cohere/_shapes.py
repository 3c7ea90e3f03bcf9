"""The ordinary shapes of deltas, as types: an event that fits one holds what the shape names.

Whatever else means anything is typed so that only its absence fits.
"""

from __future__ import annotations

from typing import Any, Literal

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


class TextDelta(Struct, gc=False):
    """What is new: text."""

    message: TextMessage


class ThinkingDelta(Struct, gc=False):
    """What is new: reasoning."""

    message: ThinkingMessage


class TextEvent(Struct, gc=False):
    """An event with text."""

    type: Literal["content-delta"]
    delta: TextDelta
    error: None = None
    object: None = None


class ThinkingEvent(Struct, gc=False):
    """An event with reasoning."""

    type: Literal["content-delta"]
    delta: ThinkingDelta
    error: None = None
    object: None = None


class PlanMessage(Struct, gc=False):
    """A message with a part of the plan."""

    tool_plan: str
    content: None = None
    tool_calls: NoList = None


class PlanDelta(Struct, gc=False):
    """What is new: a part of the plan."""

    message: PlanMessage


class PlanEvent(Struct, gc=False):
    """An event with a part of the plan, which is reasoning."""

    type: Literal["tool-plan-delta"]
    delta: PlanDelta
    error: None = None
    object: None = None


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


class CallDelta(Struct, gc=False):
    """What is new: a fragment of a call."""

    message: CallMessage


class CallEvent(Struct, gc=False):
    """An event with a fragment of a call."""

    type: Literal["tool-call-delta"]
    index: int
    delta: CallDelta
    error: None = None
    object: None = None


CONTENT_LEADS = leads_of("content-delta")
TEXT_SHAPE = Shape(CONTENT_LEADS, TEXT, typed_decoder(TextEvent), lambda event: event.delta.message.content.text)
THINKING_SHAPE = Shape(
    CONTENT_LEADS, REASONING, typed_decoder(ThinkingEvent), lambda event: event.delta.message.content.thinking
)
PLAN_SHAPE = Shape(
    leads_of("tool-plan-delta"), REASONING, typed_decoder(PlanEvent), lambda event: event.delta.message.tool_plan
)
CALL_SHAPE = Shape(
    leads_of("tool-call-delta"),
    TOOL_CALL,
    typed_decoder(CallEvent),
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
        is_plain = not state.options.include_tool_deltas and not state.record.budget.has_halves
        return CALL_SHAPE if is_plain else NO_SHAPE
    if message.get("tool_calls"):
        return NO_SHAPE
    if kind == "tool-plan-delta":
        return PLAN_SHAPE if isinstance(plan, str) and plan and not content else NO_SHAPE
    if isinstance(text, str) and text and not thinking:
        return TEXT_SHAPE
    return THINKING_SHAPE if isinstance(thinking, str) and thinking and not text else state.shape
