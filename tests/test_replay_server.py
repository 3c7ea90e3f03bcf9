"""The replay server as a library, seen through plain sockets: what it sends, counts, and does on demand."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import struct
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import trustme

from tokwire_replay import ReplayServer, Reply, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUEST = b"POST /v1?q=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
BODY = b"data: one\n\ndata: two\n\n"


def connected(server: ReplayServer, request: bytes = REQUEST) -> closing[socket.socket]:
    """A socket that has sent a request."""
    client = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    client.sendall(request)
    return closing(client)


def reads(client: socket.socket, until: bytes) -> bytes:
    """What comes, up to some bytes."""
    data = b""
    while until not in data:
        more = client.recv(65536)
        assert more, data
        data += more
    return data


def rest(client: socket.socket) -> bytes:
    """What comes until the server closes."""
    return b"".join(iter(lambda: client.recv(65536), b""))


@pytest.fixture
def threads() -> Iterator[None]:
    """No thread is left."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


@pytest.mark.usefixtures("threads")
def test_a_body_is_served_on_loopback() -> None:
    server = serve(BODY)
    with server as url:
        assert url == server.url == f"http://127.0.0.1:{server.port}"
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        for path in ("/v1/one", "/two"):
            client.request("POST", path, b"{}", {"X-Name": "value"})
            response = client.getresponse()
            assert (response.status, response.read()) == (200, BODY)
        client.close()
        server.wait(lambda: server.closed_by_client == 1)
    assert (server.connections, server.open_connections) == (1, 0)
    assert [(request.method, request.target, request.body) for request in server.requests] == [
        ("POST", "/v1/one", b"{}"),
        ("POST", "/two", b"{}"),
    ]
    assert server.requests[0].header("x-name") == "value"
    assert {request.connection for request in server.requests} == {1}


def test_it_runs_in_the_loop_too() -> None:
    async def use() -> None:
        server = serve(BODY)
        async with server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(REQUEST)
            assert b"data: one" in await reader.readuntil(b"0\r\n\r\n")
            writer.close()
            await writer.wait_closed()
            await server.async_wait(lambda: server.closed_by_client == 1)
            with pytest.raises(TimeoutError, match="1 connections, 0 open"):
                await server.async_wait(lambda: server.connections == 2, timeout=0.01)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(use())


@pytest.mark.usefixtures("threads")
def test_stopping_ends_open_connections() -> None:
    server = serve(BODY, faults=["stall"])
    with server:
        connection = connected(server)
        with connection as client:
            reads(client, b"two")
            with pytest.raises(TimeoutError, match="1 open"):
                server.wait(lambda: server.open_connections == 0, timeout=0.01)
            server.__exit__(None, None, None)
            assert rest(client) == b""
    assert server.closed_by_client == 0


def test_replies_are_scripted_and_the_last_one_stays() -> None:
    server = serve(b"first", Reply(body=b"second", status=404), Reply(body=b"third"), framing="length")
    with server:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        seen = []
        for _ in range(4):
            client.request("GET", "/")
            response = client.getresponse()
            seen.append((response.status, response.read()))
        client.close()
    assert seen == [(200, b"first"), (404, b"second"), (200, b"third"), (200, b"third")]


def test_reads_are_chunks_of_their_size() -> None:
    server = serve(b"abcdefgh", reads=3, delay=0.001)
    with server, connected(server) as client:
        data = reads(client, b"0\r\n\r\n")
    assert data.endswith(b"\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n2\r\ngh\r\n0\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in data


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (Reply(body=BODY, framing="close"), b"\r\n\r\n" + BODY),
        (Reply(body=BODY, framing="length", faults=["cut:4"]), b"Content-Length: 22\r\n\r\ndata"),
        (Reply(body=BODY, framing="length", faults=["no-terminator"]), b"Content-Length: 23\r\n\r\n" + BODY),
        (Reply(body=BODY, faults=["cut:4"]), b"\r\n\r\n4\r\ndata\r\n"),
        (Reply(body=b"abcd", faults=["no-terminator"]), b"\r\n\r\n4\r\nabcd\r\n"),
        (Reply(body=b"abcd", faults=["cut"]), b"\r\n\r\n4\r\nabcd\r\n"),
    ],
)
def test_a_body_that_ends_with_the_connection(reply: Reply, end: bytes) -> None:
    server = serve(reply)
    with server, connected(server) as client:
        assert rest(client).endswith(end)
        server.wait(lambda: server.open_connections == 0)
        assert server.closed_by_client == 0


