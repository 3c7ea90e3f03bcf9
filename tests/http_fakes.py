"""Responses that are scripted: chunks, errors and what happened to the response, for streams of both kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from tests.support import DONE, chunk

import tokwire

HEAD = tokwire.ResponseHead(200, (("content-type", "text/event-stream"),))
ONE, TWO = chunk({"content": "one"}), chunk({"content": "two"})
STOP = chunk({}, "stop")
EVENTS = [
    tokwire.Block(tokwire.TextBlock("one")),
    tokwire.Block(tokwire.TextBlock("two")),
    tokwire.Finish(tokwire.FinishReason.STOP),
]
WHOLE = [ONE, TWO, STOP, DONE]

Step = bytes | BaseException | Callable[[], object]


class ReadTooFarError(BaseException):
    """Somebody read behind the end marker. Not an `Exception`: that would count as a failure of the client."""


class Script(Iterator[bytes]):
    """A `Response` that hands out chunks, raises errors and calls functions, in order.

    Attributes:
        head: Status and headers.
        closed: The `reuse` of every call of `close`.
        taken: How many chunks were handed out.
    """

    def __init__(self, *steps: Step, head: tokwire.ResponseHead = HEAD) -> None:
        self.head = head
        self.closed: list[bool] = []
        self.taken = 0
        self._steps = list(steps)

    def __next__(self) -> bytes:
        while self._steps:
            step = self._steps.pop(0)
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, bytes):
                self.taken += 1
                return step
            step()
        raise StopIteration

    def close(self, *, reuse: bool = False) -> None:
        """Note the call."""
        self.closed.append(reuse)


class AsyncScript(AsyncIterator[bytes]):
    """The same as an `AsyncResponse`.

    Attributes:
        aborted: How often `abort` was called.
    """

    def __init__(self, *steps: Step, head: tokwire.ResponseHead = HEAD) -> None:
        self._script = Script(*steps, head=head)
        self.head = head
        self.closed = self._script.closed
        self.aborted = 0

    @property
    def taken(self) -> int:
        """How many chunks were handed out."""
        return self._script.taken

    async def __anext__(self) -> bytes:
        try:
            return next(self._script)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self, *, reuse: bool = False) -> None:
        """Note the call."""
        self._script.close(reuse=reuse)

    def abort(self) -> None:
        """Count the call."""
        self.aborted += 1


def decoder(protocol: str = "openai-chat") -> tokwire.ResponseDecoder:
    """A fresh one."""
    return tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol))


def text_of(events: Sequence[tokwire.StreamEvent]) -> str:
    """The joined text."""
    return "".join(event.as_text() or "" for event in events)
