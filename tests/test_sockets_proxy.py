"""Proxies of both socket transports: forwarding for http, a tunnel for https, from explicit options only."""

from __future__ import annotations

import base64
import socket
import threading
from typing import TYPE_CHECKING

import pytest
from tests.sockets import (
    HOST,
    SECRET,
    SESSIONS,
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
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.parametrize("kind", SESSIONS)

PASSWORD = "a:b%40"
BASIC = base64.b64encode(b"me:a:b@").decode()


def head_of(peer: socket.socket) -> list[str]:
    """Read the head of a request without a body."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        data += peer.recv(1)
    return data.decode().split("\r\n")


def with_password(url: str) -> str:
    """The url of a proxy with a user and a password in it."""
    return url.replace("http://", f"http://me:{PASSWORD}@")


def relay(source: socket.socket, target: socket.socket) -> None:
    """Copy bytes until one side closes."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def tunnel(heads: list[list[str]]) -> Callable[[socket.socket], None]:
    """A script that is a proxy for one tunnel."""

    def script(peer: socket.socket) -> None:
        heads.append(head_of(peer))
        host, _, port = heads[-1][0].split(" ")[1].rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            peer.sendall(b"HTTP/1.1 200 Connection established\r\nContent-Length: 5\r\n\r\n")
            back = threading.Thread(target=relay, args=(server, peer))
            back.start()
            relay(peer, server)
            back.join()

    return script


def test_an_https_request_goes_through_a_tunnel(kind: str) -> None:
    heads: list[list[str]] = []
    server = serve(STREAM, ssl_context=server_context())
    with server as url, scripted(tunnel(heads)) as proxy:
        with SESSIONS[kind](ssl_context=client_context(), proxy=with_password(proxy)) as ask:
            answers = [ask(url), ask(url)]
        server.wait(lambda: server.open_connections == 0)
    assert [answer.text for answer in answers] == ["onetwo"] * 2
    place = f"{HOST}:{server.port}"
    assert len(heads) == 1
    assert heads[0][0] == f"CONNECT {place} HTTP/1.1"
    assert f"Host: {place}" in heads[0]
    assert f"Proxy-Authorization: Basic {BASIC}" in heads[0]
    assert SECRET not in str(heads)
    assert [request.header("proxy-authorization") for request in server.requests] == [None, None]


def test_an_http_request_is_forwarded(kind: str) -> None:
    requests: list[bytes] = []

    def script(peer: socket.socket) -> None:
        for _ in range(2):
            requests.append(read_request(peer))
            peer.sendall(chunked(STREAM))

    with scripted(script) as proxy, SESSIONS[kind](proxy=with_password(proxy)) as ask:
        assert [ask("http://models.example:8080/v1?a=b").text for _ in range(2)] == ["onetwo"] * 2
    for request in requests:
        assert request.startswith(b"POST http://models.example:8080/v1?a=b HTTP/1.1\r\nHost: models.example:8080\r\n")
        assert f"\r\nProxy-Authorization: Basic {BASIC}\r\n".encode() in request


def test_the_environment_is_not_asked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://nowhere.invalid:3128")
    with serve(STREAM) as url, SESSIONS[kind]() as ask:
        assert ask(url).text == "onetwo"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "status 407"),
        (b"SSH-2.0-harbour\r\n\r\n\r\n", "does not answer in HTTP/1.1"),
        (b"", "closed during the request to the proxy"),
    ],
    ids=["refused", "no http", "closed"],
)
def test_a_tunnel_that_cannot_be_had_is_a_connect_error(kind: str, answer: bytes, said: str) -> None:
    def script(peer: socket.socket) -> None:
        head_of(peer)
        peer.sendall(answer)

    with scripted(script) as proxy, SESSIONS[kind](proxy=with_password(proxy)) as ask:
        error = ask(f"https://models.example/v1?key={SECRET}").error
    assert isinstance(error, tokwire.ConnectError)
    assert said in str(error)
    assert "models.example:443 through the proxy" in str(error)
    assert not [secret for secret in (SECRET, PASSWORD, BASIC) if secret in str(error) + repr(error.__cause__)]


def test_a_silent_proxy_is_a_connect_timeout(kind: str) -> None:
    with silent() as port, SESSIONS[kind](proxy=f"http://{HOST}:{port}") as ask:
        error = ask("https://models.example", timeouts=Timeouts(connect=0.1)).error
    assert isinstance(error, tokwire.TransportTimeout)
    assert error.phase == "connect"


def test_nobody_listens_where_the_proxy_should(kind: str) -> None:
    with SESSIONS[kind](proxy=f"http://{HOST}:{closed_port()}") as ask:
        error = ask("http://models.example").error
    assert isinstance(error, tokwire.ConnectError)
    assert isinstance(error.__cause__, ConnectionRefusedError)


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://host:1080",
        f"https://{PASSWORD}@host:1",
        f"http://{PASSWORD}@host:99999",
        "host:3128",
        "http://",
        "http://a b",
        "http://host/path",
    ],
)
def test_another_proxy_is_refused_without_repeating_it(kind: str, proxy: str) -> None:
    with pytest.raises(ValueError, match="expected http://host:port") as caught, SESSIONS[kind](proxy=proxy):
        pass
    assert PASSWORD not in str(caught.value)
    assert caught.value.__cause__ is None
