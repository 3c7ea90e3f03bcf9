"""Bodies that their first bytes tell: compressed ones, and event streams of AWS where lines are expected."""

from __future__ import annotations

from ._compression import compression_of
from .eventstream import PRELUDE_BYTES, prelude_of

__all__: list[str] = []

EVENT_STREAM = "an AWS event stream, as of bedrock"


def looks_of_start(start: bytes) -> str | None:
    """What a body that begins so is, where that shows; None for anything that may be lines."""
    compression = compression_of(start)
    if compression is not None:
        return f"{compression}-compressed bytes"
    return EVENT_STREAM if prelude_of(start) is not None else None


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
