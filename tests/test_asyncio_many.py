"""Many streams at once in one process, backpressure, and the protocol below the asyncio transport."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import warnings
from math import inf
from typing import Any

import pytest
from tests.sockets import BEGIN, PATIENT, STREAM, open_files, request_to, settled

import tokwire
import tokwire_asyncio
from tokwire_asyncio._link import HIGH_WATER_BYTES, Link
from tokwire_http import Timeouts
from tokwire_replay import serve

MANY = 1000


@pytest.fixture
def many_files() -> Any:
    """As many open files as the system allows: both ends of each connection are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3 * MANY
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"the system allows only {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_thousand_streams_at_once() -> None:
    """The server holds every response back in the middle until all of them have begun."""
    begun = 0

    async def read(url: str, transport: tokwire_asyncio.SocketTransport) -> str:
        nonlocal begun
        text = ""
        async with tokwire_asyncio.stream(
            request_to(url), "openai-chat", transport=transport, timeouts=Timeouts(connect=60.0)
        ) as stream:
            async for event in stream:
                if event.as_text() == "two":
                    begun += 1
                    if begun == MANY:
                        for _ in range(MANY):
                            server.release()
                text += event.as_text() or ""
        return text

    async def main() -> list[str]:
        with tokwire_asyncio.SocketTransport() as transport:
            async with server as url, asyncio.TaskGroup() as group:
                tasks = [group.create_task(read(url, transport)) for _ in range(MANY)]
            await settled()
        await settled()
        return [task.result() for task in tasks]

    server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"])
    before = open_files()
    assert asyncio.run(main()) == ["onetwo"] * MANY
    assert open_files() == before
    assert server.connections == MANY


def test_nothing_is_read_ahead_of_a_slow_consumer() -> None:
    """A server that could send 100 MB gets rid of no more than the buffers hold."""

    sent = 0

    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            writer.write(bytes(100_000))
            await writer.drain()
            sent += 100_000
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(flood, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with tokwire_asyncio.SocketTransport() as transport:
                response = await transport.send(request_to(f"http://127.0.0.1:{port}"), timeouts=PATIENT)
            before = -1
            while sent > before:  # until the server is stuck
                before = sent
                for _ in range(100):
                    await asyncio.sleep(0)
            stuck_at = sent
            received = 0
            async for chunk in response:
                received += len(chunk)
        assert stuck_at < 50_000_000
        assert received == 100_000_000

    asyncio.run(main())


class FakeTransport(asyncio.Transport):
    """A transport that notes what is asked of it."""

    def __init__(self, sock: socket.socket | None) -> None:
        super().__init__({"socket": sock})
        self.calls: list[str] = []

    def pause_reading(self) -> None:
        """Note it."""
        self.calls.append("pause")

    def resume_reading(self) -> None:
        """Note it."""
        self.calls.append("resume")

    def is_closing(self) -> bool:
        """Never."""
        return False

    def abort(self) -> None:
        """Note it."""
        self.calls.append("abort")


def linked(sock: socket.socket | None = None) -> tuple[Link, FakeTransport]:
    """A link over a transport that does nothing."""
    link, transport = Link(asyncio.get_running_loop()), FakeTransport(sock)
    link.connection_made(transport)
    return link, transport


def test_reading_pauses_and_goes_on() -> None:
    async def main() -> None:
        link, transport = linked()
        for _ in range(2):
            link.data_received(bytes(HIGH_WATER_BYTES))
        assert transport.calls == ["pause"]
        link.take()
        assert transport.calls == ["pause"]
        link.take()
        assert transport.calls == ["pause", "resume"]

    asyncio.run(main())


@pytest.mark.parametrize("error", [None, BrokenPipeError()])
def test_what_the_kernel_still_holds_is_read_after_a_failed_write(error: OSError | None) -> None:
    async def main() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(b"too large")
            link, _ = linked(ours)
            link.data_received(b"before ")
            link.connection_lost(error)
        assert b"".join(link.received) == (b"before too large" if error else b"before ")
        assert (link.is_over, link.failure, link.can_send) == (True, error, False)

    asyncio.run(main())


def test_a_loop_without_sockets_loses_nothing_else() -> None:
    async def main() -> None:
        link, _ = linked(None)
        link.connection_lost(BrokenPipeError())
        assert link.is_over

    asyncio.run(main())


def test_one_timer_serves_all_waits() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        link, _ = linked()
        timers = []
        for _ in range(3):
            loop.call_soon(link.data_received, b"x")
            assert await link.wait(loop.time() + 60)
            timers.append(link._timer)
        assert timers[0] is timers[1] is timers[2] is not None
        loop.call_soon(link.eof_received)
        assert await link.wait(inf)
        # A wait that ends sooner than the timer brings it forward, and it fires.
        assert not await link.wait(loop.time() + 0.01)
        # It fires too early for a wait that began later, and is set again.
        loop.call_soon(link.data_received, b"x")
        assert await link.wait(loop.time() + 0.01)
        assert not await link.wait(loop.time() + 0.03)
        link.abort()
        link.abort()

    asyncio.run(main())


def test_a_kept_connection_of_another_loop_is_not_used() -> None:
    async def read() -> str:
        events = [event async for event in tokwire_asyncio.stream(request_to(url), "openai-chat", transport=transport)]
        return tokwire.collect(events).text

    async def read_and_close() -> str:
        with transport:
            answer = await read()
        await settled()
        return answer

    transport = tokwire_asyncio.SocketTransport()
    server = serve(STREAM)
    with server as url, warnings.catch_warnings():
        # It was not closed while its loop ran, and Python says so as soon as it finds it.
        warnings.simplefilter("ignore", ResourceWarning)
        assert asyncio.run(read()) == "onetwo"
        assert asyncio.run(read_and_close()) == "onetwo"
        gc.collect()
        server.wait(lambda: server.open_connections == 0)
    assert server.connections == 2
