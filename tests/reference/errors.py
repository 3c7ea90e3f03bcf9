"""P8: errors that a server sends inside the stream."""

from __future__ import annotations

import re
from typing import Final

from .outcome import StreamFailureError
from .text import encodable_value, fields, word

ANTHROPIC_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def is_error_value(value: object) -> bool:
    """Whether an `error` (or `detail`) member says something: null, false and "" do not."""
    return not (value is None or value is False or value == "")


def _status_number(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch("[0-9]{3}", value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
        return value
    return None


def _status(protocol: str, sources: list[dict[str, object]]) -> int | None:
    """The first usable number, the error itself before what stands beside it; else the type's own status."""
    for source in sources:
        for key in ("code", "status", "status_code"):
            number = _status_number(source.get(key))
            if number is not None:
                return number
    if protocol != "anthropic":
        return None
    return ANTHROPIC_STATUS.get(_type(sources) or "")


def _type(sources: list[dict[str, object]]) -> str | None:
    """The kind of error: its type (an event tag is none), else a word in its status, else its code."""
    for key in ("type", "status", "code"):
        for source in sources:
            kind = word(source.get(key))
            if kind is not None and not (key == "type" and kind == "error"):
                return kind
    return None


def api_error(protocol: str, payload: object) -> StreamFailureError:
    """The error for a payload that is known to be one: its body is the `error` member, else all of it."""
    whole = fields(payload)
    member = whole.get("error")
    nested = is_error_value(member)
    body = member if nested else payload
    sources = [fields(member), whole] if nested else [whole]
    status = _status(protocol, sources)
    return StreamFailureError("stream_error", "the server reported an error", body=encodable_value(body), status=status)


def is_error_payload(payload: dict[str, object], name: str, *, recognised: bool) -> bool:
    """Whether a payload, or the name of its event, says error."""
    if name == "error" or is_error_value(payload.get("error")):
        return True
    if payload.get("object") == "error" or payload.get("type") == "error":
        return True
    return not recognised and is_error_value(payload.get("detail"))
