"""What the tests of the socket transports share: one way to ask both, certificates, and servers that misbehave."""

from __future__ import annotations

import asyncio
import atexit
import os
import socket
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support import marker_of, reason_of, text_stream

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_http import Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

HOST = "127.0.0.1"
SECRET = "sk-harbour-4711"
BEGIN = text_stream("openai-chat", "one", "two")
END = reason_of("openai-chat") + marker_of("openai-chat")
STREAM = BEGIN + END
PATIENT = Timeouts(connect=10.0, idle=10.0, total=20.0)
"""For tests whose subject is no timeout."""

RESERVED = socket.socket()
RESERVED.bind((HOST, 0))
atexit.register(RESERVED.close)


class Answer(NamedTuple):
    """What a consumer saw of a response."""

    events: list[tokwire.StreamEvent]
    error: BaseException | None
    shown: str

    @property
    def text(self) -> str:
        """The joined text."""
        return "".join(event.as_text() or "" for event in self.events)


class Ask(Protocol):
    """Sends a request with one transport and reads the response to its end."""

    def __call__(self, url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT) -> Answer:
        """Send it, with a key that must not be shown."""
        ...


def request_to(url: str, body: bytes = b"{}") -> tokwire.HTTPRequest:
    """A request with a key."""
    return tokwire.HTTPRequest("POST", url, (("Authorization", f"Bearer {SECRET}"),), body)


@contextmanager
def threads_session(**options: Any) -> Iterator[Ask]:
    """Asks with a transport of `tokwire_threads`."""
    with tokwire_threads.SocketTransport(**options) as transport:

        def ask(url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT) -> Answer:
            events: list[tokwire.StreamEvent] = []
            error: BaseException | None = None
            stream = tokwire_threads.stream(
                request_to(url, body), "openai-chat", transport=transport, timeouts=timeouts
            )
            with stream:
                try:
                    events.extend(stream)
                except tokwire.TokwireError as failure:
                    error = failure
                return Answer(events, error, repr(stream))

        yield ask


@contextmanager
def asyncio_session(**options: Any) -> Iterator[Ask]:
    """Asks with a transport of `tokwire_asyncio`. Between two requests its event loop stands still."""

    async def answer(request: tokwire.HTTPRequest, timeouts: Timeouts) -> Answer:
        events: list[tokwire.StreamEvent] = []
        error: BaseException | None = None
        stream = tokwire_asyncio.stream(request, "openai-chat", transport=transport, timeouts=timeouts)
        async with stream:
            try:
                async for event in stream:
                    events.append(event)  # noqa: PERF401 - what came before an error is kept
            except tokwire.TokwireError as failure:
                error = failure
            return Answer(events, error, repr(stream))

    async def close() -> None:
        transport.close()
        await settled()

    with asyncio.Runner(debug=True) as runner:
        transport = tokwire_asyncio.SocketTransport(**options)

        def ask(url: str, *, body: bytes = b"{}", timeouts: Timeouts = PATIENT) -> Answer:
            return runner.run(answer(request_to(url, body), timeouts))

        yield ask
        runner.run(close())


SESSIONS: dict[str, Callable[..., AbstractContextManager[Ask]]] = {
    "threads": threads_session,
    "asyncio": asyncio_session,
}


async def settled() -> None:
    """Let the event loop do what it was told to: a dropped connection is closed in its next turn."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def open_files() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


@cache
def authority() -> trustme.CA:
    """A throwaway certificate authority."""
    return trustme.CA()


def server_context(host: str = HOST, *, expired: bool = False) -> ssl.SSLContext:
    """A server whose certificate is for a host, and signed by `authority`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    past = datetime.now(UTC) - timedelta(days=1) if expired else None
    authority().issue_cert(host, not_after=past).configure_cert(context)
    return context


@cache
def client_context() -> ssl.SSLContext:
    """A client that trusts `authority`."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    authority().configure_trust(context)
    return context


def self_signed_context(folder: Path) -> ssl.SSLContext:
    """A server that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    pem, encoding = folder / "self-signed.pem", serialization.Encoding.PEM
    plain, unlocked = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem.write_bytes(
        key.private_bytes(encoding, plain, unlocked) + builder.sign(key, hashes.SHA256()).public_bytes(encoding)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


@contextmanager
def scripted(script: Callable[[socket.socket], object], *more: Callable[[socket.socket], object]) -> Iterator[str]:
    """A server that runs a script for each connection, one after the other, and fails the test where a script fails.

    The scripts get the socket of their connection, which is closed behind them. There must be as many connections as
    scripts.
    """
    failures: list[BaseException] = []

    def serve() -> None:
        try:
            for each in (script, *more):
                peer, _ = listener.accept()
                peer.settimeout(10)
                with peer:
                    each(peer)
        except BaseException as failure:  # noqa: BLE001 - it is raised in the test
            failures.append(failure)

    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(10)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            thread.join()
    if failures:
        raise failures[0]


def read_request(peer: socket.socket) -> bytes:
    """Read the head of a request and its body of two bytes."""
    data = b""
    while not data.endswith(b"\r\n\r\n{}"):
        more = peer.recv(65536)
        assert more, data
        data += more
    return data


def chunked(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A chunked response."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end


@contextmanager
def silent() -> Iterator[int]:
    """The port of a server that lets clients connect and never says a word."""
    with socket.create_server((HOST, 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def deaf() -> Iterator[int]:
    """The port of a server that does not even let clients connect: its queue is full."""
    waiting: list[socket.socket] = []
    with socket.create_server((HOST, 0), backlog=0) as listener:
        port: int = listener.getsockname()[1]
        try:
            for _ in range(20):
                sock = socket.socket()
                waiting.append(sock)
                sock.settimeout(0.05)
                sock.connect((HOST, port))
        except TimeoutError:
            yield port
        else:
            raise AssertionError("the queue of the listener has no end")
        finally:
            for sock in waiting:
                sock.close()


def closed_port() -> int:
    """A port where nobody listens, in any process, for as long as this one lives."""
    port: int = RESERVED.getsockname()[1]
    return port
