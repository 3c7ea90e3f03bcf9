"""Reads a chunk of OpenAI Chat Completions, whatever the server made of the shape.

Forty servers speak this protocol, each with deviations of its own: reasoning under five names, content as a list,
tool calls without index or id, usage anywhere, `message` where `delta` should be. All are read here; the quick reader
beside it knows only the ordinary shape and hands everything else over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._partial_call import PartialToolCall
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_id, as_index, as_list, as_text, as_word
from ._shapes import choose_shape

__all__: list[str] = []

REASONING_NAMES = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
OPAQUE_NAMES = ("reasoning_opaque", "reasoning_encrypted")

USAGE: CountPaths = {
    "input_tokens": (("prompt_tokens",),),
    "output_tokens": (("completion_tokens",),),
    "total_tokens": (("total_tokens",),),
    "cached_tokens": (
        ("prompt_tokens_details", "cached_tokens"),
        ("cached_tokens",),  # Together
        ("cache_read_input_tokens",),  # Databricks
        ("prompt_cache_hit_tokens",),  # DeepSeek
    ),
    "cache_write_tokens": (("prompt_tokens_details", "cache_write_tokens"), ("cache_creation_input_tokens",)),
    "reasoning_tokens": (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",)),
}


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be a chunk, loosely."""
    kind = payload.get("object")
    if isinstance(kind, str) and kind.startswith("chat.completion"):
        return True
    choices = payload.get("choices")
    if isinstance(choices, list) and (choices or not kind):  # other APIs have empty choices too
        members = [choice for choice in choices if isinstance(choice, dict)]
        if len(members) == len(choices) and all("delta" in choice or "message" in choice for choice in members):
            return True
    return isinstance(payload.get("usage"), dict) and "type" not in payload and "object" not in payload


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves Chat Completions."""
    kind = payload.get("object")
    if isinstance(kind, str):
        return kind.startswith("chat.completion")
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and (isinstance(first.get("delta"), dict) or isinstance(first.get("message"), dict))


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one chunk."""
    is_recognised = recognises(payload, sse_name)
    if is_recognised:
        state.identify(payload.get("id"), payload.get("model"))
    is_readable = is_recognised or "object" not in payload  # a lone finish word has neither delta nor object
    members = as_list(payload.get("choices")) if is_readable else []
    choices = [choice for choice in members if isinstance(choice, dict)]
    for position, choice in enumerate(choices):
        _read_choice(state, choice, position)
    if is_recognised:
        usages = (payload.get("usage"), *(choice.get("usage") for choice in choices[:1]))
        usages = (*usages, as_dict(payload.get("x_groq")).get("usage"))
        state.usage(next((usage for usage in usages if usage), None), USAGE)
    choose_shape(state)
    return RECOGNISED if is_recognised else UNKNOWN


def _read_choice(state: DecodeState, choice: dict[str, Any], position: int) -> None:
    index = as_index(choice.get("index"))
    number = position if index is None else index
    if not _read_delta(state, as_dict(choice.get("delta")), number) and not state.buffers(number).has_text:
        _read_delta(state, as_dict(choice.get("message")), number)
    state.finish(choice.get("finish_reason"), number)


def _read_delta(state: DecodeState, delta: dict[str, Any], choice: int) -> bool:
    """Read a delta, or a message in its place. Returns whether it carried anything."""
    text, thinking, refusal = _read_content(state, delta.get("content"), choice)
    reasoning = thinking or _reasoning(delta)
    _read_signatures(state, delta, choice)
    if reasoning:
        state.reasoning(reasoning, choice)
    for piece in text:
        state.text(piece, choice)
    refusal = as_text(delta.get("refusal")) or refusal
    if refusal:
        state.refusal(refusal, choice)
    calls = [call for call in as_list(delta.get("tool_calls")) if isinstance(call, dict)]
    for call in calls:
        _read_tool_call(state, call, choice)
    legacy = as_dict(delta.get("function_call"))
    has_legacy = state.merge_legacy_call(as_text(legacy.get("name")) or None, legacy.get("arguments"), choice)
    has_media = _count_media(state, delta)
    return bool(text or reasoning or refusal or calls or has_legacy or has_media)


def _read_content(state: DecodeState, content: object, choice: int) -> tuple[list[str], str, str]:
    """Text fragments, thinking and refusal of a content that is text or a list of typed parts."""
    if isinstance(content, str):
        return ([content] if content else []), "", ""
    texts: list[str] = []
    thinking: list[str] = []
    refusals: list[str] = []
    for member in as_list(content):
        if isinstance(member, str):
            texts.append(member)
            continue
        part = as_dict(member)
        kind = part.get("type")
        if kind in ("text", "output_text", None):
            texts.append(_part_text(part.get("text")))
        elif kind == "thinking":
            thinking.append(_part_text(part.get("thinking")))
            if isinstance(part.get("signature"), str):
                state.note().sign("thinking", part["signature"], choice=choice)
        elif kind == "refusal":
            refusals.append(_part_text(part.get("refusal")))
    return [text for text in texts if text], "".join(thinking), "".join(refusals)


def _part_text(value: object) -> str:
    """The text of a part: text itself, an object with text, or a list of these."""
    if isinstance(value, list):
        return "".join(_part_text(member) for member in value if not isinstance(member, list))
    return as_text(as_dict(value).get("text")) if isinstance(value, dict) else as_text(value)


def _reasoning(delta: dict[str, Any]) -> str:
    """The first spelling that is not empty: servers mirror one text under several names."""
    for name in REASONING_NAMES:
        text = _part_text(delta.get(name))
        if text:
            return text
    details = [as_dict(detail) for detail in as_list(delta.get("reasoning_details"))]
    return "".join(as_text(detail.get("text")) or as_text(detail.get("summary")) for detail in details)


def _read_signatures(state: DecodeState, delta: dict[str, Any], choice: int) -> None:
    for name in OPAQUE_NAMES:
        if delta.get(name):
            state.note().sign(name, delta[name], choice=choice)
    for member in as_list(delta.get("reasoning_details")):
        detail = as_dict(member)
        for name in ("signature", "data"):
            if detail.get(name):
                kind = as_word(detail.get("type")) or "reasoning_details"
                index, item = as_index(detail.get("index")), as_word(detail.get("id"))
                state.note().sign(kind, detail[name], choice=choice, block_index=index, item_id=item)
    _read_thought_signature(state, delta, choice, None)


def _read_thought_signature(
    state: DecodeState, holder: dict[str, Any], choice: int, call: PartialToolCall | None
) -> None:
    google = as_dict(as_dict(holder.get("extra_content")).get("google"))
    if google.get("thought_signature"):
        state.note().sign("thought_signature", google["thought_signature"], choice=choice, call=call)


def _read_tool_call(state: DecodeState, entry: dict[str, Any], choice: int) -> None:
    function = as_dict(entry.get("function"))
    call = state.merge_tool_call(
        as_index(entry.get("index")),
        as_id(entry.get("id")),
        as_text(function.get("name")) or None,  # halves of a surrogate pair may come in two pieces of a name
        function.get("arguments"),
        choice,
    )
    _read_thought_signature(state, entry, choice, call)


def _count_media(state: DecodeState, delta: dict[str, Any]) -> bool:
    images = as_list(delta.get("images"))
    if images:
        state.note().count_media("image", len(images))
    audio = as_dict(delta.get("audio"))
    if as_word(audio.get("id")):
        state.note().count_media("audio", once_for=as_word(audio["id"]))
    return bool(images or audio)
