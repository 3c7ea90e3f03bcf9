"""`AsyncEventStream`: the events of one response for `async for`.

It is an object, not an asynchronous generator: whoever leaves a loop early closes it with `async with` or `aclose`, and
nothing is left for the garbage collector to finish in another task.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import tokwire

from ._failure import last_events
from ._task_interrupt import TaskInterrupt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import TracebackType

    from ._transport import AsyncResponse

__all__ = ["AsyncEventStream"]

OPEN, DONE = tokwire.StreamState.OPEN, tokwire.StreamState.DONE
NOTHING: Iterator[tokwire.StreamEvent] = iter(())


class AsyncEventStream:
    """The events of one response: an asynchronous iterator, and an asynchronous context manager.

    It reads only while an event is asked for, and no further than the end marker of the stream. The response is closed
    at the end, on every error, on cancellation, by `aclose` and at the end of the `async with` block. After an error
    every further iteration raises the same error. It belongs to one task at a time; `interrupt` alone may be called
    from elsewhere.

    Args:
        response: The response; the stream owns it from now on.
        decoder: A fresh decoder. It gets the head of the response with the first chunk, unless it has one.

    Raises (from iteration):
        APIError: The server said no, by its status or in the stream.
        RemoteProtocolError: The response cannot be decoded, or was cut (`StreamTruncated`).
        TransportError: The connection failed.
        TurnInterrupted: `interrupt` was called.
    """

    def __init__(self, response: AsyncResponse, decoder: tokwire.ResponseDecoder) -> None:
        self._response = response
        self._decoder = decoder
        self._chunks: AsyncIterator[bytes] = aiter(response)
        self._ready = NOTHING
        self._receive: Callable[[bytes], None] | None = None
        self._is_over = self._is_closed = False
        self._error: tokwire.TokwireError | None = None
        self._interrupt = TaskInterrupt()
        self._current_task: Callable[[], Any] | None = None

    @property
    def head(self) -> tokwire.ResponseHead:
        """Status and headers of the response, with the request id and the rate limits."""
        return self._response.head

    @property
    def summary(self) -> tokwire.StreamSummary:
        """What is known of the stream beside its events, as of now."""
        return self._decoder.summary

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tokwire.StreamEvent:
        interrupt = self._interrupt
        try:
            while True:
                for event in self._ready:
                    return event
                if self._is_over or self._decoder.state is not OPEN:
                    break
                current_task = self._current_task or self._find_current_task()
                may_wait = interrupt.begin(current_task())
                try:
                    if not may_wait:
                        raise tokwire.TurnInterrupted("the stream was interrupted")  # noqa: TRY301 - as by a read
                    chunk = await anext(self._chunks)
                except StopAsyncIteration:
                    self._end(None)
                except Exception as error:  # noqa: BLE001 - whatever a client raises, it means that the body was cut
                    self._end(error)
                else:
                    receive = self._receive or self._begin()
                    receive(chunk)
                    self._ready = self._decoder.events()
                interrupt.end()
        except GeneratorExit:  # nothing may be awaited any more
            interrupt.end()
            self._is_over = True
            self._response.abort()
            raise
        except BaseException as error:
            await self._fail(error)
            raise
        await self.aclose()
        if self._error is not None:
            raise self._error.with_traceback(None)
        raise StopAsyncIteration

    def interrupt(self) -> None:
        """End the stream: whoever iterates gets `TurnInterrupted`, and a read that waits is woken at once.

        Call it from any task, thread or signal handler. Where the loop is not that of asyncio, it takes effect with the
        next chunk.
        """
        self._interrupt.set()

    async def aclose(self) -> None:
        """Close the response; iteration is over then. Calling it again does nothing."""
        self._is_over = True
        self._ready = NOTHING
        if not self._is_closed:
            self._is_closed = True
            await self._response.aclose(reuse=self._decoder.state is DONE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AsyncEventStream status={self.head.status} {self._decoder.state.name}>"

    def _begin(self) -> Callable[[bytes], None]:
        # Not before the first chunk: only then the head of some clients tells the content coding.
        if self._decoder.head is None:
            self._decoder.receive_head(self._response.head)
        self._receive = self._decoder.receive_data
        return self._receive

    def _find_current_task(self) -> Callable[[], Any]:
        """The function that tells the running task; one that knows none where another library drives the coroutine."""
        # A program without tasks need not pay for the import of asyncio: where nobody imported it, there is no task.
        asyncio = sys.modules.get("asyncio")
        self._current_task = no_task
        if asyncio is not None:
            with suppress(RuntimeError):  # no event loop of asyncio runs
                # With its loop it takes half the time on Python 3.11, and it is called for every chunk.
                self._current_task = partial(asyncio.current_task, asyncio.get_running_loop())
        return self._current_task

    def _end(self, failure: Exception | None) -> None:
        """The body is over, or its source failed: what is left is decoded."""
        if failure is not None and self._interrupt.is_set:
            failure = tokwire.TurnInterrupted("the stream was interrupted")
        self._is_over = True
        self._begin()
        self._ready = last_events(self._decoder, failure, bare="total")

    async def _fail(self, error: BaseException) -> None:
        """Close the response after an error or a cancellation, and tell our own cancellation from that of others."""
        is_interrupted = self._interrupt.end()
        if isinstance(error, tokwire.TokwireError):
            self._error = error
        self._response.abort()
        await self.aclose()
        if is_interrupted and type(error).__name__ == "CancelledError":
            self._error = tokwire.TurnInterrupted("the stream was interrupted")
            raise self._error from None


def no_task() -> None:
    """Stands for `asyncio.current_task` where asyncio does not run."""
