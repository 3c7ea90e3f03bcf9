"""`AsyncTransport`: requests over an asynchronous pool of httpcore, on asyncio or trio."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import tokwire
from tokwire_http._clients import head_of
from tokwire_http._route import Route

from ._core import core_of, core_request, installed_core
from ._network import AsyncBackend, AsyncStream
from ._transport import AT_ONCE, DRAIN_SECONDS, MAX_DRAIN_BYTES, POOL_OPTIONS
from ._waiting import CURRENT, Waiting

if TYPE_CHECKING:
    from types import TracebackType

    from tokwire_http import Timeouts

__all__ = ["AsyncTransport"]


class AsyncTransport:
    """An `AsyncTransport` of `tokwire_http` over httpcore, for any number of tasks of one event loop. Call `aclose`.

    Args:
        pool: An `AsyncConnectionPool`, or another one of httpcore or httpcore2; it stays open. With the default
            network backend of its own instead of `AsyncBackend()`, the total timeout is seen between two chunks, a
            cancelled TLS handshake leaks its socket, and connections are not reused.
        **options: Those of `AsyncConnectionPool`, for a pool of this transport.

    Raises:
        TypeError: The pool is none, or options were given beside it.
    """

    def __init__(self, pool: Any = None, **options: Any) -> None:
        if pool is not None and options:
            raise TypeError(f"the pool has its options already; give it {', '.join(options)}")
        self._core = installed_core() if pool is None else core_of(pool)
        self._own = None
        if pool is None:
            backend = AsyncBackend(self._core.AnyIOBackend())
            pool = self._own = self._core.AsyncConnectionPool(**{"network_backend": backend, **POOL_OPTIONS, **options})
        self._pool = pool
        self._is_bounded = self._own is None or {**POOL_OPTIONS, **options}["max_connections"] is not None
        self._undrained: deque[AsyncBody] = deque()
        self._is_closed = False

    async def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts) -> AsyncHTTPCoreResponse:
        """Send a request and wait for the head of its response, whatever its status. Close the response.

        Args:
            request: The request.
            timeouts: How long to wait, in seconds. `connect` bounds each step of making a connection, and the wait for
                a free one.

        Raises:
            TransportError: No response came. The error of httpcore is the cause.
            RemoteProtocolError: The server does not speak HTTP.
            LocalProtocolError: The transport is closed, or httpcore refused the request.
        """
        if self._is_closed:
            raise tokwire.LocalProtocolError("the transport is closed; make a new one")
        waiting = Waiting(Route.of(request, None), timeouts)
        while self._undrained:
            await self._undrained.popleft().drain(DRAIN_SECONDS)
        while True:
            waiting.check()
            waiting.is_fresh = False
            try:
                return await self._exchange(request, waiting)
            except tokwire.NoResponse:
                # The server closed a kept connection at the same moment; it has seen no request.
                if waiting.is_fresh or self._own is None:
                    raise

    async def aclose(self) -> None:
        """Close the pool, where it was made here, and the connections whose responses were not read to their end."""
        self._is_closed = True
        while self._undrained:
            await self._undrained.popleft().aclose()
        if self._own is not None:
            await self._own.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _exchange(self, request: tokwire.HTTPRequest, waiting: Waiting) -> AsyncHTTPCoreResponse:
        wanted = core_request(self._core, request, waiting.extension())
        with waiting.in_force():
            try:
                response = await self._pool.handle_async_request(wanted)
            except Exception as error:  # noqa: BLE001 - all that httpcore raises is told in our words
                failure, cause = waiting.failure(error), error
            else:
                return AsyncHTTPCoreResponse(response, waiting, self._keep)
        if isinstance(failure, tokwire.LocalProtocolError):
            raise failure  # without its cause, which may repeat a header
        raise failure from cause

    async def _keep(self, body: AsyncBody) -> None:
        if self._is_closed:
            await body.aclose()
        elif self._is_bounded:
            await body.drain(AT_ONCE)
        else:
            self._undrained.append(body)


class AsyncBody:
    """The body of a response of httpcore, and its connection. The twin of `Body`."""

    def __init__(self, response: Any, waiting: Waiting) -> None:
        self.chunks: Any = aiter(response.stream)
        self.is_ended = False
        stream = response.extensions.get("network_stream")
        self._stream = None if response.extensions.get("http_version") == b"HTTP/2" else stream
        self.can_drain = isinstance(self._stream, AsyncStream)
        self._response = response
        self._waiting = waiting

    def abort(self) -> None:
        """Drop the connection, which ends every wait for it."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    async def aclose(self) -> None:
        """Close the response, and its connection too, unless the body came to its end."""
        if not self.is_ended:
            self.abort()
        try:
            with suppress(Exception):
                await self._response.aclose()
        finally:
            with suppress(Exception):
                await self.chunks.aclose()

    async def drain(self, seconds: float) -> None:
        """Read the body to its end, for so many seconds at most, and close the response."""
        size = 0
        try:
            with suppress(Exception), self._waiting.short(seconds).in_force():
                while size < MAX_DRAIN_BYTES and not self.is_ended:
                    chunk = await anext(self.chunks, None)
                    self.is_ended = chunk is None
                    size += len(chunk or b"")
        finally:
            await self.aclose()


class AsyncHTTPCoreResponse(AsyncIterator[bytes]):
    """A response whose head has come; it iterates asynchronously over the chunks of its body.

    Args:
        response: That of httpcore.
        waiting: How long to wait.
        keep: Takes the body where its connection is to be used again.
    """

    def __init__(self, response: Any, waiting: Waiting, keep: Callable[[AsyncBody], Awaitable[None]]) -> None:
        self.head = head_of(response.status, response.headers)
        self._body: AsyncBody | None = AsyncBody(response, waiting)
        self._waiting = waiting
        self._keep = keep

    async def __anext__(self) -> bytes:
        body = self._body
        if body is None:
            raise StopAsyncIteration
        token = CURRENT.set(self._waiting)
        try:
            self._waiting.check()
            chunk: bytes | None = await anext(body.chunks, None)
        except Exception as error:
            await self.aclose()
            failure = self._waiting.failure_in_body(error)
            if failure is error:
                raise
            raise failure from error
        finally:
            CURRENT.reset(token)
        if chunk is None:
            body.is_ended = True
            await self.aclose(reuse=True)
            raise StopAsyncIteration
        return chunk

    async def aclose(self, *, reuse: bool = False) -> None:
        """Give the connection back where it may be used again and `reuse` is true, else close it. No peer is awaited.

        The rest of the body is read when the next request is sent.
        """
        body, self._body = self._body, None
        if body is None:
            return
        if reuse and body.can_drain and not body.is_ended:
            await self._keep(body)
        else:
            await body.aclose()

    def abort(self) -> None:
        """Drop the connection at once; `aclose` tells the pool."""
        if self._body is not None:
            self._body.abort()

    def __repr__(self) -> str:
        return f"<AsyncHTTPCoreResponse status={self.head.status}>"
