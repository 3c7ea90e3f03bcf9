"""What both socket transports do with connections: reuse, a server that closed, resets, and answers that come early."""

from __future__ import annotations

import socket
import struct
import threading
from typing import TYPE_CHECKING

import pytest
from tests.sockets import BEGIN, END, SESSIONS, STREAM, chunked, closed_port, read_request, scripted, silent

import tokwire
from tokwire_http import Timeouts
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parametrize("kind", SESSIONS)

REFUSAL = b'{"error": {"message": "too large", "type": "invalid_request_error"}}'
RESET = struct.pack("ii", 1, 0)


def reset(peer: socket.socket) -> None:
    """Make the coming close of a socket a reset."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


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
    assert server.requests[1].connection == server.connections


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
    [b"", b"10000\r\n" + bytes(0x10000) + b"\r\n", b"zz\r\n", b"0\r\n\r\nHTTP/1.1 200 OK\r\n"],
    ids=["nothing", "too much", "no chunk", "more than the end"],
)
def test_a_connection_whose_body_does_not_end_is_given_up(kind: str, rest: bytes) -> None:
    def never_ends(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM, end=rest))
        assert peer.recv(1) == b""

    def ends(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM))

    with scripted(never_ends, ends) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


def answers_and_closes(peer: socket.socket) -> None:
    """A script that keeps the connection only in words."""
    read_request(peer)
    peer.sendall(chunked(STREAM))


def test_a_kept_connection_that_the_server_closed_is_not_used(kind: str) -> None:
    with scripted(answers_and_closes, answers_and_closes) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


@pytest.mark.parametrize("ending", [lambda _: None, reset], ids=["closed", "reset"])
def test_a_request_that_meets_the_end_of_a_kept_connection_is_sent_again(
    kind: str, ending: Callable[[socket.socket], None]
) -> None:
    def closes_at_the_second(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(STREAM))
        read_request(peer)
        ending(peer)

    with scripted(closes_at_the_second, answers_and_closes) as url, SESSIONS[kind]() as ask:
        assert [ask(url).text, ask(url).text] == ["onetwo", "onetwo"]


def test_it_is_sent_again_only_once(kind: str) -> None:
    def closes_at_the_second(peer: socket.socket) -> None:
        answers_and_closes(peer)
        read_request(peer)

    with scripted(closes_at_the_second, read_request) as url, SESSIONS[kind]() as ask:
        assert ask(url).text == "onetwo"
        assert isinstance(ask(url).error, tokwire.NoResponse)


def test_a_new_connection_that_closes_without_a_word_is_no_response(kind: str) -> None:
    with scripted(read_request) as url, SESSIONS[kind]() as ask:
        assert isinstance(ask(url).error, tokwire.NoResponse)


def test_a_response_that_began_is_not_asked_for_again(kind: str) -> None:
    def begins(peer: socket.socket) -> None:
        answers_and_closes(peer)
        read_request(peer)
        peer.sendall(b"HTTP/1.1 200")

    with scripted(begins) as url, SESSIONS[kind]() as ask:
        assert ask(url).text == "onetwo"
        assert isinstance(ask(url).error, tokwire.StreamTruncated)


def test_bytes_that_came_before_a_reset_are_decoded(kind: str) -> None:
    server = serve(BEGIN + END, faults=[f"reset:{len(BEGIN)}"])
    with server as url, SESSIONS[kind]() as ask:
        answer = ask(url)
    assert answer.text == "onetwo"
    assert isinstance(answer.error, tokwire.StreamTruncated)


def test_a_reset_is_no_end_of_a_body_that_ends_with_the_connection(kind: str) -> None:
    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + BEGIN)
        reset(peer)

    with scripted(script) as url, SESSIONS[kind]() as ask:
        answer = ask(url)
    assert answer.text == "onetwo"
    assert isinstance(answer.error, tokwire.StreamTruncated)


def test_a_large_request_is_refused_early(kind: str) -> None:
    """The server says why, closes, and so resets what still comes: the reason must not be lost with it."""
    head = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(REFUSAL)

    def refuses(peer: socket.socket) -> None:
        peer.recv(1000)
        peer.sendall(head + REFUSAL)

    with scripted(*[refuses] * 5) as url, SESSIONS[kind]() as ask:
        for _ in range(5):
            error = ask(url, body=bytes(50_000_000)).error
            assert isinstance(error, tokwire.APIError)
            assert (error.status_code, error.message) == (413, "too large")


def test_a_large_request_arrives_whole(kind: str) -> None:
    server = serve(STREAM)
    body = bytes(range(256)) * 120_000
    with server as url, SESSIONS[kind]() as ask:
        assert [ask(url, body=body).text, ask(url).text] == ["onetwo", "onetwo"]
        assert server.connections == 1
    assert server.requests[0].body == body


def test_a_large_request_that_nobody_takes_is_an_idle_timeout(kind: str) -> None:
    with silent() as port, SESSIONS[kind]() as ask:
        error = ask(f"http://127.0.0.1:{port}", body=bytes(50_000_000), timeouts=Timeouts(idle=0.1)).error
    assert isinstance(error, tokwire.TransportTimeout)
    assert error.phase == "idle"


def test_nobody_listens(kind: str) -> None:
    with SESSIONS[kind]() as ask:
        error = ask(f"http://127.0.0.1:{closed_port()}").error
    assert isinstance(error, tokwire.ConnectError)
    assert isinstance(error.__cause__, ConnectionRefusedError)


@pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "x" * 64 + ".invalid"])
def test_a_host_without_address(kind: str, host: str) -> None:
    with SESSIONS[kind]() as ask:
        error = ask(f"http://{host}").error
    assert isinstance(error, tokwire.ConnectError)
    assert isinstance(error.__cause__, OSError | UnicodeError)


def test_the_next_address_is_tried_where_the_first_refuses(kind: str) -> None:
    """The server listens on 127.0.0.1 only, and `localhost` may well begin with ::1."""
    with serve(STREAM) as url, SESSIONS[kind]() as ask:
        assert ask(url.replace("127.0.0.1", "localhost")).text == "onetwo"


def test_a_head_without_end_meets_its_limit(kind: str) -> None:
    server = serve(Reply(body=STREAM, headers=[("X-Long", "x" * 2000)]))
    with server as url, SESSIONS[kind](limits=tokwire.Limits(max_head_bytes=1000)) as ask:
        error = ask(url).error
    assert isinstance(error, tokwire.LimitExceeded)
    assert error.limit == "max_head_bytes"


def test_an_answer_that_is_no_http(kind: str) -> None:
    with (
        scripted(lambda peer: read_request(peer) and peer.send(b"SSH-2.0-harbour\r\n")) as url,
        SESSIONS[kind]() as ask,
    ):
        assert isinstance(ask(url).error, tokwire.RemoteProtocolError)
