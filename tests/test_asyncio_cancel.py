"""Cancellation of the asyncio transport: at every await of a request it leaves no task, no socket and no warning."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.sockets import (
    BEGIN,
    HOST,
    PATIENT,
    STREAM,
    chunked,
    client_context,
    deaf,
    open_files,
    read_request,
    request_to,
    scripted,
    server_context,
    settled,
    silent,
)

import tokwire
import tokwire_asyncio
from tokwire_http import Timeouts
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator


async def read(
    url: str, transport: tokwire_asyncio.SocketTransport, seen: asyncio.Event | None = None, body: bytes = b"{}"
) -> int:
    """Read a stream to its end; how many events it had."""
    count = 0
    request = request_to(url, body)
    async with tokwire_asyncio.stream(request, "openai-chat", transport=transport, timeouts=PATIENT) as stream:
        async for _ in stream:
            count += 1
            if seen is not None:
                seen.set()
    return count


async def cancelled_at(url: str, reached: Callable[[], Coroutine[Any, Any, object]], body: bytes = b"{}") -> None:
    """Cancel a stream once a place is reached, and see that nothing is left."""
    with tokwire_asyncio.SocketTransport(client_context()) as transport:
        task = asyncio.create_task(read(url, transport, body=body))
        await reached()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await settled()


@contextmanager
def nothing_left() -> Iterator[None]:
    """See that as many files are open as before, and that nothing was left to the garbage collector."""
    gc.collect()
    before = open_files()
    yield
    gc.collect()  # a warning about something unclosed is an error
    assert open_files() == before


async def some_turns() -> None:
    """Let a task come as far as it can without an answer."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_while_connecting(scheme: str) -> None:
    with deaf() as port, nothing_left():
        asyncio.run(cancelled_at(f"{scheme}://{HOST}:{port}", some_turns), debug=True)


def test_in_name_resolution() -> None:
    """The system goes on with it in a thread of the event loop, which ends with the loop."""
    with nothing_left():
        asyncio.run(cancelled_at("http://localhost:1", lambda: asyncio.sleep(0)), debug=True)


@pytest.mark.parametrize("proxy", [None, "http://{}"], ids=["direct", "proxy"])
def test_in_the_handshake(proxy: str | None) -> None:
    async def main() -> None:
        transport = tokwire_asyncio.SocketTransport(client_context(), None if proxy is None else url)
        task = asyncio.create_task(read(url.replace("http:", "https:"), transport))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await settled()

    def script(peer: socket.socket) -> None:
        assert peer.recv(65536)
        begun.set()
        assert peer.recv(65536) == b""

    begun = threading.Event()
    with nothing_left(), scripted(script) as url:
        asyncio.run(main(), debug=True)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("fault", ["slow-head", f"stall:{len(BEGIN)}"])
def test_in_head_and_body(fault: str, *, secure: bool) -> None:
    server = serve(STREAM, faults=[fault], ssl_context=server_context() if secure else None)
    with nothing_left(), server as url:
        asyncio.run(cancelled_at(url, lambda: server.async_wait(lambda: len(server.requests) == 1)), debug=True)
        server.wait(lambda: server.open_connections == 0)


def test_in_a_large_request() -> None:
    with nothing_left(), silent() as port:
        asyncio.run(cancelled_at(f"http://{HOST}:{port}", some_turns, body=bytes(50_000_000)), debug=True)


def test_while_the_last_body_is_read_to_its_end() -> None:
    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM, end=b""))
        assert peer.recv(1) == b""

    async def main() -> None:
        with tokwire_asyncio.SocketTransport() as transport:
            assert await read(url, transport) == 3
            task = asyncio.create_task(read(url, transport))
            await some_turns()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await settled()

    with nothing_left(), scripted(script) as url:
        asyncio.run(main(), debug=True)


@pytest.mark.parametrize("secure", [False, True])
def test_at_every_turn_of_the_loop(*, secure: bool) -> None:
    """Cancel after one turn, after two, and so on, until the stream comes to its end before."""

    async def after(turns: int, transport: tokwire_asyncio.SocketTransport, url: str) -> bool:
        task = asyncio.create_task(read(url, transport))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        try:
            return await task == 3
        except asyncio.CancelledError:
            return False
        finally:
            await settled()

    async def main() -> None:
        whole = turns = 0
        with tokwire_asyncio.SocketTransport(client_context()) as transport:
            while whole < 5:
                whole += await after(turns, transport, url)
                turns += 1
        await settled()
        assert turns > 10

    server = serve(STREAM, reads=60, ssl_context=server_context() if secure else None)
    with nothing_left(), server as url:
        asyncio.run(main())
        server.wait(lambda: server.open_connections == 0)


def test_a_timeout_of_asyncio_is_a_cancellation() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError), tokwire_asyncio.SocketTransport() as transport:
            await asyncio.wait_for(read(url, transport), 0.05)
        await settled()

    with nothing_left(), serve(STREAM, faults=[f"stall:{len(BEGIN)}"]) as url:
        asyncio.run(main(), debug=True)


def test_an_interrupt_while_connecting() -> None:
    async def main() -> None:
        stream = tokwire_asyncio.stream(request_to(f"http://{HOST}:{port}"), "openai-chat", timeouts=PATIENT)
        asyncio.get_running_loop().call_later(0.02, stream.interrupt)
        async with stream:
            for _ in range(2):
                with pytest.raises(tokwire.TurnInterrupted):
                    await anext(stream)
        await settled()

    with nothing_left(), deaf() as port:
        asyncio.run(main(), debug=True)


def test_a_response_that_is_dropped_is_closed_with_a_warning() -> None:
    async def main() -> None:
        transport = tokwire_asyncio.SocketTransport()
        response = await transport.send(request_to(url), timeouts=Timeouts())
        assert response.head.status == 200
        with pytest.warns(ResourceWarning, match="unclosed <SocketResponse status=200>"):
            del response
        await server.async_wait(lambda: server.closed_by_client == 1)

    server = serve(STREAM, faults=["stall"])
    with nothing_left(), server as url:
        asyncio.run(main(), debug=True)
