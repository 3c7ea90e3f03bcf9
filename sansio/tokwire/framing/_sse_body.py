"""The event streams that language-model servers really send: the standard's rules, and what is beside them.

Beside events there are end marks and errors without `data:`, JSON without any framing, whole JSON answers, pages of
proxies and compressed bytes. This module finds them and says which is which; what they mean is the decoder's.
"""

from __future__ import annotations

import re

from .._limits import Limits, comparable
from ._frames import PAYLOAD, Frame, FrameKind
from ._line_body import BLANKS, END_MARK, SHOWN, LineBody
from .sse import BYTE_ORDER_MARK, FIELDS, EventFields, split_field

__all__: list[str] = []

PLAIN_TEXT = "plain text"
NAME, OBJECT, OBJECT_END = b"event: ", b"data: {", b"}\n\n"
_JSON_START = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[{"\]\-0-9tfn]|$)')


class SSEBody(LineBody):
    """The framing of every protocol over server-sent events."""

    __slots__ = ("_body", "_fields", "_plain_bytes")

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._plain_bytes = min(comparable(limits.max_line_bytes), comparable(limits.max_event_bytes))
        self._fields = EventFields(limits.max_event_bytes)
        self._body: Frame | None = None

    @property
    def is_idle(self) -> bool:
        """True between two events, with nothing held."""
        return (
            self._lines.is_between_lines
            and self._fields.offset is None
            and self._body is None
            and not self._json.is_open
        )

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their event."""
        return self._lines.held + self._fields.size + self._json.size + len(self._body.data if self._body else b"")

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""
        frame = self._plain_event(data, offset) if data[-3:] == OBJECT_END and self.is_idle else None
        if frame is None:
            return super().feed(data, offset)
        self.started = True
        return [frame]

    def _plain_event(self, data: bytes, offset: int) -> Frame | None:
        """The frame of one event that is written as most are, found without a look at each line; None for any other."""
        name, start = None, len(OBJECT)
        if data.startswith(NAME):
            end = data.index(b"\n")
            name, start = data[len(NAME) : end].decode("utf-8", "replace") or None, end + 1 + len(OBJECT)
        is_plain = data.startswith(OBJECT, start - len(OBJECT)) and data.find(b"\n", start) == len(data) - 2
        if not is_plain or 13 in data or len(data) > self._plain_bytes or self._start.looks is not None:
            return None
        return Frame(PAYLOAD, data[start - 1 : -2], offset, name)

    def _finish(self, offset: int, tail: bytes, frames: list[Frame], *, complete: bool) -> None:
        is_field = split_field(tail)[0] in FIELDS
        if tail and (complete or self._json.is_open or self._may_be_body(tail)):
            self._take_line(offset, tail, frames)
            tail = tail if self._is_stray(tail) else b""
        self._dispatch(frames, FrameKind.PENDING if complete else FrameKind.PENDING_CUT)
        self._cut_json(frames)
        self._release_body(frames)
        if tail and self.started:
            kind = FrameKind.UNFINISHED if is_field and not complete else FrameKind.CUT
            frames.append(Frame(kind, split_field(tail)[1] if is_field else tail[:SHOWN], offset))

    def _take_line(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        if offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        name, value = split_field(line)
        if self._json.is_open and name not in FIELDS:
            self._continue_json(line, frames)
            return
        self._json.drop()
        if not line:
            self._dispatch(frames, PAYLOAD)
        elif name in FIELDS:
            self.started = True
            self._release_body(frames)
            if name == b"data" and value.strip(BLANKS) == END_MARK and self._may_end():
                self._dispatch(frames, PAYLOAD)
                frames.append(Frame(FrameKind.END_MARK, value, offset))
            else:
                self._fields.add(name, value, offset)
        elif name == b"error" and b":" in line:
            self.started = True
            self._dispatch(frames, PAYLOAD)
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
            and not self._json.is_open
        )

    def _take_stray(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        text = line.strip(BLANKS)
        if text == END_MARK:
            self._dispatch(frames, PAYLOAD)
            self._release_body(frames)
            self.started = True
            frames.append(Frame(FrameKind.END_MARK, END_MARK, offset))
        elif _JSON_START.match(text):
            self._dispatch(frames, PAYLOAD)
            self._json.begin(offset, len(self._body.data) if self._body else 0)
            self._continue_json(line, frames)
        elif text and not self.started and self._stray is None:
            looks = "an HTML or XML page" if text[:1] == b"<" else PLAIN_TEXT
            self._stray = Frame(FrameKind.FOREIGN, line[:SHOWN], offset, looks)
            if looks is not PLAIN_TEXT:
                frames.append(self._stray)

    def _continue_json(self, line: bytes, frames: list[Frame]) -> None:
        text = self._json.add(line)
        if text is None:
            return
        if self.started:
            frames.append(Frame(FrameKind.LOOSE_JSON, text, self._json.offset))
        elif self._body is None:
            self._body = Frame(FrameKind.BODY, text, self._json.offset)
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
