"""AWS event streams (`application/vnd.amazon.eventstream`): `EventStreamDecoder` for whoever needs the framing alone.

A message is a prelude of twelve bytes (total length, length of the headers, CRC of these), headers, a payload, and
the CRC of everything before. All numbers are big-endian, both CRCs are the ordinary CRC-32 (Smithy, "Amazon event
stream"). The prelude is checked before its length is believed, so no peer makes the decoder wait for a length that
it invented.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from msgspec import Struct

from .._errors import LimitExceeded, RemoteProtocolError, StreamTruncated
from .._limits import Limits
from .._transitions import Input, Need, Phase, move
from ._compression import compression_of
from ._decoder import FramingDecoder

__all__ = ["EventStreamDecoder", "EventStreamMessage"]

PRELUDE_BYTES = 12
SMALLEST_MESSAGE = 16
DEFAULT_LIMITS = Limits()

HeaderValue = bool | int | bytes | str

_FIXED = {2: (">b", 1), 3: (">h", 2), 4: (">i", 4), 5: (">q", 8), 8: (">q", 8)}
TRUE, FALSE, BYTES, STRING, UUID = 0, 1, 6, 7, 9
UUID_BYTES = 16


class EventStreamMessage(Struct, frozen=True):
    """One message.

    Attributes:
        headers: Name to value. Timestamps are milliseconds since 1970, UUIDs 16 bytes.
        payload: The payload, unread.
    """

    headers: dict[str, HeaderValue]
    payload: bytes


class MessageSplitter:
    """Cuts a body into messages.

    Attributes:
        offset: Offset in the body of the message that is being read.
    """

    __slots__ = ("_at", "_data", "_limit", "_needed", "_pieces", "_waiting", "offset")

    def __init__(self, limit: int | None) -> None:
        self.offset = 0
        self._limit = limit
        self._data = b""
        self._at = 0
        self._pieces: list[bytes] = []
        self._waiting = 0
        self._needed = PRELUDE_BYTES

    @property
    def held(self) -> int:
        """Bytes of the unfinished message."""
        return len(self._data) - self._at + self._waiting

    @property
    def start(self) -> bytes:
        """The first bytes of the unfinished message."""
        self._join()
        return self._data[self._at : self._at + PRELUDE_BYTES]

    def give(self, data: bytes) -> None:
        """Take more of the body."""
        if data:
            self._pieces.append(data)
            self._waiting += len(data)

    def take_back(self) -> bytes:
        """The bytes of the unfinished message, which are no longer held."""
        self._join()
        held = self._data[self._at :]
        self._data, self._at, self._needed = b"", 0, PRELUDE_BYTES
        return held

    def next(self) -> EventStreamMessage | None:
        """The next whole message, or None where more bytes are needed.

        Raises:
            LimitExceeded: The message announces more than `Limits.max_frame_bytes`.
            RemoteProtocolError: It is no message.
        """
        if self.held < self._needed:
            return None
        self._join()
        total, headers_size = read_prelude(self._data[self._at : self._at + PRELUDE_BYTES], self.offset)
        if self._limit is not None and total > self._limit:
            raise LimitExceeded("max_frame_bytes", self._limit, offset=self.offset)
        if self.held < total:
            self._needed = total
            return None
        message = read_message(self._data[self._at : self._at + total], headers_size, self.offset)
        self._at += total
        self._needed = PRELUDE_BYTES
        self.offset += total
        return message

    def _join(self) -> None:
        if self._pieces:
            self._data = b"".join([self._data[self._at :], *self._pieces])
            self._at = self._waiting = 0
            self._pieces.clear()


def read_prelude(data: bytes, offset: int) -> tuple[int, int]:
    """Length of the whole message and of its headers.

    Raises:
        RemoteProtocolError: The checksum is wrong, or the lengths cannot be.
    """
    total, headers_size, checksum = struct.unpack_from(">III", data)
    if zlib.crc32(data[:8]) != checksum:
        raise RemoteProtocolError(
            f"the bytes are {looks_like(data)}, not an event-stream message: the checksum of its prelude is wrong",
            offset=offset,
            excerpt=data[:PRELUDE_BYTES],
        )
    if total < SMALLEST_MESSAGE or headers_size > total - SMALLEST_MESSAGE:
        raise RemoteProtocolError(
            f"an event-stream message announces {total} bytes with {headers_size} bytes of headers, which cannot be",
            offset=offset,
            excerpt=data[:PRELUDE_BYTES],
        )
    return total, headers_size


def prelude_of(start: bytes) -> tuple[int, int] | None:
    """Length of the first message and of its headers; None where the bytes begin no event stream, or are too few."""
    if len(start) < PRELUDE_BYTES:
        return None
    try:
        return read_prelude(start[:PRELUDE_BYTES], 0)
    except RemoteProtocolError:
        return None


def looks_like(data: bytes) -> str:
    """What a body is that is no event stream of AWS, from its first twelve bytes."""
    start = data[:PRELUDE_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"data:", b"event:", b"id:", b"retry:", b":")):
        return "server-sent events"
    if start.startswith((b"{", b"[")):
        return "JSON"
    if start.startswith(b"<"):
        return "an HTML or XML page"
    compression = compression_of(start)
    return "damaged" if compression is None else f"{compression}-compressed"


def read_message(data: bytes, headers_size: int, offset: int) -> EventStreamMessage:
    """One whole message.

    Raises:
        RemoteProtocolError: A checksum is wrong or a header is malformed.
    """
    if zlib.crc32(data[:-4]) != int.from_bytes(data[-4:]):
        raise RemoteProtocolError(
            "the checksum of an event-stream message is wrong: its bytes were damaged on the way", offset=offset
        )
    end = PRELUDE_BYTES + headers_size
    try:
        headers = read_headers(data[PRELUDE_BYTES:end])
    except ValueError as error:
        raise RemoteProtocolError(f"an event-stream message has a bad header: {error}", offset=offset) from None
    return EventStreamMessage(headers, data[end:-4])


def read_headers(data: bytes) -> dict[str, HeaderValue]:
    """Names and values of a block of headers.

    Raises:
        ValueError: The block is malformed.
    """
    headers: dict[str, HeaderValue] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name = data[at + 1 : name_end].decode("utf-8")
        if not name or name_end >= len(data):
            raise ValueError("a name is empty or cut off")
        if name in headers:
            raise ValueError(f"the name {name[:40]!r} is there twice")
        headers[name], at = read_value(data, name_end + 1, data[name_end])
    return headers


def read_value(data: bytes, at: int, kind: int) -> tuple[HeaderValue, int]:
    """The value that begins at `at`, and where it ends. Invalid UTF-8 in a text becomes U+FFFD.

    Raises:
        ValueError: Its type is unknown, or it is cut off.
    """
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind in _FIXED:
        layout, size = _FIXED[kind]
        if at + size > len(data):
            raise ValueError("a number is cut off")
        return struct.unpack_from(layout, data, at)[0], at + size
    if kind == UUID:
        size = UUID_BYTES
    elif kind in (BYTES, STRING):
        size, at = int.from_bytes(data[at : at + 2]), at + 2
    else:
        raise ValueError(f"the type {kind} is unknown")
    value = data[at : at + size]
    if at > len(data) or len(value) < size:
        raise ValueError("a value is cut off")
    return value.decode("utf-8", "replace") if kind == STRING else value, at + size


class EventStreamDecoder(FramingDecoder[EventStreamMessage]):
    """Bytes of an AWS event stream in, `EventStreamMessage` out. Opens no connection and never waits.

    Args:
        limits: `max_frame_bytes` bounds one message; it is judged when its prelude is there.
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__()
        self._splitter = MessageSplitter(limits.max_frame_bytes)

    def next_message(self) -> EventStreamMessage | Need:
        """One message, `NEED_DATA` where more bytes are needed, or `FINISHED` after the end.

        Raises:
            RemoteProtocolError: The bytes are no event stream, are too much, or were cut. Raised again by every call.
        """
        return self._next_frame()

    def messages(self) -> Iterator[EventStreamMessage]:
        """All messages that are ready, in order. Stop at any point: nothing is lost.

        Raises:
            RemoteProtocolError: The bytes are no event stream, are too much, or were cut. Raised again by every call.
        """
        return self._frames()

    def _store(self, data: bytes) -> None:
        self._splitter.give(data)

    def _next(self) -> EventStreamMessage | None:
        message = self._splitter.next()
        if message is None and self._phase is Phase.CLOSING:
            if self._splitter.held or not self._complete:
                raise StreamTruncated("the event stream was cut inside a message", offset=self._splitter.offset)
            self._phase = move(self._phase, Input.LAST_EVENT)
        return message
