"""Reads the lines of Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..._finish import FinishReason
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_id, as_list, as_text, as_word
from ._shapes import choose_reader

__all__: list[str] = []

FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {"stop": FinishReason.STOP, "length": FinishReason.LENGTH, "tool_calls": FinishReason.TOOL_CALLS}
)
USAGE: CountPaths = {"input_tokens": (("prompt_eval_count",),), "output_tokens": (("eval_count",),)}
USAGE_NAMES = (
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be a line of this protocol, loosely."""
    if isinstance(payload.get("done"), bool):
        return True
    has_content = isinstance(payload.get("message"), dict) or isinstance(payload.get("response"), str)
    return has_content and isinstance(payload.get("model"), str)


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    if not isinstance(payload.get("done"), bool) or not isinstance(payload.get("model"), str):
        return False
    message = payload.get("message")
    return (isinstance(message, dict) and "role" in message) or isinstance(payload.get("response"), str)


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one line."""
    if not recognises(payload, sse_name):
        return UNKNOWN
    state.identify(None, payload.get("model"))
    message = as_dict(payload.get("message"))
    reasoning = as_text(message.get("thinking")) or as_text(payload.get("thinking"))
    text = as_text(message.get("content")) or as_text(payload.get("response"))
    state.reasoning(reasoning)
    state.text(text)
    images = message.get("images")
    if isinstance(images, list) and images:
        state.note().count_media("image", len(images))
    calls = as_list(message.get("tool_calls"))
    for member in calls:
        entry = as_dict(member)
        function = as_dict(entry.get("function"))
        state.take_tool_call(as_id(entry.get("id")), as_word(function.get("name")), function.get("arguments"))
    state.usage({name: payload[name] for name in USAGE_NAMES if name in payload}, USAGE)
    state.finish(payload.get("done_reason"))
    if payload.get("done") is True:
        state.end()
    is_chat = isinstance(payload.get("message"), dict)
    choose_reader(state, is_chat=is_chat, text="" if calls else text, reasoning="" if calls else reasoning)
    return RECOGNISED
