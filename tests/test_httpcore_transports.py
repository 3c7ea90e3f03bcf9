"""The transports on httpcore: reuse of connections, failures under our names, and timeouts, each kind alike."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import traceback
from typing import TYPE_CHECKING

import pytest
from tests.httpcore_sessions import CORES, SESSIONS
from tests.sockets import (
    BEGIN,
    END,
    HOST,
    SECRET,
    STREAM,
    chunked,
    client_context,
    closed_port,
    read_request,
    scripted,
    server_context,
    silent,
)

import tokwire
from tokwire_http import Timeouts
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parametrize("kind", SESSIONS)

REFUSAL = b'{"error": {"message": "too large", "type": "invalid_request_error"}}'
RESET = struct.pack("ii", 1, 0)
SOON, LATER = 0.1, 30.0
"""Seconds."""


def reset(peer: socket.socket) -> None:
    """Make the coming close of a socket a reset."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def answers(peer: socket.socket) -> None:
    """A script that answers one request and closes."""
    read_request(peer)
    peer.sendall(chunked(STREAM))


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_requests_follow_each_other_on_one_connection(kind: str, framing: str) -> None:
    server = serve(STREAM, framing=framing)
    with server as url, SESSIONS[kind]() as ask:
        assert [ask(url).text for _ in range(5)] == ["onetwo"] * 5
        assert server.connections == 1
    assert len(server.requests) == 5


def test_a_connection_is_kept_after_an_error_status(kind: str) -> None:
    server = serve(Reply(body=REFUSAL, status=429), Reply(body=STREAM))
    with server as url, SESSIONS[kind]() as ask:
        assert isinstance(ask(url).error, tokwire.APIError)
        assert ask(url).text == "onetwo"
    assert server.connections == 1


def test_the_rest_of_a_body_is_read_when_the_connection_is_used_again(kind: str) -> None:
    """The server sends its terminator only once the client is through with the response."""
    asked_again = threading.Event()

    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM, end=b""))
        assert asked_again.wait(10)
        peer.sendall(b"0\r\n\r\n")
        read_request(peer)
        peer.sendall(chunked(STREAM))

    with scripted(script) as url, SESSIONS[kind]() as ask:
        first = ask(url)
        asked_again.set()
        assert [first.text, ask(url).text] == ["onetwo", "onetwo"]


@pytest.mark.parametrize(
    "rest",
    [b"", b"20000\r\n" + bytes(0x20000) + b"\r\n", b"zz\r\n"],
    ids=["nothing", "too much", "no chunk"],
)
def test_a_connection_whose_body_does_not_end_is_given_up(kind: str, rest: bytes) -> None:
    def never_ends(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM, end=rest))
        try:
            while peer.recv(1):
                pass
        except ConnectionResetError:
            pass

    with scripted(never_ends, answers) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


def test_a_kept_connection_that_the_server_closed_is_not_used(kind: str) -> None:
    with scripted(answers, answers) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


@pytest.mark.parametrize("ending", [lambda _: None, reset], ids=["closed", "reset"])
def test_a_request_that_meets_the_end_of_a_kept_connection_is_sent_again(
    kind: str, ending: Callable[[socket.socket], None]
) -> None:
    def closes_at_the_second(peer: socket.socket) -> None:
        answers(peer)
        read_request(peer)
        ending(peer)

    with scripted(closes_at_the_second, answers) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


def test_it_is_sent_again_only_once(kind: str) -> None:
    def closes_at_the_second(peer: socket.socket) -> None:
        answers(peer)
        read_request(peer)

    with scripted(closes_at_the_second, read_request) as url, SESSIONS[kind]() as ask:
        assert ask(url).text == "onetwo"
        assert isinstance(ask(url).error, tokwire.NoResponse)


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_a_cut_body(kind: str, framing: str) -> None:
    with serve(STREAM, framing=framing, faults=[f"cut:{len(BEGIN)}"]) as url, SESSIONS[kind]() as ask:
        answer = ask(url)
    assert answer.text == "onetwo"
    assert isinstance(answer.error, tokwire.StreamTruncated)
    assert answer.error.__cause__ is not None


def test_a_large_request_is_refused_early(kind: str) -> None:
    """The server says why and closes, while the client still sends."""
    server = serve(Reply(body=REFUSAL, status=413, answers_early=True))
    with server as url, SESSIONS[kind]() as ask:
        error = ask(url, body=bytes(1_000_000)).error
    assert isinstance(error, tokwire.APIError | tokwire.NoResponse | tokwire.StreamTruncated)


def test_a_large_request_arrives_whole(kind: str) -> None:
    server = serve(STREAM)
    body = bytes(range(256)) * 20_000
    with server as url, SESSIONS[kind]() as ask:
        assert [ask(url, body=body).text, ask(url).text] == ["onetwo", "onetwo"]
    assert server.requests[0].body == body


