"""The one home of JSON: decoders are made here, and every error that one can raise is named here.

Two readers share the rules of tolerance. `parse_payload` reads what a server sent: invalid UTF-8 becomes U+FFFD, and
numbers that Python cannot hold never fail a payload, since nobody may be reading them. `parse_arguments` reads what
a tool will run with: there the same numbers are errors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

__all__: list[str] = []

T = TypeVar("T")

JSON_BLANKS = " \t\r\n"
MAX_INTEGER_DIGITS = 4300

FAILURES = (msgspec.DecodeError, ValueError, RecursionError)
"""All that a JSON decoder of ours can raise: catch these and nothing else."""


class JSONError(ValueError):
    """The text is not JSON; the message says why."""


class NestingError(JSONError):
    """The text is nested deeper than allowed."""


def typed_decoder(kind: type[T]) -> Callable[[bytes], T]:
    """A decoder for payloads of one shape. It raises one of `FAILURES` for anything else."""
    return msgspec.json.Decoder(kind).decode


def refuse(payload: bytes) -> Any:
    """The typed decoder of a stream that is not ordinary at present: every payload takes the exact way.

    Raises:
        JSONError: Always.
    """
    raise JSONError("not an ordinary payload")


_decode = msgspec.json.Decoder().decode

# Strings are consumed whole, so that the brackets in them are not counted. Possessive, so that it stays linear.
_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|([\[{])|([\]}])', re.DOTALL)


def nesting_exceeds(text: bytes, limit: int | None) -> bool:
    """Whether brackets are nested deeper than `limit`. Counted, never left to the interpreter's stack."""
    if limit is None or len(text) < 2 * limit or text.count(b"[") + text.count(b"{") <= limit:
        return False
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[1]:
            depth += 1
            if depth > limit:
                return True
        elif match[2]:
            depth -= 1
    return False


def bracket_balance(line: bytes) -> int:
    """Opening minus closing brackets of one line of JSON, those inside strings left out."""
    return sum(1 if match[1] else -1 for match in _BRACKETS.finditer(line) if match[1] or match[2])


_SURROGATE = re.compile("[\ud800-\udfff]")
_HEX = "[0-9a-fA-F]{2}"
_ESCAPES = re.compile(rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|(u[dD][89a-fA-F]{_HEX})|.)", re.DOTALL)


def has_surrogate(text: str) -> bool:
    """Whether the text holds half of a surrogate pair and so cannot be encoded."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def mend_surrogates(text: str) -> str:
    """Join halves that stand side by side; every half that stays alone becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if has_surrogate(text) else text


def _without_lone_escapes(text: str) -> str:
    """Replace escapes of half a surrogate pair, so that whatever is parsed from the text can be encoded."""
    return _ESCAPES.sub(lambda match: "\\ufffd" if match[1] else match[0], text)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits.lstrip("-")) <= MAX_INTEGER_DIGITS else math.inf


def _exact_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise JSONError(f"a number has more than {MAX_INTEGER_DIGITS} digits")
    return int(digits)


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JSONError(f"the number {text[:20]} is out of range")
    return value


def _no_constant(name: str) -> float:
    raise JSONError(f"{name} is not JSON")


_tolerant = json.JSONDecoder(strict=False, parse_int=_integer)
_exact = json.JSONDecoder(
    strict=False, parse_int=_exact_integer, parse_float=_finite_float, parse_constant=_no_constant
)


def _load(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except JSONError:
        raise
    except json.JSONDecodeError as error:
        raise JSONError(f"{error.msg} at character {error.pos}") from None
    except ValueError as error:
        raise JSONError(str(error)) from None
    except RecursionError:
        raise NestingError("nested too deeply for the stack of this program") from None


def parse_payload(data: bytes, max_depth: int | None) -> Any:
    """Parse what a server sent. Strings may still hold half a surrogate pair, whose other half may be in the next one.

    Raises:
        NestingError: It is nested deeper than `max_depth`.
        JSONError: It is not JSON.
    """
    if nesting_exceeds(data, max_depth):
        raise NestingError(f"nested deeper than {max_depth} levels")
    try:
        return _decode(data)
    except FAILURES:
        return _load(_tolerant, data.decode("utf-8", "replace"))


def is_json(data: bytes) -> bool:
    """Whether the bytes are one JSON text."""
    try:
        parse_payload(data, None)
    except JSONError:
        return False
    return True


def parse_arguments(text: str, max_depth: int | None) -> Any:
    """Parse the arguments of a tool call. Raw control characters inside strings have one reading and are accepted.

    Raises:
        JSONError: It is not JSON, not finite, or nested deeper than `max_depth`.
    """
    data = text.encode("utf-8", "replace")
    if nesting_exceeds(data, max_depth):
        raise NestingError(f"nested deeper than {max_depth} levels")
    try:
        return _decode(data)
    except FAILURES:
        return _load(_exact, _without_lone_escapes(text))


def encodable(value: Any) -> Any:
    """The same JSON value with every lone half of a surrogate pair replaced by U+FFFD."""
    if isinstance(value, str):
        return mend_surrogates(value)
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.loads(_without_lone_escapes(json.dumps(value)))
    except (RecursionError, OverflowError, TypeError):
        return value
    return value


def canonical(value: Any) -> bytes:
    """JSON text that is equal for equal values: keys sorted, and 1, 1.0 and true told apart."""
    return msgspec.json.encode(value, order="sorted")


def value_text(value: Any) -> str:
    """JSON text without blanks of a value that a payload held; a number that JSON cannot write makes it invalid."""
    value = encodable(value)
    try:
        return msgspec.json.encode(value).decode() if is_finite(value) else json.dumps(value)
    except RecursionError:
        raise NestingError("nested too deeply for the stack of this program") from None


def is_finite(value: Any) -> bool:
    """Whether JSON can write every number in the value."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True
