"""Mutations of AWS event streams: frames are opened, changed and closed again with checksums that fit."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz._mutate_json import changed, written
from fuzz._words import FRAME_WORDS

if TYPE_CHECKING:
    from random import Random

PRELUDE_BYTES: Final = 12
TRAILER_BYTES: Final = 4


class Message(NamedTuple):
    """One frame without its sizes and checksums."""

    headers: bytes
    payload: bytes


def opened(body: bytes) -> list[Message]:
    """The frames at the start of a body, as far as it is made of frames."""
    messages = []
    while len(body) >= PRELUDE_BYTES + TRAILER_BYTES:
        size, headers, checksum = struct.unpack_from(">III", body)
        if checksum != zlib.crc32(body[:8]) or not PRELUDE_BYTES + TRAILER_BYTES + headers <= size <= len(body):
            break
        start = PRELUDE_BYTES + headers
        messages.append(Message(body[PRELUDE_BYTES:start], body[start : size - TRAILER_BYTES]))
        body = body[size:]
    return messages


def closed(message: Message) -> bytes:
    """The bytes of a frame."""
    size = PRELUDE_BYTES + len(message.headers) + len(message.payload) + TRAILER_BYTES
    prelude = struct.pack(">II", size, len(message.headers))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + message.headers + message.payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def change_frames(body: bytes, lot: Random) -> bytes:
    """Change the payload or the headers of a frame, or move, double or drop one."""
    messages = opened(body)
    if not messages:
        return body + closed(Message(b"", b"{}"))
    place, other = lot.randrange(len(messages)), lot.randrange(len(messages))
    message = messages[place]
    match lot.randrange(6):
        case 0 | 1 | 2:
            messages[place] = message._replace(payload=changed_payload(message.payload, lot))
        case 3:
            old, new = lot.choice(FRAME_WORDS), lot.choice(FRAME_WORDS)
            messages[place] = message._replace(headers=message.headers.replace(sized(old), sized(new)))
        case 4:
            messages[place], messages[other] = messages[other], message
        case _:
            messages[place : place + 1] = [message] * lot.choice((0, 2))
    return b"".join(map(closed, messages))


def sized(word: bytes) -> bytes:
    """A text as the value of a header."""
    return struct.pack(">H", len(word)) + word


def changed_payload(payload: bytes, lot: Random) -> bytes:
    """A payload with one change in its JSON, or with other bytes where it is none."""
    try:
        value = json.loads(payload, strict=False)
    except (ValueError, RecursionError):
        return lot.choice((b"{}", b"", b"null", b"{", payload[:-1]))
    return written(changed(value, lot))
