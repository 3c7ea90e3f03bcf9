"""Tools and hooks of the asynchronous client: tasks, threads, contexts, time limits, and what they raise."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent_scripts import asyncio_client, calls_of, run_alone
from tests.machine import told, unfit

import tokwire
from tokwire import Hooks, Tool, ToolResultBlock, TurnInterrupted
from tokwire_asyncio import Client

if TYPE_CHECKING:
    from collections.abc import Callable

LAMP: contextvars.ContextVar[str] = contextvars.ContextVar("lamp", default="off")


def tool(name: str, handler: Callable[..., Any]) -> Tool:
    """A tool that takes anything."""
    return Tool(name, "", {}, handler)


def calling(*tools: Tool, **changes: Any) -> Client:
    """A client whose model calls every tool at once, and is content with what they say."""
    return asyncio_client(*calls_of(tools), tools=tools, auto_execute_tools=True, **changes)[0]


async def results_of(client: Client) -> list[ToolResultBlock]:
    """The results of one turn."""
    blocks = [event.as_block() async for event in client.send("Go")]
    return [block for block in blocks if isinstance(block, ToolResultBlock)]


async def for_ever() -> None:
    """Wait until it is cancelled."""
    await asyncio.Event().wait()


def test_the_tools_of_a_batch_run_at_the_same_time() -> None:
    async def meet_later(_: object) -> int:
        return await asyncio.to_thread(meeting.wait, 10)

    async def main() -> None:
        tools = (tool("a", lambda _: meeting.wait(10)), tool("b", meet_later), tool("c", lambda _: meeting.wait(10)))
        found = await results_of(calling(*tools))
        assert [result.tool_use_id for result in found] == ["c0", "c1", "c2"]
        assert sorted(str(result.content) for result in found) == ["0", "1", "2"]

    meeting = threading.Barrier(3)
    run_alone(main())


def test_they_have_a_copy_of_the_context() -> None:
    def look(_: object) -> str:
        seen.append(threading.current_thread())
        lamp = LAMP.get()
        LAMP.set("broken")
        return lamp

    async def look_later(given: object) -> str:
        return look(given)

    async def main() -> None:
        LAMP.set("lit")
        found = await results_of(calling(tool("a", look), tool("b", look_later)))
        assert [result.content for result in found] == ["lit", "lit"]
        assert LAMP.get() == "lit"
        own = threading.current_thread()
        assert [thread is own for thread in seen if not thread.daemon] == [True]
        assert len(seen) == 2

    seen: list[threading.Thread] = []
    run_alone(main())


def test_what_a_tool_returns_may_be_awaitable() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "ashore"

    async def main() -> None:
        assert [result.content for result in await results_of(calling(tool("a", lambda _: later())))] == ["ashore"]

    run_alone(main())


def test_the_model_reads_what_a_tool_raises() -> None:
    def fail(_: object) -> None:
        raise StopIteration("aground")

    async def give_up(_: object) -> None:
        raise asyncio.CancelledError

    async def late(_: object) -> None:
        raise TimeoutError("no wind")

    async def main() -> None:
        found = await results_of(calling(tool("a", fail), tool("b", give_up), tool("c", late), tool_timeout=10.0))
        assert [told(result)["error"] for result in found] == ["aground", "the function was cancelled", "no wind"]

    run_alone(main())


def test_a_tool_that_takes_too_long() -> None:
    async def slow(_: object) -> None:
        try:
            await for_ever()
        finally:
            ended.append("slow")

    def stuck(_: object) -> str:
        over.wait(10)
        return "too late"

    async def main() -> None:
        tools = (tool("a", slow), tool("b", stuck), tool("c", lambda _: "quick"))
        client = calling(*tools, tool_timeout=0.2)
        *slow_ones, quick = await results_of(client)
        text = "the tool did not end within 0.2 seconds"
        assert [told(result)["error"] for result in slow_ones] == [text, text]
        assert quick.content == "quick"
        assert ended == ["slow"]
        over.set()
        await asyncio.sleep(0.01)
        assert await client.send("Go on").collect() == tokwire.Message.assistant("Again")

    ended: list[str] = []
    over = threading.Event()
    run_alone(main())


def test_a_stuck_tool_outlives_its_event_loop() -> None:
    def stuck(_: object) -> str:
        threads.append(threading.current_thread())
        over.wait(10)
        return "too late"

    over = threading.Event()
    threads: list[threading.Thread] = []
    client = calling(tool("a", stuck), tool_timeout=0.05)
    assert asyncio.run(results_of(client))[0].is_error
    over.set()
    threads[0].join()
    assert threads[0].daemon


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_no_exception_comes_out_of_the_turn(error: type[BaseException], *, is_async: bool) -> None:
    def fail(_: object) -> None:
        raise error

    async def fail_later(_: object) -> None:
        await asyncio.sleep(0)
        raise error

    async def wait(_: object) -> None:
        try:
            await for_ever()
        finally:
            ended.append("wait")

    async def main() -> None:
        client = calling(tool("a", fail_later if is_async else fail), tool("b", wait))
        turn = client.send("Go")
        with pytest.raises(error):
            await turn.collect()
        for _ in range(2):
            with pytest.raises(TurnInterrupted):
                await anext(turn)
        assert ended == ["wait"]
        assert unfit(client.history) == []
        assert len(client.history) == 3
        assert await client.send("Go on").collect() == tokwire.Message.assistant("Done")

    ended: list[str] = []
    run_alone(main())


def test_the_error_of_a_hook_shows_where_it_was_raised() -> None:
    async def hook(_: object) -> None:
        raise ZeroDivisionError("by zero")

    async def main() -> None:
        with pytest.raises(ZeroDivisionError) as caught:
            await results_of(calling(hooks=Hooks(user_prompt_submit=[hook])))
        assert caught.traceback[-1].name == "hook"

    run_alone(main())
