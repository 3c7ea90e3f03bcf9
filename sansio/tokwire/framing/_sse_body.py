"""The event streams that language-model servers really send: the standard's rules, and what is beside them.

Beside events there are end marks and errors without `data:`, JSON without any framing, whole JSON answers, pages of
proxies and compressed bytes. This module finds them and says which is which; what they mean is the decoder's.
"""

from __future__ import annotations

import re

from .._errors import LimitExceeded, RemoteProtocolError
from .._json import bracket_balance
from .._limits import Limits
from ._foreign import BodyStart
from ._frames import Frame, FrameKind
from ._lines import LineSplitter
from .sse import BYTE_ORDER_MARK, EventFields, split_field

__all__: list[str] = []

FIELDS = frozenset({b"data", b"event", b"id", b"retry"})
END_MARK = b"[DONE]"
BLANKS = b" \t"
PLAIN_TEXT = "plain text"
SHOWN = 64
_JSON_START = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]\-0-9tfn]|$)')


class SSEBody:
    """The framing of every protocol over server-sent events."""

    __slots__ = (
        "_body",
        "_depth",
        "_fields",
        "_json",
        "_json_offset",
        "_json_size",
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
        self._fields = EventFields(limits.max_event_bytes)
        self._max_event = limits.max_event_bytes
        self._stray: Frame | None = None
        self._start = BodyStart(limits.max_line_bytes)
        self._body: Frame | None = None
        self._json: list[bytes] | None = None
        self._json_offset = self._json_size = self._depth = 0

    @property
    def is_idle(self) -> bool:
        """True between two events, with nothing held."""
        return (
            self._lines.is_between_lines and self._fields.offset is None and self._body is None and self._json is None
        )

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their event."""
        return self._lines.held + self._fields.size + self._json_size + len(self._body.data if self._body else b"")

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
        is_field = split_field(tail)[0] in FIELDS
        try:
            if tail and (complete or self._json is not None or self._may_be_body(tail)):
                self._take_line(offset, tail, frames)
                tail = tail if self._is_stray(tail) else b""
        except LimitExceeded as error:
            self.error = error
            return frames
        self._dispatch(frames, FrameKind.PENDING if complete else FrameKind.PENDING_CUT)
        if self._json is not None:
            frames.append(Frame(FrameKind.CUT, b"\n".join(self._json)[:SHOWN], self._json_offset))
        self._release_body(frames)
        if tail and self.started:
            kind = FrameKind.UNFINISHED if is_field and not complete else FrameKind.CUT
            frames.append(Frame(kind, split_field(tail)[1] if is_field else tail[:SHOWN], offset))
        if complete and not self.started and not frames and self._stray is not None:
            frames.append(self._stray)
        return frames

    def _take_line(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        if offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        name, value = split_field(line)
        if self._json is not None and name not in FIELDS:
            self._continue_json(line, frames)
            return
        self._json, self._json_size = None, 0
        if not line:
            self._dispatch(frames, FrameKind.PAYLOAD)
        elif name in FIELDS:
            self.started = True
            self._release_body(frames)
            if name == b"data" and value.strip(BLANKS) == END_MARK and self._may_end():
                self._dispatch(frames, FrameKind.PAYLOAD)
                frames.append(Frame(FrameKind.END_MARK, value, offset))
            else:
                self._fields.add(name, value, offset)
        elif name == b"error" and b":" in line:
            self.started = True
            self._dispatch(frames, FrameKind.PAYLOAD)
            frames.append(Frame(FrameKind.ERROR, value, offset))
        elif name:
            self._take_stray(offset, line, frames)

    def _may_be_body(self, line: bytes) -> bool:
        """Whether a last line without an end may be, or end, a body that is no stream."""
        return not self.started and split_field(line)[0] not in FIELDS and line.strip(BLANKS) != END_MARK

    def _may_end(self) -> bool:
        """Whether an end mark in the data ends the stream at its line end: what is pending is whole without it."""
        return self._fields.name != b"error" and self._fields.all_json()

    def _is_stray(self, line: bytes) -> bool:
        """Whether a last line without an end is no field, no comment and no end mark."""
        name = split_field(line)[0]
        return (
            bool(name)
            and name not in FIELDS
            and name != b"error"
            and line.strip(BLANKS) != END_MARK
            and self._json is None
        )

    def _take_stray(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        text = line.strip(BLANKS)
        if text == END_MARK:
            self._dispatch(frames, FrameKind.PAYLOAD)
            self._release_body(frames)
            self.started = True
            frames.append(Frame(FrameKind.END_MARK, END_MARK, offset))
        elif _JSON_START.match(text):
            self._dispatch(frames, FrameKind.PAYLOAD)
            self._json, self._json_offset, self._json_size, self._depth = [], offset, 0, 0
            self._continue_json(line, frames)
        elif text and not self.started and self._stray is None:
            looks = "an HTML or XML page" if text[:1] == b"<" else PLAIN_TEXT
            self._stray = Frame(FrameKind.FOREIGN, line[:SHOWN], offset, looks)
            if looks is not PLAIN_TEXT:
                frames.append(self._stray)

    def _continue_json(self, line: bytes, frames: list[Frame]) -> None:
        assert self._json is not None
        self._json.append(line)
        self._json_size += len(line) + 1
        if self._max_event is not None and self._json_size - 1 > self._max_event:
            raise LimitExceeded("max_event_bytes", self._max_event, offset=self._json_offset)
        self._depth += bracket_balance(line)
        if self._depth > 0:
            return
        text = b"\n".join(self._json)
        self._json, self._json_size = None, 0
        if self.started:
            frames.append(Frame(FrameKind.LOOSE_JSON, text, self._json_offset))
        elif self._body is None:
            self._body = Frame(FrameKind.BODY, text, self._json_offset)
        else:
            frames.append(Frame(FrameKind.FOREIGN, self._body.data, self._body.offset, "JSON lines"))

    def _release_body(self, frames: list[Frame]) -> None:
        if self._body is not None:
            frames.append(self._body)
            self._body = None

    def _dispatch(self, frames: list[Frame], kind: FrameKind) -> None:
        fields = self._fields
        offset = fields.offset
        if offset is None:
            return
        name = fields.name.decode("utf-8", "replace") or None
        if fields.data or name == "error":
            parts = tuple(fields.data) if len(fields.data) > 1 else ()
            frames.append(Frame(kind, b"\n".join(fields.data), offset, name, parts))
        fields.clear()
