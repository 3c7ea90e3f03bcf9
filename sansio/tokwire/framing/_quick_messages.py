"""Messages of AWS event streams for the quick machine: how a read is cut into them, and how an ordinary one is opened.

A stream has few lengths of messages, and its headers are the same again and again. So what the first bytes of a message
say is worked out once and looked up after that.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ._eventstream_body import EventStreamBody
from ._quick_frames import cut_block, first_block
from .eventstream import PRELUDE_BYTES, prelude_of

if TYPE_CHECKING:
    from .._intake import Intake

__all__: list[str] = []

SMALL_MESSAGE = 4096
"""Longer ones, while they are unfinished, stay with the exact machine, so that no byte of them is copied again."""


@lru_cache(maxsize=1024)
def _size_of(prelude: bytes) -> int:
    """The length of the message that begins so; 0 where none does, or where that does not show yet."""
    found = prelude_of(prelude)
    return 0 if found is None else found[0]


def cut_messages(intake: Intake, data: bytes) -> None:
    """Cut a read into messages. The unfinished one is held by the exact machine, until more of it is here."""
    data = first_block(intake, data)
    body = intake.framing
    assert isinstance(body, EventStreamBody)
    if 0 < body.held <= SMALL_MESSAGE:
        intake.position -= body.held
        data = body.take_back() + data
    messages: list[bytes] = []
    at, size = 0, _size_of(data[:PRELUDE_BYTES]) if body.is_idle else 0
    while 0 < size <= len(data) - at:
        messages.append(data[at : at + size])
        at += size
        size = _size_of(data[at : at + PRELUDE_BYTES])
    if not messages:
        intake.exact(data)
        return
    intake.is_unfinished = False
    cut_block(intake, messages, at, b"")
    if at < len(data):
        intake.reads.append(data[at:])


def lead_of(headers: bytes) -> Callable[[bytes], tuple[int, int]]:
    """A function of the first bytes of a message, its prelude and headers: its length, and the checksum so far.

    It raises a `ValueError` where they begin no message with exactly these headers.
    """

    @lru_cache(maxsize=1024)
    def lead(start: bytes) -> tuple[int, int]:
        found = prelude_of(start)
        if found is None or found[1] != len(headers) or start[PRELUDE_BYTES:] != headers:
            raise ValueError
        return found[0], zlib.crc32(start)

    return lead
