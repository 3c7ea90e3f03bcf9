"""Anthropic Messages (`/v1/messages`), and the servers and gateways that imitate it."""

from __future__ import annotations

from ...framing._quick_deltas import delta_events
from .._protocol import ApiProtocol
from ._read import ERROR_STATUSES, FINISH_WORDS, marks, on_eof, on_payload, recognises

__all__: list[str] = []

ANTHROPIC = ApiProtocol(
    name="anthropic",
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    on_eof=on_eof,
    finish_words=FINISH_WORDS,
    error_statuses=ERROR_STATUSES,
    events=delta_events,
)
