"""Errors that servers report inside a stream, in every shape that they use.

An `error` member, an event named `error`, a flat body whose `object` or `type` says error, a FastAPI `detail`: they
all become one `APIError`. What its parts are called differs too, so each part has a list of names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._errors import APIError
from ._json import encodable, value_text

__all__: list[str] = []

Statuses = Mapping[str, int]
"""A protocol's words for kinds of error, with the HTTP status that each documents."""

STATUS_NAMES = ("code", "status", "status_code", "originalStatusCode")
MESSAGE_NAMES = ("message", "Message", "originalMessage", "detail", "details", "msg", "error_message")
ERROR_STATUSES = range(400, 600)


def has_error(payload: object, name: str | None, *, is_recognised: bool) -> bool:
    """Whether a payload reports an error.

    Args:
        payload: The parsed payload.
        name: The name that the framing gives it, or None.
        is_recognised: Whether its protocol knows it otherwise; then `detail` is an ordinary member.
    """
    if name == "error":
        return True
    if not isinstance(payload, dict):
        return False
    if not is_blank(payload.get("error")):
        return True
    if payload.get("object") == "error" or payload.get("type") == "error":
        return True
    return not is_recognised and not is_blank(payload.get("detail"))


def is_blank(error: object) -> bool:
    """Whether the value of an `error` member says that there is none."""
    return error is None or error is False or error == ""


def api_error(payload: object, statuses: Statuses, *, name: str | None = None) -> APIError:
    """The error that a payload reports.

    Args:
        payload: The parsed payload, text that is not JSON, or None where there is no payload.
        statuses: The protocol's words for kinds of error.
        name: The name of an exception or error code, where the framing has one.
    """
    payload = encodable(payload)
    beside = payload if isinstance(payload, dict) else {}
    error = beside.get("error")
    body = payload if is_blank(error) else error
    places = [place for place in (body, beside) if isinstance(place, dict)]
    kind = _kind(places) or name
    code = next((place["code"] for place in places if isinstance(place.get("code"), str | int)), None)
    status = _status(places)
    if status is None:  # a code says more than a type
        status = next((statuses[word] for word in (code, kind) if isinstance(word, str) and word in statuses), None)
    return APIError(
        _message(body, places),
        status_code=status,
        type=kind,
        code=code,
        param=_word(places, "param"),
        request_id=_word(places, "request_id"),
        body=body,
    )


def _kind(places: list[dict[str, Any]]) -> str | None:
    for place in places:
        kind = place.get("type")
        if isinstance(kind, str) and kind and not _is_event_tag(kind):
            return kind
    words = (place.get("status") for place in places)
    return next((word for word in words if isinstance(word, str) and word and not word.isdigit()), None)


def _is_event_tag(kind: str) -> bool:
    """`error` and `response.failed` name the event, not what went wrong."""
    return kind == "error" or kind.startswith("response.")


def _status(places: list[dict[str, Any]]) -> int | None:
    for place in places:
        for name in STATUS_NAMES:
            value = place.get(name)
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
                value = int(value)
            if type(value) is int and value in ERROR_STATUSES:
                return value
    return None


def _message(body: object, places: list[dict[str, Any]]) -> str:
    if isinstance(body, str):
        return body
    for place in places:
        for name in MESSAGE_NAMES:
            message = place.get(name)
            if isinstance(message, str) and message:
                return message
    for place in places:
        for name in MESSAGE_NAMES:
            if isinstance(place.get(name), dict | list):
                return value_text(place[name])
    return ""


def _word(places: list[dict[str, Any]], name: str) -> str | None:
    return next((place[name] for place in places if isinstance(place.get(name), str) and place[name]), None)
