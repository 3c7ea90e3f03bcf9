"""Reads the events of OpenAI Responses, from OpenAI and from the servers and gateways that imitate it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..._finish import FinishReason
from ..._server_errors import api_error, is_blank
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_list, as_text, as_word
from ._item_reader import (
    PART_CHANNELS,
    add_part,
    finish_item,
    open_item,
    read_snapshot,
    replace_arguments,
    settle_calls,
)
from ._items import ARGUMENT_EVENTS, DELTA_CHANNELS, Items, position_of
from ._shapes import choose_shape

__all__: list[str] = []

FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {
        "max_output_tokens": FinishReason.LENGTH,
        "content_filter": FinishReason.CONTENT_FILTER,
    }
)
ERROR_STATUSES: Mapping[str, int] = MappingProxyType({"rate_limit_exceeded": 429, "server_error": 500})
USAGE: CountPaths = {
    "input_tokens": (("input_tokens",),),
    "output_tokens": (("output_tokens",),),
    "total_tokens": (("total_tokens",),),
    "cached_tokens": (("input_tokens_details", "cached_tokens"),),
    "cache_write_tokens": (("input_tokens_details", "cache_write_tokens"),),
    "reasoning_tokens": (("output_tokens_details", "reasoning_tokens"),),
}
TERMINAL = ("response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done")
UNUSUAL_ENDS = ("incomplete", "failed", "cancelled", "canceled")
PART_EVENTS = (
    "response.content_part.done",
    "response.reasoning_summary_part.done",
    "response.reasoning_part.done",
)


def kind_of(payload: Mapping[str, Any], sse_name: str | None) -> str:
    """The type of an event; its SSE name where the payload has none."""
    kind = payload.get("type")
    return kind if isinstance(kind, str) and kind else sse_name or ""


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be an event of this protocol, loosely."""
    return kind_of(payload, sse_name).startswith("response.") or payload.get("object") == "response"


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    if kind_of(payload, sse_name).startswith("response."):
        return True
    return payload.get("object") == "response" and "output" in payload


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one event."""
    items = _items(state)
    if items.failed is not None and state.is_failing:
        items.failed = payload  # it says what failed
        return UNKNOWN
    if not recognises(payload, sse_name):
        return UNKNOWN
    if items.failed is not None:
        _raise_failure(items.failed)
    kind = kind_of(payload, sse_name)
    if not kind.startswith("response."):
        return on_body(state, payload, sse_name)
    stem, _, ending = kind.rpartition(".")
    if kind in TERMINAL:
        response = as_dict(payload.get("response")) or payload
        _end(state, items, payload, response, _outcome(kind, response))
    elif isinstance(payload.get("response"), dict):
        state.identify(payload["response"].get("id"), payload["response"].get("model"))
    elif stem == "response.output_item":
        _read_item(state, items, payload, ending)
    elif stem in ARGUMENT_EVENTS:
        _read_arguments(state, items, payload, ending)
    elif stem in DELTA_CHANNELS:
        _read_part(state, items, payload, DELTA_CHANNELS[stem], ending)
    elif kind in PART_EVENTS:
        _read_whole_part(state, items, payload)
    choose_shape(state, items, payload, kind)
    return RECOGNISED


def on_body(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read a body that is one JSON answer in place of a stream."""
    if payload.get("object") != "response":
        return on_payload(state, payload, sse_name) if recognises(payload, sse_name) else UNKNOWN
    items = _items(state)
    _end(state, items, payload, payload, as_text(payload.get("status")))
    if items.failed is not None:
        _raise_failure(items.failed)
    return RECOGNISED


def on_eof(state: DecodeState) -> None:
    """A failure that nothing explained is the error."""
    items = _items(state)
    if items.failed is not None:
        _raise_failure(items.failed)
    settle_calls(state, items)


def _items(state: DecodeState) -> Items:
    if state.protocol_data is None:
        state.protocol_data = Items(state.record.budget)
    items: Items = state.protocol_data
    return items


def _raise_failure(response: dict[str, Any]) -> None:
    raise api_error(response, ERROR_STATUSES)


def _read_item(state: DecodeState, items: Items, payload: dict[str, Any], ending: str) -> None:
    item = as_dict(payload.get("item"))
    entry = items.of_item(payload, item, is_done=ending == "done")
    if ending == "done":
        finish_item(state, items, entry, item)
    else:
        open_item(state, items, entry, item)


def _read_whole_part(state: DecodeState, items: Items, payload: dict[str, Any]) -> None:
    part = as_dict(payload.get("part"))
    channel = PART_CHANNELS.get(as_word(part.get("type")) or "")
    if channel is not None:
        text = as_text(part.get("text")) or as_text(part.get("refusal"))
        add_part(state, items, items.of_event(payload), (channel, position_of(payload), text), is_delta=False)


def _read_part(state: DecodeState, items: Items, payload: dict[str, Any], channel: str, ending: str) -> None:
    name = {"delta": "delta", "done": "refusal" if channel == "refusal" else "text"}.get(ending)
    if name is not None:
        text = as_text(payload.get(name))
        part = (channel, position_of(payload), text)
        add_part(state, items, items.of_event(payload), part, is_delta=ending == "delta")


def _read_arguments(state: DecodeState, items: Items, payload: dict[str, Any], ending: str) -> None:
    if ending == "delta":
        entry = items.of_fragment(payload)
        fragment = payload.get("delta")
        if entry.call is not None:
            state.buffers().channel = "tool_call"
            state.extend_tool_call(entry.call, fragment)
        elif entry.kind is None:
            state.drop_fragment(entry.index, fragment, "no item with its index was announced as a tool call")
        return
    entry = items.of_final_arguments(payload)
    final = payload.get("input") if payload.get("arguments") is None else payload["arguments"]
    if entry.call is not None:
        if as_word(payload.get("name")) and entry.call.name is None:
            entry.call.identify(None, as_word(payload.get("name")))
        entry.has_final_arguments = True
        replace_arguments(state, entry.call, final)
    elif entry.kind is None:
        state.drop_fragment(entry.index, final, "no item with its index was announced as a tool call")


def _outcome(kind: str, response: dict[str, Any]) -> str:
    """How a response ended: by the type of its last event, unless its own status says that it did not complete."""
    status = as_text(response.get("status"))
    if kind in ("response.completed", "response.done"):
        return status if status in UNUSUAL_ENDS else "completed"
    return kind.removeprefix("response.")


def _end(state: DecodeState, items: Items, payload: dict[str, Any], response: dict[str, Any], outcome: str) -> None:
    state.identify(response.get("id"), response.get("model"))
    state.usage(response.get("usage"), USAGE)
    output = response.get("output")
    read_snapshot(state, items, as_list(payload.get("output") if output is None else output))
    settle_calls(state, items)
    if outcome == "failed":
        if not is_blank(response.get("error")):
            raise api_error({"error": response["error"]}, ERROR_STATUSES)
        items.failed = response
        state.end_marker = state.end_marker or not state.is_failing
        return
    if outcome == "incomplete":
        reason = as_word(as_dict(response.get("incomplete_details")).get("reason"))
        state.finish(reason or outcome)
    elif outcome in ("cancelled", "canceled"):
        state.finish("cancelled")
    elif outcome == "completed":
        state.finish_with(FinishReason.TOOL_CALLS if items.calls else FinishReason.STOP, outcome)
    state.end()
