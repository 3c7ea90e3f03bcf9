"""`stream`: one request, and the events of its response."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import tokwire
from tokwire_http import AsyncEventStream, AsyncResponse, AsyncTransport, Timeouts
from tokwire_http._functions import ProtocolOrDecoder, response_decoder

from ._response import PendingResponse
from ._transport import SocketTransport

__all__ = ["stream"]

DEFAULT_TIMEOUTS = Timeouts()


def stream(
    request: tokwire.HTTPRequest,
    protocol_or_decoder: ProtocolOrDecoder,
    *,
    transport: AsyncTransport | None = None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    **decoder_options: Unpack[tokwire.DecoderOptions],
) -> AsyncEventStream:
    """The events of the response to a request, which is sent when the first event is asked for. It is not awaited.

    Args:
        request: The request.
        protocol_or_decoder: The protocol that the server speaks, its name, or a fresh `StreamDecoder`.
        transport: Sends the request; it stays open. By default a connection is made for this request alone.
        timeouts: How long to wait, in seconds.
        **decoder_options: Those of `StreamDecoder`.

    Returns:
        An `AsyncEventStream`: iterate over it in an `async with` block. Cancellation and `interrupt` end it at any
        point, also while it still connects. `head` is there once the first event or an error was.

    Raises:
        ValueError: No protocol has that name.
        TypeError: A decoder was given, and options beside it.
    """
    decoder = response_decoder(protocol_or_decoder, decoder_options)
    send = partial(send_alone if transport is None else transport.send, request, timeouts=timeouts)
    return RequestStream(PendingResponse(send), decoder)


async def send_alone(request: tokwire.HTTPRequest, *, timeouts: Timeouts) -> AsyncResponse:
    """Send a request on a connection that is closed behind its response: a closed transport keeps none."""
    with SocketTransport() as transport:
        return await transport.send(request, timeouts=timeouts)


class RequestStream(AsyncEventStream):
    """The events of a request that may be yet to send: looking at it does not fail."""

    def __init__(self, response: PendingResponse, decoder: tokwire.ResponseDecoder) -> None:
        super().__init__(response, decoder)
        self._pending = response

    def __repr__(self) -> str:
        return super().__repr__() if self._pending.has_begun else "<AsyncEventStream without a response>"
