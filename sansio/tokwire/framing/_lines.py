"""Lines: bytes in, whole lines out.

A line ends with LF, CRLF or CR. A CR ends its line at once and one LF after it is skipped, also when it comes with
the next read, so no line waits for a byte that it does not need. Each byte is searched once and joined once.
"""

from __future__ import annotations

import re

from .._errors import LimitExceeded

__all__: list[str] = []

_LINE_ENDS = re.compile(rb"(\r\n|\r|\n)")

Line = tuple[int, bytes]
"""Offset of the first byte in the body, and the line without its end."""


class LineSplitter:
    """Cuts a body into lines.

    Attributes:
        position: Offset in the body of the next byte to be fed.
        overflow: Set once a line is longer than allowed; nothing is taken after it.
        tail_offset: Offset of the first byte of the unfinished line.
    """

    __slots__ = ("_held", "_limit", "_pieces", "_skip_line_feed", "overflow", "position", "tail_offset")

    def __init__(self, limit: int | None, position: int = 0) -> None:
        self.position = position
        self.tail_offset = position
        self.overflow: LimitExceeded | None = None
        self._limit = limit
        self._pieces: list[bytes] = []
        self._held = 0
        self._skip_line_feed = False

    @property
    def is_between_lines(self) -> bool:
        """True where the next byte begins a line, and a line feed would be one."""
        return not self._pieces and not self._skip_line_feed

    @property
    def held(self) -> int:
        """Bytes of the unfinished line."""
        return self._held

    def feed(self, data: bytes) -> list[Line]:
        """The lines that `data` completes. Where `overflow` is set afterwards, the next line is too long."""
        if self.overflow is not None or not data:
            return []
        if self._skip_line_feed:
            self._skip_line_feed = False
            if data[0] == 10:
                data = data[1:]
                self.position += 1
                self.tail_offset = self.position
        start, self.position = self.position, self.position + len(data)
        if 10 not in data and 13 not in data:
            self._hold(start, data)
            return []
        return self._cut(start, data)

    def finish(self) -> bytes:
        """The last line, which has no end; empty where the body ended with a line end."""
        tail = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        return tail

    def _cut(self, start: int, data: bytes) -> list[Line]:
        self._skip_line_feed = data[-1] == 13
        if 13 in data:
            parts = _LINE_ENDS.split(data)
            texts, ends = parts[::2], [len(end) for end in parts[1::2]]
        else:
            texts = data.split(b"\n")
            ends = [1] * (len(texts) - 1)
        rest = texts.pop()
        offset = start
        if self._pieces:
            self._pieces.append(texts[0])
            offset = self.tail_offset
            texts[0] = self.finish()
        lines: list[Line] = []
        for text, end in zip(texts, ends, strict=True):
            if self._is_too_long(offset, len(text)):
                return lines
            lines.append((offset, text))
            offset += len(text) + end
        self.tail_offset = offset
        self._hold(offset, rest)
        return lines

    def _hold(self, offset: int, piece: bytes) -> None:
        if piece:
            if not self._pieces:
                self.tail_offset = offset
            self._pieces.append(piece)
            self._held += len(piece)
            self._is_too_long(self.tail_offset, self._held)

    def _is_too_long(self, offset: int, size: int) -> bool:
        if self._limit is None or size <= self._limit:
            return False
        self.overflow = LimitExceeded("max_line_bytes", self._limit, offset=offset)
        self._pieces.clear()
        self._held = 0
        return True
