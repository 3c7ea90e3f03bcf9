"""A JSON array that arrives piece by piece: its elements, each as soon as it is whole.

The splitter knows only brackets, strings and escapes. Whether an element is JSON is for whoever reads it.
"""

from __future__ import annotations

import re

from .._errors import LimitExceeded, RemoteProtocolError
from .._limits import Limits
from ._frames import Frame, FrameKind

__all__: list[str] = []

BLANKS = b" \t\r\n"

_IN_STRING = re.compile(rb'["\\]')
_OUTSIDE = re.compile(rb'["{}\[\],]')


class JSONArray:
    """The framing of an API that answers with one array of payloads."""

    __slots__ = (
        "_depth",
        "_element",
        "_element_offset",
        "_in_string",
        "_limit",
        "_position",
        "_size",
        "_skip",
        "error",
        "started",
    )

    def __init__(self, limits: Limits) -> None:
        self.error: RemoteProtocolError | None = None
        self.started = False
        self._limit = limits.max_event_bytes
        self._depth = 0
        self._in_string = False
        self._skip = 0  # bytes behind an escape that belong to it
        self._element: list[bytes] = []
        self._element_offset = self._size = self._position = 0

    @property
    def is_idle(self) -> bool:
        """Never: the array itself is open until it ends, and then the stream is over."""
        return False

    @property
    def held(self) -> int:
        """Bytes of the unfinished element."""
        return self._size

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The elements that `data` completes; `offset` is where it stands in the body."""
        frames: list[Frame] = []
        self._position = offset
        start = at = min(self._skip, len(data))
        self._skip -= at
        start = 0
        while self.error is None:
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(data, at)
            if match is None:
                break
            at = match.end()
            token = data[at - 1]
            if token == 92:  # backslash: the next byte is part of the escape
                self._skip = max(0, at + 1 - len(data))
                at = min(at + 1, len(data))
            elif token == 34:
                self._in_string = not self._in_string
            elif token in b"{[":
                self._depth += 1
                if self._depth == 1:
                    start = at
            elif self._depth == 1:  # a comma between elements, or the bracket that closes the array
                self._hold(data[start : at - 1], start)
                self._end_element(frames)
                start = at
                if token == 93 and self.error is None:
                    self._depth = 0
                    frames.append(Frame(FrameKind.CLOSED, b"]", offset + at - 1))
                    return frames
                if token == 125:
                    self._refuse(offset + at - 1)
            elif token != 44:
                self._depth -= 1
        if self._depth > 0 and self.error is None:
            self._hold(data[start:], start)
        return frames

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body: an element that no comma and no bracket follows may still be whole."""
        rest = b"".join(self._element).strip(BLANKS)
        if rest:
            return [Frame(FrameKind.PENDING if complete else FrameKind.PENDING_CUT, rest, self._element_offset)]
        return [] if self.started else [Frame(FrameKind.CUT, b"[", 0)]

    def _refuse(self, offset: int) -> None:
        if self.error is None:
            self.error = RemoteProtocolError("a JSON array has a brace that closes nothing", offset=offset)

    def _hold(self, piece: bytes, start: int) -> None:
        if not self._element:
            stripped = piece.lstrip(BLANKS)
            self._element_offset = self._position + start + len(piece) - len(stripped)
            piece = stripped
        if piece:
            self._element.append(piece)
            self._size += len(piece)
            if self._limit is not None and self._size > self._limit:
                self.error = LimitExceeded("max_event_bytes", self._limit, offset=self._element_offset)

    def _end_element(self, frames: list[Frame]) -> None:
        element = b"".join(self._element).rstrip(BLANKS)
        self._element.clear()
        self._size = 0
        if element and self.error is None:
            self.started = True
            frames.append(Frame(FrameKind.PAYLOAD, element, self._element_offset))
