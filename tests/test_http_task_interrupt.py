"""Interrupts of `AsyncEventStream` from other threads and signal handlers, and the flag that does it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest
from tests.http_fakes import EVENTS, ONE, TWO, AsyncScript, Step, decoder
from tests.loop_wakes import handled_by, once_asleep

import tokwire
from tokwire_http import AsyncEventStream
from tokwire_http._task_interrupt import TaskInterrupt


class Waiting(AsyncScript):
    """Waits for ever behind its last step."""

    async def __anext__(self) -> bytes:
        try:
            return await super().__anext__()
        except StopAsyncIteration:
            await asyncio.Event().wait()
            raise


def stream_of(*steps: Step) -> AsyncEventStream:
    """A stream that waits for ever behind its last step."""
    return AsyncEventStream(Waiting(*steps), decoder())


@pytest.mark.parametrize("way", ["thread", "signal"])
def test_a_read_that_waits_is_woken(way: str) -> None:
    async def read() -> None:
        stream = stream_of(ONE)
        assert await anext(stream) == EVENTS[0]
        with once_asleep(way, stream.interrupt), pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)

    asyncio.run(read(), debug=True)


def test_a_signal_that_strikes_just_before_the_wait() -> None:
    async def read() -> None:
        stream = stream_of(lambda: signal.raise_signal(signal.SIGUSR1))
        with handled_by(stream.interrupt), pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)

    asyncio.run(read(), debug=True)


def test_one_that_strikes_between_two_events_disturbs_nothing_else() -> None:
    async def read() -> None:
        stream = stream_of(ONE, TWO)
        await anext(stream)
        with handled_by(stream.interrupt):
            signal.raise_signal(signal.SIGUSR1)
        await asyncio.sleep(0)
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)

    asyncio.run(read(), debug=True)


def test_a_response_that_swallows_the_cancellation_hands_back_a_whole_task() -> None:
    class Stubborn(Waiting):
        async def __anext__(self) -> bytes:
            try:
                return await super().__anext__()
            except asyncio.CancelledError:
                return TWO

    async def read() -> None:
        stream = AsyncEventStream(Stubborn(ONE), decoder())
        await anext(stream)
        with once_asleep("thread", stream.interrupt):
            assert await anext(stream) == EVENTS[1]
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)

    asyncio.run(read(), debug=True)


def test_a_wait_behind_the_interrupt_is_not_begun() -> None:
    interrupt = TaskInterrupt()
    interrupt.set()

    async def main() -> None:
        assert not interrupt.begin(asyncio.current_task())
        interrupt.set()
        await asyncio.sleep(0)
        assert not interrupt.end()

    asyncio.run(main())


def test_a_wait_that_ends_before_the_loop_turns_is_not_cancelled_any_more() -> None:
    async def main() -> None:
        interrupt = TaskInterrupt()
        assert interrupt.begin(asyncio.current_task())
        interrupt.set()
        assert not interrupt.end()
        await asyncio.sleep(0)

    asyncio.run(main())


def test_a_task_of_a_loop_that_is_closed_is_left_alone() -> None:
    async def main() -> None:
        interrupt.begin(asyncio.current_task())

    interrupt = TaskInterrupt()
    asyncio.run(main())
    interrupt.set()
    assert interrupt.is_set


def test_nothing_of_it_imports_asyncio() -> None:
    code = "import sys, tokwire_http, tokwire_http._async_stream; sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
