"""Bodies wrapped in HTTP/1.1, and what an exchange makes of the bytes of a connection."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from tests.support import Failure, describe

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

POST = tokwire.HTTPRequest("POST", "https://api.example/v1/chat", (("Authorization", "Bearer sk-harbour-4711"),), b"{}")
FRAMINGS = ("chunked", "length", "close")
HEADERS = (("Content-Type", "text/event-stream"), ("X-Request-Id", "r-1"))


class Exchanged(NamedTuple):
    """What came of the bytes of a connection."""

    head: tokwire.ResponseHead | None
    body: bytes
    failure: Failure | None
    ended: bool
    keep_alive: bool


def head(status: int | str, headers: Iterable[tuple[str, str]] = (), *, end: str = "\r\n") -> bytes:
    """The head of a response."""
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return end.join(lines).encode("latin-1")


def chunked(body: bytes, sizes: int = 100, *, trailers: bytes = b"", extension: bytes = b"") -> bytes:
    """A body in chunks, with its terminator."""
    pieces = [body[place : place + sizes] for place in range(0, len(body), sizes)]
    return b"".join(b"%x%b\r\n%b\r\n" % (len(piece), extension, piece) for piece in pieces) + b"0\r\n%b\r\n" % trailers


def wrapped(body: bytes, framing: str, *, status: int | str = 200, headers: Sequence[tuple[str, str]] = ()) -> bytes:
    """A whole response, the end of which the framing shows."""
    if framing == "chunked":
        return head(status, [*headers, ("Transfer-Encoding", "chunked")]) + chunked(body)
    if framing == "length":
        return head(status, [*headers, ("Content-Length", str(len(body)))]) + body
    return head(status, headers) + body


def exchanged(
    reads: Iterable[bytes],
    *,
    eof: bool = False,
    request: tokwire.HTTPRequest = POST,
    limits: tokwire.Limits | None = None,
) -> Exchanged:
    """Send the request, feed the reads one by one, take the body after each."""
    exchange = tokwire.HTTPExchange(request, limits=limits or tokwire.Limits())
    exchange.data_to_send()
    body = bytearray()
    failure = None
    try:
        for read in reads:
            exchange.receive_data(read)
            for chunk in exchange.body():
                body += chunk
        if eof:
            exchange.receive_eof()
            for chunk in exchange.body():
                body += chunk
    except tokwire.TokwireError as error:
        failure = describe(error)
    return Exchanged(exchange.response, bytes(body), failure, exchange.ended, exchange.keep_alive)


def every_head_cut(wire: bytes, *, lots: int = 12) -> list[list[bytes]]:
    """The bytes cut in two at every place of the head, at places of the body drawn by lot, and one by one."""
    end = wire.find(b"\r\n\r\n") + 4 if b"\r\n\r\n" in wire else len(wire)
    lot = random.Random(len(wire))
    places = [*range(1, min(end + 2, len(wire))), *(lot.randrange(len(wire) + 1) for _ in range(lots))]
    ways = [[wire[:place], wire[place:]] for place in places]
    return [[wire], [wire[place : place + 1] for place in range(len(wire))], *ways]
