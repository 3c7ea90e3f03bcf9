"""Arguments of a Gemini function call that come as values with the paths where they belong.

A path is `$`, then `.name`, `[n]`, `['name']` or `["name"]` (JSONPath, RFC 9535, as far as the service uses it).
Texts under one path are pieces of one text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__: list[str] = []

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
VALUE_NAMES = ("stringValue", "numberValue", "boolValue", "nullValue")


class PathError(ValueError):
    """A path cannot be followed."""


class Text:
    """A text that comes in pieces."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: list[str] = []


class ArgumentTree:
    """The arguments of one call while they come in.

    Args:
        max_depth: The longest path that is followed.
    """

    __slots__ = ("_max_depth", "_root")

    def __init__(self, max_depth: int | None) -> None:
        self._max_depth = max_depth
        self._root: dict[str, Any] = {}

    def put(self, entry: Mapping[str, Any]) -> None:
        """Put one value where its path says.

        Raises:
            PathError: The path is none, skips places of a list, or leads through a value.
        """
        steps = parse_path(entry.get("jsonPath"))
        if self._max_depth is not None and len(steps) > self._max_depth:
            raise PathError("a jsonPath is too long")
        holder: Any = self._root
        for step, following in pairwise(steps):
            holder = _child(holder, step, [] if isinstance(following, int) else {})
        name = next((name for name in VALUE_NAMES if name in entry), None)
        if name != "stringValue":
            _put(holder, steps[-1], None if name in (None, "nullValue") else entry[name or ""])
            return
        text = _child(holder, steps[-1], Text())
        if not isinstance(text, Text):
            text = Text()
            _put(holder, steps[-1], text)
        if isinstance(entry["stringValue"], str):
            text.pieces.append(entry["stringValue"])

    def value(self) -> dict[str, Any]:
        """The arguments so far."""
        pending: list[Any] = [self._root]
        while pending:  # a list in place of recursion: depth is the peer's choice
            holder = pending.pop()
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                if isinstance(holder[key], Text):
                    holder[key] = "".join(holder[key].pieces)
                elif isinstance(holder[key], dict | list):
                    pending.append(holder[key])
        return self._root


def parse_path(path: object) -> list[str | int]:
    """The steps of a path.

    Raises:
        PathError: It is none.
    """
    if not isinstance(path, str) or path[:1] != "$":
        raise PathError("a jsonPath does not begin with $")
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise PathError("a jsonPath cannot be read")
        if match[2] is not None:
            steps.append(int(match[2]))
        else:
            steps.append(match[1] if match[1] is not None else _ESCAPE.sub(r"\1", match[3] or match[4] or ""))
        at = match.end()
    if not steps or isinstance(steps[0], int):
        raise PathError("a jsonPath names no argument")
    return steps


def _child(holder: Any, step: str | int, default: Any) -> Any:
    """What is at a step, put there if nothing is."""
    if isinstance(step, str):
        if not isinstance(holder, dict):
            raise PathError("a jsonPath leads through a value")
        return holder.setdefault(step, default)
    _check_place(holder, step)
    if step == len(holder):
        holder.append(default)
    return holder[step]


def _put(holder: Any, step: str | int, value: Any) -> None:
    if isinstance(step, str):
        if not isinstance(holder, dict):
            raise PathError("a jsonPath leads through a value")
        holder[step] = value
        return
    _check_place(holder, step)
    if step == len(holder):
        holder.append(value)
    else:
        holder[step] = value


def _check_place(holder: Any, step: int) -> None:
    if not isinstance(holder, list):
        raise PathError("a jsonPath leads through a value")
    if step > len(holder):
        raise PathError("a jsonPath skips places of a list")
