"""`Client`: a conversation over asynchronous transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tokwire_http._agent_base import BaseClient

from ._transport import SocketTransport
from ._turn import AsyncTurn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import tokwire
    from tokwire_http import AsyncTransport

__all__ = ["Client"]


class Client(BaseClient[AsyncTurn]):
    """A conversation with a model, turn by turn: it keeps the history, and runs the tools where the options say so.

    Use it in an `async with` block, or call `aclose`. It belongs to one task at a time, and to the event loop of
    asyncio: trio and anyio on trio are not supported. `interrupt` alone may be called from other tasks, threads and
    signal handlers.

    Args:
        options: Where to ask, what, and with which tools.
        transport: Sends the requests; it stays open. By default sockets are used, and closed with the client.
        history: What was said before.

    Raises:
        TypeError: The options or the history are none.
    """

    def __init__(
        self,
        options: tokwire.AgentOptions,
        *,
        transport: AsyncTransport | None = None,
        history: Sequence[tokwire.Message] = (),
    ) -> None:
        super().__init__(options, history)
        self._own_transport = SocketTransport(limits=options.limits)
        self._transport = self._own_transport if transport is None else transport

    def send(self, prompt: str | Sequence[tokwire.ContentBlock] | tokwire.Message | None = None) -> AsyncTurn:
        """Begin a turn. It is not awaited, and nothing is sent before its first event is asked for.

        A turn before it that is still open is closed, as `aclose` of the turn does, unless the prompt is refused.

        Args:
            prompt: What the user says: a text, blocks of text and images, or a message of the user. None lets the model
                go on with the history as it is, for example after `add_tool_result`.

        Returns:
            The events of the turn. Iterate over it, in an `async with` block where you may leave the loop early.

        Raises:
            ValueError: The prompt is empty, or is not the user's.
            TypeError: It holds what is neither text nor image.
            LocalProtocolError: Another task waits for an event of the turn before, calls in the history wait for their
                results, there is neither prompt nor history, or the client is closed.
        """
        before = self._begin(prompt)
        return self._known(AsyncTurn(self._conversation, self._transport, self._timeouts, before))

    async def aclose(self) -> None:
        """End the present turn, and close the transport where the client made it. Calling it again does nothing."""
        self._is_closed = True
        turn = self._present_turn()
        if turn is not None:
            await turn.aclose()
        self._own_transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
