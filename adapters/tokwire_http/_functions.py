"""The functions: events of chunks from anywhere, and of the response of any HTTP client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import tokwire

from ._async_stream import AsyncEventStream
from ._clients import async_response_of, response_of
from ._stream import EventStream
from ._transport import AsyncChunkResponse, ChunkResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable

__all__ = ["afrom_response", "aiter_events", "from_response", "iter_events"]

ProtocolOrDecoder = tokwire.ApiProtocol | str | tokwire.StreamDecoder

OK = tokwire.ResponseHead(200)


def response_decoder(
    protocol_or_decoder: ProtocolOrDecoder, options: tokwire.DecoderOptions
) -> tokwire.ResponseDecoder:
    """The decoder of one response.

    Raises:
        ValueError: No protocol has that name.
        TypeError: A decoder was given, and options beside it.
    """
    if not isinstance(protocol_or_decoder, tokwire.StreamDecoder):
        return tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol_or_decoder, **options))
    if options:
        raise TypeError(f"the decoder has its options already; give {', '.join(options)} to StreamDecoder")
    return tokwire.ResponseDecoder(protocol_or_decoder)


def iter_events(
    chunks: Iterable[bytes], protocol_or_decoder: ProtocolOrDecoder, **options: Unpack[tokwire.DecoderOptions]
) -> EventStream:
    """The events of a body that comes in chunks from anywhere. Nothing is read before the first event is asked for.

    Args:
        chunks: The body of a response with status 200, without transfer and content coding. It is closed at the end
            of the stream where it has a `close`.
        protocol_or_decoder: A protocol, its name, or a fresh `StreamDecoder`.
        **options: Those of `StreamDecoder`.

    Returns:
        An `EventStream`. Iterate over it, in a `with` block where you may leave the loop early.

    Raises:
        ValueError: No protocol has that name.
        TypeError: A decoder was given, and options beside it.
    """
    return EventStream(ChunkResponse(OK, chunks), response_decoder(protocol_or_decoder, options))


def aiter_events(
    chunks: AsyncIterable[bytes], protocol_or_decoder: ProtocolOrDecoder, **options: Unpack[tokwire.DecoderOptions]
) -> AsyncEventStream:
    """The events of a body that comes in chunks from anywhere, for `async for`. The twin of `iter_events`.

    Args:
        chunks: The body, as for `iter_events`. It is closed at the end of the stream where it has an `aclose`.
        protocol_or_decoder: A protocol, its name, or a fresh `StreamDecoder`.
        **options: Those of `StreamDecoder`.

    Returns:
        An `AsyncEventStream`. Iterate over it, in an `async with` block where you may leave the loop early.

    Raises:
        ValueError: No protocol has that name.
        TypeError: A decoder was given, and options beside it.
    """
    return AsyncEventStream(AsyncChunkResponse(OK, chunks), response_decoder(protocol_or_decoder, options))


def from_response(
    response: Any, protocol_or_decoder: ProtocolOrDecoder, **options: Unpack[tokwire.DecoderOptions]
) -> EventStream:
    """The events of the response of a blocking HTTP client.

    Ask the client not to read the body: `client.stream(...)` of httpx2, httpx and httpcore, `stream=True` of requests,
    `preload_content=False` of urllib3. The stream judges the status, so do not call `raise_for_status`; it owns the
    response and closes it.

    Args:
        response: A response of httpx2, httpx, requests, urllib3, httpcore or http.client.
        protocol_or_decoder: A protocol, its name, or a fresh `StreamDecoder`.
        **options: Those of `StreamDecoder`.

    Returns:
        An `EventStream`. Iterate over it, in a `with` block where you may leave the loop early.

    Raises:
        TypeError: The response has the shape of no known client, or belongs to an asynchronous one.
        ValueError: No protocol has that name.
        LocalProtocolError: The body was read before and is gone.
    """
    decoder = response_decoder(protocol_or_decoder, options)
    return EventStream(response_of(response), decoder)


def afrom_response(
    response: Any, protocol_or_decoder: ProtocolOrDecoder, **options: Unpack[tokwire.DecoderOptions]
) -> AsyncEventStream:
    """The events of the response of an asynchronous HTTP client. The twin of `from_response`; it is not awaited.

    Args:
        response: A response of httpx2, httpx, aiohttp or httpcore, whose body was not read.
        protocol_or_decoder: A protocol, its name, or a fresh `StreamDecoder`.
        **options: Those of `StreamDecoder`.

    Returns:
        An `AsyncEventStream`. Iterate over it, in an `async with` block where you may leave the loop early.

    Raises:
        TypeError: The response has the shape of no known client, or belongs to a blocking one.
        ValueError: No protocol has that name.
        LocalProtocolError: The body was read before and is gone.
    """
    decoder = response_decoder(protocol_or_decoder, options)
    return AsyncEventStream(async_response_of(response), decoder)
