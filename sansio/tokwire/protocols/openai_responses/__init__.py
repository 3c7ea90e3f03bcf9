"""OpenAI Responses (`/responses`), and the servers and gateways that imitate it."""

from __future__ import annotations

from .._protocol import ApiProtocol
from ._quick import events
from ._read import ERROR_STATUSES, FINISH_WORDS, marks, on_body, on_eof, on_payload, recognises

__all__: list[str] = []

OPENAI_RESPONSES = ApiProtocol(
    name="openai-responses",
    aliases=("openai_responses", "responses"),
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    on_body=on_body,
    on_eof=on_eof,
    finish_words=FINISH_WORDS,
    error_statuses=ERROR_STATUSES,
    events=events,
)
