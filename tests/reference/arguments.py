"""P4: what the argument fragments of one tool call mean."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from .jsontext import compact, parse_arguments_text
from .text import encodable, is_blank


@dataclass(frozen=True)
class Arguments:
    """The outcome for one call: a value, or not valid."""

    valid: bool
    value: object = None


INVALID = Arguments(valid=False)


def fragment_text(value: object) -> str:
    """The text of one fragment; an object (or array) in place of the text is the same as its JSON text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        return compact(value)
    return ""


def says_nothing(text: str) -> bool:
    """Empty, blank or the JSON text null: a call without arguments."""
    return is_blank(text) or text.strip(" \t\r\n") == "null"


def _parse(text: str) -> Arguments:
    """One text: any JSON value; a string that holds an object is unwrapped once."""
    if says_nothing(text):
        return Arguments(valid=True, value={})
    try:
        value = parse_arguments_text(encodable(text))
    except ValueError:
        return INVALID
    if isinstance(value, str):
        try:
            inner = parse_arguments_text(value)
        except ValueError:
            return Arguments(valid=True, value=value)
        if isinstance(inner, dict):
            return Arguments(valid=True, value=inner)
    return Arguments(valid=True, value=value)


def _sent_again(fragments: list[str]) -> bool:
    """Whether the last fragment is the whole of what the fragments before it began."""
    *before, last = fragments
    joined = "".join(before)
    if last.startswith(joined):  # equal to it, or it is a proper prefix
        return True
    return all(later.startswith(earlier) for earlier, later in itertools.pairwise(fragments))


def parse_arguments(fragments: list[str], *, reason: str | None) -> Arguments:
    """The arguments of a call at the drain; `reason` is the finish reason reported by then, if any."""
    spoken = [fragment for fragment in fragments if fragment]
    whole = _parse("".join(spoken))
    if whole.valid or reason in (None, "length") or len(spoken) < 2:
        return whole
    last = _parse(spoken[-1])
    if last.valid and isinstance(last.value, dict) and not says_nothing(spoken[-1]) and _sent_again(spoken):
        return last
    return INVALID
