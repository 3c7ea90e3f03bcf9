"""What the arguments of a tool call mean: one rule for every protocol.

A tool runs with what this module returns, so it guesses only where there is a single reading: blank text is an empty
object, an object that was encoded twice is decoded twice, and arguments that a server sent again whole replace the
fragments before them. Everything else is an error that names the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ._finish import FinishReason
from ._json import JSON_BLANKS, JSONError, canonical, encodable, is_finite, parse_arguments, value_text

__all__: list[str] = []

NO_ARGUMENTS = ("", "null")

Repair = Callable[[str], Any]


def argument_text(arguments: object) -> str:
    """Arguments as text: as they came, or as the JSON of a value that came in place of text; else nothing."""
    text = value_text(arguments) if isinstance(arguments, dict | list) else arguments
    return text if isinstance(text, str) else ""


def is_bare(text: str) -> bool:
    """Whether the text says that there are no arguments: it is blank, or the JSON text `null`."""
    return text.strip(JSON_BLANKS) in NO_ARGUMENTS


def read_text(text: str, max_depth: int | None) -> Any:
    """The value of argument text.

    Raises:
        JSONError: The text is not JSON.
    """
    if is_bare(text):
        return {}
    value = parse_arguments(text, max_depth)
    if isinstance(value, str):
        try:
            inner = parse_arguments(value, max_depth)
        except JSONError:
            return value
        return inner if isinstance(inner, dict) else value
    return value


def read_fragments(
    fragments: Sequence[str], reason: FinishReason | None, max_depth: int | None, repair: Repair | None
) -> Any:
    """The value of arguments that came in fragments; `reason` is what the server reported, or None.

    Raises:
        JSONError: There is no value that the server can have meant.
    """
    text = "".join(fragments)
    try:
        return read_text(text, max_depth)
    except JSONError as error:
        if reason is not None and not reason.is_truncated and _was_sent_again(fragments):
            again = _object_of(fragments[-1], max_depth)
            if again is not None:
                return again
        repaired = _repaired(text, repair)
        if repaired is None:
            raise JSONError(str(error)) from None
        return repaired


def _object_of(text: str, max_depth: int | None) -> dict[str, Any] | None:
    if is_bare(text):
        return None
    try:
        value = read_text(text, max_depth)
    except JSONError:
        return None
    return value if isinstance(value, dict) else None


def _was_sent_again(fragments: Sequence[str]) -> bool:
    """Whether the last fragment may be the whole arguments: it begins with all that came before it.

    Some servers flush the complete text at the end, others send the text so far each time.
    """
    if len(fragments) < 2:
        return False
    last = fragments[-1]
    size_before = sum(map(len, fragments)) - len(last)
    if size_before <= len(last) and last.startswith("".join(fragments[:-1])):
        return True
    return all(after.startswith(before) for before, after in pairwise(fragments))


def _repaired(text: str, repair: Repair | None) -> dict[str, Any] | None:
    if repair is None:
        return None
    try:
        value = encodable(repair(text))
        is_json_value = is_finite(value) and bool(canonical(value))
    except Exception:  # noqa: BLE001 - whatever it raises, or gives that is not JSON, means that it could not repair
        return None
    return value if is_json_value and isinstance(value, dict) else None
