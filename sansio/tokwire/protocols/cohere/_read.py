"""Reads the events of Cohere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..._finish import FinishReason
from ..._server_errors import api_error, is_blank
from ..._state import DecodeState
from ..._token_counts import CountPaths
from ...framing._shape import NO_SHAPE
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_id, as_index, as_list, as_text, as_word
from ._shapes import choose_shape

__all__: list[str] = []

TYPES = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
        "debug",
    }
)
FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {
        "complete": FinishReason.STOP,
        "stop_sequence": FinishReason.STOP,
        "max_tokens": FinishReason.LENGTH,
        "tool_call": FinishReason.TOOL_CALLS,
    }
)
USAGE: CountPaths = {
    "input_tokens": (("tokens", "input_tokens"),),
    "output_tokens": (("tokens", "output_tokens"),),
    "cached_tokens": (("cached_tokens",),),
}


def kind_of(payload: Mapping[str, Any], sse_name: str | None) -> str | None:
    """The type of an event; its SSE name where the payload has none."""
    kind = payload.get("type")
    return kind if isinstance(kind, str) and kind else sse_name


def is_whole_answer(payload: Mapping[str, Any]) -> bool:
    """Whether a payload is a whole answer in place of a stream."""
    return "type" not in payload and isinstance(payload.get("message"), dict) and "finish_reason" in payload


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be an event of this protocol, loosely."""
    return kind_of(payload, sse_name) in TYPES or is_whole_answer(payload)


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    kind, delta = kind_of(payload, sse_name), payload.get("delta")
    has_delta = isinstance(delta, dict) and bool(delta.keys() & {"message", "finish_reason"})
    return kind is not None and "-" in kind and has_delta


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one event."""
    if is_whole_answer(payload):
        state.expect(NO_SHAPE)
        _read_answer(state, payload)
        return RECOGNISED
    kind = kind_of(payload, sse_name)
    if kind not in TYPES:
        return UNKNOWN
    if payload.get("id"):
        state.identify(payload.get("id"), None)
    delta = as_dict(payload.get("delta"))
    if kind == "message-end":
        _end(state, delta)
    else:
        if kind == "content-start":
            state.buffers().end_last_call()
        message = as_dict(delta.get("message"))
        _read_message(state, message, as_index(payload.get("index")))
        choose_shape(state, kind, message)
    return RECOGNISED


def on_body(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read a body that is one JSON answer; one whose `message` is text is an error."""
    if isinstance(payload.get("message"), str):
        raise api_error(payload, {})
    return on_payload(state, payload, sse_name)


def _end(state: DecodeState, delta: dict[str, Any]) -> None:
    state.usage(delta.get("usage"), USAGE)
    if not is_blank(delta.get("error")):
        raise api_error({"error": delta["error"]}, {})
    state.finish(delta.get("finish_reason"))
    state.end()


def _read_answer(state: DecodeState, payload: dict[str, Any]) -> None:
    state.identify(payload.get("id"), payload.get("model"))
    message = as_dict(payload.get("message"))
    calls = as_list(message.get("tool_calls"))
    _read_message(state, message | {"tool_calls": None}, None)
    for index, call in enumerate(calls):
        _read_message(state, {"tool_calls": call}, index)
    state.usage(payload.get("usage"), USAGE)
    state.finish(payload.get("finish_reason"))


def _read_message(state: DecodeState, message: dict[str, Any], index: int | None) -> None:
    """Read what a delta, or a whole answer, holds: this API sends one object where others send a list."""
    state.reasoning(as_text(message.get("tool_plan")))
    content = message.get("content")
    if isinstance(content, str):
        state.text(content)
    for member in as_list(content):
        part = as_dict(member)
        state.reasoning(as_text(part.get("thinking")))
        state.text(as_text(part.get("text")))
    for member in as_list(message.get("tool_calls")):
        _read_call(state, as_dict(member), index)


def _read_call(state: DecodeState, entry: dict[str, Any], index: int | None) -> None:
    function = as_dict(entry.get("function"))
    call_id, name = as_id(entry.get("id")), as_word(function.get("name"))
    arguments = function.get("arguments")
    if call_id is not None or name is not None:
        buffers = state.buffers()
        call = state.open_tool_call(buffers.table.next_index() if index is None else index, call_id, name)
        state.extend_tool_call(call, arguments)
        return
    table = state.buffers().table
    known = table.at(index) if index is not None else next(reversed(table.calls), None)
    if known is None:
        state.drop_fragment(index, arguments, "no tool call was opened under its index")
    else:
        state.extend_tool_call(known, arguments)
