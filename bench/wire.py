"""A network that is a list of reads: the adapters run on it, so that neither a server nor the kernel is measured.

Every read is one that had to be waited for, as in a response that is sent while it is made. A blocking socket has
nothing at first; it is polled, which is a real call of the system, and then gives one read. An event loop gives one
read per turn. What stays out is the copy of the bytes from the kernel, which costs every client the same.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

from tokwire_threads import _connection

if TYPE_CHECKING:
    from tokwire_threads._waiting import Waiting

HEAD = b"HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def response(chunks: Sequence[bytes]) -> list[bytes]:
    """The reads of a chunked response: its head, each chunk, its end."""
    return [HEAD, *(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks), END]


class ReadySocket:
    """What the blocking sockets need of a connected one.

    Args:
        reads: What comes.
        ready: A socket that can be read, so that waiting is a call that returns.
    """

    def __init__(self, reads: Sequence[bytes], ready: socket.socket) -> None:
        self._reads = iter(reads)
        self._ready = ready
        self._was_waited_for = False

    def recv(self, size: int) -> bytes:
        """One read, every second time.

        Raises:
            BlockingIOError: Nothing came yet.
        """
        del size
        self._was_waited_for = not self._was_waited_for
        if self._was_waited_for:
            raise BlockingIOError
        return next(self._reads, b"")

    def send(self, data: memoryview) -> int:
        """All of it is sent."""
        return len(data)

    def fileno(self) -> int:
        """What is polled."""
        return self._ready.fileno()

    def shutdown(self, how: int) -> None:
        """Nobody waits."""

    def close(self) -> None:
        """Nothing to close: the one that is polled serves the next connection."""


@contextmanager
def blocking_sockets(reads: Sequence[bytes]) -> Iterator[None]:
    """While this lasts, every connection of `tokwire_threads` gives these reads."""
    ready, other = socket.socketpair()
    with ready, other:
        other.send(b"!")

        def connect(_: object, waiting: Waiting) -> socket.socket:
            found = cast("socket.socket", ReadySocket(reads, ready))
            waiting.watch(found)
            return found

        with patch.object(_connection, "connect", connect):
            yield


class ReadyTransport(asyncio.Transport):
    """A connection of the event loop that gives one read per turn, once something was sent."""

    def __init__(self, loop: asyncio.AbstractEventLoop, protocol: asyncio.Protocol, reads: Sequence[bytes]) -> None:
        super().__init__()
        self._loop, self._protocol = loop, protocol
        self._reads = iter(reads)
        self._has_begun = self._is_closed = False

    def write(self, data: Any) -> None:
        """Send, which begins the response."""
        if not self._has_begun:
            self._has_begun = True
            self._loop.call_soon(self._give)

    def pause_reading(self) -> None:
        """There is never so much."""

    def resume_reading(self) -> None:
        """Nor was it paused."""

    def is_closing(self) -> bool:
        """Whether it was dropped."""
        return self._is_closed

    def abort(self) -> None:
        """Give no more reads."""
        self._is_closed = True

    def _give(self) -> None:
        if not self._is_closed and (read := next(self._reads, None)) is not None:
            self._protocol.data_received(read)
            self._loop.call_soon(self._give)


class ReadyLoop(asyncio.SelectorEventLoop):
    """An event loop whose every connection gives the reads.

    Attributes:
        reads: What comes on each connection.
    """

    reads: Sequence[bytes] = ()

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        """One address."""
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (host, port))]

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """It is connected already."""

    async def create_connection(self, protocol_factory: Callable[[], Any], *, sock: Any, **options: Any) -> Any:  # type: ignore[override]  # only the form that the adapter uses
        """A connection without its socket."""
        sock.close()
        protocol = protocol_factory()
        transport = ReadyTransport(self, protocol, self.reads)
        protocol.connection_made(transport)
        return transport, protocol


class ReadyStream:
    """A connection of httpcore, for both kinds of pools; each request begins the reads anew."""

    def __init__(self, reads: Sequence[bytes]) -> None:
        self._all = reads
        self._reads = iter(reads)
        self._socket = socket.socket()

    def get_extra_info(self, info: str) -> Any:
        """A socket to wake, and that the server has not closed it; of other facts there are none."""
        return {"socket": self._socket, "is_readable": False}.get(info)


class BlockingStream(ReadyStream):
    """For a blocking pool."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """One read."""
        return next(self._reads, b"")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Begin anew."""
        self._reads = iter(self._all)

    def close(self) -> None:
        """Close the socket that was never used."""
        self._socket.close()


class AsyncStream(ReadyStream):
    """For an asynchronous pool."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """One read, in the next turn of the loop."""
        await asyncio.sleep(0)
        return next(self._reads, b"")

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Begin anew."""
        self._reads = iter(self._all)

    async def aclose(self) -> None:
        """Close the socket that was never used."""
        self._socket.close()


class BlockingBackend:
    """The network of a blocking pool of httpcore."""

    def __init__(self, reads: Sequence[bytes]) -> None:
        self._reads = reads

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> BlockingStream:
        """A connection that gives the reads."""
        return BlockingStream(self._reads)


class AsyncBackend:
    """The network of an asynchronous pool of httpcore."""

    def __init__(self, reads: Sequence[bytes]) -> None:
        self._reads = reads

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> AsyncStream:
        """A connection that gives the reads."""
        return AsyncStream(self._reads)
