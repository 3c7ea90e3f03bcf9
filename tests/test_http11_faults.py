"""`HTTPExchange`: the request that goes out, limits, cut and invalid responses, and what must never be shown."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_wire import POST, Exchanged, chunked, every_head_cut, exchanged, head, wrapped

import tokwire

SECRET = "sk-harbour-4711"
OK = wrapped(b"ok", "length")


def sent(request: tokwire.HTTPRequest, *, through_proxy: bool = False) -> list[bytes]:
    """The request as it goes out."""
    return tokwire.HTTPExchange(request, through_proxy=through_proxy).data_to_send()


def kind_of(found: Exchanged) -> str:
    """The class of the error."""
    assert found.failure is not None
    return found.failure.kind


def test_a_request_goes_out_with_the_body_itself() -> None:
    body = b"x" * 1_000_000
    request = tokwire.HTTPRequest("POST", "https://api.example:8443/v1?a=b#c", (("X-A", "caf\u00e9"),), body)
    exchange = tokwire.HTTPExchange(request)
    first, second = exchange.data_to_send()
    assert second is body
    assert first == (
        b"POST /v1?a=b HTTP/1.1\r\nHost: api.example:8443\r\nX-A: caf\xe9\r\nAccept-Encoding: identity\r\n"
        b"Content-Length: 1000000\r\n\r\n"
    )
    assert exchange.data_to_send() == []


@pytest.mark.parametrize(
    ("request_", "lines"),
    [
        (tokwire.HTTPRequest("GET", "http://h"), [b"GET / HTTP/1.1", b"Host: h", b"Accept-Encoding: identity"]),
        (tokwire.HTTPRequest("GET", "http://h:443"), [b"GET / HTTP/1.1", b"Host: h:443", b"Accept-Encoding: identity"]),
        (tokwire.HTTPRequest("GET", "https://h:443"), [b"GET / HTTP/1.1", b"Host: h", b"Accept-Encoding: identity"]),
        (
            tokwire.HTTPRequest("POST", "http://[::1]:80/", (("host", "x"), ("accept-encoding", "gzip"))),
            [b"POST / HTTP/1.1", b"host: x", b"accept-encoding: gzip", b"Content-Length: 0"],
        ),
        (
            tokwire.HTTPRequest("DELETE", "http://[::1]:8080/", (("Content-Length", "1"),), b"x"),
            [b"DELETE / HTTP/1.1", b"Host: [::1]:8080", b"Content-Length: 1", b"Accept-Encoding: identity"],
        ),
        (
            tokwire.HTTPRequest("CONNECT", "https://[::1]"),
            [b"CONNECT [::1]:443 HTTP/1.1", b"Host: [::1]:443", b"Accept-Encoding: identity"],
        ),
    ],
)
def test_the_lines_of_requests(request_: tokwire.HTTPRequest, lines: list[bytes]) -> None:
    wire = sent(request_)[0].split(b"\r\n\r\n")[0]
    assert sorted(wire.split(b"\r\n")) == sorted(lines)
    assert wire.split(b"\r\n")[0] == lines[0]


def test_a_proxy_is_given_the_whole_url() -> None:
    request = tokwire.HTTPRequest("POST", "http://h:81/v1?a=b#c", (), b"{}")
    assert sent(request, through_proxy=True)[0].startswith(b"POST http://h:81/v1?a=b HTTP/1.1\r\n")


def test_contradicting_headers_are_a_local_error_that_shows_no_value() -> None:
    headers = (("Host", SECRET), ("host", SECRET + "x"))
    exchange = tokwire.HTTPExchange(tokwire.HTTPRequest("POST", "http://h/", headers))
    with pytest.raises(tokwire.LocalProtocolError) as caught:
        exchange.data_to_send()
    assert_hides_the_secret(caught.value)


def assert_hides_the_secret(error: BaseException) -> None:
    """Neither the error, nor what it holds, nor what it came from says the secret."""
    chain: list[BaseException] = [error]
    while chain[-1].__context__ is not None:
        chain.append(chain[-1].__context__)
    shown = "".join(f"{each!r} {each} {each.args!r} {vars(each)!r}" for each in chain)
    assert SECRET not in shown + "".join(traceback.format_exception(error))


@pytest.mark.parametrize("before", [b"", head(100), head(103, [("Link", "x" * 30)]) * 3])
def test_the_limit_of_the_head_does_not_depend_on_the_cuts(before: bytes) -> None:
    wire = before + head(200, [("X-Padding", "x" * 60), ("Content-Length", "2")])
    size = len(wire)
    wire += b"ok"
    for limit, expected in ((size - 1, "LimitExceeded"), (size, None), (size + 1, None), (1, "LimitExceeded")):
        whole = exchanged([wire], limits=tokwire.Limits(max_head_bytes=limit))
        assert (whole.failure.kind if whole.failure else None) == expected
        if whole.failure is not None:
            assert f"max_head_bytes={limit}" in whole.failure.text
        for reads in every_head_cut(wire):
            assert exchanged(reads, limits=tokwire.Limits(max_head_bytes=limit)) == whole


@pytest.mark.parametrize("limit", [64 << 10, 200 << 10, None])
def test_a_head_of_200_kilobytes(limit: int | None) -> None:
    wire = head(200, [(f"X-{number}", "x" * 1000) for number in range(190)] + [("Content-Length", "2")]) + b"ok"
    limits = tokwire.Limits(max_head_bytes=limit)
    for size in (len(wire), 4096, 16 << 10, 1000):
        found = exchanged([wire[place : place + size] for place in range(0, len(wire), size)], limits=limits)
        if limit == 64 << 10:
            assert kind_of(found) == "LimitExceeded"
        else:
            assert (found.body, found.failure) == (b"ok", None)


def test_a_head_without_end_is_refused() -> None:
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(b"HTTP/1.1 200 OK\r\nX: ")
    exchange.receive_data(b"x" * (64 << 10))
    with pytest.raises(tokwire.LimitExceeded) as caught:
        list(exchange.body())
    assert (caught.value.limit, caught.value.value) == ("max_head_bytes", 64 << 10)


@pytest.mark.parametrize("tail", [b"5;" + b"x" * 200_000, b"0\r\n" + b"X: y\r\n" * 50_000])
@pytest.mark.parametrize("size", [1000, 16 << 10, 1 << 20])
def test_chunk_lines_and_trailers_without_end_are_refused(tail: bytes, size: int) -> None:
    wire = head(200, [("Transfer-Encoding", "chunked")]) + tail
    found = exchanged([wire[place : place + size] for place in range(0, len(wire), size)])
    assert kind_of(found) == "RemoteProtocolError"


@pytest.mark.parametrize(
    "wire",
    [
        head(100) * 17 + OK,
        head("101 Switching Protocols", [("Upgrade", "websocket")]) + OK,
        b"HTTP/1.1 099 X\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"<html>no</html>\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA B: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA : c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n",
        head(200, [("Content-Length", "2"), ("Content-Length", "3")]) + b"ok",
        head(200, [("Content-Length", "-1")]) + b"ok",
        head(200, [("Content-Length", "9" * 30)]) + b"ok",
        head(200, [("Transfer-Encoding", "gzip")]) + b"ok",
        head(200, [("Transfer-Encoding", "chunked")]) + b"x\r\nok\r\n",
        head(200, [("Transfer-Encoding", "chunked")]) + b"2\r\nokay\r\n",
        head(200, [("Transfer-Encoding", "chunked")]) + b"-2\r\nok\r\n",
        head(200, [("Transfer-Encoding", "chunked")]) + b"0\r\nno colon\r\n\r\n",
        b"\r\n" + OK,
        b"\x15\x03\x01\x00\x02\x02\x28" + b"\x00" * 70,
        b"\x00\x00\x12\x04" + b"x" * 70 + b"\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_the_same_at_every_cut(wire: bytes) -> None:
    expected = exchanged([wire], eof=True)
    assert kind_of(expected) == "RemoteProtocolError"
    assert not expected.keep_alive
    for reads in every_head_cut(wire):
        assert exchanged(reads, eof=True) == expected


def test_the_excerpt_of_a_refused_head_is_its_first_line() -> None:
    found = exchanged([b"HTTP/1.1 200 OK\r\nSet-Cookie: " + SECRET.encode() + b"\r\nbad\r\n\r\n"])
    assert found.failure is not None
    assert found.failure.excerpt == b"HTTP/1.1 200 OK"
    assert SECRET not in found.failure.text


@pytest.mark.parametrize(
    ("wire", "kind"), [(b"", "NoResponse"), (b"H", "StreamTruncated"), (OK[:-3], "StreamTruncated")]
)
def test_a_connection_that_closes_before_the_response(wire: bytes, kind: str) -> None:
    for reads in ([wire], [wire[:1], wire[1:]]):
        assert kind_of(exchanged(reads, eof=True)) == kind
    assert kind_of(exchanged([head(100)], eof=True)) == "StreamTruncated"


def test_errors_are_raised_again() -> None:
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(b"junk\r\n\r\n")
    errors = []
    for _ in range(2):
        with pytest.raises(tokwire.RemoteProtocolError) as caught:
            list(exchange.body())
        errors.append(caught.value)
    assert errors[0] is errors[1]
    assert errors[0].__context__ is None


def test_data_before_an_error_comes_first() -> None:
    wire = head(200, [("Transfer-Encoding", "chunked")]) + b"2\r\nok\r\nxyz\r\n"
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(wire)
    chunks = exchange.body()
    assert next(chunks) == b"ok"
    with pytest.raises(tokwire.RemoteProtocolError):
        next(chunks)


def test_misuse() -> None:
    exchange = tokwire.HTTPExchange(POST)
    with pytest.raises(TypeError):
        exchange.receive_data("text")  # type: ignore[arg-type]  # what a caller without types may do
    exchange.receive_eof()
    exchange.receive_eof()
    with pytest.raises(tokwire.LocalProtocolError):
        exchange.receive_data(b"")


@pytest.mark.parametrize(
    ("wire", "keeps"),
    [
        (OK, True),
        (head(200, [("Transfer-Encoding", "chunked")]) + chunked(b"ok", trailers=b"X: y\r\n"), True),
        (OK + b"x", False),
        (OK + OK, False),
        (head(200, [("Connection", "close"), ("Content-Length", "2")]) + b"ok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
    ],
)
def test_a_connection_is_kept_only_where_nothing_is_left(wire: bytes, *, keeps: bool) -> None:
    for reads in every_head_cut(wire):
        found = exchanged(reads)
        assert (found.body, found.ended, found.keep_alive) == (b"ok", True, keeps)
    assert not exchanged([wire], eof=True).keep_alive


def test_a_request_that_was_not_sent_keeps_no_connection() -> None:
    """A server may answer before it has the request, for example that the request is too large."""
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(wrapped(b"too large", "length", status=413))
    assert list(exchange.body()) == [b"too large"]
    assert exchange.response is not None
    assert (exchange.response.status, exchange.ended, exchange.keep_alive) == (413, True, False)
    assert exchange.data_to_send() == []


def test_an_interim_response_to_no_request_is_refused() -> None:
    exchange = tokwire.HTTPExchange(POST)
    exchange.receive_data(head(100) + OK)
    with pytest.raises(tokwire.RemoteProtocolError):
        list(exchange.body())
    assert exchange.data_to_send() == []


def test_a_request_that_forbids_reuse() -> None:
    request = tokwire.HTTPRequest("POST", "http://h/", (("Connection", "close"),), b"{}")
    assert not exchanged([OK], request=request).keep_alive


JUNK = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100\r\n\r\n", b"\r\n", b"\n", b"\r\n\r\n", b"5\r\n", b"0\r\n\r\n", b"ok"]
    ),
    st.sampled_from(
        [b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"X: y\r\n"]
    ),
)


@given(st.lists(JUNK, max_size=12), st.sampled_from([True, False]), st.integers(0, 400))
def test_garbage_gives_only_our_errors_and_one_verdict(pieces: list[bytes], eof: Any, place: int) -> None:
    wire = b"".join(pieces)
    expected = exchanged([wire], eof=eof)
    assert exchanged([wire[place : place + 1] for place in range(len(wire))], eof=eof) == expected
    assert exchanged([wire[:place], wire[place:]], eof=eof) == expected


def test_nothing_secret_is_in_what_an_exchange_raises() -> None:
    request = tokwire.HTTPRequest("POST", f"http://h/?key={SECRET}", (("Authorization", SECRET),), SECRET.encode())
    for wire in (b"", b"junk\r\n\r\n", OK[:-1], head(200, [("X", SECRET), ("bad name", SECRET)])):
        exchange = tokwire.HTTPExchange(request)
        exchange.data_to_send()
        exchange.receive_data(wire)
        exchange.receive_eof()
        with pytest.raises(tokwire.TokwireError) as caught:
            list(exchange.body())
        assert_hides_the_secret(caught.value)
        assert SECRET not in repr(exchange)
