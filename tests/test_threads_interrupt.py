"""Interrupts of the blocking transport: from other threads and from signal handlers, in every phase of a request."""

from __future__ import annotations

import signal
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.sockets import (
    BEGIN,
    END,
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
    silent,
)

import tokwire
import tokwire_threads
from tokwire_http import EventStream, Interrupt
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Announced(Interrupt):
    """An interrupt that says when somebody waits for a socket."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()

    def register(self, wake: Callable[[], None] | None) -> None:
        """Register, and say so."""
        super().register(wake)
        if wake is not None:
            self.waiting.set()


class Reader(threading.Thread):
    """A thread that reads a stream, and what it saw."""

    def __init__(self, stream: EventStream) -> None:
        super().__init__()
        self.stream = stream
        self.events: list[tokwire.StreamEvent] = []
        self.error: BaseException | None = None
        self.first = threading.Event()

    def run(self) -> None:
        """Read to the end."""
        try:
            for event in self.stream:
                self.events.append(event)
                self.first.set()
        except tokwire.TokwireError as error:
            self.error = error

    def interrupted(self) -> bool:
        """Interrupt the stream; whether that ended the thread with the right error."""
        self.stream.interrupt()
        self.join(10)
        return not self.is_alive() and isinstance(self.error, tokwire.TurnInterrupted)


@pytest.fixture
def transport() -> Iterator[tokwire_threads.SocketTransport]:
    """A transport that trusts the authority of the tests."""
    before = open_files()
    with tokwire_threads.SocketTransport(client_context()) as made:
        yield made
    assert open_files() == before


def reading(transport: tokwire_threads.SocketTransport, url: str, **options: Any) -> Reader:
    """A thread that has begun to read a stream."""
    reader = Reader(
        tokwire_threads.stream(request_to(url, **options), "openai-chat", transport=transport, timeouts=PATIENT)
    )
    reader.start()
    return reader


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_while_connecting(transport: tokwire_threads.SocketTransport, scheme: str) -> None:
    interrupt = Announced()
    errors: list[BaseException] = []

    def send() -> None:
        try:
            transport.send(request_to(f"{scheme}://{HOST}:{port}"), timeouts=PATIENT, interrupt=interrupt)
        except tokwire.TokwireError as error:
            errors.append(error)

    with deaf() as port:
        thread = threading.Thread(target=send)
        thread.start()
        assert interrupt.waiting.wait(10)
        interrupt.set()
        thread.join(10)
        assert not thread.is_alive()
    assert [type(error) for error in errors] == [tokwire.TurnInterrupted]


def test_in_the_handshake(transport: tokwire_threads.SocketTransport) -> None:
    begun = threading.Event()

    def script(peer: socket.socket) -> None:
        assert peer.recv(65536)
        begun.set()
        assert peer.recv(65536) == b""

    with scripted(script) as url:
        reader = reading(transport, url.replace("http:", "https:"))
        assert begun.wait(10)
        assert reader.interrupted()


@pytest.mark.parametrize("secure", [False, True])
def test_in_the_head(transport: tokwire_threads.SocketTransport, *, secure: bool) -> None:
    server = serve(STREAM, faults=["slow-head"], ssl_context=server_context() if secure else None)
    with server as url:
        reader = reading(transport, url)
        server.wait(lambda: len(server.requests) == 1)
        assert reader.interrupted()
        server.wait(lambda: server.open_connections == 0)


@pytest.mark.parametrize("secure", [False, True])
def test_in_the_body(transport: tokwire_threads.SocketTransport, *, secure: bool) -> None:
    server = serve(STREAM, faults=[f"stall:{len(BEGIN)}"], ssl_context=server_context() if secure else None)
    with server as url:
        reader = reading(transport, url)
        assert reader.first.wait(10)
        assert reader.interrupted()
        server.wait(lambda: server.closed_by_client == 1)


def test_in_a_large_request(transport: tokwire_threads.SocketTransport) -> None:
    begun, over = threading.Event(), threading.Event()

    def script(peer: socket.socket) -> None:
        assert peer.recv(1000)
        begun.set()
        assert over.wait(10)

    with scripted(script) as url:
        reader = reading(transport, url, body=bytes(50_000_000))
        assert begun.wait(10)
        assert reader.interrupted()
        over.set()


def test_while_the_last_body_is_read_to_its_end(transport: tokwire_threads.SocketTransport) -> None:
    """The kept connection waits for a terminator that does not come, and nothing is sent on a new one."""
    interrupt = Announced()

    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM, end=b""))
        assert interrupt.waiting.wait(10)
        interrupt.set()
        assert peer.recv(1) == b""

    with scripted(script) as url:
        list(tokwire_threads.stream(request_to(url), "openai-chat", transport=transport))
        with pytest.raises(tokwire.TurnInterrupted):
            transport.send(request_to(url), timeouts=PATIENT, interrupt=interrupt)


def test_by_a_signal_handler() -> None:
    """The handler runs in the thread that waits, and the wait would go on after it."""
    main = threading.main_thread().ident
    assert main == threading.get_ident()

    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(BEGIN, end=b""))
        signal.pthread_kill(main, signal.SIGUSR1)
        assert peer.recv(1) == b""

    with scripted(script) as url:
        stream = tokwire_threads.stream(request_to(url), "openai-chat", timeouts=PATIENT)
        before = signal.signal(signal.SIGUSR1, lambda *_: stream.interrupt())
        try:
            with stream, pytest.raises(tokwire.TurnInterrupted):
                list(stream)
        finally:
            signal.signal(signal.SIGUSR1, before)


def test_ctrl_c_closes_the_connection(transport: tokwire_threads.SocketTransport) -> None:
    main = threading.get_ident()

    def script(peer: socket.socket) -> None:
        read_request(peer)
        signal.pthread_kill(main, signal.SIGINT)
        assert peer.recv(1) == b""

    with (
        scripted(script) as url,
        tokwire_threads.stream(request_to(url), "openai-chat", transport=transport, timeouts=PATIENT) as stream,
        pytest.raises(KeyboardInterrupt),
    ):
        list(stream)


def test_before_anything_was_sent(transport: tokwire_threads.SocketTransport) -> None:
    with silent() as port:
        stream = tokwire_threads.stream(request_to(f"http://{HOST}:{port}"), "openai-chat", transport=transport)
        stream.interrupt()
        for _ in range(2):
            with pytest.raises(tokwire.TurnInterrupted):
                next(stream)


def test_an_interrupt_that_comes_too_late_leaves_the_kept_connection_alone(
    transport: tokwire_threads.SocketTransport,
) -> None:
    server = serve(BEGIN + END)
    with server as url:
        for _ in range(3):
            with tokwire_threads.stream(request_to(url), "openai-chat", transport=transport) as stream:
                assert list(stream)
            stream.interrupt()
        assert server.connections == 1


def test_while_it_races_with_everything_else(transport: tokwire_threads.SocketTransport) -> None:
    """Wherever the interrupt falls, the stream ends: with its events, or interrupted."""
    server = serve(STREAM, reads=50)
    with server as url:
        for number in range(150):
            reader = Reader(
                tokwire_threads.stream(request_to(url), "openai-chat", transport=transport, timeouts=PATIENT)
            )
            reader.start()
            for _ in range(number * 300):  # a little later each time
                pass
            reader.stream.interrupt()
            reader.join(10)
            assert not reader.is_alive()
            assert isinstance(reader.error, tokwire.TurnInterrupted) or len(reader.events) == 3
        # Once this one is answered, the server has seen every connection before it.
        assert len(list(tokwire_threads.stream(request_to(url), "openai-chat", timeouts=PATIENT))) == 3
        transport.close()
        server.wait(lambda: server.open_connections == 0)
