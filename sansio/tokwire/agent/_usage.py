"""Token counts of several responses, added up."""

from __future__ import annotations

from msgspec.structs import replace

from .._events import Usage

__all__: list[str] = []

COUNTS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def sum_of_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """The sum of two counts. A count that one side does not have is that of the other; `raw` is that of the second."""
    if first is None or second is None:
        return second or first
    counts = {name: _added(getattr(first, name), getattr(second, name)) for name in COUNTS}
    return replace(second, **counts)


def _added(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else first + second