def test_what_a_request_says(kind: str) -> None:
    server = serve(STREAM)
    with server as url, SESSIONS[kind]() as ask:
        ask(f"{url}/v1/models/m;v=1:stream?alt=sse#part")
    (request,) = server.requests
    assert request.target == "/v1/models/m;v=1:stream?alt=sse"
    names = [name for name, _ in request.headers]
    assert sorted(names) == ["accept-encoding", "authorization", "content-length", "host"]
    assert request.header("accept-encoding") == "identity"
    assert request.header("host") == url.removeprefix("http://")


def test_nobody_listens(kind: str) -> None:
    with SESSIONS[kind]() as ask:
        error = ask(f"http://{HOST}:{closed_port()}/?key={SECRET}").error
    assert isinstance(error, tokwire.ConnectError)
    assert type(error.__cause__).__name__ == "ConnectError"
    assert SECRET not in "".join(traceback.format_exception(error))


def test_an_answer_that_is_no_http(kind: str) -> None:
    with (
        scripted(lambda peer: read_request(peer) and peer.send(b"SSH-2.0-harbour\r\n\r\n")) as url,
        SESSIONS[kind]() as ask,
    ):
        error = ask(url).error
    assert isinstance(error, tokwire.RemoteProtocolError)
    assert SECRET not in "".join(traceback.format_exception(error))


def test_tls(kind: str) -> None:
    server = serve(STREAM, ssl_context=server_context())
    with server as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        assert [ask(url).text for _ in range(3)] == ["onetwo"] * 3
        assert server.connections == 1


def test_a_server_that_cannot_be_trusted_gets_no_request(kind: str) -> None:
    server = serve(STREAM, ssl_context=server_context("harbour.example"))
    with server as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        error = ask(url).error
    assert isinstance(error, tokwire.ConnectError)
    assert "certificate" in str(error)
    assert server.requests == []
    assert isinstance(error.__cause__, Exception)
    assert isinstance(error.__cause__.args[0], ssl.SSLCertVerificationError)


def expect_timeout(kind: str, phase: str, url: str, *, text: str = "", **timeouts: float) -> None:
    """Ask, and see that one timeout is told, with its cause."""
    limits = {"connect": LATER, "idle": LATER, "total": LATER}
    with SESSIONS[kind]() as ask:
        answer = ask(f"{url}/?key={SECRET}", timeouts=Timeouts(**limits | timeouts))
    assert isinstance(answer.error, tokwire.TransportTimeout)
    assert answer.error.phase == phase
    assert answer.text == text or phase == "total"  # which may be over before anything came
    assert f"{SOON:g} s" in str(answer.error)
    assert SECRET not in str(answer.error)


def test_idle_before_the_head(kind: str) -> None:
    with silent() as port:
        expect_timeout(kind, "idle", f"http://{HOST}:{port}", idle=SOON)


def test_total_before_the_head(kind: str) -> None:
    with silent() as port:
        expect_timeout(kind, "total", f"http://{HOST}:{port}", total=SOON)


def test_connect_in_the_handshake(kind: str) -> None:
    with silent() as port:
        expect_timeout(kind, "connect", f"https://{HOST}:{port}", connect=SOON)


def test_idle_in_the_body(kind: str) -> None:
    with serve(STREAM, faults=[f"stall:{len(BEGIN)}"]) as url:
        expect_timeout(kind, "idle", url, idle=SOON, text="onetwo")


def test_total_in_a_body_that_stalls(kind: str) -> None:
    with serve(STREAM, faults=[f"stall:{len(BEGIN)}"]) as url:
        expect_timeout(kind, "total", url, total=SOON, text="onetwo")


def test_total_in_a_body_that_never_ends(kind: str) -> None:
    with serve(STREAM, faults=[f"heartbeat:{len(BEGIN)}"], delay=0.002) as url:
        expect_timeout(kind, "total", url, total=SOON, text="onetwo")


def test_none_waits_as_long_as_it_takes(kind: str) -> None:
    with serve(STREAM) as url, SESSIONS[kind]() as ask:
        assert ask(url, timeouts=Timeouts(connect=None, idle=None, total=None)).text == "onetwo"


def test_heartbeats_keep_the_idle_timeout_away(kind: str) -> None:
    beats = [b": heartbeat\n\n"] * 120
    with serve([BEGIN, *beats, END], delay=0.002) as url, SESSIONS[kind]() as ask:
        assert ask(url, timeouts=Timeouts(idle=0.2)).error is None


def test_a_proxy_forwards_the_request(kind: str) -> None:
    """The proxy is a replay server: it answers instead of the host, which does not exist."""
    server = serve(STREAM)
    with server as url, SESSIONS[kind](proxy=CORES[kind.removesuffix("-async")].Proxy(url)) as ask:
        assert [ask("http://nowhere.invalid/v1").text for _ in range(2)] == ["onetwo"] * 2
        assert server.connections == 1
    assert server.requests[0].target == "http://nowhere.invalid/v1"
