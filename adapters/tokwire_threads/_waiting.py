"""Waiting for a socket: until it is ready, a time limit runs out, or somebody interrupts."""

from __future__ import annotations

import select
import socket
import sys
from contextlib import suppress
from functools import partial
from math import ceil
from time import monotonic
from typing import TYPE_CHECKING

import tokwire
from tokwire_http._deadlines import Deadlines

if TYPE_CHECKING:
    from tokwire_http import Interrupt, Timeouts
    from tokwire_http._route import Route

__all__ = ["Waiting"]

LONGEST_WAIT = 3600.0
"""In seconds. The poll of some systems counts milliseconds in 32 bits; a longer wait is several of these."""


class Waiting:
    """All waits of one request: its deadlines and its interrupt.

    Args:
        timeouts: How long to wait, from now.
        interrupt: Ends every wait.
        route: Whom the request goes to, for the messages.
    """

    __slots__ = ("_deadlines", "_interrupt")

    def __init__(self, timeouts: Timeouts, interrupt: Interrupt, route: Route) -> None:
        self._deadlines = Deadlines(timeouts, monotonic(), route)
        self._interrupt = interrupt

    def watch(self, sock: socket.socket | None) -> None:
        """From now on an interrupt wakes whoever waits for this socket; None where nobody waits."""
        self._interrupt.register(None if sock is None else partial(shut, sock))

    def check(self, *, connecting: bool) -> None:
        """Look at the flag and at the clock, without waiting.

        Raises:
            TurnInterrupted: The interrupt was set.
            TransportTimeout: The total time is over, or that for the connection.
        """
        if self._interrupt.is_set:
            raise tokwire.TurnInterrupted("the request was interrupted")
        deadlines, now = self._deadlines, monotonic()
        if now >= (deadlines.connect if connecting else deadlines.total):
            raise deadlines.error(now, connecting=connecting)

    def wait(self, sock: socket.socket, *, writing: bool, connecting: bool) -> None:
        """Wait until the socket can be read, or also until it can be written to.

        Raises:
            TurnInterrupted: The interrupt was set.
            TransportTimeout: It took too long.
        """
        now = monotonic()
        until = self._deadlines.end_of_wait(now, connecting=connecting)
        while not wait_for(sock, writing=writing, seconds=until - now):
            now = monotonic()
            if now >= until:
                raise self._deadlines.error(now, connecting=connecting)
        self.check(connecting=connecting)

    def try_wait(self, sock: socket.socket, *, writing: bool, parts: int = 1, seconds: float = LONGEST_WAIT) -> bool:
        """Wait while a connection is made, but only for a part of the time that is left, and at most so many seconds.

        Returns:
            Whether the socket is ready.

        Raises:
            TurnInterrupted: The interrupt was set.
            TransportTimeout: The time for the connection is over.
        """
        left = (self._deadlines.connect - monotonic()) / parts
        is_ready = wait_for(sock, writing=writing, seconds=min(left, seconds))
        self.check(connecting=True)
        return is_ready


def shut(sock: socket.socket) -> None:
    """End every wait for a socket. `close` would not: it does not wake whoever waits in another thread."""
    with suppress(OSError):  # it is closed, or was never connected
        sock.shutdown(socket.SHUT_RDWR)


if sys.platform == "win32":

    def wait_for(sock: socket.socket, *, writing: bool, seconds: float) -> bool:
        """Wait until a socket is ready or has failed; False where that took longer than `seconds`."""
        seconds = min(max(seconds, 0.0), LONGEST_WAIT)
        return any(select.select([sock], [sock] if writing else [], [sock], seconds))

else:

    def wait_for(sock: socket.socket, *, writing: bool, seconds: float) -> bool:
        """Wait until a socket is ready or has failed; False where that took longer than `seconds`."""
        poll = select.poll()  # no limit on the numbers of files, unlike select
        poll.register(sock, select.POLLIN | select.POLLOUT if writing else select.POLLIN)
        return bool(poll.poll(ceil(min(max(seconds, 0.0), LONGEST_WAIT) * 1000)))
