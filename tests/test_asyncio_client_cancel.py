"""Cancellation and interrupts of the asynchronous client, wherever it waits: nothing is left, and history is whole."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from tests import agent_places
from tests.agent_places import Place, Quiet, calling, for_ever, tool
from tests.agent_scripts import answer, run_alone
from tests.machine import options, said, unfit

import tokwire
from tokwire import Hooks, TurnInterrupted
from tokwire_asyncio import AsyncTurn, Client

if TYPE_CHECKING:
    from collections.abc import Callable

CALM = said("openai-chat", "Calm")
PLACES = pytest.mark.parametrize("place", agent_places.PLACES)


async def read(turn: AsyncTurn, seen: list[tokwire.StreamEvent]) -> None:
    """Read a turn."""
    async for event in turn:
        seen.append(event)  # noqa: PERF401 - what came before an error is kept


@PLACES
@pytest.mark.parametrize("closes", [False, True])
def test_an_interrupt(place: Callable[[], Place], *, closes: bool) -> None:
    async def main() -> None:
        there = place()
        turn = there.client.send("Hello")
        task = asyncio.create_task(read(turn, []))
        await there.reached()
        for _ in range(2):
            if closes:
                await there.client.aclose()
            else:
                there.client.interrupt()
        with pytest.raises(TurnInterrupted):
            await task
        assert task.cancelling() == 0
        with pytest.raises(TurnInterrupted):
            await anext(turn)
        assert len(there.client.history) == there.messages
        assert unfit(there.client.history) == []

    run_alone(main())


@PLACES
@pytest.mark.parametrize("also_interrupted", [False, True])
def test_a_cancellation(place: Callable[[], Place], *, also_interrupted: bool) -> None:
    async def main() -> None:
        there = place()
        turn = there.client.send("Hello")
        task = asyncio.create_task(read(turn, []))
        await there.reached()
        task.cancel()
        if also_interrupted:
            turn.interrupt()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelling() == 1
        with pytest.raises(TurnInterrupted):
            await anext(turn)
        assert len(there.client.history) == there.messages
        assert unfit(there.client.history) == []

    run_alone(main())


@PLACES
def test_a_time_limit_of_asyncio(place: Callable[[], Place]) -> None:
    async def main() -> None:
        there = place()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await there.client.send("Hello").collect()
        assert unfit(there.client.history) == []

    run_alone(main())


def test_a_response_that_is_cancelled_is_dropped() -> None:
    async def main() -> None:
        transport = Quiet(answer(CALM[:200]))
        client = Client(options(), transport=transport)
        task = asyncio.create_task(read(client.send("Hello"), []))
        await transport.reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert transport.responses[0].aborted == 1
        assert transport.responses[0].closed == [False]

    run_alone(main())


def test_a_task_goes_on_after_an_interrupt() -> None:
    async def main() -> None:
        transport = Quiet(answer(CALM[:200]))
        client = Client(options(), transport=transport)

        async def both() -> str:
            with contextlib.suppress(TurnInterrupted):
                await read(client.send("Hello"), [])
            await asyncio.sleep(0)
            return "went on"

        task = asyncio.create_task(both())
        await transport.reading.wait()
        client.interrupt()
        assert await task == "went on"

    run_alone(main())


def test_a_hook_that_swallows_a_cancellation_changes_nothing() -> None:
    async def hook(_: object) -> None:
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await for_ever()

    async def main() -> None:
        client = calling(hooks=Hooks(user_prompt_submit=[hook]))
        task = asyncio.create_task(read(client.send("Hello"), []))
        await begun.wait()
        client.interrupt()
        with pytest.raises(TurnInterrupted):
            await task
        assert task.cancelling() == 0

    begun = asyncio.Event()
    run_alone(main())


def test_tools_that_are_cancelled_twice_are_awaited_all_the_same() -> None:
    async def slow_to_end(_: object) -> None:
        begun.set()
        try:
            await for_ever()
        finally:
            ending.set()
            await go_on.wait()
            ended.append("slow")

    async def main() -> None:
        client = calling(tool("a", slow_to_end))
        task = asyncio.create_task(read(client.send("Hello"), []))
        await begun.wait()
        client.interrupt()
        await ending.wait()
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended == ["slow"]
        assert unfit(client.history) == []

    begun, ending, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()
    ended: list[str] = []
    run_alone(main())


def test_a_coroutine_that_is_thrown_away_drops_the_connection() -> None:
    """Where no loop is left to await anything in, as when a program ends."""
    transport = Quiet(answer(CALM[:200]))
    client = Client(options(), transport=transport)
    turn = client.send("Hello")

    async def main() -> None:
        await anext(turn)
        waiting = turn.__anext__()
        waiting.send(None)
        waiting.close()
        assert transport.responses[0].aborted == 1
        assert transport.responses[0].closed == []
        await turn.aclose()
        assert transport.responses[0].closed == [False]

    run_alone(main())


def test_an_interrupt_at_every_turn_of_the_loop() -> None:
    """After one turn, after two, and so on, until the turn comes to its end before."""

    async def later(_: object) -> str:
        await asyncio.sleep(0)
        return "later"

    async def after(turns: int) -> bool:
        client = calling(tool("a", later), tool("b", later))
        seen: list[tokwire.StreamEvent] = []
        task = asyncio.create_task(read(client.send("Hello"), seen))
        for _ in range(turns):
            await asyncio.sleep(0)
        client.interrupt()
        try:
            await task
        except TurnInterrupted:
            assert unfit(client.history) == []
            return False
        assert isinstance(seen[-1], tokwire.Finish)
        return True

    async def main() -> None:
        turns = 0
        while not await after(turns):
            turns += 1
        assert turns > 3

    run_alone(main())
