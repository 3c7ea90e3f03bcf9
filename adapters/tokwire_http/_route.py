"""Where a request goes: straight to its server, or by an HTTP proxy. Values for the socket transports.

An http request is forwarded by the proxy, an https request goes through a tunnel that the proxy opens (CONNECT,
https://www.rfc-editor.org/rfc/rfc9110#CONNECT), so that the proxy sees neither its headers nor its body.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from tokwire import HTTPRequest

__all__ = ["Proxy", "Route"]

PROXY_URL = re.compile(r"http://(?:(?P<user>[^@/?#]*)@)?(?P<place>[^@/?#]+)/?")
PROXY_HEADER = "Proxy-Authorization"


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy.

    Attributes:
        host: Its host, without brackets around an IPv6 address.
        port: Its port.
        authorization: What it wants in `Proxy-Authorization`, or None. Never in the `repr`.
    """

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)

    @classmethod
    def from_url(cls, url: str) -> Proxy:
        """Read `http://host:port` or `http://user:password@host:port`.

        Raises:
            ValueError: It is anything else. The message does not repeat it: it may hold a password.
        """
        match = PROXY_URL.fullmatch(url)
        try:
            place = HTTPRequest("CONNECT", f"http://{match['place'] if match else ''}")
        except ValueError:
            raise ValueError(
                "proxy: expected http://host:port or http://user:password@host:port; other kinds are not supported"
            ) from None
        user = match["user"] if match else None
        if user is None:
            return cls(place.host, place.port)
        return cls(place.host, place.port, "Basic " + b64encode(unquote_to_bytes(user)).decode("ascii"))

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that are for the proxy alone."""
        return () if self.authorization is None else ((PROXY_HEADER, self.authorization),)


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a server. Requests of the same route may use the same connection.

    Attributes:
        scheme: `http` or `https`.
        host: The host of the server.
        port: Its port.
        proxy: The proxy on the way, or None.
    """

    scheme: str
    host: str
    port: int
    proxy: Proxy | None = None

    @classmethod
    def of(cls, request: HTTPRequest, proxy: Proxy | None) -> Route:
        """The route of a request."""
        return cls(request.scheme, request.host, request.port, proxy)

    @property
    def is_secure(self) -> bool:
        """Whether TLS is spoken with the server."""
        return self.scheme == "https"

    @property
    def is_forwarded(self) -> bool:
        """Whether the proxy reads the request and passes it on."""
        return self.proxy is not None and not self.is_secure

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to connect to."""
        return (self.host, self.port) if self.proxy is None else (self.proxy.host, self.proxy.port)

    def tunnel(self) -> HTTPRequest | None:
        """The request that makes the proxy open a tunnel, or None where none is needed."""
        if self.proxy is None or not self.is_secure:
            return None
        host = f"[{self.host}]" if ":" in self.host else self.host
        return HTTPRequest("CONNECT", f"https://{host}:{self.port}", self.proxy.headers)

    def outgoing(self, request: HTTPRequest) -> HTTPRequest:
        """The request as it goes out: a forwarded one carries the credentials for the proxy."""
        if self.proxy is None or not self.is_forwarded or not self.proxy.headers:
            return request
        return HTTPRequest(request.method, request.url, (*request.headers, *self.proxy.headers), request.body)

    def __str__(self) -> str:
        way = "" if self.proxy is None else f" through the proxy {self.proxy.host}:{self.proxy.port}"
        return f"{self.host}:{self.port}{way}"
