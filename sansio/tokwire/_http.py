"""A request and the head of a response, as values. They know HTTP's rules and open no connection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

__all__ = ["HTTPRequest", "Headers", "ResponseHead"]

Headers = tuple[tuple[str, str], ...]
"""Names and values, in order. Names are compared without case."""

SHOWN_HEADERS = frozenset({"accept", "accept-encoding", "content-length", "content-type", "user-agent"})
DEFAULT_PORTS = {"http": 80, "https": 443}

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s\[\]:/?#@\\]+)(?::(?P<port>\d{1,5}))?(?P<target>[/?][^#]*)?"
)
_USERINFO = re.compile(r"https?://[^/?#]*@")


def find_header(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    """The first value of a header, by name without case; None where there is none."""
    wanted = name.lower()
    return next((value for key, value in headers if key.lower() == wanted), None)


class HTTPRequest(Struct, frozen=True, repr_omit_defaults=True):
    """One HTTP request, validated when it is made. Its `repr` shows neither query, body nor credentials.

    Attributes:
        method: For example `POST`.
        url: Absolute http or https URL, printable ASCII, without user and password.
        headers: Names and values.
        body: The body. It is never copied.

    Raises:
        ValueError: A part breaks HTTP's rules; the message names the part, never a value of a header.
        TypeError: A part has the wrong type.
    """

    method: str
    url: str
    headers: Headers = ()
    body: bytes = b""

    def __post_init__(self) -> None:
        for name, kind in (("method", str), ("url", str), ("body", bytes)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"HTTPRequest: {name} must be {kind.__name__}")
        if not _TOKEN.fullmatch(self.method):
            raise ValueError("HTTPRequest: the method is not an HTTP token such as POST")
        split_url(self.url)
        force_setattr(self, "headers", checked_headers(self.headers, len(self.body)))

    def header(self, name: str) -> str | None:
        """The first value of a header, by name without case; None where there is none."""
        return find_header(self.headers, name)

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return split_url(self.url)[0]

    @property
    def host(self) -> str:
        """The host, without brackets around an IPv6 address."""
        return split_url(self.url)[1]

    @property
    def port(self) -> int:
        """The port, by default that of the scheme."""
        return split_url(self.url)[2]

    @property
    def target(self) -> str:
        """Path and query, as they stand in the request line."""
        return split_url(self.url)[3]

    def __repr__(self) -> str:
        url = self.url.partition("?")[0] + ("?..." if "?" in self.url else "")
        shown = ", ".join(
            f"{name}: {value}" if name.lower() in SHOWN_HEADERS else f"{name}: ..." for name, value in self.headers
        )
        return f"<HTTPRequest {self.method} {url} [{shown}] {len(self.body)} bytes>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """What the package rich shows: no more than `repr`."""
        return [("shown", repr(self))]


class ResponseHead(Struct, frozen=True):
    """Status and headers of a response.

    Attributes:
        status: The status code.
        headers: Names and values, in order.
    """

    status: int
    headers: Headers = ()

    def header(self, name: str) -> str | None:
        """The first value of a header, by name without case; None where there is none."""
        return find_header(self.headers, name)


def split_url(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and target of a URL.

    Raises:
        ValueError: It is no http or https URL, has a user or password, or is not printable ASCII.
    """
    if not url.isascii() or not url.isprintable():
        raise ValueError("HTTPRequest: the url must be text of printable ASCII characters; percent-encode the others")
    if _USERINFO.match(url):
        raise ValueError("HTTPRequest: the url holds a user or password; send credentials in a header")
    match = _URL.fullmatch(url.partition("#")[0])
    if match is None or " " in url:
        raise ValueError("HTTPRequest: the url must begin with http:// or https:// and a host")
    scheme = match["scheme"]
    port = int(match["port"]) if match["port"] else DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:
        raise ValueError("HTTPRequest: the port of the url is out of range")
    target = match["target"] or "/"
    return scheme, match["host"].strip("[]"), port, target if target[0] == "/" else "/" + target


def checked_headers(headers: Iterable[tuple[str, str]], body_size: int) -> Headers:
    """The headers as a tuple, every name and value checked. No message repeats a value: it may be a key.

    Raises:
        ValueError: A name is no token, a value holds control characters, or the framing contradicts the body.
        TypeError: Headers are not pairs of text.
    """
    checked: list[tuple[str, str]] = []
    for header in headers:
        if [type(part) for part in header] != [str, str]:
            raise TypeError("HTTPRequest: headers must be pairs of text (name, value)")
        name, value = header
        if not _TOKEN.fullmatch(name):
            raise ValueError("HTTPRequest: the name of a header holds characters that HTTP does not allow")
        if not _is_latin1(value) or not _VALUE.fullmatch(value) or value != value.strip(" \t"):
            raise ValueError(f"HTTPRequest: the value of header {name!r} holds characters that HTTP does not allow")
        if name.lower() == "content-length" and value != str(body_size):
            raise ValueError("HTTPRequest: content-length is not the size of the body; leave it out")
        if name.lower() == "transfer-encoding":
            raise ValueError("HTTPRequest: transfer-encoding is not for the caller; leave it out")
        checked.append((name, value))
    return tuple(checked)


def _is_latin1(text: str) -> bool:
    return all(character < "\u0100" for character in text)
