"""Every way to stream over HTTP that must keep the contract. A new transport is one line in `ADAPTERS`."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import httpcore
import httpcore2
import httpx
import httpx2
import requests
import urllib3
from tests.contract.driver import Adapter, asynchronous, blocking
from tests.contract.httpcore_transports import async_transport_session, transport_session

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_http import AsyncEventStream, EventStream, Interrupt, Timeouts, afrom_response, from_response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from tests.contract.driver import AsyncOpen, AsyncSession, Open, Session

SECRET = "sk-harbour-4711"
HEADERS = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
BODY = b'{"stream": true}'


def streaming(client: Callable[..., Any], **options: Any) -> Session:
    """A session of httpx or of what has its shape."""

    @contextmanager
    def session(timeout: float) -> Iterator[Open]:
        with client(timeout=timeout, headers=HEADERS, **options) as made:

            @contextmanager
            def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
                with made.stream("POST", url, content=BODY) as response:
                    yield from_response(response, protocol, **decoding)

            yield open_stream

    return session


def async_streaming(client: Callable[..., Any], **options: Any) -> AsyncSession:
    """The same for asynchronous clients."""

    @asynccontextmanager
    async def session(timeout: float) -> AsyncIterator[AsyncOpen]:
        async with client(timeout=timeout, headers=HEADERS, **options) as made:

            @asynccontextmanager
            async def open_stream(url: str, protocol: str, **decoding: Any) -> AsyncIterator[AsyncEventStream]:
                async with made.stream("POST", url, content=BODY) as response:
                    yield afrom_response(response, protocol, **decoding)

            yield open_stream

    return session


def pooled(pool: Callable[..., Any]) -> Session:
    """A session of httpcore."""

    @contextmanager
    def session(timeout: float) -> Iterator[Open]:
        with pool() as made:

            @contextmanager
            def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
                limits = {"timeout": {"read": timeout}}
                with made.stream("POST", url, content=BODY, headers=HEADERS, extensions=limits) as response:
                    yield from_response(response, protocol, **decoding)

            yield open_stream

    return session


def async_pooled(pool: Callable[..., Any]) -> AsyncSession:
    """The same for asynchronous pools."""

    @asynccontextmanager
    async def session(timeout: float) -> AsyncIterator[AsyncOpen]:
        async with pool() as made:

            @asynccontextmanager
            async def open_stream(url: str, protocol: str, **decoding: Any) -> AsyncIterator[AsyncEventStream]:
                limits = {"timeout": {"read": timeout}}
                async with made.stream("POST", url, content=BODY, headers=HEADERS, extensions=limits) as response:
                    yield afrom_response(response, protocol, **decoding)

            yield open_stream

    return session


@contextmanager
def requests_session(timeout: float) -> Iterator[Open]:
    """A session of requests."""
    with requests.Session() as made:
        made.trust_env = False

        @contextmanager
        def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
            with made.post(
                url, data=BODY, headers=HEADERS, stream=True, timeout=timeout, allow_redirects=False
            ) as response:
                yield from_response(response, protocol, **decoding)

        yield open_stream


@contextmanager
def urllib3_session(timeout: float) -> Iterator[Open]:
    """A pool manager of urllib3."""
    with urllib3.PoolManager(retries=False, timeout=timeout) as made:

        @contextmanager
        def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
            response = made.request("POST", url, body=BODY, headers=HEADERS, preload_content=False, redirect=False)
            with from_response(response, protocol, **decoding) as stream:
                yield stream

        yield open_stream


@contextmanager
def http_client_session(timeout: float) -> Iterator[Open]:
    """A connection of http.client for each request."""

    @contextmanager
    def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = HTTPConnection(parts.netloc, timeout=timeout)
        try:
            # Only then the response has the socket for itself and closes it.
            connection.request("POST", target, BODY, HEADERS | {"Connection": "close"})
            with from_response(connection.getresponse(), protocol, **decoding) as stream:
                yield stream
        finally:
            connection.close()

    yield open_stream


@asynccontextmanager
async def aiohttp_session(timeout: float) -> AsyncIterator[AsyncOpen]:
    """A session of aiohttp."""
    limits = aiohttp.ClientTimeout(total=None, sock_read=timeout)
    async with aiohttp.ClientSession(headers=HEADERS, timeout=limits) as made:

        @asynccontextmanager
        async def open_stream(url: str, protocol: str, **decoding: Any) -> AsyncIterator[AsyncEventStream]:
            async with made.post(url, data=BODY, allow_redirects=False) as response:
                yield afrom_response(response, protocol, **decoding)

        yield open_stream


@contextmanager
def threads_session(timeout: float) -> Iterator[Open]:
    """The transport of tokwire_threads, a new one for each request: it would keep the connections."""

    @contextmanager
    def open_stream(url: str, protocol: str, **decoding: Any) -> Iterator[EventStream]:
        request, interrupt = tokwire.HTTPRequest("POST", url, tuple(HEADERS.items()), BODY), Interrupt()
        with tokwire_threads.SocketTransport() as transport:
            response = transport.send(request, timeouts=Timeouts(idle=timeout), interrupt=interrupt)
        decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, **decoding))
        with EventStream(response, decoder, interrupt=interrupt) as stream:
            yield stream

    yield open_stream


@asynccontextmanager
async def asyncio_session(timeout: float) -> AsyncIterator[AsyncOpen]:
    """The transport of tokwire_asyncio, a new one for each request."""

    @asynccontextmanager
    async def open_stream(url: str, protocol: str, **decoding: Any) -> AsyncIterator[AsyncEventStream]:
        request = tokwire.HTTPRequest("POST", url, tuple(HEADERS.items()), BODY)
        with tokwire_asyncio.SocketTransport() as transport:
            response = await transport.send(request, timeouts=Timeouts(idle=timeout))
        decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, **decoding))
        async with AsyncEventStream(response, decoder) as stream:
            yield stream

    yield open_stream


ADAPTERS: list[Adapter] = [
    blocking("threads", threads_session),
    asynchronous("asyncio", asyncio_session),
    blocking("httpcore-transport", transport_session(HEADERS, BODY)),
    asynchronous("httpcore-transport-async", async_transport_session(HEADERS, BODY)),
    blocking("httpx", streaming(httpx.Client, verify=False, trust_env=False)),
    blocking("httpx2", streaming(httpx2.Client, verify=False, trust_env=False)),
    blocking("requests", requests_session),
    blocking("urllib3", urllib3_session),
    blocking("http.client", http_client_session),
    blocking("httpcore", pooled(httpcore.ConnectionPool)),
    blocking("httpcore2", pooled(httpcore2.ConnectionPool)),
    asynchronous("httpx-async", async_streaming(httpx.AsyncClient, verify=False, trust_env=False)),
    asynchronous("httpx2-async", async_streaming(httpx2.AsyncClient, verify=False, trust_env=False)),
    asynchronous("httpcore-async", async_pooled(httpcore.AsyncConnectionPool)),
    asynchronous("httpcore2-async", async_pooled(httpcore2.AsyncConnectionPool)),
    # Its reader raises a stored error before it hands out what was received, and its parser reads ahead.
    asynchronous("aiohttp", aiohttp_session, keeps_bytes=False, bears_garbage=False),
]
