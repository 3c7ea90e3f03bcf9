"""JSON lines: one payload a line, and the bodies that come in their place.

A line that is not JSON breaks the protocol, with two exceptions that the end of the body may show: a line that begins
an object and is cut, and a first line that begins a body of pretty-printed JSON.
"""

from __future__ import annotations

from .._json import is_json
from ._frames import Frame, FrameKind
from ._line_body import BLANKS, END_MARK, SHOWN, LineBody
from .eventstream import PRELUDE_BYTES
from .sse import BYTE_ORDER_MARK, FIELDS, split_field

__all__: list[str] = []


class JSONLines(LineBody):
    """The framing of Ollama's own API."""

    __slots__ = ()

    @property
    def is_idle(self) -> bool:
        """True between two lines, with nothing held."""
        return self._lines.is_between_lines and not self._json.is_open

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their line or body."""
        return self._lines.held + self._json.size

    def _finish(self, offset: int, tail: bytes, frames: list[Frame], *, complete: bool) -> None:
        if self._json.is_open or not self.started:
            if tail:
                self._take_line(offset, tail, frames)
        elif tail.strip(BLANKS):
            frames.append(self._last_line(offset, tail, complete=complete))
        self._cut_json(frames)

    def _last_line(self, offset: int, line: bytes, *, complete: bool) -> Frame:
        if not complete:
            return Frame(FrameKind.UNFINISHED, line, offset)
        may_be_cut = line.strip(BLANKS)[:1] == b"{"
        return Frame(FrameKind.PENDING if may_be_cut else FrameKind.PAYLOAD, line, offset)

    def _take_line(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        if offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        text = line.strip(BLANKS)
        if self._json.is_open:
            self._continue_json(line, frames)
        elif not text:
            return
        elif text == END_MARK:
            frames.append(Frame(FrameKind.END_MARK, line, offset))
        elif self.started or is_json(text):
            self.started = True
            frames.append(Frame(FrameKind.PAYLOAD, line, offset))
        elif text[:1] in (b"{", b"["):
            self._json.begin(offset)
            self._continue_json(line, frames)
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

    def _continue_json(self, line: bytes, frames: list[Frame]) -> None:
        text = self._json.add(line)
        if text is not None:
            frames.append(Frame(FrameKind.BODY, text, self._json.offset))
