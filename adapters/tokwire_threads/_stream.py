"""`stream`: one request, and the events of its response."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import tokwire
from tokwire_http import EventStream, Interrupt, Response, Timeouts, Transport
from tokwire_http._functions import ProtocolOrDecoder, response_decoder

from ._response import PendingResponse
from ._transport import SocketTransport

__all__ = ["stream"]

DEFAULT_TIMEOUTS = Timeouts()


def stream(
    request: tokwire.HTTPRequest,
    protocol_or_decoder: ProtocolOrDecoder,
    *,
    transport: Transport | None = None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    **decoder_options: Unpack[tokwire.DecoderOptions],
) -> EventStream:
    """The events of the response to a request, which is sent when the first event is asked for.

    Args:
        request: The request.
        protocol_or_decoder: The protocol that the server speaks, its name, or a fresh `StreamDecoder`.
        transport: Sends the request; it stays open. By default a connection is made for this request alone.
        timeouts: How long to wait, in seconds.
        **decoder_options: Those of `StreamDecoder`.

    Returns:
        An `EventStream`: iterate over it in a `with` block. `interrupt` ends it from another thread or a signal
        handler, also while it still connects. `head` sends the request where that was not done.

    Raises:
        ValueError: No protocol has that name.
        TypeError: A decoder was given, and options beside it.
    """
    decoder = response_decoder(protocol_or_decoder, decoder_options)
    interrupt = Interrupt()
    send = partial(send_alone if transport is None else transport.send, request, timeouts=timeouts, interrupt=interrupt)
    return RequestStream(PendingResponse(send), decoder, interrupt)


def send_alone(request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Response:
    """Send a request on a connection that is closed behind its response: a closed transport keeps none."""
    with SocketTransport() as transport:
        return transport.send(request, timeouts=timeouts, interrupt=interrupt)


class RequestStream(EventStream):
    """The events of a request that may be yet to send: looking at it does not send it."""

    def __init__(self, response: PendingResponse, decoder: tokwire.ResponseDecoder, interrupt: Interrupt) -> None:
        super().__init__(response, decoder, interrupt=interrupt)
        self._pending = response

    def __repr__(self) -> str:
        return super().__repr__() if self._pending.has_begun else "<EventStream without a response>"
