"""A protocol of a third party, for the tests of protocols that tokwire does not bring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tokwire import ApiProtocol, FinishReason, Verdict
from tokwire._state import DecodeState


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one message of the pigeon post."""
    match payload:
        case {"tick": _}:
            return Verdict.HEARTBEAT
        case {"say": text}:
            state.text(text)
        case {"think": text}:
            state.reasoning(text)
        case {"ask": tool, "slot": slot}:
            call = state.open_tool_call(slot, payload.get("id"), tool)
            state.extend_tool_call(call, payload.get("with"))
        case {"weight": usage}:
            state.usage(usage, {"output_tokens": (("grains",),)})
        case {"landed": word}:
            state.finish(word)
        case {"over": _}:
            state.end()
        case {"lost": where}:
            raise ValueError(f"a pigeon was lost over {where}")
        case _:
            return Verdict.UNKNOWN
    return Verdict.RECOGNISED


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be pigeon post."""
    return "pigeon" in payload or bool(payload.keys() & {"say", "think", "ask", "weight", "landed", "over"})


def pigeon(**changes: Any) -> ApiProtocol:
    """A protocol that nobody knows."""
    fields: dict[str, Any] = {
        "name": "pigeon-post",
        "aliases": ("Pigeon", "coo"),
        "on_payload": on_payload,
        "recognises": recognises,
        "marks": recognises,
        "finish_words": {"home": FinishReason.STOP, "tired": FinishReason.LENGTH},
        "error_statuses": {"hawk": 503},
    }
    return ApiProtocol(**fields | changes)


def post(*payloads: object) -> bytes:
    """A body of pigeon post."""
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)
