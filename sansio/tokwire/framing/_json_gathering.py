"""A JSON value that takes several lines: gathered until its brackets are closed."""

from __future__ import annotations

from .._errors import LimitExceeded
from .._json import bracket_balance

__all__: list[str] = []


class JSONGathering:
    """The value that is being gathered, if one is.

    Args:
        limit: `Limits.max_event_bytes`.

    Attributes:
        is_open: Whether a value has begun and is not whole.
        offset: Where the last value began, in the body.
        size: Bytes of the unfinished value.
    """

    __slots__ = ("_beside", "_depth", "_limit", "_lines", "is_open", "offset", "size")

    def __init__(self, limit: int | None) -> None:
        self.offset = 0
        self._limit = limit
        self._beside = 0
        self.drop()

    @property
    def text(self) -> bytes:
        """What there is of the value."""
        return b"\n".join(self._lines)

    def begin(self, offset: int, beside: int = 0) -> None:
        """Begin a value; its first line comes with `add`. The bytes that are held beside it count against the limit."""
        self.drop()
        self._beside = beside
        self.is_open, self.offset = True, offset

    def drop(self) -> None:
        """Forget the unfinished value."""
        self._lines: list[bytes] = []
        self._depth = self.size = 0
        self.is_open = False

    def add(self, line: bytes) -> bytes | None:
        """Take one line. The value, where it is whole with it.

        Raises:
            LimitExceeded: It grew past `Limits.max_event_bytes`.
        """
        self._lines.append(line)
        self.size += len(line) + 1
        if self._limit is not None and self._beside + self.size - 1 > self._limit:
            raise LimitExceeded("max_event_bytes", self._limit, offset=self.offset)
        self._depth += bracket_balance(line)
        if self._depth > 0:
            return None
        text = self.text
        self.drop()
        return text
