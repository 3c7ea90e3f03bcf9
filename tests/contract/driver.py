"""Drives a stream of any adapter through one scenario, blocking or asynchronous, and says what a consumer saw."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import NamedTuple

import tokwire
from tokwire_http import AsyncEventStream, EventStream

Open = Callable[..., AbstractContextManager[EventStream]]
AsyncOpen = Callable[..., AbstractAsyncContextManager[AsyncEventStream]]
Session = Callable[[float], AbstractContextManager[Open]]
AsyncSession = Callable[[float], AbstractAsyncContextManager[AsyncOpen]]


class Seen(NamedTuple):
    """What a consumer saw of a response."""

    events: list[tokwire.StreamEvent]
    error: tokwire.TokwireError | None
    summary: tokwire.StreamSummary
    head: tokwire.ResponseHead
    shown: str

    @property
    def text(self) -> str:
        """The joined text of the answer."""
        return "".join(event.as_text() or "" for event in self.events)


class Ask(NamedTuple):
    """One request, and what happens while its response is read.

    Attributes:
        url: Where it goes.
        protocol: What the server speaks.
        options: Those of the decoder.
        leave_after: Close the stream once so many events came, or None to read to its end.
        at_event: Called once so many events came, before the next one is asked for.
        at_the_end: Called when the stream is closed and its client is not yet.
    """

    url: str
    protocol: str = "openai-chat"
    options: tokwire.DecoderOptions | None = None
    leave_after: int | None = None
    at_event: tuple[int, Callable[[], object]] | None = None
    at_the_end: Callable[[], object] = bool


class Adapter(NamedTuple):
    """A way to stream over HTTP.

    Attributes:
        name: What the test cases are called.
        run: Makes one client, sends the requests one after the other, and tells what was seen of each.
        keeps_bytes: Bytes that come together with a reset reach the decoder.
        bears_garbage: Bytes behind a response do not make the client refuse the response.
    """

    name: str
    run: Callable[..., list[Seen]]
    keeps_bytes: bool = True
    bears_garbage: bool = True


def blocking(name: str, session: Session, *, keeps_bytes: bool = True, bears_garbage: bool = True) -> Adapter:
    """An adapter for threads. The session is a context manager around `open(url, protocol, **options)`."""

    def run(*asks: Ask, timeout: float = 10.0) -> list[Seen]:
        with session(timeout) as open_stream:
            return [see(open_stream, ask) for ask in asks]

    return Adapter(name, run, keeps_bytes, bears_garbage)


def asynchronous(name: str, session: AsyncSession, *, keeps_bytes: bool = True, bears_garbage: bool = True) -> Adapter:
    """An adapter for tasks."""

    async def run_all(asks: tuple[Ask, ...], timeout: float) -> list[Seen]:
        async with session(timeout) as open_stream:
            seen = [await async_see(open_stream, ask) for ask in asks]
        # What a client leaves to the event loop when one of its own generators is dropped ends by itself at once.
        for _ in range(20):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return seen

    def run(*asks: Ask, timeout: float = 10.0) -> list[Seen]:
        return asyncio.run(run_all(asks, timeout))

    return Adapter(name, run, keeps_bytes, bears_garbage)


def see(open_stream: Open, ask: Ask) -> Seen:
    """Read one response."""
    events: list[tokwire.StreamEvent] = []
    failure: tokwire.TokwireError | None = None
    with open_stream(ask.url, ask.protocol, **(ask.options or {})) as stream:
        try:
            while len(events) != ask.leave_after:
                if ask.at_event is not None and len(events) == ask.at_event[0]:
                    ask.at_event[1]()
                events.append(next(stream))
        except StopIteration:
            pass
        except tokwire.TokwireError as error:
            failure = error
        stream.close()
        ask.at_the_end()
        return Seen(events, failure, stream.summary, stream.head, repr(stream))


async def async_see(open_stream: AsyncOpen, ask: Ask) -> Seen:
    """Read one response."""
    events: list[tokwire.StreamEvent] = []
    failure: tokwire.TokwireError | None = None
    async with open_stream(ask.url, ask.protocol, **(ask.options or {})) as stream:
        try:
            while len(events) != ask.leave_after:
                if ask.at_event is not None and len(events) == ask.at_event[0]:
                    ask.at_event[1]()
                events.append(await anext(stream))
        except StopAsyncIteration:
            pass
        except tokwire.TokwireError as error:
            failure = error
        await stream.aclose()
        await asyncio.to_thread(ask.at_the_end)
        return Seen(events, failure, stream.summary, stream.head, repr(stream))
