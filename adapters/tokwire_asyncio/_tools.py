"""Tools for the asynchronous client: coroutines as tasks, and blocking functions in daemon threads.

Not `asyncio.to_thread`: its threads keep the interpreter from exiting while one of them is stuck in a tool.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tokwire_http._agent import CANCELLED, timeout_of_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokwire import ToolCall

__all__ = ["run_tools"]


class Outcome(NamedTuple):
    """What a function came to.

    Attributes:
        value: What it returned, or the exception that it raised.
        is_error: Whether it raised.
    """

    value: Any
    is_error: bool = False


async def run_tools(
    calls: Sequence[ToolCall], seconds: float | None, finished: Callable[[ToolCall, object], None]
) -> None:
    """Run tools at the same time, each in a task of its own. None of the tasks is left behind.

    A blocking function cannot be stopped: once its time is over, or the running task is cancelled, it is left alone,
    and what it still brings is dropped.

    Args:
        calls: The calls.
        seconds: How long a tool may take.
        finished: Told each call and its outcome, as it comes.

    Raises:
        BaseException: What a tool raised that is no `Exception`.
    """
    tasks = {asyncio.create_task(run_tool(call, seconds)): call for call in calls}
    waiting = set(tasks)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                outcome = task.result()
                if outcome.is_error and not isinstance(outcome.value, Exception):
                    raise outcome.value
                finished(tasks[task], outcome.value)
    finally:
        await cancel(waiting)


async def cancel(tasks: set[asyncio.Task[Outcome]]) -> None:
    """Cancel tasks, and wait until they have ended, however often that is cancelled in turn."""
    for task in tasks:
        task.cancel()
    again: asyncio.CancelledError | None = None
    while tasks:
        try:
            _, tasks = await asyncio.wait(tasks)
        except asyncio.CancelledError as error:
            again = error
            tasks = {task for task in tasks if not task.done()}
    if again is not None:
        raise again


async def run_tool(call: ToolCall, seconds: float | None) -> Outcome:
    """The outcome of a tool, whatever it is."""
    try:
        async with asyncio.timeout(seconds) as time:
            outcome = await outcome_of(call)
    except TimeoutError as error:
        return Outcome(timeout_of_tool(seconds) if time.expired() else error, is_error=True)
    except asyncio.CancelledError:
        return Outcome(RuntimeError(CANCELLED), is_error=True)
    except BaseException as error:  # noqa: BLE001 - it is raised, or told, where the outcome is awaited
        return Outcome(error, is_error=True)
    return outcome


async def outcome_of(call: ToolCall) -> Outcome:
    """Call a tool: in this task where it is a coroutine function, else in a thread."""
    invoke = partial(call.tool.invoke, call.input)
    outcome = Outcome(invoke()) if call.tool.is_async else await in_thread(invoke)
    return Outcome(await outcome.value) if inspect.isawaitable(outcome.value) else outcome


async def in_thread(function: Callable[[], object]) -> Outcome:
    """Call a function in a daemon thread, in a copy of the task's context."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def run() -> None:
        try:
            outcome = Outcome(function())
        except BaseException as error:  # noqa: BLE001 - it is raised, or told, where the outcome is awaited
            outcome = Outcome(error, is_error=True)
        with suppress(RuntimeError):  # the loop is closed, so nobody waits any more
            loop.call_soon_threadsafe(deliver, outcome)

    def deliver(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    target = partial(contextvars.copy_context().run, run)
    threading.Thread(target=target, name="tokwire-tool", daemon=True).start()
    return await future
