"""Tolerant readers of JSON values, for every protocol: what has the wrong type is as if it were not there."""

from __future__ import annotations

from typing import Any

from .._json import mend_surrogates

__all__: list[str] = []


def as_dict(value: object) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value where it is an array, a list of it where it is an object, else nothing."""
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else []


def as_text(value: object) -> str:
    """The value where it is text, else empty text."""
    return value if isinstance(value, str) else ""


def as_word(value: object) -> str | None:
    """Text that is not empty, as a name, a type or another word; else None."""
    return mend_surrogates(value) if isinstance(value, str) and value else None


def as_id(value: object) -> str | None:
    """The id of a tool call: text, or a number as text; empty text and the text `null` are none."""
    if type(value) in (int, float):
        return str(value)
    word = as_word(value)
    return None if word == "null" else word


def as_index(value: object) -> int | None:
    """An index: a whole number, also as text or with a zero fraction; anything else is none."""
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit() and len(value) < 20:
        return int(value)
    return None
