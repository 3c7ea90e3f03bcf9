"""The responses of HTTP clients, told by their shape and turned into a `Response`. No client is imported.

Of each client the raw bytes are taken where it offers them, so that the content coding is undone by the decoder in
pieces of bounded size. Where the body was read before, or the client undoes the coding by itself and leaves the header
as it was, the body tells by its first bytes whether the header still holds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import tokwire

from ._transport import AsyncChunkResponse, AsyncResponse, ChunkResponse, Response

__all__ = ["async_response_of", "response_of"]

READ_BYTES = 64 << 10
GZIP_MAGIC = b"\x1f\x8b"
KNOWN = "httpx2, httpx, requests, urllib3, httpcore or http.client"
KNOWN_ASYNC = "httpx2, httpx, aiohttp or httpcore"


def response_of(response: Any) -> Response:
    """The response of a blocking client as a `Response`.

    Raises:
        TypeError: It has the shape of no known client, or belongs to an asynchronous one.
        LocalProtocolError: Its body was read before and is gone.
    """
    if hasattr(response, "iter_raw"):
        return _httpx(response)
    if hasattr(response, "iter_stream"):
        return _httpcore(response)
    if hasattr(response, "iter_content") and hasattr(response, "raw"):
        return _requests(response)
    if hasattr(response, "getheaders") and hasattr(response, "read1") and hasattr(response, "begin"):
        return ChunkResponse(head_of(response.status, response.getheaders()), HttpClientBody(response), response.close)
    if hasattr(response, "drain_conn") and hasattr(response, "read"):
        return _urllib3(response)
    if hasattr(response, "raw_headers") and hasattr(response, "content"):
        raise TypeError("from_response: this is the response of an asynchronous client; use afrom_response")
    raise TypeError(f"from_response: {type(response).__name__} has the shape of no response of {KNOWN}")


def async_response_of(response: Any) -> AsyncResponse:
    """The response of an asynchronous client as an `AsyncResponse`.

    Raises:
        TypeError: It has the shape of no known client, or belongs to a blocking one.
        LocalProtocolError: Its body was read before and is gone.
    """
    if hasattr(response, "aiter_raw"):
        return _httpx_async(response)
    if hasattr(response, "aiter_stream"):
        return _httpcore_async(response)
    if hasattr(response, "raw_headers") and hasattr(response, "content"):
        return AiohttpBody(response)
    if hasattr(response, "raw") or hasattr(response, "getheaders") or hasattr(response, "drain_conn"):
        raise TypeError("afrom_response: this is the response of a blocking client; use from_response")
    raise TypeError(f"afrom_response: {type(response).__name__} has the shape of no response of {KNOWN_ASYNC}")


def head_of(status: int, headers: Any, body: bytes | None = None) -> tokwire.ResponseHead:
    """The head of a response, from headers in any of the forms that clients have.

    Args:
        status: The status code.
        headers: Pairs of text or bytes, or a mapping that may hold a name more than once.
        body: The first bytes of the body, where the client may have undone the content coding already.
    """
    if hasattr(headers, "multi_items"):
        headers = headers.multi_items()
    elif hasattr(headers, "items"):
        headers = headers.items()
    pairs = tuple((_text(name), _text(value)) for name, value in headers)
    head = tokwire.ResponseHead(status, pairs)
    if body is not None and not _is_coded(head.header("content-encoding"), body):
        pairs = tuple(pair for pair in pairs if pair[0].lower() != "content-encoding")
        head = tokwire.ResponseHead(status, pairs)
    return head


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _is_coded(coding: str | None, body: bytes) -> bool:
    """Whether a body begins like the coding that its head tells of. Text begins like neither gzip nor zlib."""
    match (coding or "").strip().lower():
        case "gzip" | "x-gzip":
            return bool(body) and GZIP_MAGIC.startswith(body[:2])
        case "deflate":
            return len(body) > 1 and body[0] & 15 == 8 and (body[0] * 256 + body[1]) % 31 == 0
        case _:
            return False


def _whole(status: int, headers: Any, response: Any, name: str = "content") -> tuple[tokwire.ResponseHead, list[bytes]]:
    """Head and body of a response that its client has read."""
    try:
        body = bytes(getattr(response, name))
    except Exception as error:
        raise tokwire.LocalProtocolError(
            "the body of this response was read or closed before; pass the response on before anything reads it"
        ) from error
    return head_of(status, headers, body), [body]


def _httpx(response: Any) -> Response:
    if response.is_stream_consumed or response.is_closed:
        return ChunkResponse(*_whole(response.status_code, response.headers, response), response.close)
    if not hasattr(response.stream, "__iter__"):
        raise TypeError("from_response: this is the response of an asynchronous client; use afrom_response")
    return ChunkResponse(head_of(response.status_code, response.headers), response.iter_raw(), response.close)


def _httpx_async(response: Any) -> AsyncResponse:
    if response.is_stream_consumed or response.is_closed:
        head, chunks = _whole(response.status_code, response.headers, response)
        return AsyncChunkResponse(head, Ready(chunks))
    if not hasattr(response.stream, "__aiter__"):
        raise TypeError("afrom_response: this is the response of a blocking client; use from_response")
    head = head_of(response.status_code, response.headers)
    return AsyncChunkResponse(head, response.aiter_raw(), response.aclose)


def _httpcore(response: Any) -> Response:
    if not hasattr(response.stream, "__iter__"):
        raise TypeError("from_response: this is the response of an asynchronous client; use afrom_response")
    with suppress(RuntimeError):  # the answer of `content` where the body was not read
        body = response.content
        return ChunkResponse(head_of(response.status, response.headers, body), [body], response.close)
    return ChunkResponse(head_of(response.status, response.headers), response.iter_stream(), response.close)


def _httpcore_async(response: Any) -> AsyncResponse:
    if not hasattr(response.stream, "__aiter__"):
        raise TypeError("afrom_response: this is the response of a blocking client; use from_response")
    with suppress(RuntimeError):
        body = response.content
        return AsyncChunkResponse(head_of(response.status, response.headers, body), Ready([body]))
    return AsyncChunkResponse(head_of(response.status, response.headers), response.aiter_stream(), response.aclose)


def _requests(response: Any) -> Response:
    raw = response.raw
    if raw is None or getattr(raw, "closed", False):
        return ChunkResponse(*_whole(response.status_code, response.headers, response), response.close)
    headers = raw.headers if hasattr(raw, "headers") else response.headers
    return ChunkResponse(head_of(response.status_code, headers), _raw_body(raw), response.close)


def _urllib3(response: Any) -> Response:
    if response.closed:
        return ChunkResponse(*_whole(response.status, response.headers, response, "data"), response.close)
    return ChunkResponse(head_of(response.status, response.headers), _raw_body(response), response.close)


def _raw_body(raw: Any) -> Iterator[bytes]:
    """The chunks of a urllib3 response, or of whatever a transport of requests puts in its place."""
    if not hasattr(raw, "stream"):
        return iter(partial(raw.read, READ_BYTES), b"")
    if hasattr(raw, "read1"):  # `stream` of urllib3 below 2.3 holds a body without framing back to its end
        return iter(partial(raw.read1, READ_BYTES, decode_content=False), b"")
    chunks: Iterator[bytes] = raw.stream(READ_BYTES, decode_content=False)
    return chunks


class HttpClientBody(Iterator[bytes]):
    """The chunks of an `http.client.HTTPResponse`, which takes a body that is too short for a whole one."""

    def __init__(self, response: Any) -> None:
        self._response = response

    def __next__(self) -> bytes:
        chunk: bytes = self._response.read1(READ_BYTES)
        if chunk:
            return chunk
        if self._response.length:
            raise tokwire.StreamTruncated(f"the body ended {self._response.length} bytes before its announced length")
        raise StopIteration


class Ready(AsyncIterator[bytes]):
    """Chunks that are there, for `async for`."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = iter(chunks)

    async def __anext__(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise StopAsyncIteration


class AiohttpBody(AsyncIterator[bytes]):
    """An `AsyncResponse` over aiohttp, which undoes the content coding by itself unless its session says otherwise.

    Attributes:
        head: Status and headers; without the content coding once the first chunk showed that it is undone.
    """

    def __init__(self, response: Any) -> None:
        self.head = head_of(response.status, response.raw_headers)
        self._response = response
        self._has_begun = False

    async def __anext__(self) -> bytes:
        if self._has_begun:
            chunk: bytes = await self._response.content.readany()
        else:
            chunk = await self._first()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def _first(self) -> bytes:
        content = self._response.content
        # `read` has the body where the client read it before.
        chunk: bytes = await (self._response.read() if content.at_eof() else content.readany())
        self._has_begun = True
        self.head = head_of(self._response.status, self._response.raw_headers, chunk)
        return chunk

    async def aclose(self, *, reuse: bool = False) -> None:
        """Close the response and its connection."""
        self.abort()

    def abort(self) -> None:
        """Close the response and its connection."""
        self._response.close()
