"""One way to ask the transports of `tokwire_httpcore`: blocking and asynchronous, on both generations of httpcore."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpcore
import httpcore2
from tests.sockets import PATIENT, Answer, Ask, request_to, settled

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_httpcore import AsyncTransport, Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tokwire_http import Timeouts


def transport_on(core: Any, **options: Any) -> Transport:
    """A transport with a pool of its own, as where only this httpcore is installed."""
    with patch("tokwire_httpcore._transport.installed_core", return_value=core):
        return Transport(**options)


def async_transport_on(core: Any, **options: Any) -> AsyncTransport:
    """The asynchronous twin."""
    with patch("tokwire_httpcore._async_transport.installed_core", return_value=core):
        return AsyncTransport(**options)


def ask_blocking(transport: Transport, url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT) -> Answer:
    """Send a request and read the response to its end."""
    events: list[tokwire.StreamEvent] = []
    error: BaseException | None = None
    stream = tokwire_threads.stream(request_to(url, body), "openai-chat", transport=transport, timeouts=timeouts)
    with stream:
        try:
            events.extend(stream)
        except tokwire.TokwireError as failure:
            error = failure
        return Answer(events, error, repr(stream))


async def ask_async(
    transport: AsyncTransport, url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT
) -> Answer:
    """Send a request and read the response to its end."""
    events: list[tokwire.StreamEvent] = []
    error: BaseException | None = None
    stream = tokwire_asyncio.stream(request_to(url, body), "openai-chat", transport=transport, timeouts=timeouts)
    async with stream:
        try:
            async for event in stream:
                events.append(event)  # noqa: PERF401 - what came before an error is kept
        except tokwire.TokwireError as failure:
            error = failure
        return Answer(events, error, repr(stream))


@contextmanager
def blocking(core: Any, **options: Any) -> Iterator[Ask]:
    """Asks with a `Transport`."""
    with transport_on(core, **options) as transport:
        yield partial(ask_blocking, transport)


@contextmanager
def asynchronous(core: Any, **options: Any) -> Iterator[Ask]:
    """Asks with an `AsyncTransport`. Between two requests its event loop stands still."""

    async def close() -> None:
        await transport.aclose()
        await settled()

    with asyncio.Runner(debug=True) as runner:
        transport = async_transport_on(core, **options)

        def ask(url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT) -> Answer:
            return runner.run(ask_async(transport, url, body=body, timeouts=timeouts))

        yield ask
        runner.run(close())


CORES = {"httpcore": httpcore, "httpcore2": httpcore2}
SESSIONS: dict[str, Callable[..., AbstractContextManager[Ask]]] = {
    "httpcore": partial(blocking, httpcore),
    "httpcore2": partial(blocking, httpcore2),
    "httpcore-async": partial(asynchronous, httpcore),
    "httpcore2-async": partial(asynchronous, httpcore2),
}
