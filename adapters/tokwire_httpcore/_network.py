"""`Backend` and `AsyncBackend`: the network below a pool, where each wait keeps to the request it is for.

A pool hands one timeout to each of its waits and shows no connection before the head of a response has come. So the
total timeout, the interrupt and the end of a cancelled TLS handshake are settled here, below it.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from ._core import installed_core
from ._waiting import CURRENT

if TYPE_CHECKING:
    import ssl

__all__ = ["AsyncBackend", "AsyncStream", "Backend", "Stream", "shut"]


def shut(sock: Any) -> None:
    """End every wait for a socket. Closing it would not: that does not wake whoever waits in another thread."""
    with suppress(OSError):  # it is closed, or was never connected
        # Not the method of a TLS socket, after which others would go on in plain text.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def limit(timeout: float | None, *, connecting: bool = False) -> float | None:
    """How long a wait may take that begins now."""
    waiting = CURRENT.get()
    return timeout if waiting is None else waiting.seconds(timeout, connecting=connecting)


class Backend:
    """A network backend for a blocking pool that is passed to `Transport`: `ConnectionPool(network_backend=Backend())`.

    Args:
        backend: What makes the connections, by default that of httpcore.
    """

    def __init__(self, backend: Any = None) -> None:
        self._backend = installed_core().SyncBackend() if backend is None else backend

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Stream:
        """Connect to a host. An interrupt takes effect when the operating system returns, or the timeout is over."""
        return self._new(self._backend.connect_tcp(host, port, limit(timeout, connecting=True), **options))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> Stream:
        """Connect to a Unix socket."""
        return self._new(self._backend.connect_unix_socket(path, limit(timeout, connecting=True), **options))

    def sleep(self, seconds: float) -> None:
        """Wait between two attempts, where the pool was told to make several."""
        self._backend.sleep(seconds)

    def _new(self, stream: Any) -> Stream:
        waiting = CURRENT.get()
        if waiting is not None:
            waiting.is_fresh = True
        return Stream(stream)


class Stream:
    """A connection whose waits keep to the request that waits."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._wake = partial(shut, stream.get_extra_info("socket"))

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what comes first."""
        data: bytes = self._stream.read(max_bytes, self._begin(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it."""
        self._stream.write(buffer, self._begin(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Stream:
        """Begin TLS. The handshake takes the socket away, so a second handle on it is kept to wake the wait."""
        waiting = CURRENT.get()
        sock = self._stream.get_extra_info("socket")
        with socket.fromfd(sock.fileno(), sock.family, sock.type) as handle:
            if waiting is not None:
                waiting.watch(partial(shut, handle))
            try:
                return Stream(self._stream.start_tls(ssl_context, server_hostname, limit(timeout, connecting=True)))
            finally:
                if waiting is not None:
                    waiting.watch(None)

    def get_extra_info(self, info: str) -> Any:
        """Facts about the connection."""
        return self._stream.get_extra_info(info)

    def _begin(self, timeout: float | None) -> float | None:
        waiting = CURRENT.get()
        if waiting is None:
            return timeout
        waiting.watch(self._wake)
        return waiting.seconds(timeout)


class AsyncBackend:
    """A network backend for an asynchronous pool that is passed to `AsyncTransport`.

    Args:
        backend: What makes the connections, by default that of httpcore on anyio.
    """

    def __init__(self, backend: Any = None) -> None:
        self._backend = installed_core().AnyIOBackend() if backend is None else backend

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> AsyncStream:
        """Connect to a host."""
        return self._new(await self._backend.connect_tcp(host, port, limit(timeout, connecting=True), **options))

    async def connect_unix_socket(self, path: str, timeout: float | None = None, **options: Any) -> AsyncStream:
        """Connect to a Unix socket."""
        return self._new(await self._backend.connect_unix_socket(path, limit(timeout, connecting=True), **options))

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts, where the pool was told to make several."""
        await self._backend.sleep(seconds)

    def _new(self, stream: Any) -> AsyncStream:
        waiting = CURRENT.get()
        if waiting is not None:
            waiting.is_fresh = True
        return AsyncStream(stream)


class AsyncStream:
    """A connection whose waits keep to the request that waits."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what comes first."""
        data: bytes = await self._stream.read(max_bytes, limit(timeout))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it."""
        await self._stream.write(buffer, limit(timeout))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> AsyncStream:
        """Begin TLS; a handshake that is cancelled leaves no socket behind."""
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, limit(timeout, connecting=True))
        except BaseException:
            await self._stream.aclose()
            raise
        return AsyncStream(stream)

    def get_extra_info(self, info: str) -> Any:
        """Facts about the connection."""
        return self._stream.get_extra_info(info)
