"""Arguments of a Gemini function call that come as values with the paths where they belong.

A path is `$`, then `.name`, `[n]`, `['name']` or `["name"]` (JSONPath, RFC 9535, as far as the service uses it).
Texts under one path are pieces of one text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__: list[str] = []

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[([0-9]{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"\\(.)", re.DOTALL)
VALUE_NAMES = ("stringValue", "numberValue", "boolValue")


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
        begun: Arguments that came before, which these continue.

    Attributes:
        characters: Characters of names and texts that were put in, and one for any other value.
    """

    __slots__ = ("_max_depth", "_root", "characters")

    def __init__(self, max_depth: int | None, begun: dict[str, Any]) -> None:
        self.characters = 0
        self._max_depth = max_depth
        self._root = _copy(begun)

    def put(self, entry: Mapping[str, Any]) -> None:
        """Put one value where its path says. An entry without a value changes nothing.

        Raises:
            PathError: The path is none, skips places of a list, or leads through a value.
        """
        steps = parse_path(entry.get("jsonPath"))
        if self._max_depth is not None and len(steps) > self._max_depth:
            raise PathError("a jsonPath is too long")
        name = next((name for name in VALUE_NAMES if entry.get(name) is not None), None)
        if name is None and "nullValue" not in entry:
            return
        holder: Any = self._root
        for step, following in pairwise(steps):
            holder = self._child(holder, step, [] if isinstance(following, int) else {})
        if name != "stringValue":
            self._put(holder, steps[-1], None if name is None else entry[name])
            return
        text = self._child(holder, steps[-1], Text())
        if not isinstance(text, Text):
            text = Text()
            self._put(holder, steps[-1], text)
        if isinstance(entry["stringValue"], str):
            text.pieces.append(entry["stringValue"])
            self.characters += len(entry["stringValue"])

    def value(self) -> dict[str, Any]:
        """The arguments so far, which further values may still continue."""
        return _copy(self._root)

    def _child(self, holder: Any, step: str | int, default: Any) -> Any:
        """What is at a step, put there if nothing is."""
        _check_step(holder, step)
        is_new = step not in holder if isinstance(step, str) else step == len(holder)
        if is_new:
            self._put(holder, step, default)
        return holder[step]

    def _put(self, holder: Any, step: str | int, value: Any) -> None:
        _check_step(holder, step)
        self.characters += 1 if isinstance(step, int) or step in holder else 1 + len(step)
        if isinstance(step, int) and step == len(holder):
            holder.append(value)
        else:
            holder[step] = value


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
            steps.append(match[1] if match[1] is not None else _unquoted(match[3] or match[4] or ""))
        at = match.end()
    if not steps or isinstance(steps[0], int):
        raise PathError("a jsonPath names no argument")
    return steps


def _copy(root: dict[str, Any]) -> dict[str, Any]:
    """The same arguments in containers of their own, texts joined."""
    copy: dict[str, Any] = {}
    pending: list[tuple[Any, Any]] = [(root, copy)]
    while pending:  # a list in place of recursion: depth is the peer's choice
        source, target = pending.pop()
        for key, held in source.items() if isinstance(source, dict) else enumerate(source):
            value = held
            if isinstance(held, Text):
                value = "".join(held.pieces)
            elif isinstance(held, dict | list):
                value = type(held)()
                pending.append((held, value))
            if isinstance(target, dict):
                target[key] = value
            else:
                target.append(value)
    return copy


def _unquoted(name: str) -> str:
    """A name between quotes without its escapes, which are those of JSON and the single quote."""
    if "\\" not in name:
        return name
    plain = _ESCAPED_QUOTE.sub(lambda match: "'" if match[1] == "'" else match[0], name)
    try:
        unquoted: str = json.loads('"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\"", plain) + '"', strict=False)
    except ValueError:
        raise PathError("a jsonPath cannot be read") from None
    return unquoted


def _check_step(holder: Any, step: str | int) -> None:
    if not isinstance(holder, dict if isinstance(step, str) else list):
        raise PathError("a jsonPath leads through a value")
    if isinstance(step, int) and step > len(holder):
        raise PathError("a jsonPath skips places of a list")
