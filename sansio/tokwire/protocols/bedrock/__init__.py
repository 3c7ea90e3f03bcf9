"""Amazon Bedrock: `ConverseStream` and `InvokeModelWithResponseStream`, over AWS event streams."""

from __future__ import annotations

from ...framing._eventstream_body import EventStreamBody
from ...framing._quick_frames import quick_events
from ...framing._quick_messages import cut_messages
from .._protocol import ApiProtocol
from ._read import ERROR_STATUSES, FINISH_WORDS, marks, on_eof, on_payload, recognises

__all__: list[str] = []

BEDROCK = ApiProtocol(
    name="bedrock",
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    framing=EventStreamBody,
    on_eof=on_eof,
    finish_words=FINISH_WORDS,
    error_statuses=ERROR_STATUSES,
    events=quick_events(cut_messages, b""),
)
