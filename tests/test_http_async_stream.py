"""`AsyncEventStream` over scripted responses: closing, cancellation, interrupts, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from tests.http_fakes import EVENTS, ONE, TWO, WHOLE, AsyncScript, ReadTooFarError, Step, decoder
from tests.support import data

import tokwire
from tokwire_http import AsyncEventStream

if TYPE_CHECKING:
    from collections.abc import Coroutine


class Waiting(AsyncScript):
    """Waits for ever behind its last step, and says when it does."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(*steps)
        self.is_waiting = asyncio.Event()

    async def __anext__(self) -> bytes:
        try:
            return await super().__anext__()
        except StopAsyncIteration:
            self.is_waiting.set()
            await asyncio.Event().wait()
            raise


async def in_a_task(coroutine: Coroutine[Any, Any, Any], response: Waiting) -> asyncio.Task[Any]:
    """Start reading, and come back when the read waits."""
    task = asyncio.ensure_future(coroutine)
    await response.is_waiting.wait()
    return task


async def collect(stream: AsyncEventStream) -> list[tokwire.StreamEvent]:
    """Read to the end."""
    return [event async for event in stream]


def only_this_task() -> bool:
    """Whether nothing else runs."""
    return asyncio.all_tasks() == {asyncio.current_task()}


def test_the_events_come_one_by_one_and_the_connection_is_kept() -> None:
    response = AsyncScript(*WHOLE, ReadTooFarError())
    stream = AsyncEventStream(response, decoder())
    assert asyncio.run(collect(stream)) == EVENTS
    assert response.closed == [True]
    assert response.aborted == 0
    assert stream.summary.end_marker
    assert repr(stream) == "<AsyncEventStream status=200 DONE>"


def test_a_loop_that_is_left_goes_on_where_it_was() -> None:
    response = AsyncScript(*WHOLE)

    async def read() -> None:
        async with AsyncEventStream(response, decoder()) as stream:
            async for event in stream:
                assert event == EVENTS[0]
                break
            assert response.taken == 1
            assert await collect(stream) == EVENTS[1:]
            assert await collect(stream) == []

    asyncio.run(read())


def test_closing_early_closes_once() -> None:
    response = AsyncScript(*WHOLE)

    async def read() -> None:
        async with AsyncEventStream(response, decoder()) as stream:
            await anext(stream)
        await stream.aclose()
        assert await collect(stream) == []

    asyncio.run(read())
    assert response.closed == [False]


def test_an_error_comes_again() -> None:
    response = AsyncScript(ONE, data({"error": {"message": "gone"}}), TWO)

    async def read() -> None:
        stream = AsyncEventStream(response, decoder())
        assert await anext(stream) == EVENTS[0]
        for _ in range(3):
            with pytest.raises(tokwire.APIError, match="gone"):
                await anext(stream)

    asyncio.run(read())
    assert response.closed == [False]


def test_cancellation_closes_and_leaves_nothing() -> None:
    async def read() -> None:
        response = Waiting(ONE)
        task = await in_a_task(collect(AsyncEventStream(response, decoder())), response)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert response.closed == [False]
        assert response.aborted == 1
        assert only_this_task()

    asyncio.run(read())


def test_a_timeout_around_the_loop() -> None:
    async def read() -> None:
        response = Waiting(ONE)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await collect(AsyncEventStream(response, decoder()))
        assert response.closed == [False]

    asyncio.run(read())


def test_an_interrupt_wakes_a_read_that_waits() -> None:
    async def read() -> None:
        response = Waiting(ONE)
        stream = AsyncEventStream(response, decoder())
        task = await in_a_task(collect(stream), response)
        stream.interrupt()
        stream.interrupt()
        with pytest.raises(tokwire.TurnInterrupted):
            await task
        assert task.cancelling() == 0
        assert response.closed == [False]
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)
        assert only_this_task()

    asyncio.run(read())


def test_the_task_goes_on_after_an_interrupt() -> None:
    async def consume(stream: AsyncEventStream) -> str:
        with contextlib.suppress(tokwire.TurnInterrupted):
            await collect(stream)
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
        return "went on"

    async def read() -> None:
        response = Waiting(ONE)
        stream = AsyncEventStream(response, decoder())
        task = await in_a_task(consume(stream), response)
        stream.interrupt()
        assert await task == "went on"

    asyncio.run(read())


@pytest.mark.parametrize("cancel_first", [True, False])
def test_a_cancellation_beside_an_interrupt_stands(cancel_first: bool) -> None:  # noqa: FBT001 - a parameter of a test
    async def read() -> None:
        response = Waiting(ONE)
        stream = AsyncEventStream(response, decoder())
        task = await in_a_task(collect(stream), response)
        for stop in (task.cancel, stream.interrupt) if cancel_first else (stream.interrupt, task.cancel):
            stop()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert response.closed == [False]

    asyncio.run(read())


def test_an_interrupt_between_two_events_takes_effect_with_the_next_read() -> None:
    async def read() -> None:
        response = AsyncScript(*WHOLE)
        stream = AsyncEventStream(response, decoder())
        await anext(stream)
        stream.interrupt()
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)
        assert response.closed == [False]
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    asyncio.run(read())


def test_an_interrupt_from_the_read_itself_only_sets_the_flag() -> None:
    async def read() -> None:
        def interrupt() -> None:
            stream.interrupt()

        stream = AsyncEventStream(AsyncScript(ONE, interrupt, TWO), decoder())
        assert [await anext(stream), await anext(stream)] == EVENTS[:2]
        with pytest.raises(tokwire.TurnInterrupted):
            await anext(stream)

    asyncio.run(read())


def test_it_runs_without_asyncio() -> None:
    stream = AsyncEventStream(AsyncScript(*WHOLE), decoder())
    events = []
    for _ in EVENTS:
        with pytest.raises(StopIteration) as caught:
            stream.__anext__().send(None)
        events.append(caught.value.value)
    assert events == EVENTS
    with pytest.raises(StopAsyncIteration):
        stream.__anext__().send(None)


def test_a_read_that_is_dropped_aborts_the_response() -> None:
    class Never:
        """Waits for whoever drives the coroutine."""

        def __await__(self) -> Any:
            yield self

    class Stuck(AsyncScript):
        """Waits without any event loop."""

        async def __anext__(self) -> bytes:
            await Never()
            return b""

    response = Stuck()
    stream = AsyncEventStream(response, decoder())
    read = stream.__anext__()
    read.send(None)
    read.close()
    assert response.aborted == 1
