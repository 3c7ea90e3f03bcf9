"""The quick machine of protocols whose ordinary frames are read by one function: the generator behind their `events`.

Whole frames are taken off the reads and given to the reader that the protocol chose for the next one: `hot_decode` of
the state. It makes the event of an ordinary frame, or None where there is nothing to show, and raises one of `FAILURES`
for any other. Such a frame, and whatever is not cut as usual, goes to the exact machine. Both start and stop between
two frames, so either can go on where the other stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .._json import FAILURES

if TYPE_CHECKING:
    from .._events import StreamEvent
    from .._intake import Intake

    Cut = Callable[[Intake, bytes], None]
    Read = Callable[[bytes], StreamEvent | None]
    Events = Callable[[Intake], Iterator[StreamEvent]]

__all__: list[str] = []

QUICK_FAILURES = (*FAILURES, KeyError)
"""What reading an ordinary payload can raise: it does not fit, or names a tool call that is not open."""

BLOCK_BYTES = 32 << 10
"""Longer reads are cut in parts of this size, so that the frames of a whole body never stand in memory at once."""

BLANK_LINE = b"\n\n"


def quick_events(cut: Cut, end: bytes, *, reads_deep: bool = False) -> Events:  # noqa: C901, PLR0915 - as within
    """The generator behind `events` of one protocol.

    Args:
        cut: Deals with a read that is not one ordinary frame. It gives the frames that end in the read to
            `Intake.cut`; the rest waits, here or in the exact machine.
        end: The bytes that end each frame; empty where a frame tells its own length.
        reads_deep: Whether its readers look at `Limits.max_json_depth` themselves, so that they get long frames too.
    """
    more = len(end)

    def events(intake: Intake) -> Iterator[StreamEvent]:  # noqa: C901, PLR0912, PLR0915 - flat for speed
        """Everything that is ready."""
        state, limit = intake.state, intake.tail_limit if reads_deep else intake.quick
        read = state.hot_decode
        while True:
            if intake.is_clean:
                data = intake.first
                if data is not None:
                    intake.first = None
                    intake.ready = False
                elif intake.reads:
                    data = intake.reads.pop()
                elif intake.queue:
                    intake.refill()
                    continue
                elif intake.complete is None:
                    intake.ready = intake.is_over
                    return
                else:
                    intake.finish()
                    continue
                size = len(data)
                frame = data.removesuffix(end)
                if size <= limit and (frame is not data or not more):
                    try:
                        event = read(frame)
                    except FAILURES:
                        if more and end not in frame:
                            intake.ready = True
                            intake.exact_event(data, intake.position)
                            intake.position += size
                            continue
                    else:
                        intake.position += size
                        if event is not None:
                            yield event
                        if intake.ready:
                            continue
                        return
                intake.ready = True
                cut(intake, data)
                intake.settle()
                continue
            if intake.attention:
                yield from intake.slow_events()
            read = state.hot_decode
            pieces = intake.pieces
            if pieces is not None:
                frame_limit = limit - more
                for frame in pieces:
                    try:
                        if len(frame) > frame_limit:
                            raise ValueError
                        event = read(frame)
                    except FAILURES:
                        intake.exact_piece(frame)
                        yield from intake.slow_events()
                        if intake.pieces is not pieces:
                            break
                        read = state.hot_decode
                    else:
                        if event is not None:
                            yield event
                intake.end_pieces(pieces)
            elif intake.is_unfinished:
                data = intake.next_read()
                if data is None:
                    return
                if data:
                    cut(intake, data)
            intake.settle()

    return events


def without_event(read: Read) -> Read:
    """The same reader for what the caller did not ask for: it only finds out whether a frame is ordinary."""

    def silent(frame: bytes) -> None:
        read(frame)

    return silent


def cut_lines(start: bytes, end: bytes) -> Cut:
    """Cuts reads into frames of one line each.

    Args:
        start: The first byte of such a line. An unfinished one that begins otherwise goes to the exact machine at once.
        end: What ends a line, and a blank one where it has to follow.
    """

    def cut(intake: Intake, data: bytes) -> None:
        data = first_block(intake, data)
        if not intake.framing.is_idle:
            head, found, rest = data.partition(end)
            intake.exact(head + found)
            if rest:
                intake.reads.append(rest)
            return
        intake.tail.append(data)
        intake.tail_size += len(data)
        if 10 in data:
            block, found, rest = b"".join(intake.tail).rpartition(end)
            intake.tail.clear()
            intake.tail_size = 0
            intake.is_unfinished = False
            if not found:
                intake.exact(rest)
                return
            cut_block(intake, block.split(end), len(block) + len(end), end)
            if rest[:1] == start and 10 not in rest and 13 not in rest and len(rest) <= intake.tail_limit:
                intake.tail.append(rest)
                intake.tail_size = len(rest)
                intake.is_unfinished = True
            elif rest:  # looked at when the frames before it were read
                intake.reads.append(rest)
        elif 13 in data or intake.tail_size > intake.tail_limit or not intake.tail[0].startswith(start):
            intake.exact(b"")
        else:
            intake.is_unfinished = True

    return cut


def cut_block(intake: Intake, frames: list[bytes], size: int, end: bytes) -> None:
    """Give the frames of so many bytes to be decoded, the next ones of the body."""
    intake.block_offset = intake.position
    intake.position += size
    intake.cut(frames, b"", end=end)


def first_block(intake: Intake, data: bytes) -> bytes:
    """The first part of a long read; the others are put back."""
    if len(data) > BLOCK_BYTES:
        starts = range((len(data) - 1) // BLOCK_BYTES * BLOCK_BYTES, 0, -BLOCK_BYTES)
        intake.reads += [data[start : start + BLOCK_BYTES] for start in starts]
        data = data[:BLOCK_BYTES]
    return data
