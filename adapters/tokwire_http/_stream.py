"""`EventStream`: the events of one response, read while they are asked for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Self

import tokwire

from ._failure import last_events
from ._timeouts import Interrupt

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import TracebackType

    from ._transport import Response

__all__ = ["EventStream"]

OPEN, DONE = tokwire.StreamState.OPEN, tokwire.StreamState.DONE


class EventStream:
    """The events of one response: an iterator, and a context manager that releases the connection.

    It reads only while an event is asked for, and no further than the end marker of the stream. The response is closed
    at the end, on every error, by `close`, at the end of the `with` block, and when the stream or the loop over it is
    dropped. After an error every further iteration raises the same error.

    It belongs to one thread at a time; `interrupt` alone may be called from others.

    Args:
        response: The response; the stream owns it from now on.
        decoder: A fresh decoder. It gets the head of the response, unless it has one.
        interrupt: The one that the transport was given with the request. Without it, `interrupt` cannot wake a read
            that waits and takes effect with the next chunk.

    Raises (from iteration):
        APIError: The server said no, by its status or in the stream.
        RemoteProtocolError: The response cannot be decoded, or was cut (`StreamTruncated`).
        TransportError: The connection failed.
        TurnInterrupted: `interrupt` was called.
    """

    def __init__(
        self, response: Response, decoder: tokwire.ResponseDecoder, *, interrupt: Interrupt | None = None
    ) -> None:
        self._run = Run(response, decoder, interrupt or Interrupt())
        # The generator knows the run and not this object: dropped in the middle of a loop, it closes the response at
        # once, without waiting for the garbage collector to find a cycle.
        self._events = generate(self._run)

    @property
    def head(self) -> tokwire.ResponseHead:
        """Status and headers of the response, with the request id and the rate limits."""
        return self._run.response.head

    @property
    def summary(self) -> tokwire.StreamSummary:
        """What is known of the stream beside its events, as of now."""
        return self._run.decoder.summary

    def __iter__(self) -> Iterator[tokwire.StreamEvent]:
        self._run.raise_again()
        return self._events

    def __next__(self) -> tokwire.StreamEvent:
        for event in self._events:
            return event
        self._run.raise_again()
        raise StopIteration

    def interrupt(self) -> None:
        """End the stream from any thread or signal handler: whoever iterates gets `TurnInterrupted`."""
        self._run.interrupt.set()

    def close(self) -> None:
        """Close the response; iteration is over then. Calling it again does nothing."""
        self._run.close()
        with suppress(ValueError):  # another thread is inside it; its read fails, since the response is closed
            self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<EventStream status={self.head.status} {self._run.decoder.state.name}>"


class Run:
    """What a stream and its generator share."""

    __slots__ = ("decoder", "error", "interrupt", "response")

    def __init__(self, response: Response, decoder: tokwire.ResponseDecoder, interrupt: Interrupt) -> None:
        self.response = response
        self.decoder = decoder
        self.interrupt = interrupt
        self.error: tokwire.TokwireError | None = None

    def close(self) -> None:
        """Close the response, with its connection kept where the stream came to its end."""
        self.response.close(reuse=self.decoder.state is DONE)

    def raise_again(self) -> None:
        """Raise the error in which the stream ended, where it did."""
        if self.error is not None:
            raise self.error.with_traceback(None)


def generate(run: Run) -> Generator[tokwire.StreamEvent]:
    """The events of a response, which is closed however this ends."""
    decoder, interrupt = run.decoder, run.interrupt
    failure: Exception | None = None
    try:
        if decoder.head is None:
            decoder.receive_head(run.response.head)
        chunks = iter(run.response)
        receive, events = decoder.receive_data, decoder.events
        while True:
            try:
                chunk = next(chunks, None)
            except Exception as error:  # noqa: BLE001 - whatever a client raises, it means that the body was cut
                failure = error
                chunk = None
            if interrupt.is_set:
                raise tokwire.TurnInterrupted("the stream was interrupted") from None
            if chunk is None:
                break
            receive(chunk)
            yield from events()
            if decoder.state is not OPEN:
                return
        yield from last_events(decoder, failure, bare="idle")
    except tokwire.TokwireError as error:
        run.error = error
        raise
    finally:
        run.close()
