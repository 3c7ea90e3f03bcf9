"""JSON lines: one payload a line, and the bodies that come in their place.

A line that is not JSON breaks the protocol, with two exceptions that the end of the body may show: a line that begins
an object and is cut, and a first line that begins a body of pretty-printed JSON.
"""

from __future__ import annotations

from .._errors import LimitExceeded, RemoteProtocolError
from .._json import bracket_balance, is_json
from .._limits import Limits
from ._foreign import PRELUDE_BYTES, BodyStart
from ._frames import Frame, FrameKind
from ._lines import LineSplitter
from ._sse_body import BLANKS, END_MARK, FIELDS, SHOWN
from .sse import BYTE_ORDER_MARK, split_field

__all__: list[str] = []


class JSONLines:
    """The framing of Ollama's own API."""

    __slots__ = (
        "_body",
        "_body_offset",
        "_body_size",
        "_depth",
        "_lines",
        "_max_event",
        "_start",
        "_stray",
        "error",
        "started",
    )

    def __init__(self, limits: Limits) -> None:
        self.error: RemoteProtocolError | None = None
        self.started = False
        self._lines = LineSplitter(limits.max_line_bytes)
        self._max_event = limits.max_event_bytes
        self._start = BodyStart(limits.max_line_bytes)
        self._stray: Frame | None = None
        self._body: list[bytes] | None = None
        self._body_offset = self._body_size = self._depth = 0

    @property
    def is_idle(self) -> bool:
        """True between two lines, with nothing held."""
        return self._lines.is_between_lines and self._body is None

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their line or body."""
        return self._lines.held + self._body_size

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""
        frames: list[Frame] = []
        if self._start.looks is not None:
            return frames
        if self._start.shows(data, offset):
            return [Frame(FrameKind.FOREIGN, b"", 0, self._start.looks)]
        if self.is_idle:
            self._lines.position = self._lines.tail_offset = offset
        try:
            for start, line in self._lines.feed(data):
                self._take_line(start, line, frames)
        except LimitExceeded as error:
            self.error = error
            return frames
        self.error = self._lines.overflow
        return frames

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body; not `complete` means that the transport cut it."""
        frames: list[Frame] = []
        if self._start.looks is not None:
            return frames
        offset, tail = self._lines.tail_offset, self._lines.finish()
        try:
            if self._body is not None or not self.started:
                if tail:
                    self._take_line(offset, tail, frames)
            elif tail.strip(BLANKS):
                frames.append(self._last_line(offset, tail, complete=complete))
        except LimitExceeded as error:
            self.error = error
            return frames
        if complete and not self.started and not frames and self._stray is not None:
            frames.append(self._stray)
        if self._body is not None:
            frames.append(Frame(FrameKind.CUT, b"\n".join(self._body)[:SHOWN], self._body_offset))
        return frames

    def _last_line(self, offset: int, line: bytes, *, complete: bool) -> Frame:
        if not complete:
            return Frame(FrameKind.UNFINISHED, line, offset)
        may_be_cut = line.strip(BLANKS)[:1] == b"{"
        return Frame(FrameKind.PENDING if may_be_cut else FrameKind.PAYLOAD, line, offset)

    def _take_line(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        if offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        text = line.strip(BLANKS)
        if self._body is not None:
            self._continue_body(line, frames)
        elif not text:
            return
        elif text == END_MARK:
            frames.append(Frame(FrameKind.END_MARK, line, offset))
        elif self.started or is_json(text):
            self.started = True
            frames.append(Frame(FrameKind.PAYLOAD, line, offset))
        elif text[:1] in (b"{", b"["):
            self._body, self._body_offset, self._body_size, self._depth = [], offset, 0, 0
            self._continue_body(line, frames)
        else:
            self._take_foreign(offset, line, frames)

    def _take_foreign(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        """A first line that is no JSON: what it looks like. Of an event stream its first data line is waited for."""
        name, value = split_field(line)
        if name == b"data":
            frames.append(Frame(FrameKind.FOREIGN, value, offset, "an event stream"))
        elif line[:1] == b"<":
            frames.append(Frame(FrameKind.FOREIGN, line[:SHOWN], offset, "an HTML or XML page"))
        elif offset < PRELUDE_BYTES and line[:1] == b"\0":
            self._stray = Frame(FrameKind.FOREIGN, line[:SHOWN], offset, "binary bytes")
        elif name and name not in FIELDS:
            frames.append(Frame(FrameKind.PAYLOAD, line, offset))
        elif name and self._stray is None:
            self._stray = Frame(FrameKind.FOREIGN, line[:SHOWN], offset, "an event stream")

    def _continue_body(self, line: bytes, frames: list[Frame]) -> None:
        assert self._body is not None
        self._body.append(line)
        self._body_size += len(line) + 1
        if self._max_event is not None and self._body_size - 1 > self._max_event:
            raise LimitExceeded("max_event_bytes", self._max_event, offset=self._body_offset)
        self._depth += bracket_balance(line)
        if self._depth <= 0:
            frames.append(Frame(FrameKind.BODY, b"\n".join(self._body), self._body_offset))
            self._body, self._body_size = None, 0
