"""`HTTPRequest` and `ResponseHead`: what is accepted, what is refused, and what is never shown."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokwire
from tokwire._http import split_url

SECRET = "sk-harbour-4711"
URL = "https://api.example/v1/chat"


def refusal(*args: Any, **kwargs: Any) -> str:
    """The whole traceback of a request that is refused."""
    with pytest.raises((ValueError, TypeError)) as caught:
        tokwire.HTTPRequest(*args, **kwargs)
    return "".join(traceback.format_exception(caught.value))


def test_the_parts_of_a_request() -> None:
    request = tokwire.HTTPRequest("POST", "http://api.example:8080/v1?key=1#part", (("X-A", "1"), ("x-a", "2")), b"{}")
    assert (request.scheme, request.host, request.port, request.target) == ("http", "api.example", 8080, "/v1?key=1")
    assert (request.header("x-A"), request.header("x-b"), request.body) == ("1", None, b"{}")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://h", ("https", "h", 443, "/")),
        ("http://h", ("http", "h", 80, "/")),
        ("https://h?a=b", ("https", "h", 443, "/?a=b")),
        ("https://h#top", ("https", "h", 443, "/")),
        ("https://h:1/", ("https", "h", 1, "/")),
        ("https://[::1]:8443/x", ("https", "::1", 8443, "/x")),
        ("https://h/a@b?c@d", ("https", "h", 443, "/a@b?c@d")),
        ("http://h:65535/%20", ("http", "h", 65535, "/%20")),
    ],
)
def test_urls(url: str, parts: tuple[str, str, int, str]) -> None:
    assert split_url(url) == parts


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example/v1",
        "ftp://api.example",
        "https://",
        "https:///v1",
        "https://h:0",
        "https://h:65536",
        "https://h:port",
        "https://h /x",
        "https://h/a b",
        "https://h/#a b",
        "https://h/\r\nX: y",
        "https://h/\x00",
        "https://h/\x7f",
        "https://höhe/",
        "https://h/ü",
        "https://[::1/",
        "https://a[b/",
    ],
)
def test_urls_that_are_refused(url: str) -> None:
    assert "ValueError" in refusal("GET", url)


@pytest.mark.parametrize("url", [f"https://user:{SECRET}@h/", f"http://{SECRET}@h", f"https://{SECRET}@h:99999/"])
def test_credentials_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    text = refusal("GET", url)
    assert "user or password" in text
    assert SECRET not in text


@pytest.mark.parametrize("method", ["", "GET ", "GE T", "GET\r\n", "G\u00e9T", "GET:"])
def test_methods_that_are_refused(method: str) -> None:
    assert "HTTP token" in refusal(method, URL)


@pytest.mark.parametrize(
    "end", ["\r\nX: y", "\n", "\r", "\x00", "\x7f", "\x1b[2J", " ", "\t", "\u0100", "\U0001f6a2", "\ud800"]
)
def test_values_that_are_refused_are_not_repeated(end: str) -> None:
    text = refusal("POST", URL, (("Authorization", f"Bearer {SECRET}{end}"),))
    assert "'Authorization'" in text
    assert SECRET not in text


@pytest.mark.parametrize("name", ["", "X A", "X:", "X\r\n", "\u00dc", " X"])
def test_names_that_are_refused(name: str) -> None:
    text = refusal("POST", URL, ((name, SECRET),))
    assert "name of a header" in text
    assert SECRET not in text


@pytest.mark.parametrize("value", ["", "a b", "caf\u00e9", "a\tb", "\u00ff", "x" * 5000])
def test_values_that_are_allowed(value: str) -> None:
    assert tokwire.HTTPRequest("GET", URL, (("X", value),)).header("x") == value


def test_framing_headers_belong_to_the_exchange() -> None:
    assert tokwire.HTTPRequest("POST", URL, (("Content-Length", "2"),), b"{}").header("content-length") == "2"
    assert "content-length" in refusal("POST", URL, (("Content-Length", "3"),), b"{}")
    assert "transfer-encoding" in refusal("POST", URL, (("Transfer-Encoding", "chunked"),))


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((b"GET", URL), "method"),
        (("GET", b"https://h"), "url"),
        (("GET", URL, (), "text"), "body"),
        (("GET", URL, (), bytearray(b"x")), "body"),
        (("GET", URL, ((b"X", b"y"),)), "headers"),
        (("GET", URL, (("X",),)), "headers"),
        (("GET", URL, (("X", 1),)), "headers"),
    ],
)
def test_types_that_are_refused(args: tuple[Any, ...], word: str) -> None:
    text = refusal(*args)
    assert "TypeError" in text
    assert word in text


def test_headers_may_come_in_a_list_and_are_kept_as_a_tuple() -> None:
    headers: Any = [("X", "y")]
    request = tokwire.HTTPRequest("GET", URL, headers)
    assert request.headers == (("X", "y"),)
    assert hash(request) == hash(tokwire.HTTPRequest("GET", URL, (("X", "y"),)))
    assert pickle.loads(pickle.dumps(request)) == request


def test_the_body_is_not_copied() -> None:
    body = b"x" * 1_000_000
    assert tokwire.HTTPRequest("POST", URL, (), body).body is body


def test_the_repr_shows_no_secret() -> None:
    headers = (("Authorization", f"Bearer {SECRET}"), ("Content-Type", "application/json"), ("X-Api-Key", SECRET))
    request = tokwire.HTTPRequest("POST", f"{URL}?key={SECRET}", headers, SECRET.encode())
    expected = (
        f"<HTTPRequest POST {URL}?... [Authorization: ..., Content-Type: application/json, X-Api-Key: ...] 15 bytes>"
    )
    assert repr(request) == str(request) == expected
    assert SECRET not in f"{[request]!r}"


def test_a_head_finds_its_headers_without_case() -> None:
    head = tokwire.ResponseHead(200, (("Set-Cookie", "a"), ("set-cookie", "b")))
    assert (head.header("SET-COOKIE"), head.header("date")) == ("a", None)
    assert tokwire.ResponseHead(204).headers == ()


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_request_or_a_value_error(method: str, rest: str, name: str, value: str) -> None:
    try:
        request = tokwire.HTTPRequest(method, f"http://{rest}", ((name, value),))
        sent = b"".join(tokwire.HTTPExchange(request).data_to_send())
    except (ValueError, tokwire.LocalProtocolError):
        return
    assert sent.startswith(method.encode() + b" ")
    assert sent.count(b"\r\n\r\n") == 1
