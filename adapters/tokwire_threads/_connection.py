"""`Connection`: a socket that does not block, below the machine that knows what its bytes mean."""

from __future__ import annotations

import errno
import os
import socket
from time import monotonic
from typing import TYPE_CHECKING, Any

import tokwire
from tokwire_http._channel import Channel

if TYPE_CHECKING:
    import ssl

    from tokwire_http._route import Route

    from ._waiting import Waiting

__all__ = ["Connection"]

READ_BYTES = 64 << 10
DRAIN_SECONDS = 0.1
"""How long the next request waits for the end of an old body. It is almost always there; where it is late, waiting so
long for it is still cheaper than a new connection."""

UNDER_WAY = (errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR)


class Connection:
    """One connection of one thread at a time.

    Args:
        sock: A connected socket that does not block; it is closed by `abort`.
        channel: The machine that its bytes go to.
    """

    __slots__ = ("_sock", "channel")

    def __init__(self, sock: socket.socket, channel: Channel) -> None:
        self._sock = sock
        self.channel = channel

    @classmethod
    def open(cls, route: Route, context: ssl.SSLContext | None, limits: tokwire.Limits, waiting: Waiting) -> Connection:
        """Make a connection that is ready for a request.

        Raises:
            ConnectError: The host has no address, nobody answers there, or proxy or TLS failed.
            TransportTimeout: It took too long.
            TurnInterrupted: The interrupt was set.
        """
        channel = Channel(route, context, limits)
        connection = cls(connect(route, waiting), channel)
        try:
            while not channel.is_open:
                connection.move(waiting, connecting=True)
        except BaseException:
            connection.abort()
            raise
        return connection

    def move(self, waiting: Waiting, *, connecting: bool = False) -> None:
        """Send what is to be sent, until something was received.

        It reads before it sends, each time: the answer to a request that the server refuses is then taken before the
        reset that follows it is met.
        """
        channel = self.channel
        while True:
            waiting.check(connecting=connecting)
            if self._receive():
                # What woke the read may have been the interrupt, which looks like the end of the connection.
                waiting.check(connecting=connecting)
                return
            if not self._send():
                waiting.wait(self._sock, writing=bool(channel.outgoing()), connecting=connecting)

    def revive(self, waiting: Waiting) -> bool:
        """Get a kept connection ready for another request: read the rest of the last body. False where it is dead.

        Raises:
            TransportTimeout: The time is over.
            TurnInterrupted: The interrupt was set.
        """
        channel = self.channel
        until = monotonic() + DRAIN_SECONDS
        try:
            channel.drain()
            while channel.may_become_reusable and self._receive():
                channel.drain()
            while channel.may_become_reusable and not channel.is_reusable:
                if not waiting.try_wait(self._sock, writing=False, seconds=until - monotonic()):
                    return False
                self._receive()
                channel.drain()
        except (tokwire.TransportTimeout, tokwire.TurnInterrupted):
            raise
        except tokwire.TokwireError:  # what is left of the last body is no business of the next request
            return False
        return channel.is_reusable

    def abort(self) -> None:
        """Close the socket. It waits for nothing."""
        self._sock.close()

    def watch(self, waiting: Waiting) -> None:
        """From now on an interrupt wakes whoever waits for this connection."""
        waiting.watch(self._sock)

    def _receive(self) -> bool:
        """Take what has arrived, or the end of the connection; False where there is nothing."""
        try:
            data = self._sock.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            self.channel.receive_eof(error)
        else:
            if data:
                self.channel.receive_data(data)
            else:
                self.channel.receive_eof()
        return True

    def _send(self) -> bool:
        """Send a piece of what is to be sent; False where there is nothing, or the network takes no more."""
        channel = self.channel
        piece = channel.outgoing()
        if not piece:
            return False
        try:
            channel.sent(self._sock.send(piece))
        except BlockingIOError:
            return False
        except OSError as error:
            channel.stop_sending(error)
        return True


def connect(route: Route, waiting: Waiting) -> socket.socket:
    """Connect to the first address of a host that answers.

    The system's name resolution cannot be woken: an interrupt or timeout takes effect when it returns.

    Raises:
        ConnectError: The host has no address, or nobody answers.
        TransportTimeout: It took too long.
        TurnInterrupted: The interrupt was set.
    """
    host, port = route.address
    waiting.check(connecting=True)
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise tokwire.ConnectError(f"{route}: the name of the host cannot be resolved: {error}") from error
    failure: OSError | None = None
    for tried, (family, kind, number, _, address) in enumerate(places):
        waiting.check(connecting=True)
        sock = socket.socket(family, kind, number)
        try:
            sock.setblocking(False)  # noqa: FBT003 - the name of the method says what it is
            # Each of the addresses that are left gets the same part of the time that is left.
            begin_connection(sock, address, waiting, parts=len(places) - tried)
        except OSError as error:
            failure = error
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise tokwire.ConnectError(f"{route}: no connection: {failure}") from failure


def begin_connection(sock: socket.socket, address: Any, waiting: Waiting, *, parts: int) -> None:
    """Connect a socket that does not block, and wait for it.

    Raises:
        OSError: Nobody answers there.
    """
    status = sock.connect_ex(address)
    if status in UNDER_WAY:
        # Only a socket that is being connected can be woken; the check tells of an interrupt that came before.
        waiting.watch(sock)
        waiting.check(connecting=True)
        if not waiting.try_wait(sock, writing=True, parts=parts):
            raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        status = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if status:
        raise OSError(status, os.strerror(status))
    waiting.watch(sock)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
