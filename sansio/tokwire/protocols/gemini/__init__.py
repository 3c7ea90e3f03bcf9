"""Google Gemini (`:streamGenerateContent`), as server-sent events and as one JSON array."""

from __future__ import annotations

from ...framing._quick_frames import cut_lines, quick_events
from .._protocol import ApiProtocol
from ._body import GeminiBody
from ._read import FINISH_WORDS, marks, on_eof, on_payload, recognises

__all__: list[str] = []

EVENT_END = b"\r\n\r\n"
"""The end of an event. The service ends its lines so; events of relays that do not are read by the exact machine."""

GEMINI = ApiProtocol(
    name="gemini",
    aliases=("google",),
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    framing=GeminiBody,
    on_eof=on_eof,
    finish_words=FINISH_WORDS,
    makes_ids=True,
    last_reason_wins=True,
    events=quick_events(cut_lines(b"d", EVENT_END), EVENT_END, reads_deep=True),
)
