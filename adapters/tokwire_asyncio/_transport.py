"""`SocketTransport`: requests over asyncio, with a few connections kept for the next ones."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Self

import tokwire
from tokwire_http._deadlines import Deadlines
from tokwire_http._pool import Pool
from tokwire_http._route import Proxy, Route

from ._connection import Connection
from ._response import SocketResponse

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

    from tokwire_http import Timeouts

__all__ = ["SocketTransport"]

DEFAULT_LIMITS = tokwire.Limits()


class SocketTransport:
    """An `AsyncTransport` over connections of its own, for any number of tasks of one event loop.

    At most 8 idle connections are kept for each server, for at most 60 seconds. A request that finds a kept connection
    closed by the server is sent once more on a new one. Call `close`, or use it in a `with` block, both inside the
    event loop: closing waits for nothing, so that there is nothing to await.

    Args:
        ssl_context: For https; by default one with the authorities of the system, which checks certificate and host.
            One of your own should offer only http/1.1 by ALPN, or nothing.
        proxy: `http://host:port` or `http://user:password@host:port`. It forwards http requests and opens a tunnel
            (CONNECT) for https requests. Nothing is read from the environment.
        limits: `max_head_bytes` bounds the heads of responses.

    Raises:
        ValueError: The proxy is none of these.
    """

    def __init__(
        self,
        ssl_context: ssl.SSLContext | None = None,
        proxy: str | None = None,
        *,
        limits: tokwire.Limits = DEFAULT_LIMITS,
    ) -> None:
        self._ssl_context = ssl_context
        self._proxy = None if proxy is None else Proxy.from_url(proxy)
        self._limits = limits
        self._pool: Pool[Connection] = Pool(monotonic)

    async def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts) -> SocketResponse:
        """Send a request and wait for the head of its response, whatever its status. Close the response.

        Cancellation at any point leaves nothing behind.

        Args:
            request: The request.
            timeouts: How long to wait, in seconds; they also bound the reads of the response.

        Raises:
            ConnectError: No connection could be made; the request was not sent.
            TransportTimeout: One of the timeouts ran out.
            NoResponse: The connection was closed before a response began.
            StreamTruncated: It was closed in the head of the response.
            RemoteProtocolError: The server does not speak HTTP/1.1, or its head is too long.
            LocalProtocolError: The transport is closed.
        """
        if self._pool.is_closed:
            raise tokwire.LocalProtocolError("the transport is closed; make a new one")
        loop = asyncio.get_running_loop()
        route = Route.of(request, self._proxy)
        deadlines = Deadlines(timeouts, loop.time(), route)
        while (kept := self._pool.take(route)) is not None:
            if await is_alive(kept, loop):
                try:
                    return await self._exchange(kept, request, deadlines)
                except tokwire.NoResponse:  # the server closed it at the same moment; it has seen no request
                    break
        connection = await Connection.open(route, self._ssl_context, self._limits, deadlines)
        return await self._exchange(connection, request, deadlines)

    def close(self) -> None:
        """Close the idle connections. Responses that are being read go on, and close theirs at their end."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _exchange(
        self, connection: Connection, request: tokwire.HTTPRequest, deadlines: Deadlines
    ) -> SocketResponse:
        channel = connection.channel
        try:
            channel.begin(request)
            while (head := channel.head()) is None:
                await connection.move(deadlines)
        except BaseException:
            connection.abort()
            raise
        return SocketResponse(connection, head, deadlines, self._keep)

    def _keep(self, connection: Connection) -> None:
        channel = connection.channel
        if channel.may_become_reusable:
            self._pool.put(channel.route, connection)
        else:
            connection.abort()


async def is_alive(connection: Connection, loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a kept connection is ready for another request; it is dropped where it is not."""
    alive = False
    try:
        # A transport may outlive its event loop and be used in the next one, where its connections are of no use.
        alive = connection.loop is loop and await connection.revive()
    finally:
        if not alive:
            connection.abort()
    return alive
