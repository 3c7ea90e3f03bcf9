"""What a framing hands to the decoder: frames, in the order of the body."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from msgspec import Struct

from .._errors import RemoteProtocolError

__all__: list[str] = []


class FrameKind(Enum):
    """What was found."""

    PAYLOAD = "a whole frame with a payload"
    PENDING = "a frame that the body ended in, all its bytes here"
    PENDING_CUT = "whole lines of a frame in which the body was cut"
    UNFINISHED = "the last line of a body that was cut in it"
    END_MARK = "a line that says that the stream is over"
    CLOSED = "the end of the framing itself"
    ERROR = "an error that came as a field of the framing"
    LOOSE_JSON = "a JSON value between frames"
    BODY = "a body that is one JSON value in place of a stream"
    FOREIGN = "a body that is no stream of this framing"
    CUT = "the begin of something that the end of the body cut off"
    END = "the end of the body"


PAYLOAD = FrameKind.PAYLOAD
"""By itself: looking up a member of an enum costs as much as reading a small payload."""


class Frame(Struct, frozen=True, gc=False):
    """One frame.

    Attributes:
        kind: What it is.
        data: Its payload; for `FOREIGN` and `CUT` the bytes that show what was found.
        offset: Offset in the body of its first byte.
        name: The name that the framing gives it, or None; for `FOREIGN` what it looks like.
        parts: The lines that `data` was joined from, where there are several.
    """

    kind: FrameKind
    data: bytes
    offset: int
    name: str | None = None
    parts: tuple[bytes, ...] = ()


class Framing(Protocol):
    """Cuts a body into frames. Made by the factory that a protocol names.

    Attributes:
        error: Set once the body breaks the framing or a limit; it comes after the frames returned with it.
    """

    @property
    def error(self) -> RemoteProtocolError | None:
        """The error of the framing, or None."""

    @property
    def is_idle(self) -> bool:
        """True between two frames, with nothing held: the next byte begins a frame."""

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their frame."""

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body; not `complete` means that the transport cut it."""
