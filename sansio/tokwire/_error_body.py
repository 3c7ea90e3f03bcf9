"""`ErrorBody`: the `APIError` that status, headers and body of a response tell of."""

from __future__ import annotations

import re

from ._errors import APIError
from ._http import ResponseHead
from ._json import JSONError, parse_payload
from ._limits import Limits, comparable
from ._retry_after import retry_after
from ._server_errors import api_error

__all__: list[str] = []

MESSAGE_CHARACTERS = 1000
REQUEST_ID_HEADERS = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-goog-request-id",
    "cf-ray",
)
AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#\\]*)")


def request_id_of(head: ResponseHead) -> str | None:
    """The server's id of the request, from the header that most services have for it."""
    return next((found for name in REQUEST_ID_HEADERS if (found := head.header(name))), None)


class ErrorBody:
    """The body of a response whose status is an error, as far as it is kept.

    Args:
        head: The head of the response.
        limits: How much is kept, and how deeply it may nest to be read as JSON.
        is_readable: Whether its content coding can be undone.
    """

    def __init__(self, head: ResponseHead, limits: Limits, *, is_readable: bool) -> None:
        self._head = head
        self._limits = limits
        self._body = bytearray()
        # Where the coding cannot be undone, the body would be shown as the server's words.
        limit = limits.max_error_body_bytes if is_readable else 0
        self._limit = comparable(limit)

    def add(self, data: bytes) -> bool:
        """Keep more of the body. True once there is as much as may be kept."""
        self._body += data[: self._limit - len(self._body)]
        return len(self._body) >= self._limit

    def error(self) -> APIError:
        """The error that status, headers and body tell of."""
        head = self._head
        text = bytes(self._body).decode("utf-8", "replace").strip()
        try:
            value = parse_payload(bytes(self._body), self._limits.max_json_depth)
        except JSONError:
            value = text[:MESSAGE_CHARACTERS] or None
        if isinstance(value, list) and value:
            value = value[0]
        said = api_error(value, {})
        return APIError(
            self._redirect() or said.message,
            status_code=head.status,
            type=said.type,
            code=said.code,
            param=said.param,
            request_id=said.request_id or request_id_of(head),
            retry_after=retry_after(head),
            body=said.body,
        )

    def _redirect(self) -> str:
        location = self._head.header("location")
        if not 300 <= self._head.status < 400 or location is None:
            return ""
        match = AUTHORITY.match(location.strip())
        # Not what stands before an @: it would be a password.
        host = match[1].rpartition("@")[2] if match else ""
        where = f"the host {host[:100]!r}" if host else "another path of the same host"
        return f"the server redirects to {where}; redirects are not followed, so use that address as the base URL"
