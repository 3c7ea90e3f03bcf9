"""Small helpers about strings, numbers and surrogates that every other module uses."""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
JSON_BLANKS: Final = " \t\n\r"

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_WHOLE_NUMBER: Final = re.compile(r"(-?[0-9]{1,4300})(\.0+)?")


def is_high_surrogate(character: str) -> bool:
    """Whether this is the first half of a pair."""
    return "\ud800" <= character <= "\udbff"


def _combine(match: re.Match[str]) -> str:
    pair = match.group()
    return chr(0x10000 + ((ord(pair[0]) - 0xD800) << 10) + (ord(pair[1]) - 0xDC00))


def encodable(text: str) -> str:
    """P9: put surrogate pairs together and replace each half that stands alone."""
    return _HALF.sub(REPLACEMENT, _PAIR.sub(_combine, text))


def encodable_value(value: object) -> object:
    """P9 for every string (keys too) inside a JSON value."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable_value(item) for item in value]
    if isinstance(value, dict):
        return {encodable(key): encodable_value(item) for key, item in value.items()}
    return value


def ascii_lower(word: str) -> str:
    """I5: fold A-Z alone; other alphabets stay as they are."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in word)


def is_blank(text: str) -> bool:
    """P4: nothing but JSON white space."""
    return text.strip(JSON_BLANKS) == ""


def word(value: object) -> str | None:
    """A string that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def whole_number(value: object) -> int | None:
    """P1: an index as a number: 0, 0.0 and "0" are, booleans and everything else are not."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        match = _WHOLE_NUMBER.fullmatch(value)
        return int(match.group(1)) if match else None
    return None


def call_id(value: object) -> str | None:
    """P2: the id of a call; empty, null and the text "null" are absent, a number becomes text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return str(value)
    text = word(value)
    return None if text == "null" else text


def fields(value: object) -> dict[str, object]:
    """The members of a JSON object; no members for anything else (P14)."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The elements of a JSON array; none for anything else (P14)."""
    return value if isinstance(value, list) else []
