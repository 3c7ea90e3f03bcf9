"""Interrupts of the asynchronous client from outside of its event loop, and from inside of its own task."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests import agent_places
from tests.agent_places import CALM, Place, Quiet, calling, for_ever, tool
from tests.agent_scripts import asyncio_client, run_alone
from tests.loop_wakes import handled_by, once_asleep
from tests.machine import options, unfit

import tokwire
from tokwire import Hooks, TurnInterrupted
from tokwire_asyncio import AsyncTurn, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.http_fakes import AsyncScript


@pytest.mark.parametrize("place", agent_places.PLACES)
@pytest.mark.parametrize("way", ["thread", "signal"])
def test_the_loop_is_woken_wherever_the_turn_waits(place: Callable[[], Place], way: str) -> None:
    async def main() -> None:
        there = place()
        turn = there.client.send("Hello")
        task = asyncio.create_task(turn.collect())
        await there.reached()
        with once_asleep(way, there.client.interrupt), pytest.raises(TurnInterrupted):
            await task
        assert task.cancelling() == 0
        with pytest.raises(TurnInterrupted):
            await anext(turn)
        assert len(there.client.history) == there.messages
        assert unfit(there.client.history) == []

    run_alone(main())


@pytest.mark.parametrize("way", ["thread", "signal"])
def test_the_task_goes_on_and_may_be_cancelled_as_ever(way: str) -> None:
    async def main() -> None:
        there = agent_places.in_the_body()
        turn = there.client.send("Hello")
        with once_asleep(way, turn.interrupt), pytest.raises(TurnInterrupted):
            await turn.collect()
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await for_ever()

    run_alone(main())


def test_an_interrupt_of_a_thread_beside_a_cancellation_lets_that_stand() -> None:
    async def main() -> None:
        there = agent_places.in_the_body()
        task = asyncio.create_task(there.client.send("Hello").collect())
        await there.reached()
        thread = threading.Thread(target=there.client.interrupt)
        thread.start()
        thread.join()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelling() == 1

    run_alone(main())


def test_a_signal_that_strikes_just_before_the_wait() -> None:
    """The handler runs in the task itself, which then begins to wait for ever."""

    class Struck(Quiet):
        async def send(self, *_: Any, **__: Any) -> AsyncScript:
            signal.raise_signal(signal.SIGUSR1)
            await for_ever()
            raise AssertionError

    async def main() -> None:
        client = Client(options(), transport=Struck())
        with handled_by(client.interrupt), pytest.raises(TurnInterrupted):
            await client.send("Hello").collect()

    run_alone(main())


def test_a_signal_that_strikes_between_two_events() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM)
        turn = client.send("Hello")
        await anext(turn)
        with handled_by(client.interrupt):
            signal.raise_signal(signal.SIGUSR1)
        await asyncio.sleep(0)
        with pytest.raises(TurnInterrupted):
            await anext(turn)
        assert transport.responses[0].closed == [False]
        assert client.history == ()

    run_alone(main())


@pytest.mark.parametrize("closes", [True, False])
def test_a_hook_that_interrupts_goes_on_undisturbed(*, closes: bool) -> None:
    async def hook(_: object) -> None:
        await turns[0].aclose() if closes else turns[0].interrupt()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        noted.append("undisturbed")

    async def main() -> None:
        client, transport = asyncio_client(CALM, hooks=Hooks(user_prompt_submit=[hook]))
        turns.append(client.send("Hello"))
        with pytest.raises(TurnInterrupted):
            await turns[0].collect()
        assert noted == ["undisturbed"]
        assert transport.requests == []

    turns: list[AsyncTurn] = []
    noted: list[str] = []
    run_alone(main())


def test_a_hook_that_has_interrupted_can_still_be_woken_from_outside() -> None:
    async def hook(_: object) -> None:
        clients[0].interrupt()
        begun.set()
        await for_ever()

    async def main() -> None:
        clients.append(calling(hooks=Hooks(user_prompt_submit=[hook])))
        task = asyncio.create_task(clients[0].send("Hello").collect())
        await begun.wait()
        with once_asleep("thread", clients[0].interrupt), pytest.raises(TurnInterrupted):
            await task

    clients: list[Client] = []
    begun = asyncio.Event()
    run_alone(main())


@pytest.mark.parametrize("is_async", [True, False])
def test_a_tool_may_interrupt_its_turn(*, is_async: bool) -> None:
    async def wait(_: object) -> None:
        clients[0].interrupt()
        await for_ever()

    async def other(_: object) -> None:
        await for_ever()

    def block(_: object) -> str:
        clients[0].interrupt()
        return "too late"

    async def main() -> None:
        stops = tool("a", wait if is_async else block)
        clients.append(calling(stops, tool("b", other)))
        with pytest.raises(TurnInterrupted):
            await clients[0].send("Hello").collect()
        assert len(clients[0].history) == 3
        assert unfit(clients[0].history) == []

    clients: list[Client] = []
    run_alone(main())


def test_closing_from_another_task_wakes_the_one_that_waits() -> None:
    async def main() -> None:
        there = agent_places.in_the_head()
        turn = there.client.send("Hello")
        task = asyncio.create_task(turn.collect())
        await there.reached()
        await turn.aclose()
        with pytest.raises(TurnInterrupted):
            await task

    run_alone(main())


def test_a_thread_that_is_late_disturbs_nobody() -> None:
    """The loop is closed, and the turn was left in the middle of it."""
    client, _ = asyncio_client(CALM)
    turn = client.send("Hello")
    asyncio.run(turn.__anext__())
    thread = threading.Thread(target=client.interrupt)
    thread.start()
    thread.join()
    with pytest.raises(TurnInterrupted):
        asyncio.run(turn.__anext__())
    assert isinstance(turn.summary, tokwire.StreamSummary)
