"""`Turn`: the events of one turn of a conversation, for `for`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self, assert_never

import tokwire
from tokwire_http import Interrupt
from tokwire_http._agent import failure_of_request
from tokwire_http._agent_base import BaseTurn
from tokwire_http._failure import known_failure

from ._tools import ask, pause, run_tools

if TYPE_CHECKING:
    from types import TracebackType

    from tokwire_http import Response, Timeouts, Transport
    from tokwire_http._agent_base import HookEvent

__all__ = ["Turn"]


class Turn(BaseTurn, Iterator[tokwire.StreamEvent]):
    """The events of one turn: an iterator, and a context manager that ends the turn where it is left early.

    Nothing is sent before the first event is asked for. Tools of one batch run at the same time, in threads of their
    own with a copy of the context; hooks run in the thread that asks for events. After an error every further iteration
    raises the same error. `Client.send` and `query` make it.

    It belongs to one thread at a time; `interrupt` and `close` may be called from others. One that is dropped before
    its end leaves a `ResourceWarning`, and its connection is closed.

    Raises (from iteration):
        APIError: The server said no, by its status or in the stream.
        RemoteProtocolError: The response cannot be decoded, or was cut (`StreamTruncated`).
        TransportError: The connection failed.
        TurnInterrupted: `interrupt` was called.
        PromptBlocked: A hook refused the prompt.
        LocalProtocolError: Another thread waits for an event of the turn.
        Exception: What a hook raised.
        BaseException: What a tool raised that is no `Exception`, such as `KeyboardInterrupt`.
    """

    def __init__(self, conversation: tokwire.Conversation, transport: Transport, timeouts: Timeouts) -> None:
        super().__init__(conversation)
        self._transport = transport
        self._timeouts = timeouts
        self._interrupt = Interrupt()
        self._response: Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def __next__(self) -> tokwire.StreamEvent:
        reader = object()
        try:
            if not self._enter(reader):
                raise tokwire.LocalProtocolError("an event was asked for while another thread waits for one")
            event = self._next_event()
        finally:
            self._inside.pop(reader, None)
        if event is None:
            self._raise_again()
            raise StopIteration
        return event

    def collect(self) -> tokwire.Message:
        """Read the turn to its end, and give what the model said last.

        Raises:
            TokwireError: As from iteration; `TurnInterrupted` also where the turn was closed before its end.
        """
        for _ in self:
            pass
        return self._answer()

    def interrupt(self) -> None:
        """End the turn from any thread or signal handler: whoever iterates gets `TurnInterrupted`, and does so at once.

        What was said in the rounds before stays in the history. Coroutines of tools are cancelled; a blocking function
        is left alone.
        """
        self._interrupt.set()

    def close(self) -> None:
        """End the turn as `interrupt` does, but without an error for whoever closes it; then there are no more events.

        Calling it again does nothing. A thread that waits for an event of the turn gets `TurnInterrupted`.
        """
        if not self._give_up():
            self._interrupt.set()
            self._give_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._close_response(reuse=False)
        self._warn_unclosed()

    def _next_event(self) -> tokwire.StreamEvent | None:
        """The next event; None where the turn is over."""
        conversation, interrupt = self._conversation, self._interrupt
        try:
            while self._ending is None:
                if interrupt.is_set:
                    conversation.interrupt()
                    self._ready = conversation.events()
                for event in self._ready:
                    return event
                self._act(conversation.next_action())
                self._ready = conversation.events()
        except BaseException as error:
            self._stop(error)
            raise
        return None

    def _act(self, action: tokwire.Action) -> None:
        conversation = self._conversation
        match action:
            case tokwire.ReadResponse():
                self._read()
            case tokwire.SendRequest(request):
                self._send(request)
            case tokwire.CloseResponse(reuse):
                self._close_response(reuse=reuse)
            case tokwire.CallTools(calls):
                run_tools(calls, conversation.options.tool_timeout, self._interrupt, conversation.tool_finished)
            case tokwire.AskHook(event, handler):
                self._ask(event, handler)
            case tokwire.Wait(seconds):
                pause(seconds, self._interrupt)
                conversation.waited()
            case tokwire.Done():
                self._finish(None)
            case _:
                assert_never(action)

    def _send(self, request: tokwire.HTTPRequest) -> None:
        try:
            self._response = response = self._transport.send(
                request, timeouts=self._timeouts, interrupt=self._interrupt
            )
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, it means that there is no response
            self._failed(failure_of_request(error, "idle"))
        else:
            self._chunks = iter(response)
            self._conversation.response_started(response.head)

    def _read(self) -> None:
        try:
            chunk = next(self._chunks, None)
        except Exception as error:  # noqa: BLE001 - whatever a client raises, it means that the body was cut
            self._failed(known_failure(error, "idle"))
        else:
            if chunk is None:
                self._conversation.receive_eof()
            else:
                self._conversation.receive_data(chunk)

    def _ask(self, event: HookEvent, handler: tokwire.HookHandler) -> None:
        try:
            decision = ask(handler, event, self._interrupt)
        except Exception as error:
            self._conversation.hook_failed(error)
            raise
        self._decided(decision)

    def _close_response(self, *, reuse: bool) -> None:
        if self._response is not None:
            self._response.close(reuse=reuse)
            self._response = None

    @property
    def _is_interrupted(self) -> bool:
        return self._interrupt.is_set

    def _stop(self, error: BaseException | None) -> None:
        try:
            self._close_response(reuse=False)
        finally:
            self._conversation.interrupt()
            self._finish(error)
