"""A count on stderr while something takes long; nothing where stderr is no terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["with_progress"]

Item = TypeVar("Item")
STEPS = 200


def with_progress(items: Sequence[Item], what: str) -> Iterator[Item]:
    """The items, with a line on the terminal that says how many of them are done; the line is gone at the end."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    every = max(1, len(items) // STEPS)
    width = 0
    try:
        for done, item in enumerate(items):
            if done % every == 0:
                line = f"{done:,} of {len(items):,} {what}"
                width = max(width, len(line))
                _overwrite(line)
            yield item
    finally:
        _overwrite(" " * width)
        _overwrite("")


def _overwrite(line: str) -> None:
    sys.stderr.write(f"\r{line}")
    sys.stderr.flush()
