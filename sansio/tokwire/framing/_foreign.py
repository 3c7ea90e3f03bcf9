"""Bodies that their first bytes tell: compressed ones, and event streams of AWS where lines are expected."""

from __future__ import annotations

import zlib

__all__: list[str] = []

COMPRESSIONS = {b"\x1f\x8b": "gzip-compressed bytes", b"\x28\xb5\x2f\xfd": "zstd-compressed bytes"}
EVENT_STREAM = "an AWS event stream, as of bedrock"
PRELUDE_BYTES = 12
SMALLEST_MESSAGE = 16


def looks_of_start(start: bytes) -> str | None:
    """What a body that begins so is, where that shows; None for anything that may be lines."""
    for magic, looks in COMPRESSIONS.items():
        if start.startswith(magic):
            return looks
    if len(start) < PRELUDE_BYTES or int.from_bytes(start[:4]) < SMALLEST_MESSAGE:
        return None
    return EVENT_STREAM if zlib.crc32(start[:8]) == int.from_bytes(start[8:12]) else None


class BodyStart:
    """Watches the first bytes of a body, before any of them is taken for a line.

    Args:
        max_line_bytes: The limit for a line. Where it is so small that it may end the stream before these bytes are
            here, nothing is watched: the answer must not depend on the reads.

    Attributes:
        looks: What the body is, once that shows.
    """

    __slots__ = ("_seen", "looks")

    def __init__(self, max_line_bytes: int | None) -> None:
        self.looks: str | None = None
        self._seen: bytes | None = b"" if max_line_bytes is None or max_line_bytes >= PRELUDE_BYTES else None

    def shows(self, data: bytes, offset: int) -> bool:
        """Whether the body shows with these bytes what it is. They must be the next ones to count."""
        if self._seen is None:
            return False
        seen, self._seen = self._seen, None
        if offset != len(seen):
            return False
        start = (seen + data)[:PRELUDE_BYTES]
        if len(start) < PRELUDE_BYTES:
            self._seen = start
        self.looks = looks_of_start(start)
        return self.looks is not None
