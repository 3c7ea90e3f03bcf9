"""OpenAI Chat Completions (`/chat/completions`), and the forty servers that imitate it."""

from __future__ import annotations

from ...framing._quick_deltas import delta_events
from .._protocol import ApiProtocol
from ._read import marks, on_payload, recognises

__all__: list[str] = []

OPENAI_CHAT = ApiProtocol(
    name="openai-chat",
    aliases=("openai", "openai_chat"),
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    done_ends=True,
    events=delta_events,
)
