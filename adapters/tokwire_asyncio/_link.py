"""`Link`: an `asyncio.Protocol` that keeps what arrives until somebody asks, and one timer for all its waits.

Not on `StreamReader`: that raises a stored reset before it hands out the bytes that came before the reset. And on plain
TCP also for https, with the TLS of `tokwire_http`: that of asyncio announces a connection that was cut as one that was
closed, and reads no more once a write has failed.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from contextlib import suppress
from math import inf
from typing import cast

__all__ = ["Link"]

HIGH_WATER_BYTES = 256 << 10
"""When so much waits to be taken, no more is read until all of it was taken."""

READ_BYTES = 64 << 10


class Link(asyncio.Protocol):
    """One connection. One task at a time uses it.

    Attributes:
        loop: The event loop that it belongs to.
        received: What arrived and was not taken yet.
        is_over: Whether nothing more will arrive.
        failure: Why, where the peer did not close the connection in the ordinary way.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.received: deque[bytes] = deque()
        self.is_over = False
        self.failure: BaseException | None = None
        self._transport: asyncio.Transport | None = None
        self._size = 0
        self._is_paused = self._is_full = False
        self._waiter: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._until = inf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (called by the event loop)."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Keep what arrived, and read no more where that is much (called by the event loop)."""
        self.received.append(data)
        self._size += len(data)
        if self._size >= HIGH_WATER_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Note that the peer sends no more (called by the event loop)."""
        self.is_over = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the connection is gone (called by the event loop)."""
        if error is not None and not self.is_over:
            self._save_unread()
            self.failure = error
        self.is_over = True
        self._transport = None
        self._wake()

    def pause_writing(self) -> None:
        """Note that the network takes no more (called by the event loop)."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Note that the network takes more again (called by the event loop)."""
        self._is_full = False
        self._wake()

    def take(self) -> bytes:
        """The next bytes that arrived; there must be some."""
        data = self.received.popleft()
        self._size -= len(data)
        if self._is_paused and not self.received and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    @property
    def can_send(self) -> bool:
        """Whether the network takes more at the moment."""
        # A transport that failed to write is closing; what is written to it then only fills the log.
        return not self._is_full and self._transport is not None and not self._transport.is_closing()

    def send(self, data: memoryview) -> None:
        """Send bytes; look at `can_send` before."""
        if self._transport is not None:
            self._transport.write(data)

    async def wait(self, until: float) -> bool:
        """Wait until something happens: bytes, the end, or room to send.

        Args:
            until: When waiting is in vain, in seconds on the clock of the loop.

        Returns:
            False where it is.
        """
        self._until = until
        if self._timer is not None and self._timer.when() > until:
            self._timer.cancel()
            self._timer = None
        if self._timer is None and until < inf:
            self._timer = self.loop.call_at(until, self._ring)
        self._waiter = self.loop.create_future()
        try:
            return await self._waiter
        finally:
            self._waiter = None

    def rest(self) -> None:
        """Nobody waits for a while."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def abort(self) -> None:
        """Drop the connection at once. The socket is closed in the next turn of the loop."""
        self.rest()
        if self._transport is not None and not self.loop.is_closed():
            self._transport.abort()

    def drop(self) -> None:
        """Abort from any thread, as the garbage collector may have to."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.abort)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(True)

    def _ring(self) -> None:
        """The timer: most waits are short, so it is not moved with each of them, but when it fires."""
        self._timer = None
        if self._waiter is None or self._waiter.done():
            return
        if self.loop.time() < self._until:
            self._timer = self.loop.call_at(self._until, self._ring)
        else:
            self._waiter.set_result(False)

    def _save_unread(self) -> None:
        """Read what the kernel still holds: where a write failed, asyncio reads no more, yet there may be an answer.

        A server that refuses a large request sends its reason, closes, and resets what still comes. The bytes before
        the reset can be read until the socket is closed, which happens behind `connection_lost`.
        """
        if self._transport is None:
            return
        sock: socket.socket = self._transport.get_extra_info("socket")
        # Other event loops may have no socket to show, or have closed it by now.
        with suppress(OSError, AttributeError, TypeError), sock.dup() as unread:
            unread.setblocking(False)  # noqa: FBT003 - the name of the method says what it is
            while data := unread.recv(READ_BYTES):
                self.received.append(data)
                self._size += len(data)
