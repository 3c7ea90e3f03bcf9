"""The framing of Gemini: server-sent events, or one JSON array."""

from __future__ import annotations

from ..._errors import RemoteProtocolError
from ..._limits import Limits
from ...framing._frames import Frame, Framing
from ...framing._sse_body import SSEBody
from ...framing.json_array import BLANKS, JSONArray
from ...framing.sse import BYTE_ORDER_MARK

__all__: list[str] = []


class GeminiBody:
    """The framing of Gemini, which the first character decides: an opening bracket begins the array form."""

    __slots__ = ("_framing", "_is_decided", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._is_decided = False
        self._framing: Framing = SSEBody(limits)

    @property
    def error(self) -> RemoteProtocolError | None:
        """Set once the body breaks the framing or a limit."""
        return self._framing.error

    @property
    def is_idle(self) -> bool:
        """True between two frames, with nothing held."""
        return self._framing.is_idle

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return self._framing.held

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""
        if self._is_decided:
            return self._framing.feed(data, offset)
        start = first_character(data, offset)
        self._is_decided = start < len(data)
        frames = self._framing.feed(data[:start], offset)
        if not self._is_decided or self.error is not None:
            return frames
        if data[start] == ord("["):
            self._framing = JSONArray(self._limits)
        return frames + self._framing.feed(data[start:], offset + start)

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body; not `complete` means that the transport cut it."""
        return self._framing.finish(complete=complete)


def first_character(data: bytes, offset: int) -> int:
    """Where in `data` the first character is that is no blank and no part of a byte order mark."""
    at = 0
    while at < len(data) and offset + at < len(BYTE_ORDER_MARK) and data[at] in (BYTE_ORDER_MARK[offset + at], *BLANKS):
        at += 1
    rest = data[at:]
    return at + len(rest) - len(rest.lstrip(BLANKS))
