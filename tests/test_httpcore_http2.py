"""The transports on httpcore over HTTP/2: streams share a connection, and one that is left does not end the others."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h2.config
import h2.connection
import h2.events
import pytest
from tests.httpcore_sessions import CORES, SESSIONS, ask_blocking, async_transport_on, transport_on
from tests.sockets import HOST, PATIENT, STREAM, request_to, settled

import tokwire_asyncio
import tokwire_threads
from tokwire_http import Interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS = {"http1": False, "http2": True}
PLACE = len(STREAM) // 2


class Server:
    """Answers every request on one connection with the stream, each half in a frame of its own.

    Attributes:
        requests: The headers of each request.
        connections: How many were made.
    """

    def __init__(self) -> None:
        self.requests: list[dict[bytes, bytes]] = []
        self.connections = 0

    def serve(self, listener: socket.socket) -> None:
        """Serve connections, one after the other, until the listener is closed."""
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            with peer, suppress(OSError):
                self._converse(peer)

    def _converse(self, peer: socket.socket) -> None:
        machine = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding=None))
        machine.initiate_connection()
        while True:
            peer.sendall(machine.data_to_send())
            data = peer.recv(65536)
            if not data:
                return
            for event in machine.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.requests.append(dict(event.headers))
                elif isinstance(event, h2.events.StreamEnded):
                    head = [(b":status", b"200"), (b"content-type", b"text/event-stream")]
                    machine.send_headers(event.stream_id, head)
                    machine.send_data(event.stream_id, STREAM[:PLACE])
                    machine.send_data(event.stream_id, STREAM[PLACE:], end_stream=True)


@contextmanager
def served() -> Iterator[tuple[Server, str]]:
    """A server for HTTP/2 without TLS, and its URL."""
    server = Server()
    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=server.serve, args=(listener,))
        thread.start()
        try:
            yield server, f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize("kind", SESSIONS)
def test_requests_share_a_connection(kind: str) -> None:
    with served() as (server, url), SESSIONS[kind](**OPTIONS) as ask:
        assert [ask(f"{url}/v1?a=b").text for _ in range(4)] == ["onetwo"] * 4
        assert (server.connections, len(server.requests)) == (1, 4)
    (first, *_) = server.requests
    assert first[b":path"] == b"/v1?a=b"
    assert first[b":authority"] == url.removeprefix("http://").encode()
    assert first[b"accept-encoding"] == b"identity"
    assert b"host" not in first


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_a_stream_that_is_left_does_not_end_the_connection(core: Any) -> None:
    with served() as (server, url), transport_on(core, **OPTIONS) as transport:
        other = transport.send(request_to(url), timeouts=PATIENT, interrupt=Interrupt())
        with tokwire_threads.stream(request_to(url), "openai-chat", transport=transport, timeouts=PATIENT) as stream:
            next(stream)
        assert b"".join(other) == STREAM
        assert ask_blocking(transport, url).text == "onetwo"
        assert server.connections == 1


@pytest.mark.parametrize("core", CORES.values(), ids=CORES)
def test_an_asynchronous_stream_that_is_left_does_not_end_the_connection(core: Any) -> None:
    async def scenario() -> None:
        async with async_transport_on(core, **OPTIONS) as transport:
            other = await transport.send(request_to(url), timeouts=PATIENT)
            async with tokwire_asyncio.stream(request_to(url), "openai-chat", transport=transport) as stream:
                await anext(stream)
            assert b"".join([chunk async for chunk in other]) == STREAM
        await settled()

    with served() as (server, url):
        asyncio.run(scenario(), debug=True)
        assert server.connections == 1
