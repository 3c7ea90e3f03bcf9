"""The responses: one that has begun, and one that begins when it is first read."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import tokwire

if TYPE_CHECKING:
    from tokwire_http import AsyncResponse
    from tokwire_http._deadlines import Deadlines

    from ._connection import Connection

__all__ = ["PendingResponse", "SocketResponse"]


class SocketResponse(AsyncIterator[bytes]):
    """A response whose head has come; it iterates over the chunks of its body.

    Args:
        connection: The connection on which it comes; it belongs to the response until that is closed.
        head: Status and headers.
        deadlines: How long to wait for each chunk, and for the last one.
        keep: Takes the connection for another request, or drops it.
    """

    def __init__(
        self,
        connection: Connection,
        head: tokwire.ResponseHead,
        deadlines: Deadlines,
        keep: Callable[[Connection], None],
    ) -> None:
        self.head = head
        self._connection: Connection | None = connection
        self._deadlines = deadlines
        self._keep = keep

    async def __anext__(self) -> bytes:
        connection = self._connection
        if connection is None:
            raise StopAsyncIteration
        channel = connection.channel
        try:
            while True:
                chunk = channel.next_chunk()
                if chunk is not None:
                    return chunk
                if channel.is_ended:
                    break
                await connection.move(self._deadlines)
        except BaseException:
            self.abort()
            raise
        await self.aclose(reuse=True)
        raise StopAsyncIteration

    async def aclose(self, *, reuse: bool = False) -> None:
        """Give the connection back where it may be used again and `reuse` is true, else drop it. It never waits."""
        if not reuse or self._connection is None:
            self.abort()
            return
        connection, self._connection = self._connection, None
        connection.rest()
        self._keep(connection)

    def abort(self) -> None:
        """Drop the connection at once. Calling it again does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()

    def __del__(self) -> None:
        # The event loop knows the connection and would keep it open for ever.
        if self._connection is not None:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            self._connection.drop()

    def __repr__(self) -> str:
        return f"<SocketResponse status={self.head.status}>"


class PendingResponse(AsyncIterator[bytes]):
    """A response whose request is sent once its body is asked for.

    Args:
        send: Sends the request and waits for the head. Called once at most.

    Attributes:
        head: Status and headers, from the first chunk on.

    Raises:
        LocalProtocolError: The head was asked for too early, or the stream was closed before.
        TransportError: No response came. Raised again by every later use.
    """

    head: tokwire.ResponseHead

    def __init__(self, send: Callable[[], Awaitable[AsyncResponse]]) -> None:
        self._send: Callable[[], Awaitable[AsyncResponse]] | None = send
        self._response: AsyncResponse | None = None
        self._error: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        if name != "head":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise self._reason()

    @property
    def has_begun(self) -> bool:
        """Whether a response came."""
        return self._response is not None

    async def __anext__(self) -> bytes:
        response = self._response
        if response is None:
            send, self._send = self._send, None
            if send is None:
                raise self._reason()
            try:
                response = self._response = await send()
            except BaseException as error:
                self._error = error
                raise
            self.head = response.head
        return await anext(response)

    async def aclose(self, *, reuse: bool = False) -> None:
        """Close the response where there is one. The request is not sent any more."""
        self._send = None
        if self._response is not None:
            await self._response.aclose(reuse=reuse)

    def abort(self) -> None:
        """Drop the connection at once. The request is not sent any more."""
        self._send = None
        if self._response is not None:
            self._response.abort()

    def _reason(self) -> BaseException:
        """Why there is no response."""
        if self._error is not None:
            return self._error.with_traceback(None)
        if self._send is None:
            return tokwire.LocalProtocolError("the stream was closed before its request was sent")
        return tokwire.LocalProtocolError(
            "there is no response yet; the request is sent with the first event asked for"
        )
