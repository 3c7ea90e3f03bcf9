"""The way of the bytes into a decoder: reads in, whole events out, fast where the stream is ordinary.

Two machines cut the same body. The quick one, here, splits reads that hold only line feeds at their blank lines with
`bytes` methods and keeps an unfinished event as it came. The exact one is the protocol's `Framing`; it gets whatever
is not ordinary: carriage returns, comments, bodies that are no stream, anything near a limit. Both start and stop at
the boundary between two events, so either can go on where the other stopped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from ._cut_block import END, NO_BLOCK, CutBlock, begins_an_event, is_one_event
from ._events import StreamEvent
from ._limits import Limits, comparable
from ._state import DecodeState
from .framing._envelope import MAX_EVENT_BYTES
from .framing._frames import Frame, Framing
from .framing._quick_frames import BLOCK_BYTES, first_block

__all__: list[str] = []

LINE_OVERHEAD = len(b"data: ")


class Intake(ABC):
    """Reads, the unfinished event, and the events that are cut but not decoded yet.

    Attributes:
        first: The read that waits alone, in the usual case that the last was taken before the next came.
        reads: Reads that nobody looked at yet, the next one last, so that taking it moves nothing.
        queue: Reads that came after all of these, oldest first.
        complete: Set once the end of the body was announced, until it is dealt with: whether it was a clean one.
        is_clean: True while nothing is held and nothing waits but reads, so that the next read begins an event.
        ready: False while nothing can come out and reads are welcome, so that asking costs next to nothing.
        is_over: True once the body ended or failed: reads are not welcome any more.
        position: Offset in the body of the first byte that neither machine cut yet.
        attention: True while something waits that the quick path must not overtake.
        is_unfinished: True while part of an event is held.
        pieces: Iterator over the rest of the events that the quick machine cut, or None.
        quick: The longest payload that needs no look at a limit.
        alike: The longest event that may have an envelope.
        block_offset: Offset in the body of the block that `whole_events` gave last.
        state: What is known of the stream.
    """

    __slots__ = (
        "_block",
        "_framing",
        "_make_framing",
        "_tail_lines",
        "alike",
        "attention",
        "block_offset",
        "complete",
        "first",
        "frames",
        "is_clean",
        "is_over",
        "is_unfinished",
        "pieces",
        "position",
        "queue",
        "quick",
        "reads",
        "ready",
        "state",
        "tail",
        "tail_limit",
        "tail_size",
    )

    def __init__(self, make_framing: Callable[[Limits], Framing], state: DecodeState) -> None:
        limits = state.limits
        line, event = comparable(limits.max_line_bytes), comparable(limits.max_event_bytes)
        depth = 2 * comparable(limits.max_json_depth)
        self.first: bytes | None = None
        self.reads: list[bytes] = []
        self.queue: list[bytes] = []
        self.complete: bool | None = None
        self.is_clean = True
        self.is_over = self.ready = self.attention = self.is_unfinished = False
        self.pieces: Iterator[bytes] | None = None
        self.quick = min(line - LINE_OVERHEAD, event, depth - 1)
        self.alike = min(self.quick, MAX_EVENT_BYTES)
        self.state = state
        self.frames: Iterator[Frame] | None = None
        self.position = 0
        self.tail: list[bytes] = []
        self.tail_size = 0
        self.tail_limit = min(line, event)
        self._tail_lines = 0
        self._make_framing = make_framing
        self._framing: Framing | None = None
        self._block = NO_BLOCK
        self.block_offset = 0

    @property
    def framing(self) -> Framing:
        """The exact machine, made when it is first needed."""
        if self._framing is None:
            self._framing = self._make_framing(self.state.limits)
        return self._framing

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their event."""
        return self.tail_size + (0 if self._framing is None else self._framing.held)

    @abstractmethod
    def slow_events(self) -> Iterator[StreamEvent]:
        """The events of everything that the exact machine found."""

    @abstractmethod
    def finish(self) -> None:
        """Deal with the announced end of the body."""

    def next_read(self) -> bytes | None:
        """The oldest read, or None where nothing more can come out before the next one."""
        data, self.first = self.first, None
        if data is None and (self.reads or self.refill()):
            data = self.reads.pop()
        if data is None and self.complete is not None:
            self.finish()
            data = b""
        if data is None:
            self.ready = self.is_over
        return data

    def refill(self) -> bool:
        """Move the reads that came meanwhile to where they are taken from. False where there are none."""
        self.reads += reversed(self.queue)
        self.queue.clear()
        return bool(self.reads)

    def settle(self) -> None:
        """Note whether the next read begins an event again, with nothing before it."""
        self.is_clean = not self.attention and not self.is_unfinished and self.pieces is None

    def end_pieces(self, pieces: Iterator[bytes]) -> None:
        """Forget the events that were cut, unless others took their place meanwhile."""
        if self.pieces is pieces:
            self.pieces = None

    def extend_tail(self, data: bytes) -> None:
        """Add to the unfinished line that the quick machine holds, or leave it to the exact one near a limit."""
        size = self.tail_size + len(data)
        if size <= self.tail_limit:
            self.tail_size = size
            self.tail.append(data)
        else:
            self.first = data
            self.ready = True

    def exact(self, data: bytes) -> None:
        """Give a read, and what waited before it, to the exact machine."""
        if self.tail:
            self.tail.append(data)
            data = self._take_tail()
        self._feed(data)

    def exact_event(self, event: bytes, offset: int) -> None:
        """Give one whole event that the quick machine cut out to the exact one.

        Where it opens something that goes on behind it, the exact machine gets the rest of the block too.
        """
        if self.tail:
            self.reads.append(self._take_tail())
        self._take_frames(event, offset)
        if self.is_unfinished and self.pieces is not None:
            self.pieces = None
            if rest := self._block.rest():
                self.position -= len(rest)
                self.reads.append(rest)

    def exact_piece(self, piece: bytes) -> None:
        """Give the piece that `pieces` gave last to the exact machine."""
        self.exact_event(self._block.lead + piece + self._block.end, self._block.offset())

    def piece_offset(self) -> int:
        """Where in the body the piece that `pieces` gave last is."""
        return self._block.offset()

    def whole_events(self, data: bytes) -> bytes:
        """The events that end within `data`, without the blank line behind the last, beginning with what waited.

        Empty where none ends, or where the exact machine took the data; then `attention` says whether to look there.
        """
        if not data:
            return b""
        if len(data) > BLOCK_BYTES:
            data = first_block(self, data)
        if (self.is_clean and is_one_event(data)) or 13 in data:
            self.exact(data)
            return b""
        if not self.tail and self._framing is not None and not self._framing.is_idle:
            data = self._resume(data)
            if not data:
                return b""
        end = data.rfind(b"\n\n") if 10 in data else -1
        if end < 0 and data[:1] == b"\n" and self.tail and self.tail[-1][-1] == 10:
            block, rest = self._take_tail()[:-1], data[1:]
        elif end < 0:
            self._keep(data)
            return b""
        else:
            self.tail.append(data[:end])
            block, rest = self._take_tail(), data[end + 2 :]
        self.block_offset = self.position
        self.position += len(block) + len(END)
        if rest:
            self._hold(rest)
            if not self._is_ordinary_tail():  # looked at when the block was decoded: nothing in it may overtake that
                self.reads.append(self._take_tail())
        return block

    def cut(self, events: list[bytes], lead: bytes, start: int = 0, end: bytes = END) -> None:
        """Remember events that were cut, so that nothing is lost when a caller stops in their middle.

        Args:
            events: The pieces, one for each event, without what leads each one.
            lead: The bytes before each piece.
            start: Bytes of the block before the first event.
            end: The bytes behind each piece.
        """
        self.is_clean = False
        self._block = CutBlock(events, lead, self.block_offset + start, end)
        self.pieces = self._block.pieces

    def drop_all(self) -> None:
        """Forget whatever was not decoded: the stream is over."""
        self.reads.clear()
        self.queue.clear()
        self.tail.clear()
        self.tail_size = self._tail_lines = 0
        self.is_unfinished = False
        self.is_clean = not self.attention
        self.first = self.complete = None
        self.pieces = self.frames = self._framing = None
        self._block = NO_BLOCK

    def _take_tail(self) -> bytes:
        data = b"".join(self.tail)
        self.tail.clear()
        self.tail_size = self._tail_lines = 0
        self.is_unfinished = False
        return data

    def _hold(self, data: bytes) -> None:
        """Add to the unfinished event that the quick machine holds."""
        self.tail.append(data)
        self.tail_size += len(data)
        if 10 in data:
            self._tail_lines += data.count(b"\n")
        self.is_unfinished = True
        self.is_clean = False

    def _keep(self, data: bytes) -> None:
        """Hold an unfinished event as it came, or give it to the exact machine where it is not ordinary."""
        self._hold(data)
        if not self._is_ordinary_tail():
            self._feed(self._take_tail())

    def _is_ordinary_tail(self) -> bool:
        """Whether what is held can only be an event that goes on: nothing of it may have to come out before its end."""
        return self.tail_size <= self.tail_limit and begins_an_event(self.tail, self._tail_lines)

    def _resume(self, data: bytes) -> bytes:
        """Feed the exact machine up to the end of its event. Returns what the quick machine can go on with."""
        blank_line = data.find(b"\n\n")
        ends = [1] if data[0] == 10 else []
        if blank_line >= 0:
            ends.append(blank_line + 2 - len(ends))
        for end in [*ends, len(data)]:
            head, data = data[:end], data[end:]
            self._feed(head)
            if not data or self.framing.is_idle or self.framing.error is not None:
                break
        return data

    def _feed(self, data: bytes) -> None:
        """Give the next bytes of the body to the exact machine."""
        offset = self.position
        self.position += len(data)
        self._take_frames(data, offset)

    def _take_frames(self, data: bytes, offset: int) -> None:
        framing = self.framing
        if framing.error is not None:
            return
        frames = framing.feed(data, offset)
        if frames:
            self.frames = iter(frames) if self.frames is None else iter([*self.frames, *frames])
        if frames or framing.error is not None:
            self.attention = True
        self.is_unfinished = not framing.is_idle
        if self.attention or self.is_unfinished:
            self.is_clean = False
