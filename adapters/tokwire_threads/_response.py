"""The responses: one that has begun, and one that begins when it is first read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tokwire

if TYPE_CHECKING:
    from tokwire_http import Response

    from ._connection import Connection
    from ._waiting import Waiting

__all__ = ["PendingResponse", "SocketResponse"]


class SocketResponse(Iterator[bytes]):
    """A response whose head has come; it iterates over the chunks of its body.

    Args:
        connection: The connection on which it comes; it belongs to the response until that is closed.
        head: Status and headers.
        waiting: How long to wait for each chunk, and for the last one.
        keep: Takes the connection for another request, or drops it.
    """

    def __init__(
        self, connection: Connection, head: tokwire.ResponseHead, waiting: Waiting, keep: Callable[[Connection], None]
    ) -> None:
        self.head = head
        self._connection: Connection | None = connection
        self._waiting = waiting
        self._keep = keep

    def __next__(self) -> bytes:
        connection = self._connection
        if connection is None:
            raise StopIteration
        channel = connection.channel
        try:
            while True:
                chunk = channel.next_chunk()
                if chunk is not None:
                    return chunk
                if channel.is_ended:
                    break
                connection.move(self._waiting)
        except BaseException:
            self.close()
            raise
        self.close(reuse=True)
        raise StopIteration

    def close(self, *, reuse: bool = False) -> None:
        """Give the connection back where it may be used again and `reuse` is true, else close it. It never waits."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        self._waiting.watch(None)
        if reuse:
            self._keep(connection)
        else:
            connection.abort()

    def __repr__(self) -> str:
        return f"<SocketResponse status={self.head.status}>"


class PendingResponse(Iterator[bytes]):
    """A response whose request is sent once its head or its body is asked for.

    Args:
        send: Sends the request and waits for the head. Called once at most.

    Attributes:
        head: Status and headers; the request is sent where that was not done.

    Raises:
        TransportError: No response came. Raised again by every later use.
        TurnInterrupted: The stream was interrupted before one came.
        LocalProtocolError: The stream was closed before.
    """

    head: tokwire.ResponseHead

    def __init__(self, send: Callable[[], Response]) -> None:
        self._send: Callable[[], Response] | None = send
        self._response: Response | None = None
        self._error: BaseException = tokwire.LocalProtocolError("the stream was closed before its request was sent")

    def __getattr__(self, name: str) -> Any:
        if name != "head":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.head = self._begin().head
        return self.head

    def __iter__(self) -> Iterator[bytes]:
        return self._begin()

    def __next__(self) -> bytes:
        return next(self._begin())

    def close(self, *, reuse: bool = False) -> None:
        """Close the response where there is one. The request is not sent any more."""
        self._send = None
        if self._response is not None:
            self._response.close(reuse=reuse)

    @property
    def has_begun(self) -> bool:
        """Whether a response came."""
        return self._response is not None

    def _begin(self) -> Response:
        send, self._send = self._send, None
        if send is not None:
            try:
                self._response = send()
            except BaseException as error:
                self._error = error
                raise
        if self._response is None:
            raise self._error.with_traceback(None)
        return self._response
