"""The transports on httpcore, each kind by itself: interrupts, cancellation, pools that are passed in, and leaks."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.httpcore_sessions import CORES, ask_async, ask_blocking, async_transport_on, transport_on
from tests.sockets import (
    BEGIN,
    HOST,
    PATIENT,
    SECRET,
    STREAM,
    client_context,
    open_files,
    request_to,
    server_context,
    settled,
    silent,
)

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_http import Interrupt, Timeouts
from tokwire_httpcore import AsyncBackend, AsyncTransport, Backend, Transport
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parametrize("core", CORES.values(), ids=CORES)


def interrupted_by(trigger: Callable[[Callable[[], None]], object], transport: Transport, url: str) -> list[Any]:
    """Stream in this thread, and interrupt from another one; what came before the interrupt."""
    stream = tokwire_threads.stream(request_to(url), "openai-chat", transport=transport, timeouts=PATIENT)
    thread = threading.Thread(target=trigger, args=(stream.interrupt,))
    events: list[Any] = []
    with stream:
        thread.start()
        try:
            with pytest.raises(tokwire.TurnInterrupted):
                events.extend(stream)
        finally:
            thread.join()
    return events


def test_an_interrupt_wakes_the_handshake(core: Any) -> None:
    with socket.create_server((HOST, 0)) as listener, transport_on(core) as transport:

        def trigger(interrupt: Callable[[], None]) -> None:
            peer, _ = listener.accept()
            with peer:
                assert peer.recv(1) == b"\x16"  # the client waits for the answer to its hello
                interrupt()

        assert interrupted_by(trigger, transport, f"https://{HOST}:{listener.getsockname()[1]}") == []


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_an_interrupt_wakes_the_wait_for_the_head_on_a_kept_connection(core: Any, *, secure: bool) -> None:
    server = serve(
        Reply(body=STREAM), Reply(body=STREAM, faults=["slow-head"]), ssl_context=server_context() if secure else None
    )
    context = {"ssl_context": client_context()} if secure else {}
    with server as url, transport_on(core, **context) as transport:
        assert ask_blocking(transport, url).text == "onetwo"

        def trigger(interrupt: Callable[[], None]) -> None:
            server.wait(lambda: len(server.requests) == 2)
            interrupt()

        assert interrupted_by(trigger, transport, url) == []
        assert server.connections == 1


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
def test_an_interrupt_wakes_the_wait_for_the_body(core: Any, *, secure: bool) -> None:
    server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"], ssl_context=server_context() if secure else None)
    context = {"ssl_context": client_context()} if secure else {}
    with server as url, transport_on(core, **context) as transport:
        stream = tokwire_threads.stream(request_to(url), "openai-chat", transport=transport, timeouts=PATIENT)
        with stream:
            assert [next(stream).as_text(), next(stream).as_text()] == ["one", "two"]
            thread = threading.Thread(target=stream.interrupt)
            thread.start()
            with pytest.raises(tokwire.TurnInterrupted):
                next(stream)
            thread.join()
        server.wait(lambda: server.closed_by_client == 1)


def test_an_interrupt_that_is_set_sends_nothing(core: Any) -> None:
    interrupt = Interrupt()
    interrupt.set()
    with serve(STREAM) as url, transport_on(core) as transport, pytest.raises(tokwire.TurnInterrupted):
        transport.send(request_to(url), timeouts=PATIENT, interrupt=interrupt)


def test_an_interrupt_of_an_old_stream_hurts_no_later_one(core: Any) -> None:
    server = serve(STREAM)
    with server as url, transport_on(core) as transport:
        first = tokwire_threads.stream(request_to(url), "openai-chat", transport=transport)
        with first:
            list(first)
        second = tokwire_threads.stream(request_to(url), "openai-chat", transport=transport)
        with second:
            next(second)
            first.interrupt()
            list(second)
        assert server.connections == 1


def test_closing_early_closes_the_socket(core: Any) -> None:
    server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"])
    with server as url, transport_on(core) as transport:
        with tokwire_threads.stream(request_to(url), "openai-chat", transport=transport) as stream:
            next(stream)
        server.wait(lambda: server.closed_by_client == 1)


def test_two_hosts_are_refused_without_repeating_them(core: Any) -> None:
    request = tokwire.HTTPRequest("POST", f"http://{HOST}:1", (("Host", SECRET), ("host", SECRET + "x")), b"{}")
    with serve(STREAM) as url, transport_on(core) as transport:
        request = tokwire.HTTPRequest("POST", url, request.headers, b"{}")
        with pytest.raises(tokwire.LocalProtocolError) as caught:
            transport.send(request, timeouts=PATIENT, interrupt=Interrupt())
        assert caught.value.__context__ is None
        assert SECRET not in str(caught.value)
        assert ask_blocking(transport, url).text == "onetwo"


@pytest.mark.parametrize("backed", [True, False], ids=["our backend", "its own backend"])
def test_a_pool_that_is_passed_in_stays_open(core: Any, *, backed: bool) -> None:
    backend = {"network_backend": Backend(core.SyncBackend())} if backed else {}
    server = serve(STREAM)
    with server as url, core.ConnectionPool(**backend) as pool:
        for _ in range(2):
            with Transport(pool) as transport:
                assert ask_blocking(transport, url).text == "onetwo"
        assert server.connections <= 2
        assert core.ConnectionPool.request(pool, "GET", url).status == 200


def test_a_bounded_pool_is_never_exhausted_by_old_bodies(core: Any) -> None:
    server = serve(STREAM, faults=["stall"])
    with server as url, transport_on(core, max_connections=1) as transport:
        for _ in range(3):
            assert ask_blocking(transport, url, timeouts=Timeouts(connect=5)).text == "onetwo"


def test_the_options_are_checked(core: Any) -> None:
    with core.ConnectionPool() as pool, pytest.raises(TypeError, match="http2"):
        Transport(pool, http2=True)
    with pytest.raises(TypeError, match="no connection pool"):
        Transport(object())
    with pytest.raises(TypeError, match="http2"):
        AsyncTransport(core.AsyncConnectionPool(), http2=True)


def test_a_closed_transport_sends_nothing(core: Any) -> None:
    transport = transport_on(core)
    transport.close()
    with pytest.raises(tokwire.LocalProtocolError):
        transport.send(request_to(f"http://{HOST}:1"), timeouts=PATIENT, interrupt=Interrupt())


def test_streams_leave_no_files_open(core: Any) -> None:
    before = open_files()
    # The server closes its sockets in its own time: it is gone before they are counted.
    with serve(STREAM) as url, transport_on(core) as transport:
        for number in range(60):
            stream = tokwire_threads.stream(request_to(url), "openai-chat", transport=transport)
            with stream:
                for _ in range(number % 4):
                    next(stream)
    assert open_files() == before


@pytest.mark.parametrize("where", ["handshake", "head", "body"])
def test_cancellation_leaves_nothing_behind(core: Any, where: str) -> None:
    async def scenario() -> None:
        async with async_transport_on(core) as transport:
            if where == "handshake":
                with silent() as port:
                    before = open_files()
                    await cancelled(transport, f"https://{HOST}:{port}", asyncio.sleep(0.05))
                    await settled()
                    assert open_files() == before
                return
            faults = ["slow-head"] if where == "head" else [f"stall:{len(BEGIN)}"]
            server = serve(STREAM, faults=faults)
            async with server as url:
                await cancelled(transport, url, server.async_wait(lambda: len(server.requests) == 1))
                await server.async_wait(lambda: server.closed_by_client == 1)
        await settled()

    async def cancelled(transport: AsyncTransport, url: str, moment: Any) -> None:
        task = asyncio.create_task(ask_async(transport, url))
        await moment
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario(), debug=True)


def test_many_streams_at_once(core: Any) -> None:
    async def scenario() -> None:
        async with serve(STREAM, reads=50) as url, async_transport_on(core) as transport:
            answers = await asyncio.gather(*[ask_async(transport, url) for _ in range(40)])
            assert {answer.text for answer in answers} == {"onetwo"}
        await settled()

    asyncio.run(scenario(), debug=True)


def test_an_asynchronous_pool_that_is_passed_in(core: Any) -> None:
    async def scenario() -> None:
        server = serve(STREAM)
        async with server as url:
            for backend in ({}, {"network_backend": AsyncBackend(core.AnyIOBackend())}):
                async with core.AsyncConnectionPool(**backend) as pool:
                    transport = AsyncTransport(pool)
                    assert [(await ask_async(transport, url)).text for _ in range(2)] == ["onetwo"] * 2
                    await transport.aclose()
                    with pytest.raises(tokwire.LocalProtocolError):
                        await transport.send(request_to(url), timeouts=PATIENT)
        await settled()

    asyncio.run(scenario(), debug=True)


def test_leaving_an_asynchronous_stream_closes_its_socket(core: Any) -> None:
    async def scenario() -> None:
        server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"])
        async with server as url, async_transport_on(core) as transport:
            async with tokwire_asyncio.stream(request_to(url), "openai-chat", transport=transport) as stream:
                await anext(stream)
            await server.async_wait(lambda: server.closed_by_client == 1)
        await settled()

    asyncio.run(scenario(), debug=True)


def test_aborting_wakes_nobody_and_leaves_nothing(core: Any) -> None:
    async def scenario() -> None:
        server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"])
        async with server as url, async_transport_on(core) as transport:
            response = await transport.send(request_to(url), timeouts=PATIENT)
            assert "200" in repr(response)
            assert await anext(response)
            response.abort()
            await response.aclose()
            await response.aclose(reuse=True)
            response.abort()
            with pytest.raises(StopAsyncIteration):
                await anext(response)
            await server.async_wait(lambda: server.closed_by_client == 1)
        await settled()

    asyncio.run(scenario(), debug=True)


def test_without_httpcore_the_import_says_what_to_install(core: Any) -> None:
    script = "import sys\nsys.modules['httpcore'] = sys.modules['httpcore2'] = None\nimport tokwire_httpcore\n"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "pip install 'tokwire[httpcore]'" in answer.stderr
    assert core
