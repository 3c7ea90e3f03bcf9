"""`HTTPExchange`: responses in every framing and at every cut, against the standard library where it has an answer."""

from __future__ import annotations

import io
import random
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from tests.http_wire import FRAMINGS, HEADERS, POST, chunked, every_head_cut, exchanged, head, wrapped
from tests.support import BODIES, cut

import tokwire

if TYPE_CHECKING:
    import socket

RECORDINGS = sorted((Path(__file__).resolve().parent.parent / "examples" / "recordings").glob("*/*.sse"))
BODY = BODIES["openai-chat"]


def by_stdlib(wire: bytes, method: str = "POST") -> tuple[int, list[tuple[str, str]], bytes] | None:
    """What `http.client` makes of the bytes of a connection that closes behind them; None where it refuses them."""

    class Socket:
        def makefile(self, mode: str) -> io.BytesIO:
            assert mode == "rb"
            return io.BytesIO(wire)

    response = HTTPResponse(cast("socket.socket", Socket()), method=method)
    try:
        response.begin()
        body = response.read()
    except (HTTPException, ValueError):
        return None
    return response.status, response.getheaders(), body


def plain(headers: list[tuple[str, str]] | tokwire.Headers) -> list[tuple[str, str]]:
    """Headers without what the two readers may differ in: case, blanks at the end, and a length that comes twice."""
    pairs = [(name.lower(), value.strip().lower()) for name, value in headers]
    return [each for place, each in enumerate(pairs) if each[0] != "content-length" or each not in pairs[:place]]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_recording_comes_out_as_it_went_in(path: Path) -> None:
    body = path.read_bytes()
    lot = random.Random(path.name)
    for framing in FRAMINGS:
        wire = wrapped(body, framing, headers=HEADERS)
        places = [[lot.randrange(len(wire) + 1) for _ in range(lot.choice((1, 2, 9)))] for _ in range(6)]
        for reads in ([wire], *(cut(wire, each) for each in places)):
            found = exchanged(reads, eof=framing == "close")
            assert (found.body, found.failure, found.ended) == (body, None, True)
            assert found.head is not None
            assert found.head.header("x-request-id") == "r-1"
            assert found.keep_alive == (framing != "close")
        answer = by_stdlib(wire)
        assert answer is not None
        assert found.head is not None
        assert (answer[0], plain(answer[1]), answer[2]) == (200, plain(found.head.headers), body)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(
    "before",
    [
        b"",
        head("100 Continue"),
        head(103, [("Link", "</style.css>")]) + head("102 Processing") + head(100),
        head(100) * 16,
    ],
)
def test_every_cut_of_the_head_gives_the_same(framing: str, before: bytes) -> None:
    wire = before + wrapped(BODY, framing, headers=HEADERS)
    expected = exchanged([wire], eof=framing == "close")
    assert (expected.body, expected.failure, expected.ended) == (BODY, None, True)
    for reads in every_head_cut(wire):
        assert exchanged(reads, eof=framing == "close") == expected


WHOLE = {
    "status without reason": head(200, [("Content-Length", "2")]) + b"ok",
    "reason with blanks": head("200 All is well", [("Content-Length", "2")]) + b"ok",
    "latin-1": head("200 Tr\u00e8s bien", [("X-Name", "caf\u00e9"), ("Content-Length", "2")]) + b"ok",
    "line feeds alone": head("200 OK", [("Content-Length", "2")], end="\n") + b"ok",
    "http 1.0": b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok",
    "close": head(200, [("Connection", "close"), ("Content-Length", "2")]) + b"ok",
    "empty length": head(200, [("Content-Length", "0")]),
    "no content": head("204 No Content"),
    "not modified": head(304, [("Content-Length", "70")]),
    "same length twice": head(200, [("Content-Length", "2"), ("Content-Length", "2")]) + b"ok",
    "same header twice": head(200, [("X", "1"), ("X", "2"), ("Content-Length", "2")]) + b"ok",
    "blanks around a value": b"HTTP/1.1 200 OK\r\nContent-Length: \t 2 \t\r\n\r\nok",
    "empty chunked": head(200, [("Transfer-Encoding", "chunked")]) + b"0\r\n\r\n",
    "chunks in capitals": head(200, [("Transfer-Encoding", "Chunked")]) + b"A\r\n0123456789\r\n0\r\n\r\n",
    "leading zeros": head(200, [("Transfer-Encoding", "chunked")]) + b"0002\r\nok\r\n000\r\n\r\n",
    "extensions": head(200, [("Transfer-Encoding", "chunked")]) + chunked(BODY, 7, extension=b";name=value"),
    "trailers": head(200, [("Transfer-Encoding", "chunked")]) + chunked(BODY, 50, trailers=b"X-Sum: 1\r\nY: 2\r\n"),
    "error status": head("503 Busy", [("Content-Length", "4")]) + b"busy",
    "interim heads": head(100) + head("100 Continue") + head(200, [("Content-Length", "2")]) + b"ok",
}
CUT = {
    "length": head(200, [("Content-Length", "3")]) + b"ok",
    "in a chunk": head(200, [("Transfer-Encoding", "chunked")]) + b"5\r\nok",
    "before the last chunk": head(200, [("Transfer-Encoding", "chunked")]) + b"2\r\nok\r\n",
    "in a chunk line": head(200, [("Transfer-Encoding", "chunked")]) + b"2\r\nok\r\n5",
    "in the terminator": head(200, [("Transfer-Encoding", "chunked")]) + b"2\r\nok\r\n0\r\n",
}


