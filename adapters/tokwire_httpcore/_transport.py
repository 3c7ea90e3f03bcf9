"""`Transport`: requests over a blocking pool of httpcore."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import tokwire
from tokwire_http._clients import head_of
from tokwire_http._route import Route

from ._core import core_of, core_request, installed_core
from ._network import Backend, Stream, shut
from ._waiting import CURRENT, Waiting

if TYPE_CHECKING:
    from types import TracebackType

    from tokwire_http import Interrupt, Timeouts

__all__ = ["Transport"]

POOL_OPTIONS: dict[str, Any] = {"max_connections": None, "max_keepalive_connections": 20, "keepalive_expiry": 60.0}
"""Of the pools that are made here. Without a bound on connections no request waits for another one to end."""

DRAIN_SECONDS = 0.1
"""How long a request waits for the end of an old body. It is almost always there already."""

AT_ONCE = 0.001
"""How long it may take where others may wait for the connection: then the body is read at once or not at all."""

MAX_DRAIN_BYTES = 64 << 10
"""How much of an old body is read to use its connection again."""


class Transport:
    """A `Transport` of `tokwire_http` over httpcore, for any number of threads. Call `close`, or use it with `with`.

    Args:
        pool: A `ConnectionPool`, or another one of httpcore or httpcore2; it stays open. With the default network
            backend of its own instead of `Backend()`, the total timeout and an interrupt are seen between two chunks
            and, before the head of the response, not at all until a wait ends; and its connections are not reused.
        **options: Those of `ConnectionPool`, for a pool of this transport: `http2=True`, `proxy=`, `ssl_context=`.

    Raises:
        TypeError: The pool is none, or options were given beside it.
    """

    def __init__(self, pool: Any = None, **options: Any) -> None:
        if pool is not None and options:
            raise TypeError(f"the pool has its options already; give it {', '.join(options)}")
        self._core = installed_core() if pool is None else core_of(pool)
        self._own = None
        if pool is None:
            backend = Backend(self._core.SyncBackend())
            pool = self._own = self._core.ConnectionPool(**{"network_backend": backend, **POOL_OPTIONS, **options})
        self._pool = pool
        self._is_bounded = self._own is None or {**POOL_OPTIONS, **options}["max_connections"] is not None
        self._undrained: deque[Body] = deque()
        self._is_closed = False

    def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> HTTPCoreResponse:
        """Send a request and wait for the head of its response, whatever its status. Close the response.

        Args:
            request: The request.
            timeouts: How long to wait, in seconds. `connect` bounds each step of making a connection, and the wait for
                a free one.
            interrupt: Ends this call, or any later read of the response. Name resolution, TCP and the wait for a free
                connection cannot be woken: there it takes effect afterwards.

        Raises:
            TransportError: No response came. The error of httpcore is the cause.
            StreamTruncated: The connection broke in the head of the response.
            RemoteProtocolError: The server does not speak HTTP.
            TurnInterrupted: The interrupt was set.
            LocalProtocolError: The transport is closed, or httpcore refused the request.
        """
        if self._is_closed:
            raise tokwire.LocalProtocolError("the transport is closed; make a new one")
        waiting = Waiting(Route.of(request, None), timeouts, interrupt)
        try:
            self._drain()
            while True:
                waiting.check()
                waiting.is_fresh = False
                try:
                    return self._exchange(request, waiting)
                except tokwire.NoResponse:
                    # The server closed a kept connection at the same moment; it has seen no request.
                    if waiting.is_fresh or self._own is None:
                        raise
        except BaseException:
            waiting.watch(None)
            raise

    def close(self) -> None:
        """Close the pool, where it was made here, and the connections whose responses were not read to their end."""
        self._is_closed = True
        while self._undrained:
            self._undrained.popleft().close()
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(self, request: tokwire.HTTPRequest, waiting: Waiting) -> HTTPCoreResponse:
        wanted = core_request(self._core, request, waiting.extension())
        with waiting.in_force():
            try:
                response = self._pool.handle_request(wanted)
            except Exception as error:  # noqa: BLE001 - all that httpcore raises is told in our words
                failure, cause = waiting.failure(error), error
            else:
                return HTTPCoreResponse(response, waiting, self._keep)
        if isinstance(failure, tokwire.LocalProtocolError):
            raise failure  # without its cause, which may repeat a header
        raise failure from cause

    def _keep(self, body: Body) -> None:
        if self._is_closed:
            body.close()
        elif self._is_bounded:
            body.drain(AT_ONCE)
        else:
            self._undrained.append(body)

    def _drain(self) -> None:
        """Read old bodies to their end, so that the pool can use their connections."""
        with suppress(IndexError):  # another thread was quicker
            while self._undrained:
                self._undrained.popleft().drain(DRAIN_SECONDS)


class Body:
    """The body of a response of httpcore, and its connection.

    Attributes:
        chunks: What httpcore hands out.
        is_ended: Whether they came to their end.
        can_drain: Whether the rest can be read within a bounded time, so that the connection is used again.
    """

    def __init__(self, response: Any, waiting: Waiting) -> None:
        self.chunks: Iterator[bytes] = iter(response.stream)
        self.is_ended = False
        stream = response.extensions.get("network_stream")
        # On HTTP/2 other responses come on the same connection, and it stays when one of them is closed.
        self._stream = None if response.extensions.get("http_version") == b"HTTP/2" else stream
        self.can_drain = isinstance(self._stream, Stream)
        self._response = response
        self._waiting = waiting

    def close(self) -> None:
        """Close the response, and its connection too, unless the body came to its end."""
        if not self.is_ended and self._stream is not None:
            shut(self._stream.get_extra_info("socket"))
        with suppress(Exception):
            self._response.close()

    def drain(self, seconds: float) -> None:
        """Read the body to its end, for so many seconds at most, and close the response."""
        size = 0
        with suppress(Exception), self._waiting.short(seconds).in_force():
            while size < MAX_DRAIN_BYTES and not self.is_ended:
                chunk = next(self.chunks, None)
                self.is_ended = chunk is None
                size += len(chunk or b"")
        self.close()


class HTTPCoreResponse(Iterator[bytes]):
    """A response whose head has come; it iterates over the chunks of its body.

    Args:
        response: That of httpcore.
        waiting: How long to wait.
        keep: Takes the body where its connection is to be used again.
    """

    def __init__(self, response: Any, waiting: Waiting, keep: Callable[[Body], None]) -> None:
        self.head = head_of(response.status, response.headers)
        self._body: Body | None = Body(response, waiting)
        self._waiting = waiting
        self._keep = keep

    def __next__(self) -> bytes:
        body = self._body
        if body is None:
            raise StopIteration
        token = CURRENT.set(self._waiting)  # as `in_force` does, at a third of the cost
        try:
            self._waiting.check()
            chunk = next(body.chunks, None)
        except Exception as error:
            self.close()
            failure = self._waiting.failure_in_body(error)
            if failure is error:
                raise
            raise failure from error
        except BaseException:
            self.close()
            raise
        finally:
            CURRENT.reset(token)
        if chunk is None:
            body.is_ended = True
            self.close(reuse=True)
            raise StopIteration
        return chunk

    def close(self, *, reuse: bool = False) -> None:
        """Give the connection back where it may be used again and `reuse` is true, else close it. It never waits.

        The rest of the body is read when the next request is sent: the end of a stream and that of its body are seldom
        in one packet.
        """
        body, self._body = self._body, None
        if body is None:
            return
        self._waiting.watch(None)
        if reuse and body.can_drain and not body.is_ended:
            self._keep(body)
        else:
            body.close()

    def __repr__(self) -> str:
        return f"<HTTPCoreResponse status={self.head.status}>"
