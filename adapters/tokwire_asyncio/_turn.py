"""`AsyncTurn`: the events of one turn of a conversation, for `async for`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Self, assert_never

import tokwire
from tokwire_http._agent import failure_of_request
from tokwire_http._agent_base import BaseTurn
from tokwire_http._failure import known_failure
from tokwire_http._task_interrupt import TaskInterrupt

from ._tools import run_tools

if TYPE_CHECKING:
    from types import TracebackType

    from tokwire_http import AsyncResponse, AsyncTransport, Timeouts
    from tokwire_http._agent_base import HookEvent

__all__ = ["AsyncTurn"]


class AsyncTurn(BaseTurn, AsyncIterator[tokwire.StreamEvent]):
    """The events of one turn: an asynchronous iterator, and a context manager that ends it where it is left early.

    Nothing is sent before the first event is asked for. Tools of one batch run at the same time: coroutines as tasks,
    blocking functions in threads of their own with a copy of the context; hooks are called and awaited by the task that
    asks for events. After an error every further iteration raises the same error. `Client.send` and `query` make it.

    It belongs to one task at a time, and to the event loop of asyncio: trio and anyio on trio are not supported.
    `interrupt` may be called from other tasks, threads and signal handlers. One that is dropped before its end leaves a
    `ResourceWarning`, and its connection is closed.

    Raises (from iteration):
        APIError: The server said no, by its status or in the stream.
        RemoteProtocolError: The response cannot be decoded, or was cut (`StreamTruncated`).
        TransportError: The connection failed.
        TurnInterrupted: `interrupt` was called.
        PromptBlocked: A hook refused the prompt.
        LocalProtocolError: Another task waits for an event of the turn.
        Exception: What a hook raised.
        BaseException: What a tool raised that is no `Exception`, such as `KeyboardInterrupt`.
    """

    def __init__(
        self,
        conversation: tokwire.Conversation,
        transport: AsyncTransport,
        timeouts: Timeouts,
        before: AsyncTurn | None = None,
    ) -> None:
        super().__init__(conversation)
        self._transport = transport
        self._timeouts = timeouts
        self._before = before
        self._interrupt = TaskInterrupt()
        self._response: AsyncResponse | None = None
        self._chunks: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asking: asyncio.Task[Any] | None = None

    async def __anext__(self) -> tokwire.StreamEvent:
        reader = object()
        try:
            if not self._enter(reader):
                raise tokwire.LocalProtocolError("an event was asked for while another task waits for one")
            event = await self._next_event()
        finally:
            self._inside.pop(reader, None)
        if event is None:
            self._raise_again()
            raise StopAsyncIteration
        return event

    async def collect(self) -> tokwire.Message:
        """Read the turn to its end, and give what the model said last.

        Raises:
            TokwireError: As from iteration; `TurnInterrupted` also where the turn was closed before its end.
        """
        async for _ in self:
            pass
        return self._answer()

    def interrupt(self) -> None:
        """End the turn from any task, thread or signal handler: whoever iterates gets `TurnInterrupted`, and at once.

        What was said in the rounds before stays in the history. Tools are cancelled; a blocking one is left alone. A
        hook is cancelled too, unless it calls this itself: then the turn ends behind it.
        """
        # A signal that strikes while a hook computes cannot be told from the hook, and takes effect behind it as well.
        self._interrupt.set(wakes=self._asking is None or self._asking is not running_task())

    async def aclose(self) -> None:
        """End the turn as `interrupt` does, but without an error for whoever closes it; then there are no more events.

        Calling it again does nothing. A task that waits for an event of the turn gets `TurnInterrupted`.
        """
        if self._give_up():
            await self._close_response(reuse=False)
            await self._close_before()
        else:
            self.interrupt()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        response, loop = self._response, self._loop
        if response is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(response.abort)  # the garbage collector may run in any thread
        self._warn_unclosed()

    async def _next_event(self) -> tokwire.StreamEvent | None:
        """The next event; None where the turn is over."""
        conversation, interrupt = self._conversation, self._interrupt
        try:
            while self._ending is None:
                if interrupt.is_set:
                    conversation.interrupt()
                    self._ready = conversation.events()
                for event in self._ready:
                    return event
                await self._move_on()
                self._ready = conversation.events()
        except BaseException as error:
            self._stop(error)
            if not isinstance(error, GeneratorExit):  # behind that nothing may be awaited
                await self._close_response(reuse=False)
            raise
        return None

    async def _move_on(self) -> None:
        """Do the next action, unless the turn is interrupted before or meanwhile."""
        conversation, interrupt = self._conversation, self._interrupt
        may_wait = interrupt.begin(asyncio.current_task())
        try:
            if may_wait or not conversation.is_open:
                await self._act(conversation.next_action())
        except asyncio.CancelledError:
            if not interrupt.end():
                raise
        finally:
            interrupt.end()

    async def _act(self, action: tokwire.Action) -> None:
        conversation = self._conversation
        match action:
            case tokwire.ReadResponse():
                await self._read()
            case tokwire.SendRequest(request):
                await self._send(request)
            case tokwire.CloseResponse(reuse):
                await self._close_response(reuse=reuse)
            case tokwire.CallTools(calls):
                await run_tools(calls, conversation.options.tool_timeout, conversation.tool_finished)
            case tokwire.AskHook(event, handler):
                await self._ask(event, handler)
            case tokwire.Wait(seconds):
                await asyncio.sleep(seconds)
                conversation.waited()
            case tokwire.Done():
                self._finish(None)
            case _:
                assert_never(action)

    async def _send(self, request: tokwire.HTTPRequest) -> None:
        await self._close_before()
        try:
            response = await self._transport.send(request, timeouts=self._timeouts)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, it means that there is no response
            self._failed(failure_of_request(error, "total"))
        else:
            self._loop = asyncio.get_running_loop()
            self._response, self._chunks = response, aiter(response)
            self._conversation.response_started(response.head)

    async def _read(self) -> None:
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            self._conversation.receive_eof()
        except Exception as error:  # noqa: BLE001 - whatever a client raises, it means that the body was cut
            self._failed(known_failure(error, "total"))
        else:
            self._conversation.receive_data(chunk)

    async def _ask(self, event: HookEvent, handler: tokwire.HookHandler) -> None:
        self._asking = asyncio.current_task()
        try:
            decision = handler(event)
            if inspect.isawaitable(decision):
                decision = await decision
        except Exception as error:
            self._conversation.hook_failed(error)
            raise
        finally:
            self._asking = None
        self._decided(decision)

    async def _close_response(self, *, reuse: bool) -> None:
        if self._response is not None:
            await self._response.aclose(reuse=reuse)
            self._response = None

    async def _close_before(self) -> None:
        """Close the response of the turn before, which `send` could only drop: it cannot wait."""
        before, self._before = self._before, None
        if before is not None:
            await before.aclose()

    @property
    def _is_interrupted(self) -> bool:
        return self._interrupt.is_set

    def _stop(self, error: BaseException | None) -> None:
        try:
            if self._response is not None:
                self._response.abort()
        finally:
            self._conversation.interrupt()
            self._finish(error)


def running_task() -> asyncio.Task[Any] | None:
    """The task that runs in this thread; None where no event loop does."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