@pytest.mark.parametrize("wire", WHOLE.values(), ids=WHOLE)
def test_whole_responses_agree_with_the_standard_library(wire: bytes) -> None:
    found = exchanged([wire], eof=True)
    assert found.failure is None
    assert found.head is not None
    answer = by_stdlib(wire)
    assert answer is not None
    status, headers, body = answer
    assert (found.head.status, found.body, found.ended) == (status, body, True)
    assert plain(found.head.headers) == plain(headers)
    assert all(exchanged(reads, eof=True) == found for reads in every_head_cut(wire))


@pytest.mark.parametrize("wire", CUT.values(), ids=CUT)
def test_cut_bodies_are_cut_at_every_cut(wire: bytes) -> None:
    for reads in every_head_cut(wire):
        found = exchanged(reads, eof=True)
        assert found.failure is not None
        assert (found.failure.kind, found.body, found.ended) == ("StreamTruncated", b"ok", False)
        assert not found.keep_alive
        assert exchanged(reads)[1:] == (b"ok", None, False, False)


def test_a_response_to_head_has_no_body() -> None:
    request = tokwire.HTTPRequest("HEAD", "http://h/")
    wire = head(200, [("Content-Length", "70")])
    assert exchanged([wire], request=request)[1:] == (b"", None, True, True)


def test_a_tunnel_ends_with_its_head() -> None:
    request = tokwire.HTTPRequest("CONNECT", "https://api.example")
    assert exchanged([head("200 Connection established")], request=request)[1:] == (b"", None, True, False)
    refused = exchanged([wrapped(b"no", "length", status=403)], request=request)
    assert refused[1:] == (b"no", None, True, True)


def test_chunks_come_as_they_arrive() -> None:
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(head(200, [("Transfer-Encoding", "chunked")]))
    assert list(exchange.body()) == []
    assert exchange.response is not None
    for piece in (b"a", b"bc", b"def"):
        exchange.receive_data(chunked(piece)[:-5])
        assert list(exchange.body()) == [piece]
    exchange.receive_data(b"5\r\nhe")
    assert list(exchange.body()) == [b"he"]


def test_the_body_may_be_dropped_without_losing_anything() -> None:
    wire = wrapped(BODY, "chunked")
    exchange = tokwire.HTTPExchange(POST)
    exchange.data_to_send()
    exchange.receive_data(wire[:300])
    body = b""
    while not exchange.ended:
        for chunk in exchange.body():
            body += chunk
            break
        else:
            exchange.receive_data(wire[300:])
            wire = wire[:300]
    assert body == BODY
    assert exchange.keep_alive


def test_data_may_be_fed_inside_the_loop() -> None:
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(head(200, [("Content-Length", "4")]) + b"a")
    rest = [b"b", b"", bytearray(b"c"), memoryview(b"d")]
    body = b""
    for chunk in exchange.body():
        body += chunk
        if rest:
            exchange.receive_data(cast("bytes", rest.pop(0)))
            exchange.receive_data(cast("bytes", rest.pop(0)) if rest else b"")
    assert body == b"abcd"


def test_a_large_read_is_not_copied_again_and_again() -> None:
    body = b"x" * 20_000_000
    found = exchanged([head(200, [("Content-Length", str(len(body)))]) + body])
    assert found.body == body
