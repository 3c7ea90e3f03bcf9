"""Event streams as the body of a protocol: events, exceptions and errors as frames."""

from __future__ import annotations

import json

from .._errors import RemoteProtocolError
from .._limits import Limits
from ._frames import Frame, FrameKind
from .eventstream import EventStreamMessage, MessageSplitter

__all__: list[str] = []

NOTHING = (b"", b"null", b"false", b'""')
"""Payloads that say nothing: the exception is one without them."""


class EventStreamBody:
    """The framing of Bedrock."""

    __slots__ = ("_splitter", "error")

    def __init__(self, limits: Limits) -> None:
        self.error: RemoteProtocolError | None = None
        self._splitter = MessageSplitter(limits.max_frame_bytes)

    @property
    def is_idle(self) -> bool:
        """True between two messages."""
        return not self._splitter.held

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their message."""
        return self._splitter.held

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""
        frames: list[Frame] = []
        if self.is_idle:
            self._splitter.offset = offset
        self._splitter.give(data)
        try:
            start = self._splitter.offset
            while (message := self._splitter.next()) is not None:
                frames.append(frame_of(message, start))
                start = self._splitter.offset
        except RemoteProtocolError as error:
            self.error = error
        return frames

    def take_back(self) -> bytes:
        """The bytes of the unfinished message, which are no longer held: its begin was fed, and nothing came of it."""
        return self._splitter.take_back()

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body: a message that was cut."""
        splitter = self._splitter
        return [Frame(FrameKind.CUT, splitter.start, splitter.offset)] if splitter.held else []


def frame_of(message: EventStreamMessage, offset: int) -> Frame:
    """The frame of one message, by its `:message-type`."""
    headers = message.headers
    kind = headers.get(":message-type", "event")
    if kind == "exception":
        payload = b"{}" if message.payload.strip() in NOTHING else message.payload
        return Frame(FrameKind.ERROR, payload, offset, _text(headers.get(":exception-type")))
    if kind == "error":
        code = _text(headers.get(":error-code"))
        body = {"code": code, "message": _text(headers.get(":error-message"))}
        return Frame(FrameKind.ERROR, json.dumps(body).encode(), offset, code)
    return Frame(FrameKind.PAYLOAD, message.payload, offset, _text(headers.get(":event-type")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
