"""`Connection`: a link of the event loop, below the machine that knows what its bytes mean."""

from __future__ import annotations

import asyncio
import socket
from math import inf
from typing import TYPE_CHECKING, Any

import tokwire
from tokwire_http._channel import Channel

from ._link import Link

if TYPE_CHECKING:
    import ssl

    from tokwire_http._deadlines import Deadlines
    from tokwire_http._route import Route

__all__ = ["Connection"]

DRAIN_SECONDS = 0.1
"""How long the next request waits for the end of an old body. It is almost always there; where it is late, waiting so
long for it is still cheaper than a new connection."""


class Connection:
    """One connection of one task at a time.

    Args:
        link: A link that is connected; it is dropped by `abort`.
        channel: The machine that its bytes go to.
    """

    __slots__ = ("_link", "channel")

    def __init__(self, link: Link, channel: Channel) -> None:
        self._link = link
        self.channel = channel

    @classmethod
    async def open(
        cls, route: Route, context: ssl.SSLContext | None, limits: tokwire.Limits, deadlines: Deadlines
    ) -> Connection:
        """Make a connection that is ready for a request.

        Raises:
            ConnectError: The host has no address, nobody answers there, or proxy or TLS failed.
            TransportTimeout: It took too long.
        """
        channel = Channel(route, context, limits)
        connection = cls(await connect(route, deadlines), channel)
        try:
            while not channel.is_open:
                await connection.move(deadlines, connecting=True)
        except BaseException:
            connection.abort()
            raise
        return connection

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that it belongs to."""
        return self._link.loop

    async def move(self, deadlines: Deadlines, *, connecting: bool = False) -> None:
        """Send what is to be sent, until something was received.

        Raises:
            ConnectError: Tunnel or TLS failed.
            TransportTimeout: It took too long.
        """
        link = self._link
        while True:
            now = link.loop.time()
            if now >= deadlines.total:
                raise deadlines.error(now, connecting=connecting)
            if self._receive():
                return
            self._send()
            if not await link.wait(deadlines.end_of_wait(now, connecting=connecting)):
                raise deadlines.error(link.loop.time(), connecting=connecting)

    async def revive(self) -> bool:
        """Get a kept connection ready for another request: read the rest of the last body. False where it is dead."""
        channel, link = self.channel, self._link
        # What the kernel has is seen by the loop in the first of these turns, and by the link in the second.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        until = link.loop.time() + DRAIN_SECONDS
        try:
            channel.drain()
            while channel.may_become_reusable and self._receive():
                channel.drain()
            while channel.may_become_reusable and not channel.is_reusable:
                if not await link.wait(until):
                    return False
                self._receive()
                channel.drain()
        except tokwire.TokwireError:  # what is left of the last body is no business of the next request
            return False
        return channel.is_reusable

    def rest(self) -> None:
        """Nobody waits for a while."""
        self._link.rest()

    def abort(self) -> None:
        """Drop the connection. It waits for nothing."""
        self._link.abort()

    def drop(self) -> None:
        """Drop the connection, from any thread."""
        self._link.drop()

    def _receive(self) -> bool:
        """Take what has arrived, or the end of the connection; False where there is nothing."""
        link = self._link
        if link.received:
            self.channel.receive_data(link.take())
        elif link.is_over:
            self.channel.receive_eof(link.failure)
        else:
            return False
        return True

    def _send(self) -> None:
        """Send as much as the network takes."""
        link, channel = self._link, self.channel
        while link.can_send and (piece := channel.outgoing()):
            link.send(piece)
            channel.sent(len(piece))


async def connect(route: Route, deadlines: Deadlines) -> Link:
    """Connect to the first address of a host that answers.

    Raises:
        ConnectError: The host has no address, or nobody answers.
        TransportTimeout: It took too long.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout_at(None if deadlines.connect == inf else deadlines.connect):
            return await connect_somewhere(route, deadlines, loop)
    except TimeoutError:
        error = deadlines.error(loop.time(), connecting=True)
    raise error


async def connect_somewhere(route: Route, deadlines: Deadlines, loop: asyncio.AbstractEventLoop) -> Link:
    """Try the addresses of a host in their order; each that is left gets the same part of the time that is left.

    Raises:
        ConnectError: The host has no address, or nobody answers.
    """
    host, port = route.address
    try:
        places = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise tokwire.ConnectError(f"{route}: the name of the host cannot be resolved: {error}") from error
    failure: OSError | None = None
    for tried, (family, kind, number, _, address) in enumerate(places):
        parts = len(places) - tried
        left = deadlines.connect - loop.time()
        try:
            # The last address has all that is left, and that ends with the timeout around this.
            async with asyncio.timeout(None if parts == 1 or left == inf else left / parts):
                return await connect_to(socket.socket(family, kind, number), address, loop)
        except OSError as error:
            failure = error
    raise tokwire.ConnectError(f"{route}: no connection: {failure}") from failure


async def connect_to(sock: socket.socket, address: Any, loop: asyncio.AbstractEventLoop) -> Link:
    """Connect a socket, which is closed where that fails."""
    try:
        sock.setblocking(False)  # noqa: FBT003 - the name of the method says what it is
        await loop.sock_connect(sock, address)
        link = Link(loop)
        await loop.create_connection(lambda: link, sock=sock)
    except BaseException:
        sock.close()
        raise
    return link