def test_a_reset_is_a_reset() -> None:
    server = serve(BODY, faults=["stall:4", "reset:4"])
    with server, connected(server) as client:
        reads(client, b"data\r\n")
        server.release()
        with pytest.raises(ConnectionResetError):
            rest(client)


def test_a_stall_goes_on_when_it_is_released() -> None:
    server = serve(BODY, faults=["stall:4"])
    with server, connected(server) as client:
        assert reads(client, b"data\r\n").endswith(b"\r\n4\r\ndata\r\n")
        server.release()
        assert reads(client, b"0\r\n\r\n").startswith(b"12\r\n: one")


def test_the_terminator_waits_for_its_release_and_the_connection_lives_on() -> None:
    server = serve(b"one", faults=["stall"])
    with server, connected(server) as client:
        assert reads(client, b"one\r\n").endswith(b"\r\n3\r\none\r\n")
        server.release()
        assert reads(client, b"\r\n\r\n") == b"0\r\n\r\n"
        client.sendall(REQUEST)
        reads(client, b"one\r\n")
    assert (server.connections, len(server.requests)) == (1, 2)


def test_garbage_follows_the_response() -> None:
    server = serve(b"one", faults=["garbage"])
    with server, connected(server) as client:
        assert b"no HTTP" in reads(client, b"\xff\r\n\r\n")


def test_heartbeats_do_not_end() -> None:
    server = serve(b"data: one\n\n", faults=["heartbeat"], delay=0.001)
    with server, connected(server) as client:
        for _ in range(5):
            reads(client, b": heartbeat\n\n")
        client.close()
        server.wait(lambda: server.closed_by_client == 1)


@pytest.mark.parametrize("fault", ["slow-head", "slow-head:0.01"])
def test_a_slow_head_comes_in_two(fault: str) -> None:
    server = serve(b"one", faults=[fault])
    with server, connected(server) as client:
        if fault == "slow-head":
            start = client.recv(65536)
            assert start.startswith(b"HTTP/1.1 200")
            assert b"\r\n\r\n" not in start
            server.release()
        reads(client, b"0\r\n\r\n")


def test_an_early_reply_does_not_wait_for_the_body() -> None:
    server = serve(b"too large", status=413, answers_early=True)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n"
    with server, connected(server, head + b"x" * 1000) as client:
        assert b"413" in reads(client, b"too large")
        server.wait(lambda: server.open_connections == 0)


@pytest.mark.parametrize("request_bytes", [b"\x00\x01garbage\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b""])
def test_a_client_that_speaks_no_http_is_let_go(request_bytes: bytes) -> None:
    server = serve(b"one")
    with server, connected(server, request_bytes) as client:
        client.shutdown(socket.SHUT_WR)
        server.wait(lambda: server.connections == 1 and server.open_connections == 0)
    assert server.requests == []


def test_tls() -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    server = serve(b"one", ssl_context=context)
    with server as url:
        assert url.startswith("https://127.0.0.1:")
        client = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5, context=trusting)
        client.request("GET", "/")
        assert client.getresponse().read() == b"one"
        client.close()
        server.wait(lambda: server.closed_by_client == 1)


@pytest.mark.usefixtures("threads")
def test_a_port_that_is_taken_is_an_error() -> None:
    with serve(b"") as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(OSError, match="address already in use"), serve(b"", port=port):
            pass


def test_an_option_that_no_reply_has_is_refused() -> None:
    with pytest.raises(TypeError, match="speed"):
        serve(b"", speed=1)


def test_a_client_that_resets_while_the_server_writes_is_counted() -> None:
    server = serve(BODY, faults=["heartbeat"], delay=0.0001)
    with server:
        for _ in range(20):
            with connected(server) as client:
                reads(client, b": ")
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            server.wait(lambda: server.closed_by_client == server.connections)
