"""Messages of AWS event streams for the quick machine: how a read is cut into them, and how an ordinary one is opened.

A stream has few lengths of messages, and its headers are the same again and again. So the first bytes of a message of
some length are worked out once and compared after that. A message that does not begin so goes to the exact machine.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from ._eventstream_body import EventStreamBody
from ._quick_frames import cut_block, first_block
from .eventstream import SMALLEST_MESSAGE

if TYPE_CHECKING:
    from .._intake import Intake

__all__: list[str] = []

SMALL_MESSAGE = 4096
"""Longer ones, while they are unfinished, stay with the exact machine, so that no byte of them is copied again."""


_PRELUDE = struct.Struct(">III")
_size_at = struct.Struct(">I").unpack_from


def cut_messages(intake: Intake, data: bytes) -> None:
    """Cut a read into messages. The unfinished one is held by the exact machine, until more of it is here."""
    data = first_block(intake, data)
    body = intake.framing
    assert isinstance(body, EventStreamBody)
    if 0 < body.held <= SMALL_MESSAGE:
        intake.position -= body.held
        data = body.take_back() + data
    messages: list[bytes] = []
    at, last = 0, len(data) - SMALLEST_MESSAGE if body.is_idle else -1
    while at <= last:
        end = at + _size_at(data, at)[0]
        if not at + SMALLEST_MESSAGE <= end <= len(data):
            break
        messages.append(data[at:end])
        at = end
    if not messages:
        intake.exact(data)
        return
    intake.is_unfinished = False
    cut_block(intake, messages, at, b"")
    if at < len(data):
        intake.reads.append(data[at:])


def lead_of(headers: bytes) -> Callable[[int], tuple[bytes, int]]:
    """A function of the length of a message with exactly these headers: what stands before its payload.

    It gives these bytes and their checksum, from which that of the whole message goes on.
    """

    @lru_cache(maxsize=1024)
    def lead(size: int) -> tuple[bytes, int]:
        sizes = _PRELUDE.pack(size, len(headers), 0)[:-4]
        start = _PRELUDE.pack(size, len(headers), zlib.crc32(sizes)) + headers
        return start, zlib.crc32(start)

    return lead
