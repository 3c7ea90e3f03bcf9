"""Sessions over the transports of `tokwire_httpcore`, for the contract. A connection serves one request each."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import tokwire
from tokwire_http import (
    AsyncChunkResponse,
    AsyncEventStream,
    ChunkResponse,
    EventStream,
    Interrupt,
    Timeouts,
)
from tokwire_httpcore import AsyncTransport, Transport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.contract.driver import AsyncOpen, AsyncSession, Open, Session


def transport_session(headers: dict[str, str], body: bytes) -> Session:
    """A session over the blocking transport."""

    @contextmanager
    def session(timeout: float) -> Iterator[Open]:
        with Transport() as transport:

            @contextmanager
            def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
                request, interrupt = tokwire.HTTPRequest("POST", url, tuple(headers.items()), body), Interrupt()
                response = transport.send(request, timeouts=Timeouts(idle=timeout), interrupt=interrupt)
                decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, **decoding))
                unkept = ChunkResponse(response.head, response, response.close)
                with EventStream(unkept, decoder, interrupt=interrupt) as stream:
                    yield stream

            yield open_stream

    return session


def async_transport_session(headers: dict[str, str], body: bytes) -> AsyncSession:
    """The same for the asynchronous one."""

    @asynccontextmanager
    async def session(timeout: float) -> AsyncIterator[AsyncOpen]:
        async with AsyncTransport() as transport:

            @asynccontextmanager
            async def open_stream(url: str, protocol: str, **decoding: Any) -> AsyncIterator[AsyncEventStream]:
                request = tokwire.HTTPRequest("POST", url, tuple(headers.items()), body)
                response = await transport.send(request, timeouts=Timeouts(idle=timeout))
                decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, **decoding))
                unkept = AsyncChunkResponse(response.head, response, response.aclose, response.abort)
                async with AsyncEventStream(unkept, decoder) as stream:
                    yield stream

            yield open_stream

    return session
