"""Reading JSON: loosely for payloads, by the stricter rules of P4 for tool arguments."""

from __future__ import annotations

import json
import math
from typing import Final, NoReturn

from .text import encodable_value

MAX_DIGITS: Final = 4300
MAX_DEPTH: Final = 512

_NOT_A_NUMBER: Final = float("nan")


def _loose_int(digits: str) -> float | int:
    """An integer too long to be exact; if it is read as an argument it is refused there, like NaN (P4)."""
    return int(digits) if len(digits.lstrip("-")) <= MAX_DIGITS else _NOT_A_NUMBER


_LOOSE: Final = json.JSONDecoder(strict=False, parse_int=_loose_int)


def parse_payload(text: str) -> object:
    """One payload; ValueError if it is not JSON. NaN and the like never fail it (P4)."""
    try:
        value: object = _LOOSE.decode(text)
    except RecursionError as error:
        message = "nested too deeply"
        raise ValueError(message) from error
    return value


def is_json(text: str) -> bool:
    """Whether the text is one JSON value."""
    try:
        parse_payload(text)
    except ValueError:
        return False
    return True


def first_value(text: str) -> tuple[object, str] | None:
    """The JSON value at the start of the text and what follows it; None while there is no whole one."""
    start = text.lstrip(" \t\r\n")
    try:
        value, end = _LOOSE.raw_decode(start)
    except (ValueError, RecursionError):
        return None
    return value, start[end:]


def compact(value: object) -> str:
    """A JSON value as text without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def depth(text: str) -> int:
    """How deeply arrays and objects are nested; brackets inside strings do not count."""
    deepest = level = 0
    in_string = escaped = False
    for character in text:
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest


def _refuse(text: str) -> NoReturn:
    message = f"{text[:20]} is no JSON number"
    raise ValueError(message)


def _exact_int(digits: str) -> int:
    return int(digits) if len(digits.lstrip("-")) <= MAX_DIGITS else _refuse(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


_STRICT: Final = json.JSONDecoder(strict=False, parse_int=_exact_int, parse_float=_finite_float, parse_constant=_refuse)


def parse_arguments_text(text: str) -> object:
    """P4: one JSON value of tool arguments; ValueError for everything that is not valid there."""
    if depth(text) > MAX_DEPTH:
        message = f"nested deeper than {MAX_DEPTH}"
        raise ValueError(message)
    return encodable_value(_STRICT.decode(text))


def typed_equal(left: object, right: object) -> bool:
    """P1: equal as typed JSON: 1, 1.0 and true are three different values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(typed_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(typed_equal(a, b) for a, b in zip(left, right, strict=True))
    return left == right
