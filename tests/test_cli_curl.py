"""`tokwire decode` and `check` of what `curl -i` printed: heads of every kind before bodies in every form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.http_bodies import compressed
from tests.http_wire import chunked, head
from tests.test_cli_support import HELLO, Cli, sse, text_chunk

from tokwire_cli._curl import take_heads

if TYPE_CHECKING:
    from collections.abc import Iterator

SSE = ("content-type", "text/event-stream")
CHUNKED = ("transfer-encoding", "chunked")
ERROR = b'{"error": {"type": "overloaded_error", "message": "Too many ships"}}'
H2 = b"HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


GOOD = {
    "http/1.1": head("200 OK", [SSE]) + HELLO,
    "http/2": H2 + HELLO,
    "http/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + HELLO,
    "line feeds": b"HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n" + HELLO,
    "no reason": b"HTTP/1.1 200\r\n\r\n" + HELLO,
    "chunked, undone": head("200 OK", [SSE, CHUNKED]) + HELLO,
    "chunked, raw": head("200 OK", [SSE, CHUNKED]) + chunked(HELLO, 30),
    "chunked, raw, extensions": head("200 OK", [SSE, CHUNKED]) + chunked(HELLO, 1000, extension=b";a=b"),
    "continue": head("100 Continue") + head("200 OK", [SSE]) + HELLO,
    "proxy": head("200 Connection established") + H2 + HELLO,
    "redirect followed": head("302 Found", [("location", "/v2"), ("content-length", "0")]) + H2 + HELLO,
    "all of them": head("200 Connection established") + head(100) + head(103, [("link", "x")]) + H2 + HELLO,
    "length": head("200 OK", [SSE, ("content-length", str(len(HELLO)))]) + HELLO,
    "gzip, undone": head("200 OK", [SSE, ("content-encoding", "gzip"), ("content-length", "9999")]) + HELLO,
}


@pytest.mark.parametrize("printed", GOOD.values(), ids=GOOD)
def test_heads_before_a_body(cli: Cli, printed: bytes) -> None:
    assert cli("decode", "-", stdin=printed) == cli("decode", "-", stdin=HELLO)
    named = cli("decode", "-", "--protocol", "openai-chat", "--no-json", "--summary", stdin=printed)
    assert named == cli("decode", "-", "--protocol", "openai-chat", "--no-json", "--summary", stdin=HELLO)


@pytest.mark.parametrize("printed", GOOD.values(), ids=GOOD)
def test_every_cut_gives_the_same(printed: bytes) -> None:
    def read(chunks: list[bytes]) -> tuple[object, bytes]:
        found, body = take_heads(iter(chunks))
        return found, b"".join(body)

    expected = read([printed])
    assert expected[1] == HELLO
    assert read([printed[place : place + 1] for place in range(len(printed))]) == expected
    for place in range(1, len(printed)):
        assert read([printed[:place], printed[place:]]) == expected


def test_a_coding_that_stands_is_undone_where_the_protocol_is_named(cli: Cli) -> None:
    printed = head("200 OK", [SSE, ("content-encoding", "gzip")]) + compressed(HELLO, "gzip")
    assert cli("decode", "-", "--protocol", "openai-chat", stdin=printed).text == "Hello"
    result = cli("decode", "-", stdin=printed)
    assert (result.code, "compressed" in result.err) == (2, True)


@pytest.mark.parametrize("status", ["HTTP/1.1 529 Overloaded", "HTTP/2 529 "])
def test_the_status_is_judged(cli: Cli, status: str) -> None:
    printed = f"{status}\r\nretry-after: 7\r\nx-request-id: r-1\r\n\r\n".encode() + ERROR
    result = cli("decode", "-", stdin=printed)
    assert result.code == 1
    (error,) = result.lines
    assert (error["status_code"], error["message"], error["retry_after"]) == (529, "Too many ships", 7.0)
    assert error["request_id"] == "r-1"


def test_a_redirect_is_named(cli: Cli) -> None:
    result = cli("decode", "-", stdin=head("301 Moved", [("location", "https://elsewhere.example/")]))
    assert result.code == 1
    assert "elsewhere.example" in result.err


CUT = {
    "raw chunks": head("200 OK", [SSE, CHUNKED]) + chunked(HELLO, 50)[:-40],
    "length": head("200 OK", [SSE, ("content-length", "5000")]) + sse(text_chunk("Hel")),
    "nothing": H2 + sse(text_chunk("Hel")),
}


@pytest.mark.parametrize("printed", CUT.values(), ids=CUT)
def test_cut_bodies_are_3(cli: Cli, printed: bytes) -> None:
    result = cli("decode", "-", stdin=printed)
    assert result.code == 3
    assert result.text.startswith("Hel")


def test_a_marker_is_enough_where_the_rest_is_missing(cli: Cli) -> None:
    printed = head("200 OK", [SSE, ("content-length", "5000")]) + HELLO
    assert cli("decode", "-", stdin=printed).code == 0


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"HTTP/", "does not end"),
        (b"HTTP/1.1 200 OK\r\nx: y\r\n", "does not end"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20000, "does not end"),
        (b"HTTP/1.1 OK\r\n\r\n" + HELLO, "no status line"),
        (b"HTTP/1.1 2000 OK\r\n\r\n" + HELLO, "no status line"),
    ],
)
def test_what_only_begins_like_a_head_is_4(cli: Cli, printed: bytes, said: str) -> None:
    result = cli("decode", "-", stdin=printed)
    assert (result.code, result.lines[0]["kind"]) == (4, "RemoteProtocolError")
    assert said in result.err


@pytest.mark.parametrize("printed", [b"", b"H", b"HTTP", b"http/1.1 200 OK\r\n\r\n"])
def test_what_does_not_begin_like_a_head_is_a_body(printed: bytes) -> None:
    found, body = take_heads(iter([printed]))
    assert found is None
    assert b"".join(body) == printed


def test_an_empty_body_behind_a_head(cli: Cli) -> None:
    result = cli("decode", "-", stdin=head("200 OK", [SSE]))
    assert (result.code, result.types) == (3, ["finish"])


def test_a_broken_chunk_is_4(cli: Cli) -> None:
    printed = head("200 OK", [SSE, CHUNKED]) + chunked(sse(text_chunk("a")), 1000)[:-5] + b"zz\r\n"
    result = cli("decode", "-", stdin=printed)
    assert (result.code, result.text) == (4, "a")


def test_no_more_is_read_than_is_needed() -> None:
    def arriving() -> Iterator[bytes]:
        yield H2
        yield HELLO[:5]
        raise AssertionError("read on")

    found, body = take_heads(arriving())
    assert found is not None
    assert next(body) == HELLO[:5]


# check ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("printed", GOOD.values(), ids=GOOD)
def test_check_cuts_the_body_behind_the_heads(cli: Cli, printed: bytes) -> None:
    result = cli("check", "-", "--cuts", "random:40", stdin=printed)
    assert (result.code, result.err) == (0, "")
    assert f"({len(HELLO)} bytes, openai-chat, 3 events)" in result.out


def test_check_of_a_body_that_was_cut_compares_what_decode_shows(cli: Cli) -> None:
    result = cli("check", "-", stdin=CUT["length"])
    assert result.out.endswith("openai-chat, 1 event and an error)\n")
    result = cli("check", "-", stdin=CUT["nothing"])
    assert result.out.endswith("openai-chat, 2 events)\n")


def test_check_of_an_error_response(cli: Cli) -> None:
    result = cli("check", "-", stdin=b"HTTP/2 529 \r\nretry-after: 7\r\n\r\n" + ERROR)
    assert (result.code, result.err) == (0, "")
    assert f"({len(ERROR)} bytes, status 529, 0 events and an error)" in result.out


def test_check_of_a_compressed_body(cli: Cli) -> None:
    body = compressed(HELLO, "gzip")
    printed = head("200 OK", [SSE, ("content-encoding", "gzip")]) + body
    result = cli("check", "-", "--protocol", "openai-chat", stdin=printed)
    assert f"({len(body)} bytes, openai-chat, 3 events)" in result.out
    assert cli("check", "-", stdin=printed).code == 2


def test_check_of_what_only_begins_like_a_head_is_4(cli: Cli) -> None:
    result = cli("check", "-", stdin=b"HTTP/1.1 OK\r\n\r\n" + HELLO)
    assert (result.code, "no status line" in result.err) == (4, True)
