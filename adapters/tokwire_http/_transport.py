"""The contract between what moves bytes and what decodes them: `Transport`, `Response` and their asynchronous twins.

A transport sends one request and hands back a response whose head has come. It knows no protocol and no decoder, it
follows no redirect and tries nothing again: the status, the content coding and every such decision belong to its
caller. The response is an object, not a generator, because a generator cannot be closed while a read is pending.

Rules for whoever writes one:

- The chunks are the body without its transfer coding and with its content coding, as they arrive: a chunk is handed out
  as soon as there is one, never held back to fill a buffer. Empty chunks are allowed.
- Iteration ends only where the body is complete. A body that was cut is a `StreamTruncated` or a `TransportError`,
  after all the bytes that came before it.
- Failures are `TransportError`: `ConnectError` before the request could be sent, `TransportTimeout` for each of the
  `Timeouts`, `NoResponse` where the connection closed before a response began. `__cause__` keeps what happened below.
- No message, attribute or `repr` repeats the value of a header of the request, or the query of its URL.
- An interrupt ends `send` and every read at once with `TurnInterrupted`; the response is unusable afterwards.
- `close` may be called at any time, again, and after errors. It releases the connection without waiting for anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from tokwire import HTTPRequest, ResponseHead

    from ._timeouts import Interrupt, Timeouts

__all__ = ["AsyncChunkResponse", "AsyncResponse", "AsyncTransport", "ChunkResponse", "Response", "Transport"]


class Response(Iterator[bytes], Protocol):
    """A response whose head has come: it iterates over the chunks of its body.

    Attributes:
        head: Status and headers.

    Raises:
        TransportError: Reading failed. Iteration is over then.
        StreamTruncated: The connection was closed before the body was complete.
        TurnInterrupted: The interrupt of the request was set.
    """

    head: ResponseHead

    def close(self, *, reuse: bool = False) -> None:
        """Release the connection. Idempotent, and it never waits.

        Args:
            reuse: The caller saw the end of the stream, though perhaps not that of the body: keep the connection for
                the next request where that is possible. False closes it.
        """
        ...


class Transport(Protocol):
    """Sends requests, one per thread at a time."""

    def send(self, request: HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Response:
        """Send a request and wait for the head of its response, whatever its status.

        Args:
            request: The request.
            timeouts: How long to wait; `total` also bounds the reads of the response.
            interrupt: Ends this call, or any later read of the response, from outside.

        Raises:
            TransportError: No response came.
            TurnInterrupted: The interrupt was set.
        """
        ...


class AsyncResponse(AsyncIterable[bytes], Protocol):
    """A response whose head has come: it iterates asynchronously over the chunks of its body.

    A cancelled read leaves no task behind; the response is closed by `abort` or `aclose` afterwards.

    Attributes:
        head: Status and headers.

    Raises:
        TransportError: Reading failed. Iteration is over then.
        StreamTruncated: The connection was closed before the body was complete.
    """

    head: ResponseHead

    def __anext__(self) -> Awaitable[bytes]:
        """The next chunk; `StopAsyncIteration` where the body is complete."""
        ...

    async def aclose(self, *, reuse: bool = False) -> None:
        """Release the connection. Idempotent; it waits for no peer. `reuse` is as in `Response.close`."""
        ...

    def abort(self) -> None:
        """Drop the connection at once, without awaiting anything. `aclose` may follow."""
        ...


class AsyncTransport(Protocol):
    """Sends requests from tasks, any number at a time. Cancellation ends a call: there is no other interrupt."""

    async def send(self, request: HTTPRequest, *, timeouts: Timeouts) -> AsyncResponse:
        """Send a request and wait for the head of its response, whatever its status.

        Args:
            request: The request.
            timeouts: How long to wait; `total` also bounds the reads of the response.

        Raises:
            TransportError: No response came.
        """
        ...


def close_source(source: object) -> None:
    """Close a source of chunks that can be closed, such as a generator. Its errors tell nobody anything any more."""
    close = getattr(source, "close", None)
    if close is not None:
        with suppress(Exception):
            close()


class ChunkResponse(Iterator[bytes]):
    """A ready `Response` over chunks from anywhere, for transports of a few lines and for tests.

    Args:
        head: Status and headers.
        chunks: The chunks of the body. A generator is closed with the response.
        close: Releases the connection; called once. What it raises is dropped: the answer is there, or the error is.
    """

    def __init__(self, head: ResponseHead, chunks: Iterable[bytes], close: Callable[[], object] | None = None) -> None:
        self.head = head
        self._chunks: Iterator[bytes] = iter(chunks)
        self._close = close

    def __iter__(self) -> Iterator[bytes]:
        # The iterator itself: a loop over the response then costs no call of ours per chunk.
        return self._chunks

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self, *, reuse: bool = False) -> None:
        """Release the source of the chunks. Calling it again does nothing; `reuse` makes no difference."""
        close, self._close = self._close, None
        chunks, self._chunks = self._chunks, iter(())
        if close is not None:
            with suppress(Exception):
                close()
        close_source(chunks)


class AsyncChunkResponse(AsyncIterator[bytes]):
    """A ready `AsyncResponse` over chunks from anywhere.

    Args:
        head: Status and headers.
        chunks: The chunks of the body. An asynchronous generator is closed with the response.
        aclose: Releases the connection; awaited once. What it raises is dropped.
        abort: Drops the connection without waiting, where there is a way.
    """

    def __init__(
        self,
        head: ResponseHead,
        chunks: AsyncIterable[bytes],
        aclose: Callable[[], Awaitable[object]] | None = None,
        abort: Callable[[], object] | None = None,
    ) -> None:
        self.head = head
        self._chunks: Any = aiter(chunks)
        self._aclose = aclose
        self._abort = abort

    def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: AsyncIterator[bytes] = self._chunks
        return chunks

    async def __anext__(self) -> bytes:
        chunk: bytes = await anext(self._chunks)
        return chunk

    async def aclose(self, *, reuse: bool = False) -> None:
        """Release the source of the chunks. Calling it again does nothing; `reuse` makes no difference."""
        aclose, self._aclose = self._aclose, None
        try:
            if aclose is not None:
                with suppress(Exception):
                    await aclose()
        finally:
            close = getattr(self._chunks, "aclose", None)
            if close is not None:
                with suppress(Exception):
                    await close()

    def abort(self) -> None:
        """Drop the connection at once, where the source has a way; `aclose` does the rest."""
        if self._abort is not None:
            with suppress(Exception):
                self._abort()
