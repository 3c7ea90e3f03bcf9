"""Responses by their shape: bodies that were read before, codings that were undone, wrong kinds of response."""

from __future__ import annotations

import asyncio
import gzip
import urllib.error
import urllib.request
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

import aiohttp
import httpcore
import httpx
import httpx2
import pytest
import requests
import urllib3
from tests.http_fakes import EVENTS, WHOLE

import tokwire
from tokwire_http import EventStream, afrom_response, from_response
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = b"".join(WHOLE)
CODED = {"gzip": gzip.compress(BODY), "deflate": zlib.compress(BODY)}


def from_httpx(url: str) -> EventStream:
    """A response that was read."""
    return from_response(httpx.post(url, trust_env=False), "openai-chat")


def from_httpx2(url: str) -> EventStream:
    """A response that was read."""
    return from_response(httpx2.post(url, trust_env=False), "openai-chat")


def from_requests(url: str) -> EventStream:
    """A response that was read."""
    with requests.Session() as session:
        session.trust_env = False
        return from_response(session.post(url), "openai-chat")


def from_urllib3(url: str) -> EventStream:
    """A response that was read and inflated."""
    with urllib3.PoolManager() as pool:
        return from_response(pool.request("POST", url), "openai-chat")


def from_urllib3_raw(url: str) -> EventStream:
    """A response that was read and not inflated."""
    with urllib3.PoolManager() as pool:
        return from_response(pool.request("POST", url, decode_content=False), "openai-chat")


def from_httpcore(url: str) -> EventStream:
    """A response that was read and not inflated."""
    with httpcore.ConnectionPool() as pool:
        return from_response(pool.request("POST", url), "openai-chat")


READERS = [from_httpx, from_httpx2, from_requests, from_urllib3, from_urllib3_raw, from_httpcore]


@pytest.mark.parametrize("coding", [None, "gzip", "deflate"])
@pytest.mark.parametrize("read", READERS)
def test_a_body_that_was_read_is_decoded_once(read: Callable[[str], EventStream], coding: Any) -> None:
    with serve(BODY, coding=coding) as url, read(url) as stream:
        assert list(stream) == EVENTS


@pytest.mark.parametrize("read", READERS)
def test_an_error_status_of_a_body_that_was_read(read: Callable[[str], EventStream]) -> None:
    server = serve(b'{"error": {"message": "busy"}}', status=503, framing="length")
    with server as url, read(url) as stream, pytest.raises(tokwire.APIError, match="busy") as caught:
        next(stream)
    assert caught.value.status_code == 503


@pytest.mark.parametrize("client", [httpx, httpx2])
def test_a_mocked_transport(client: Any) -> None:
    transport = client.MockTransport(lambda _request: client.Response(200, content=BODY))
    with client.Client(transport=transport) as made, made.stream("POST", "http://mock.example") as response:
        assert list(from_response(response, "openai-chat")) == EVENTS

    async def read() -> list[tokwire.StreamEvent]:
        async with client.AsyncClient(transport=transport) as made:
            response = await made.post("http://mock.example")
            return [event async for event in afrom_response(response, "openai-chat")]

    assert asyncio.run(read()) == EVENTS


def test_a_file_in_place_of_a_connection() -> None:
    response = requests.Response()
    response.status_code = 200
    response.raw = BytesIO(BODY)
    assert list(from_response(response, "openai-chat")) == EVENTS


def test_urllib_and_its_errors() -> None:
    no_proxies = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with serve(BODY) as url, no_proxies.open(url) as response:
        assert list(from_response(response, "openai-chat")) == EVENTS
    with serve(b'{"error": {"message": "busy"}}', status=503) as url:
        with pytest.raises(urllib.error.HTTPError) as caught:
            no_proxies.open(url)
        with pytest.raises(tokwire.APIError, match="busy"), from_response(caught.value, "openai-chat") as stream:
            next(stream)


@pytest.mark.parametrize("size", [1, 2, None])
@pytest.mark.parametrize("inflates", [True, False])
@pytest.mark.parametrize("coding", [None, "gzip", "deflate"])
def test_aiohttp_inflates_or_not(coding: Any, inflates: bool, size: Any) -> None:  # noqa: FBT001 - a parameter of a test
    async def read() -> list[tokwire.StreamEvent]:
        server = serve(BODY, coding=coding, reads=size)
        async with server as url, aiohttp.ClientSession(auto_decompress=inflates) as session, session.post(url) as got:
            return [event async for event in afrom_response(got, "openai-chat")]

    assert asyncio.run(read()) == EVENTS


def test_aiohttp_read_before() -> None:
    async def read() -> list[tokwire.StreamEvent]:
        async with serve(BODY, coding="gzip") as url, aiohttp.ClientSession() as session, session.post(url) as response:
            await response.read()
            return [event async for event in afrom_response(response, "openai-chat")]

    assert asyncio.run(read()) == EVENTS


def test_httpcore_read_before() -> None:
    async def read() -> list[tokwire.StreamEvent]:
        async with serve(BODY) as url, httpcore.AsyncConnectionPool() as pool:
            response = await pool.request("POST", url)
            return [event async for event in afrom_response(response, "openai-chat")]

    assert asyncio.run(read()) == EVENTS


@pytest.mark.parametrize("client", [httpx, httpx2])
def test_a_body_that_is_gone_is_a_mistake_of_the_program(client: Any) -> None:
    with serve(BODY) as url, client.Client(trust_env=False) as made, made.stream("POST", url) as response:
        assert b"".join(response.iter_raw()) == BODY
        with pytest.raises(tokwire.LocalProtocolError, match="before anything reads it"):
            from_response(response, "openai-chat")


def test_responses_of_the_other_kind_are_refused_with_the_right_name() -> None:
    async def check() -> None:
        async with serve(BODY) as url:
            async with httpx.AsyncClient(trust_env=False) as made, made.stream("POST", url) as response:
                with pytest.raises(TypeError, match="use afrom_response"):
                    from_response(response, "openai-chat")
            async with httpcore.AsyncConnectionPool() as pool, pool.stream("POST", url) as plain:
                with pytest.raises(TypeError, match="use afrom_response"):
                    from_response(plain, "openai-chat")
            async with aiohttp.ClientSession() as session, session.post(url) as got:
                with pytest.raises(TypeError, match="use afrom_response"):
                    from_response(got, "openai-chat")

    asyncio.run(check())
    with serve(BODY) as url:
        wrong = pytest.raises(TypeError, match="use from_response")
        with httpx.Client(trust_env=False) as made, made.stream("POST", url) as response, wrong:
            afrom_response(response, "openai-chat")
        with httpcore.ConnectionPool() as pool, pool.stream("POST", url) as plain, wrong:
            afrom_response(plain, "openai-chat")
        with urllib3.PoolManager() as manager:
            answer = manager.request("POST", url, preload_content=False)
            with wrong:
                afrom_response(answer, "openai-chat")
            answer.close()


def test_anything_else_is_refused_with_the_list_of_clients() -> None:
    with pytest.raises(TypeError, match="list has the shape of no response of httpx2"):
        from_response([BODY], "openai-chat")
    with pytest.raises(TypeError, match="bytes has the shape of no response of httpx2"):
        afrom_response(BODY, "openai-chat")
