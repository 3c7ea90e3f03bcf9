"""What the next event of a stream probably is: how it begins, and the shape of its payload."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .._json import refuse
from ._envelope import NO_ENVELOPE, NOT_YET
from ._quick_frames import BLANK_LINE

__all__: list[str] = []

TEXT, REASONING, TOOL_CALL = 1, 2, 3

SPELLINGS = (b"event: ", b"data: ", b"event:", b"data:")
"""How events begin. Servers write their names or leave them out, and the blank behind a colon may be missing."""

NEVER = b"\0"


class Lead(Struct, frozen=True, eq=False, gc=False):
    """What stands before the payload of an event.

    Attributes:
        common: What every event of the stream begins with.
        own: The rest, which depends on the name of the event.
        whole: Both.
        separator: What stands between two events of the stream.
    """

    common: bytes
    own: bytes
    whole: bytes
    separator: bytes


def leads_of(name: str | None) -> tuple[Lead, ...]:
    """What stands before the payload of events of one name, or of none, in each of the spellings."""
    leads = []
    for common in SPELLINGS:
        own = b""
        if common.startswith(b"event"):
            own = NEVER if name is None else common.replace(b"event", b"%b\ndata" % name.encode())
        leads.append(Lead(common, own, common + own, BLANK_LINE + common))
    return tuple(leads)


def no_index(message: Any) -> int:
    """The index of the tool call, for shapes that are none."""
    return 0


class Shape(Struct, frozen=True, eq=False, gc=False):
    """What an event holds.

    Attributes:
        leads: What stands before its payload, in each of the spellings.
        kind: `TEXT`, `REASONING` or `TOOL_CALL`: what its text is.
        decode: The typed decoder of such payloads. It raises one of `FAILURES` for any other.
        text_of: The text of what it decoded, or None where there is none.
        index_of: The index of the tool call that the text belongs to.
    """

    leads: tuple[Lead, ...]
    kind: int
    decode: Callable[[bytes], Any]
    text_of: Callable[[Any], str | None]
    index_of: Callable[[Any], int] = no_index


NO_SHAPE = Shape(leads_of(NEVER.decode()), TEXT, refuse, lambda message: None)


class Expectation:
    """What is expected of the next event of a stream.

    Attributes:
        shape: What it probably holds.
        lead: What stands before the payload of such an event.
        envelope: The bytes around its text, where they are known.
        spelling: How the events of the stream begin, as a place in `SPELLINGS`.
    """

    __slots__ = ("envelope", "lead", "shape", "spelling")

    def __init__(self) -> None:
        self.spelling = 0
        self.shape = NO_SHAPE
        self.lead = NO_SHAPE.leads[0]
        self.envelope = NO_ENVELOPE

    def expect(self, shape: Shape) -> None:
        """Note what the next event probably holds. The envelope of another shape is forgotten."""
        if shape is not self.shape:
            self.shape = shape
            self.lead = shape.leads[self.spelling]
            self.envelope = NO_ENVELOPE if shape is NO_SHAPE else NOT_YET

    def respell(self, events: bytes) -> None:
        """Note how the events of the stream begin, from the first or, behind a comment, the second of some."""
        second = events.partition(BLANK_LINE)[2]
        for begin in (events, second):
            for number, common in enumerate(SPELLINGS):
                if begin.startswith(common):
                    self.spelling = number
                    self.lead = self.shape.leads[number]
                    return
