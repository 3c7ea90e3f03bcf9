"""`query`: one request without a history."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import tokwire
from tokwire_http._agent import options_of_query, timeouts_of

from ._transport import SocketTransport
from ._turn import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokwire_http import Interrupt, Response, Timeouts, Transport

__all__ = ["query"]


class OneRequest:
    """A `Transport` that makes a connection for each request, and closes it behind the response."""

    def __init__(self, limits: tokwire.Limits) -> None:
        self._limits = limits

    def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Response:
        """Send a request. A closed transport keeps no connection."""
        with SocketTransport(limits=self._limits) as transport:
            return transport.send(request, timeouts=timeouts, interrupt=interrupt)


def query(
    prompt: str | Sequence[tokwire.ContentBlock] | tokwire.Message,
    options: tokwire.AgentOptions,
    *,
    transport: Transport | None = None,
) -> Turn:
    """Ask once, without a history. Nothing is sent before the first event is asked for.

    Calls of tools are handed to the caller and never run here, whatever the options say: for that use a `Client`.

    Args:
        prompt: What the user says: a text, blocks of text and images, or a message of the user.
        options: Where to ask, what, and which tools the model may call.
        transport: Sends the request; it stays open. By default a connection is made for this request alone.

    Returns:
        The events of the answer. Iterate over it, in a `with` block where you may leave the loop early.

    Raises:
        ValueError: The prompt is empty, or is not the user's.
        TypeError: It holds what is neither text nor image, or the options are none.
    """
    conversation = tokwire.Conversation(options_of_query(options), random=random.random)
    conversation.send(prompt)
    if transport is None:
        transport = OneRequest(options.limits)
    return Turn(conversation, transport, timeouts_of(options))
