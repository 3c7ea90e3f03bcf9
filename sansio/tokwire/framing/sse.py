"""Server-sent events: `SSEDecoder` for whoever needs the framing alone.

The rules are those of the WHATWG event-stream format (HTML standard, section 9.2.6): CR, LF and CRLF end a line, a
byte order mark at the start is skipped, a line that begins with a colon is a comment, one space after the colon goes,
data lines are joined with LF, and an event without a data line is not dispatched. One departure, forced by servers
that close right behind their last line: at a clean end of the body a pending event is dispatched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from .._errors import LimitExceeded, StreamTruncated
from .._json import is_json
from .._limits import Limits
from .._transitions import Input, Need, Phase, move
from ._decoder import FramingDecoder
from ._lines import Line, LineSplitter

__all__ = ["SSEDecoder", "ServerSentEvent"]

FIELDS = frozenset({b"data", b"event", b"id", b"retry"})
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MAX_RETRY_DIGITS = 18


class ServerSentEvent(Struct, frozen=True, gc=False):
    """One dispatched event.

    Attributes:
        event: Its type; `message` where none was named.
        data: Its data lines, joined with LF.
        id: The last event id that the stream set, also by an earlier event; empty where it set none.
        retry: Reconnection time in milliseconds that came with this event, or None.
    """

    event: str
    data: str
    id: str = ""
    retry: int | None = None


def split_field(line: bytes) -> tuple[bytes, bytes]:
    """Name and value of a field line: the first colon parts them, and one space after it goes."""
    name, _, value = line.partition(b":")
    return name, value[1:] if value[:1] == b" " else value


class EventFields:
    """The fields of the event that is being read.

    Attributes:
        data: Its data lines.
        size: Bytes of the data lines, joined.
        name: Value of the last `event` field.
        offset: Offset of its first field in the body, or None before one came.
    """

    __slots__ = ("_checked", "_is_json", "_limit", "data", "name", "offset", "size")

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.clear()

    def clear(self) -> None:
        """Begin the next event."""
        self.data: list[bytes] = []
        self.size = 0
        self.name = b""
        self._checked = 0
        self._is_json = True
        self.offset: int | None = None

    def all_json(self) -> bool:
        """Whether each data line so far is JSON by itself. No line is parsed twice for it."""
        while self._is_json and self._checked < len(self.data):
            self._is_json = is_json(self.data[self._checked])
            self._checked += 1
        return self._is_json

    def add(self, name: bytes, value: bytes, offset: int) -> None:
        """Take one field; names other than `data` and `event` only mark that the event began.

        Raises:
            LimitExceeded: The data grew past `Limits.max_event_bytes`.
        """
        if self.offset is None:
            self.offset = offset
        if name == b"data":
            self.size += len(value) + bool(self.data)
            if self._limit is not None and self.size > self._limit:
                raise LimitExceeded("max_event_bytes", self._limit, offset=self.offset)
            self.data.append(value)
        elif name == b"event":
            self.name = value


class SSEDecoder(FramingDecoder[ServerSentEvent]):
    """Bytes of an event stream in, `ServerSentEvent` out. Opens no connection and never waits.

    Feed it with `receive_data`, take what is ready from `events`, and announce the end with `receive_eof`.

    Args:
        limits: Bounds for a line and for an event.
    """

    def __init__(self, *, limits: Limits | None = None) -> None:
        super().__init__()
        limits = Limits() if limits is None else limits
        self._lines = LineSplitter(limits.max_line_bytes)
        self._fields = EventFields(limits.max_event_bytes)
        self._reads: deque[bytes] = deque()
        self._ready: Iterator[Line] = iter(())
        self._id = ""
        self._retry: int | None = None

    def next_event(self) -> ServerSentEvent | Need:
        """One event, `NEED_DATA` where more bytes are needed, or `FINISHED` after the end.

        Raises:
            LimitExceeded: A line or an event is too long. Raised again by every later call.
            StreamTruncated: The body was cut.
        """
        return self._next_frame()

    def events(self) -> Iterator[ServerSentEvent]:
        """All events that are ready, in order. Stop at any point: nothing is lost.

        Raises:
            LimitExceeded: A line or an event is too long. Raised again by every later call.
            StreamTruncated: The body was cut.
        """
        return self._frames()

    def _store(self, data: bytes) -> None:
        self._reads.append(data)

    def _next(self) -> ServerSentEvent | None:
        while True:
            for offset, line in self._ready:
                event = self._take_line(offset, line)
                if event is not None:
                    return event
            if self._lines.overflow is not None:
                raise self._lines.overflow
            if self._reads:
                self._ready = iter(self._lines.feed(self._reads.popleft()))
            elif self._phase is Phase.CLOSING:
                return self._finish()
            else:
                return None

    def _take_line(self, offset: int, line: bytes) -> ServerSentEvent | None:
        if offset == 0 and line[:3] == BYTE_ORDER_MARK:
            line = line[3:]
        if not line:
            return self._dispatch()
        name, value = split_field(line)
        if name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= MAX_RETRY_DIGITS:
            self._retry = int(value)
        elif name:
            self._fields.add(name, value, offset)
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        fields = self._fields
        event = None
        if fields.data:
            name = fields.name.decode("utf-8", "replace") or "message"
            event = ServerSentEvent(name, b"\n".join(fields.data).decode("utf-8", "replace"), self._id, self._retry)
        fields.clear()
        self._retry = None
        return event

    def _finish(self) -> ServerSentEvent | None:
        if not self._complete:
            raise StreamTruncated(
                "the event stream was cut before its end; the events so far are whole", offset=self._lines.position
            )
        tail = self._lines.finish()
        if tail:
            self._take_line(self._lines.tail_offset, tail)
        event = self._dispatch()
        if event is None:
            self._phase = move(self._phase, Input.LAST_EVENT)
        return event
