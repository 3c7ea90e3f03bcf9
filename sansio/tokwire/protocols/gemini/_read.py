"""Reads the payloads of Gemini."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..._finish import FinishReason
from ..._state import DecodeState
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_index, as_list, as_text, as_word
from ._calls import GeminiCalls
from ._counts import take_counts
from ._shapes import choose_reader

__all__: list[str] = []

NO_REASON = "FINISH_REASON_UNSPECIFIED"
FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {"stop": FinishReason.STOP, "max_tokens": FinishReason.LENGTH}
    | dict.fromkeys(
        ("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"),
        FinishReason.CONTENT_FILTER,
    )
)


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be this protocol's, loosely."""
    return (
        isinstance(payload.get("candidates"), list)
        or isinstance(payload.get("promptFeedback"), dict)
        or isinstance(payload.get("usageMetadata"), dict)
    )


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    if isinstance(payload.get("promptFeedback"), dict) or isinstance(payload.get("usageMetadata"), dict):
        return True
    candidates = payload.get("candidates")
    first = as_dict(candidates[0]) if isinstance(candidates, list) and candidates else {}
    content = as_dict(first.get("content"))
    has_parts = isinstance(content.get("parts"), list) or content.get("role") == "model"
    return has_parts or isinstance(first.get("finishReason"), str)


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one payload."""
    if not recognises(payload, sse_name):
        return UNKNOWN
    state.identify(payload.get("responseId"), payload.get("modelVersion"))
    counts = take_counts(state, payload.get("usageMetadata"))
    if state.protocol_data is None:
        state.protocol_data = GeminiCalls(state)
    calls: GeminiCalls = state.protocol_data
    for position, member in enumerate(as_list(payload.get("candidates"))):
        candidate = as_dict(member)
        index = as_index(candidate.get("index"))
        choice = position if index is None else index
        calls.has_candidates = True
        for part in as_list(as_dict(candidate.get("content")).get("parts")):
            _read_part(state, calls, as_dict(part), choice)
        reason = as_word(candidate.get("finishReason"))
        if reason is not None and reason != NO_REASON:
            calls.settle(choice)
            state.finish(reason, choice)
    block_reason = as_word(as_dict(payload.get("promptFeedback")).get("blockReason"))
    if block_reason is not None and not calls.has_candidates:
        state.finish_with(FinishReason.CONTENT_FILTER, block_reason)
    choose_reader(state, payload, counts)
    return RECOGNISED


def on_eof(state: DecodeState) -> None:
    """Calls that were to continue are cut."""
    if state.protocol_data is not None:
        state.protocol_data.settle(None)


def _read_part(state: DecodeState, calls: GeminiCalls, part: dict[str, Any], choice: int) -> None:
    text = as_text(part.get("text"))
    if part.get("thought") is True:
        state.reasoning(text, choice)
    else:
        state.text(text, choice)
    call = None
    if isinstance(part.get("functionCall"), dict):
        call = calls.take(part["functionCall"], choice)
    inline = as_dict(part.get("inlineData"))
    if inline:
        kind = (as_word(inline.get("mimeType")) or "data").partition("/")[0]
        state.note().count_media(kind)
    if part.get("thoughtSignature"):
        state.note().sign("thought_signature", part["thoughtSignature"], choice=choice, call=call)
