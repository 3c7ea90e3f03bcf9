"""TLS of both socket transports: who is trusted, who is not, and a cut connection is not a closed one."""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from tests.sockets import (
    BEGIN,
    END,
    HOST,
    PATIENT,
    SECRET,
    SESSIONS,
    STREAM,
    authority,
    chunked,
    client_context,
    read_request,
    scripted,
    self_signed_context,
    server_context,
    silent,
)

import tokwire
from tokwire_http import Timeouts
from tokwire_http._tls import default_context
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.parametrize("kind", SESSIONS)

CLOSE_DELIMITED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def test_a_trusted_server_is_asked_and_its_connection_kept(kind: str) -> None:
    server = serve(STREAM, ssl_context=server_context())
    with server as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        assert [ask(url).text for _ in range(3)] == ["onetwo"] * 3
        assert server.connections == 1


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (lambda _: server_context("harbour.example"), "IP address mismatch"),
        (lambda _: server_context(expired=True), "certificate has expired"),
        (self_signed_context, "self-signed certificate"),
    ],
    ids=["wrong host", "expired", "self-signed"],
)
def test_a_server_that_cannot_be_trusted_gets_no_request(
    kind: str, context: Callable[[Path], ssl.SSLContext], reason: str, tmp_path: Path
) -> None:
    server = serve(STREAM, ssl_context=context(tmp_path))
    with server as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        answer = ask(url)
        assert isinstance(answer.error, tokwire.ConnectError)
        assert isinstance(answer.error.__cause__, ssl.SSLCertVerificationError)
        assert reason in str(answer.error)
        assert SECRET not in str(answer.error)
    assert server.requests == []


def test_certificates_are_checked_by_default(kind: str) -> None:
    server = serve(STREAM, ssl_context=server_context())
    with server as url, SESSIONS[kind]() as ask:
        answer = ask(url)
        assert isinstance(answer.error, tokwire.ConnectError)
        assert isinstance(answer.error.__cause__, ssl.SSLCertVerificationError)
    assert server.requests == []


def over_tls(script: Callable[[ssl.SSLSocket], object], context: ssl.SSLContext) -> Callable[[socket.socket], None]:
    """A script behind a handshake."""

    def run(peer: socket.socket) -> None:
        with context.wrap_socket(peer, server_side=True, suppress_ragged_eofs=False) as secured:
            script(secured)

    return run


def test_the_host_goes_out_as_sni_and_http_is_the_only_protocol_offered(kind: str) -> None:
    asked: list[str | None] = []
    context = server_context("localhost")
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda _sock, name, _context: asked.append(name)

    def script(peer: ssl.SSLSocket) -> None:
        asked.append(peer.selected_alpn_protocol())
        read_request(peer)
        peer.sendall(chunked(STREAM))

    with (
        scripted(over_tls(script, context)) as url,
        SESSIONS[kind](ssl_context=client_context()) as ask,
    ):
        assert ask(url.replace("http:", "https:").replace(HOST, "localhost")).text == "onetwo"
    assert asked == ["localhost", "http/1.1"]


def test_the_default_context_checks_everything(kind: str) -> None:
    assert kind
    context = default_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert default_context() is context


def test_a_server_that_chooses_another_protocol_is_refused(kind: str) -> None:
    context, offering = server_context(), ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    offering.set_alpn_protocols(["h2", "http/1.1"])
    authority().configure_trust(offering)
    with serve(STREAM, ssl_context=context) as url, SESSIONS[kind](ssl_context=offering) as ask:
        answer = ask(url)
    assert isinstance(answer.error, tokwire.ConnectError)
    assert "'h2'" in str(answer.error)


def closing(body: bytes, *, notify: bool) -> Callable[[ssl.SSLSocket], None]:
    """A script that sends a body which ends with the connection, and closes it with or without saying so in TLS."""

    def script(peer: ssl.SSLSocket) -> None:
        read_request(peer)
        peer.sendall(CLOSE_DELIMITED + body)
        if notify:
            with suppress(ssl.SSLEOFError):  # the client need not answer
                peer.unwrap()

    return script


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_cut_is_told_from_an_end(kind: str, version: ssl.TLSVersion) -> None:
    context = server_context()
    context.minimum_version = context.maximum_version = version
    with (
        scripted(*[over_tls(closing(BEGIN, notify=notify), context) for notify in (True, False)]) as url,
        SESSIONS[kind](ssl_context=client_context()) as ask,
    ):
        ended, cut = [ask(url.replace("http:", "https:")) for _ in range(2)]
    assert ended.error is None
    assert ended.events[-1] == tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)
    assert isinstance(cut.error, tokwire.StreamTruncated)
    assert isinstance(cut.error.__cause__, ssl.SSLEOFError | tokwire.StreamTruncated)
    assert cut.events == ended.events[:-1]


def test_bytes_that_were_tampered_with_end_the_stream(kind: str) -> None:
    def script(peer: ssl.SSLSocket) -> None:
        read_request(peer)
        peer.sendall(chunked(BEGIN, end=b""))
        with socket.socket(fileno=os.dup(peer.fileno())) as bare:
            bare.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
        with pytest.raises(ssl.SSLEOFError):
            peer.recv(1)

    with (
        scripted(over_tls(script, server_context())) as url,
        SESSIONS[kind](ssl_context=client_context()) as ask,
    ):
        answer = ask(url.replace("http:", "https:"))
    assert answer.text == "onetwo"
    assert isinstance(answer.error, tokwire.StreamTruncated)


def test_a_server_that_does_not_speak_tls_is_a_connect_error(kind: str) -> None:
    with (
        scripted(lambda peer: peer.recv(65536) and peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as url,
        SESSIONS[kind](ssl_context=client_context()) as ask,
    ):
        answer = ask(url.replace("http:", "https:"))
    assert isinstance(answer.error, tokwire.ConnectError)
    assert isinstance(answer.error.__cause__, ssl.SSLError)


def test_a_connection_that_closes_in_the_handshake_is_a_connect_error(kind: str) -> None:
    with (
        scripted(lambda peer: peer.recv(65536)) as url,
        SESSIONS[kind](ssl_context=client_context()) as ask,
    ):
        answer = ask(url.replace("http:", "https:"))
    assert isinstance(answer.error, tokwire.ConnectError)
    assert "TLS handshake" in str(answer.error)


def test_a_silent_handshake_is_a_connect_timeout(kind: str) -> None:
    with silent() as port, SESSIONS[kind](ssl_context=client_context()) as ask:
        answer = ask(f"https://{HOST}:{port}", timeouts=Timeouts(connect=0.1, idle=10.0))
    assert isinstance(answer.error, tokwire.TransportTimeout)
    assert answer.error.phase == "connect"


def test_a_large_request_is_refused_early(kind: str) -> None:
    refusal = Reply(body=b'{"error": {"message": "too large"}}', status=413, answers_early=True)
    with serve(refusal, ssl_context=server_context()) as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        answer = ask(url, body=bytes(50_000_000), timeouts=PATIENT)
    assert isinstance(answer.error, tokwire.APIError)
    assert (answer.error.status_code, answer.error.message) == (413, "too large")


def test_a_large_request_arrives_whole(kind: str) -> None:
    server = serve(BEGIN + END, ssl_context=server_context())
    body = bytes(range(256)) * 8000
    with server as url, SESSIONS[kind](ssl_context=client_context()) as ask:
        assert ask(url, body=body).text == "onetwo"
        assert ask(url).text == "onetwo"
    assert server.requests[0].body == body
    assert server.connections == 1
