"""What bodies of lines share: they are cut alike, and their first bytes may tell that they are none."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .._errors import LimitExceeded, RemoteProtocolError
from .._limits import Limits
from ._foreign import BodyStart
from ._frames import Frame, FrameKind
from ._json_gathering import JSONGathering
from ._lines import LineSplitter

__all__: list[str] = []

BLANKS = b" \t"
END_MARK = b"[DONE]"
SHOWN = 64


class LineBody(ABC):
    """A framing of lines.

    Attributes:
        error: Set once the body breaks the framing or a limit.
        started: Whether anything of this framing was found.
    """

    __slots__ = ("_json", "_lines", "_start", "_stray", "error", "started")

    def __init__(self, limits: Limits) -> None:
        self.error: RemoteProtocolError | None = None
        self.started = False
        self._lines = LineSplitter(limits.max_line_bytes)
        self._json = JSONGathering(limits.max_event_bytes)
        self._stray: Frame | None = None
        self._start = BodyStart(limits.max_line_bytes)

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """True between two frames, with nothing held."""

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
            self._finish(offset, tail, frames, complete=complete)
        except LimitExceeded as error:
            self.error = error
            return frames
        if complete and not self.started and not frames and self._stray is not None:
            frames.append(self._stray)
        return frames

    @abstractmethod
    def _take_line(self, offset: int, line: bytes, frames: list[Frame]) -> None:
        """Read one line."""

    @abstractmethod
    def _finish(self, offset: int, tail: bytes, frames: list[Frame], *, complete: bool) -> None:
        """Read the last line, which has no end, and give what was held."""

    def _cut_json(self, frames: list[Frame]) -> None:
        if self._json.is_open:
            frames.append(Frame(FrameKind.CUT, self._json.text[:SHOWN], self._json.offset))
