"""Whole events, and unfinished ones, as bytes: how they are told, and a block of them while it is decoded."""

from __future__ import annotations

from collections.abc import Iterator

__all__: list[str] = []

END = b"\n\n"
"""What ends an event of a stream that uses line feeds."""

ORDINARY_STARTS = b"de"
ORDINARY_LINES = (b"data: {", b"event: ")
"""How the first line of an unfinished event may begin; one that begins otherwise goes to the exact machine at once."""


def is_one_event(data: bytes) -> bool:
    """Whether `data` ends with its first blank line. Goes from line to line: a search for two bytes costs far more."""
    last = len(data) - len(END)
    if data[last:] != END:
        return False
    end = data.find(b"\n")
    while end < last and data[end + 1] != 10:
        end = data.find(b"\n", end + 1)
    return end == last


def begins_an_event(pieces: list[bytes], lines: int) -> bool:
    """Whether these pieces, none of them empty, with so many line ends in them begin an event as most are written."""
    if not lines:
        return pieces[0][0] in ORDINARY_STARTS
    size = len(ORDINARY_LINES[0])
    return lines == 1 and b"".join(pieces[:size])[:size] in ORDINARY_LINES


class CutBlock:
    """The pieces of one block.

    Args:
        events: The pieces, one for each event, without what leads each one.
        lead: The bytes before each piece.
        offset: Offset in the body of the first event.
        end: The bytes behind each piece.

    Attributes:
        end: The bytes behind each piece.
        lead: The bytes before each piece.
        pieces: Iterator over the pieces that are left. Whoever decodes takes from it, so that nothing is lost when he
            stops.
    """

    __slots__ = ("_counted", "_events", "_offset", "end", "lead", "pieces")

    def __init__(self, events: list[bytes], lead: bytes, offset: int, end: bytes = END) -> None:
        self.lead = lead
        self.end = end
        self.pieces: Iterator[bytes] = iter(events)
        self._events = events
        self._counted = 0
        self._offset = offset

    def offset(self) -> int:
        """Offset in the body of the event that `pieces` gave last. Counted on, so that asking again costs little."""
        index = len(self._events) - self.pieces.__length_hint__() - 1  # type: ignore[attr-defined]  # a list iterator
        between = len(self.lead) + len(self.end)
        while self._counted < index:
            self._offset += len(self._events[self._counted]) + between
            self._counted += 1
        return self._offset

    def rest(self) -> bytes:
        """The events that are left, as they stood in the block."""
        return b"".join(self.lead + piece + self.end for piece in self.pieces)


NO_BLOCK = CutBlock([], b"", 0)
