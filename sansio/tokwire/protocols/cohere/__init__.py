"""Cohere's chat API, version 2 (`/v2/chat`)."""

from __future__ import annotations

from ...framing._quick_deltas import delta_events
from .._protocol import ApiProtocol
from ._read import FINISH_WORDS, marks, on_body, on_payload, recognises

__all__: list[str] = []

COHERE = ApiProtocol(
    name="cohere",
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    on_body=on_body,
    finish_words=FINISH_WORDS,
    events=delta_events,
)
