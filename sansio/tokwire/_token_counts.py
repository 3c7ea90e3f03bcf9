"""Token counts of one stream, merged over all the places where servers put them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._events import Usage
from ._json import encodable

__all__: list[str] = []

CountPaths = Mapping[str, tuple[tuple[str, ...], ...]]
"""Field of `Usage` to the places in a server's usage object where it may stand, the most special first."""


MAX_NAMES = 256
"""Members of a usage object that are kept. Real ones have about ten."""


class TokenCounts:
    """Of each field the last value that was not null; nothing is added up."""

    __slots__ = ("_counts", "_raw")

    def __init__(self) -> None:
        self._raw: dict[str, Any] = {}
        self._counts: dict[str, int] = {}

    def add(self, raw: dict[str, Any], paths: CountPaths) -> None:
        """Take one usage object of the server."""
        for name, value in encodable(raw).items():
            if value is not None and (name in self._raw or len(self._raw) < MAX_NAMES):
                self._raw[name] = value
        for field, places in paths.items():
            count = next((found for place in places if (found := _at(raw, place)) is not None), None)
            if count is not None:
                self._counts[field] = count

    def event(self) -> Usage:
        """The counts so far."""
        return Usage(**self._counts, raw=dict(self._raw))


def _at(value: Any, place: tuple[str, ...]) -> int | None:
    for name in place:
        value = value.get(name) if isinstance(value, dict) else None
    return value if type(value) is int else None
