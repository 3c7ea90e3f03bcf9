"""Tools and asynchronous handlers for the blocking client: in daemon threads, with one inbox for what they bring.

Daemon threads, because a thread of a pool that is stuck in a tool would keep the interpreter from exiting. A
`SimpleQueue`, because a signal handler may put into it while the same thread waits: `Event.set` could block there.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from contextlib import suppress
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from tokwire_http import Interrupt
from tokwire_http._agent import CANCELLED, timeout_of_tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tokwire import ToolCall

__all__ = ["ask", "pause", "run_tools"]

LONGEST_WAIT = 1.0
"""In seconds. A longer wait is several of these: the handler of a signal that came just before one runs behind it."""


class Outcome(NamedTuple):
    """What a function came to, in its thread.

    Attributes:
        key: Which function.
        value: What it returned, or the exception that it raised.
        is_error: Whether it raised.
    """

    key: int
    value: Any
    is_error: bool


class Inbox:
    """Where threads leave their outcomes, for the one thread that waits for them.

    Args:
        interrupt: Ends the waiting.
        until: When waiting is in vain, on the monotonic clock.
    """

    def __init__(self, interrupt: Interrupt, until: float = inf) -> None:
        self._interrupt = interrupt
        self._until = until
        self._queue: SimpleQueue[Outcome | None] = SimpleQueue()
        self._stops: list[Interrupt] = []

    def start(self, key: int, function: Callable[[Interrupt], object]) -> None:
        """Call a function in a thread of its own, in a copy of the caller's context.

        Args:
            key: Names its outcome.
            function: It is told what is set once nobody waits for it any more.
        """
        stop = Interrupt()
        self._stops.append(stop)
        run = partial(contextvars.copy_context().run, self._run, key, partial(function, stop))
        threading.Thread(target=run, name="tokwire-tool", daemon=True).start()

    def wait(self) -> Outcome | None:
        """The next outcome; None where the time is over or the interrupt is set. `close` ends the waiting."""
        self._interrupt.register(self._wake)
        while not self._interrupt.is_set:
            left = max(self._until - monotonic(), 0.0)  # where it is over, what is there is taken all the same
            try:
                outcome = self._queue.get(timeout=min(left, LONGEST_WAIT))
            except Empty:
                if left <= LONGEST_WAIT:
                    break
            else:
                if outcome is not None:
                    return outcome
        return None

    def close(self) -> None:
        """Nobody waits any more: what can be stopped is stopped, and outcomes that come later are dropped."""
        self._interrupt.register(None)
        for stop in self._stops:
            stop.set()

    def _wake(self) -> None:
        self._queue.put(None)

    def _run(self, key: int, function: Callable[[], object]) -> None:
        try:
            outcome = Outcome(key, function(), is_error=False)
        except BaseException as error:  # noqa: BLE001 - it is raised, or told, where the outcome is awaited
            outcome = Outcome(key, error, is_error=True)
        self._queue.put(outcome)


def pause(seconds: float, interrupt: Interrupt) -> None:
    """Wait, unless the interrupt is set."""
    inbox = Inbox(interrupt, monotonic() + seconds)
    try:
        inbox.wait()
    finally:
        inbox.close()


def run_tools(
    calls: Sequence[ToolCall],
    seconds: float | None,
    interrupt: Interrupt,
    finished: Callable[[ToolCall, object], None],
) -> None:
    """Run tools at the same time, each in a thread of its own.

    Where its time is over, or the interrupt is set, a coroutine is cancelled. A blocking function cannot be stopped: it
    is left alone, and what it still brings is dropped.

    Args:
        calls: The calls.
        seconds: How long a tool may take.
        interrupt: Ends the waiting.
        finished: Told each call and its outcome, as it comes.

    Raises:
        BaseException: What a tool raised that is no `Exception`.
    """
    inbox = Inbox(interrupt, inf if seconds is None else monotonic() + seconds)
    running = dict(enumerate(calls))
    try:
        for key, call in running.items():
            inbox.start(key, partial(run_tool, call))
        while running and (outcome := inbox.wait()) is not None:
            if outcome.is_error and not isinstance(outcome.value, Exception):
                raise outcome.value
            finished(running.pop(outcome.key), outcome.value)
    finally:
        inbox.close()
    if not interrupt.is_set:
        for call in running.values():
            finished(call, timeout_of_tool(seconds))


def run_tool(call: ToolCall, stop: Interrupt) -> object:
    """Call a tool, and wait for its result where it gives an awaitable."""
    value = call.tool.invoke(call.input)
    return run_awaitable(value, stop) if inspect.isawaitable(value) else value


def ask(handler: Callable[[Any], Any], event: object, interrupt: Interrupt) -> Any:
    """Call a hook, and wait for its decision where it gives an awaitable.

    Args:
        handler: The hook.
        event: What it is told.
        interrupt: Ends the waiting; then there is no decision.

    Raises:
        BaseException: What the hook raised.
    """
    decision = handler(event)
    if not inspect.isawaitable(decision):
        return decision
    if loop_runs():
        return in_thread(partial(run_awaitable, decision), interrupt)
    try:
        return run_awaitable(decision, interrupt)
    except Exception:
        if interrupt.is_set:
            return None
        raise


def in_thread(function: Callable[[Interrupt], object], interrupt: Interrupt) -> Any:
    """Call a function in a thread of its own, and wait for it; None where the interrupt is set before it ends."""
    inbox = Inbox(interrupt)
    try:
        inbox.start(0, function)
        outcome = inbox.wait()
    finally:
        inbox.close()
    if outcome is not None and outcome.is_error:
        raise outcome.value
    return None if outcome is None else outcome.value


def loop_runs() -> bool:
    """Whether an event loop runs in this thread, so that another one cannot."""
    import asyncio  # noqa: PLC0415 - slow to import, and only asynchronous handlers need it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_awaitable(awaitable: Awaitable[Any], stop: Interrupt) -> Any:
    """Await something in an event loop of its own.

    Args:
        awaitable: What is awaited.
        stop: Cancels it.

    Raises:
        RuntimeError: It was cancelled.
    """
    import asyncio  # noqa: PLC0415 - slow to import, and only asynchronous handlers need it

    async def awaited() -> Any:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def cancel() -> None:
            if task is not None:
                with suppress(RuntimeError):  # the loop was closed at the same moment
                    loop.call_soon_threadsafe(task.cancel)

        stop.register(cancel)
        try:
            return await awaitable
        finally:
            stop.register(None)

    try:
        return asyncio.run(awaited())
    except asyncio.CancelledError:
        raise RuntimeError(CANCELLED) from None
