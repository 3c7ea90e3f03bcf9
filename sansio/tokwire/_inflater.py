"""`Inflater`: undoes the content codings gzip and deflate, in pieces of bounded size.

What comes out, and where an error stands, does not depend on how the compressed bytes were cut: zlib loses what it
inflated in the call in which it meets an error, so that call is made once more, byte by byte.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any

from ._errors import RemoteProtocolError

__all__: list[str] = []

CODINGS = ("gzip", "x-gzip", "deflate")
PIECE_BYTES = 64 << 10
"""No piece is longer: whoever decodes the pieces one by one holds no bomb."""

GZIP_WINDOW, ZLIB_WINDOW, RAW_WINDOW = 31, 15, -15
GZIP_MAGIC = b"\x1f\x8b"


class Inflater:
    """Undoes one content coding.

    Args:
        coding: One of `CODINGS`.

    Attributes:
        is_whole: Whether the compressed data came to its own end, checksum included.
    """

    def __init__(self, coding: str) -> None:
        self.is_whole = False
        self._is_gzip = coding != "deflate"
        self._inflate: Any = None
        self._waiting = b""
        self._was_full = False
        self._is_broken = False
        self._is_over = False

    @property
    def has_more(self) -> bool:
        """Whether another piece can be had from what was given."""
        if self._inflate is None:
            return len(self._waiting) >= len(GZIP_MAGIC)
        return self._is_broken or self._was_full or bool(self._waiting)

    def give(self, data: bytes) -> None:
        """Take compressed bytes. Whatever stands behind their end is dropped, as web browsers do."""
        self._waiting += data
        if self.is_whole and self._waiting:  # a gzip body may have several members, one behind the other
            is_member = self._is_gzip and GZIP_MAGIC.startswith(self._waiting[: len(GZIP_MAGIC)])
            self._is_over = self._is_over or not is_member
        if self._is_over:
            self._waiting = b""

    def more(self) -> bytes:
        """The next piece, possibly empty.

        Raises:
            RemoteProtocolError: The bytes are not compressed as the head says. What came before was handed out.
        """
        if self._is_broken:
            raise RemoteProtocolError("the body cannot be inflated: it is not what content-encoding says")
        if self._inflate is None:
            self._inflate = zlib.decompressobj(self._window_bits())
            self.is_whole = False
        spare = self._inflate.copy()
        try:
            data: bytes = self._inflate.decompress(self._waiting, PIECE_BYTES)
        except zlib.error:
            self._is_broken = True
            return _before_error(spare, self._waiting)
        self._was_full = len(data) == PIECE_BYTES
        self._waiting = self._inflate.unconsumed_tail
        if self._inflate.eof:
            rest, self._inflate = self._inflate.unused_data, None
            self.is_whole = True
            self._was_full = False
            self.give(rest)
        return data

    def _window_bits(self) -> int:
        if self._is_gzip:
            return GZIP_WINDOW
        method, check = self._waiting[0], self._waiting[1]
        is_zlib = method & 15 == 8 and (method * 256 + check) % 31 == 0
        return ZLIB_WINDOW if is_zlib else RAW_WINDOW  # many servers leave the zlib header out


def _before_error(inflate: Any, data: bytes) -> bytes:
    """What can be inflated of data in which there is an error: at most a piece, as the first attempt was bounded."""
    inflated = bytearray()
    with suppress(zlib.error):
        for place in range(len(data)):
            inflated += inflate.decompress(data[place : place + 1])
    return bytes(inflated)
