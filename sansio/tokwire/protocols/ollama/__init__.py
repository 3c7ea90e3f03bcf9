"""Ollama's own API (`/api/chat` and `/api/generate`): one JSON object a line."""

from __future__ import annotations

from ...framing._quick_frames import cut_lines, quick_events
from ...framing.ndjson import JSONLines
from .._protocol import ApiProtocol
from ._read import FINISH_WORDS, marks, on_payload, recognises

__all__: list[str] = []

LINE_END = b"\n"

OLLAMA = ApiProtocol(
    name="ollama",
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    framing=JSONLines,
    finish_words=FINISH_WORDS,
    makes_ids=True,
    events=quick_events(cut_lines(b"{", LINE_END), LINE_END),
)
