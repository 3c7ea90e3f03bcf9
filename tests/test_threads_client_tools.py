"""Tools and hooks of the blocking client: threads, contexts, time limits, and what they raise."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent_scripts import calls_of, threads_client
from tests.machine import told, unfit

import tokwire
from tokwire import Hooks, Tool, ToolResultBlock, TurnInterrupted
from tokwire_threads import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LAMP: contextvars.ContextVar[str] = contextvars.ContextVar("lamp", default="off")


def tool(name: str, handler: Callable[..., Any]) -> Tool:
    """A tool that takes anything."""
    return Tool(name, "", {}, handler)


def calling(*tools: Tool, **changes: Any) -> Client:
    """A client whose model calls every tool at once, and is content with what they say."""
    return threads_client(*calls_of(tools), tools=tools, auto_execute_tools=True, **changes)[0]


def results_of(client: Client) -> list[ToolResultBlock]:
    """The results of one turn."""
    blocks = [event.as_block() for event in client.send("Go")]
    return [block for block in blocks if isinstance(block, ToolResultBlock)]


@pytest.fixture
def stuck() -> Iterator[Callable[[Any], str]]:
    """A tool that waits until the test is over."""
    over = threading.Event()

    def handler(_: object) -> str:
        over.wait(10)
        return "too late"

    yield handler
    over.set()


def test_the_tools_of_a_batch_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)

    async def meet_later(_: object) -> int:
        return meeting.wait(10)

    found = results_of(calling(tool("a", lambda _: meeting.wait(10)), tool("b", meet_later), tool("c", meet_later)))
    assert [result.tool_use_id for result in found] == ["c0", "c1", "c2"]
    assert sorted(str(result.content) for result in found) == ["0", "1", "2"]


def test_they_run_in_daemon_threads_with_a_copy_of_the_context() -> None:
    def look(_: object) -> str:
        seen.append(threading.current_thread())
        lamp = LAMP.get()
        LAMP.set("broken")
        return lamp

    async def look_later(given: object) -> str:
        return look(given)

    seen: list[threading.Thread] = []
    client = calling(tool("a", look), tool("b", look_later))
    token = LAMP.set("lit")
    try:
        assert [result.content for result in results_of(client)] == ["lit", "lit"]
        assert LAMP.get() == "lit"
    finally:
        LAMP.reset(token)
    assert all(thread.daemon and thread is not threading.current_thread() for thread in seen)


def test_what_a_tool_returns_may_be_awaitable() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "ashore"

    assert [result.content for result in results_of(calling(tool("a", lambda _: later())))] == ["ashore"]


def test_the_model_reads_what_a_tool_raises() -> None:
    def fail(_: object) -> None:
        raise StopIteration("aground")

    async def give_up(_: object) -> None:
        raise asyncio.CancelledError

    errors = [told(result)["error"] for result in results_of(calling(tool("a", fail), tool("b", give_up)))]
    assert errors == ["aground", "the function was cancelled"]


def test_an_exception_that_is_returned_is_told_as_well() -> None:
    client = calling(tool("a", lambda _: KeyboardInterrupt("only a value")))
    assert told(results_of(client)[0])["error"] == "only a value"


def test_a_tool_that_takes_too_long(stuck: Callable[[Any], str]) -> None:
    client = calling(tool("a", stuck), tool("b", lambda _: "quick"), tool_timeout=0.2)
    slow, quick = results_of(client)
    assert told(slow)["error"] == "the tool did not end within 0.2 seconds"
    assert quick.content == "quick"
    assert client.history[-1] == tokwire.Message.assistant("Done")


def test_a_result_that_comes_too_late_is_ignored() -> None:
    over, brought = threading.Event(), threading.Event()

    def slow(_: object) -> object:
        over.wait(10)
        brought.set()
        return "too late"

    client = calling(tool("a", slow), tool_timeout=0.05)
    assert results_of(client)[0].is_error
    history = client.history
    over.set()
    assert brought.wait(10)
    assert client.send("Go on").collect() == tokwire.Message.assistant("Again")
    assert client.history[: len(history)] == history


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_no_exception_comes_out_of_the_turn(error: type[BaseException], *, is_async: bool) -> None:
    ready = threading.Event()

    def first(_: object) -> str:
        return "whole"

    def fail(_: object) -> None:
        assert ready.wait(10)
        raise error

    async def fail_later(given: object) -> None:
        fail(given)

    def handler(_: object) -> str:
        ready.set()
        return "whole"

    client = calling(tool("a", fail_later if is_async else fail), tool("b", handler))
    turn = client.send("Go")
    with pytest.raises(error):
        list(turn)
    for _ in range(2):
        with pytest.raises(TurnInterrupted):
            next(turn)
    assert unfit(client.history) == []
    failed = client.history[-1].content[0]
    assert isinstance(failed, ToolResultBlock)
    assert "cancelled" in told(failed)["error"]
    assert client.send("Go on").collect() == tokwire.Message.assistant("Done")


def test_hooks_run_in_the_thread_of_the_caller() -> None:
    def hook(_: object) -> None:
        seen.append(threading.current_thread())
        LAMP.set("lit")

    async def hook_later(_: object) -> None:
        await asyncio.sleep(0)
        seen.append(threading.current_thread())

    seen: list[threading.Thread] = []
    hooks = Hooks(user_prompt_submit=[hook, hook_later], pre_tool_use=[hook_later], post_tool_use=[hook])
    token = LAMP.set("off")
    try:
        assert results_of(calling(tool("a", lambda _: LAMP.get()), hooks=hooks))[0].content == "lit"
    finally:
        LAMP.reset(token)
    assert seen == [threading.current_thread()] * 4


def test_an_asynchronous_hook_where_an_event_loop_runs() -> None:
    async def hook(_: object) -> tokwire.Decision:
        await asyncio.sleep(0)
        return tokwire.Decision.modify_prompt(f"the lamp is {LAMP.get()}")

    async def main() -> None:
        LAMP.set("lit")
        results_of(client)

    client = calling(hooks=Hooks(user_prompt_submit=[hook]))
    asyncio.run(main())
    assert client.history[0] == tokwire.Message.user("the lamp is lit")


def test_one_that_fails_there() -> None:
    async def hook(_: object) -> None:
        raise LookupError("no lamp")

    async def main() -> None:
        results_of(client)

    client = calling(hooks=Hooks(user_prompt_submit=[hook]))
    with pytest.raises(LookupError, match="no lamp"):
        asyncio.run(main())
    assert client.history == ()


@pytest.mark.parametrize("inside_a_loop", [False, True])
def test_an_interrupt_while_such_a_hook_waits(*, inside_a_loop: bool) -> None:
    async def hook(_: object) -> None:
        client.interrupt()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    async def main() -> None:
        turn()

    def turn() -> None:
        with pytest.raises(TurnInterrupted):
            results_of(client)

    ended = threading.Event()
    client = calling(hooks=Hooks(user_prompt_submit=[hook]))
    if inside_a_loop:
        asyncio.run(main())
    else:
        turn()
    assert ended.wait(10)
    assert client.history == ()


@pytest.mark.parametrize("how", ["interrupt", "time", "ctrl-c"])
def test_a_coroutine_is_cancelled_where_nobody_waits_for_it_any_more(how: str) -> None:
    async def for_ever(_: object) -> None:
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    def act(_: object) -> None:
        assert begun.wait(10)
        if how == "interrupt":
            client.interrupt()
        elif how == "ctrl-c":
            raise KeyboardInterrupt

    begun, ended = threading.Event(), threading.Event()
    client = calling(tool("a", for_ever), tool("b", act), tool_timeout=0.05 if how == "time" else None)
    turn = client.send("Go")
    try:
        list(turn)
        assert how == "time"
    except (TurnInterrupted, KeyboardInterrupt):
        assert how != "time"
    assert ended.wait(10)
    assert unfit(client.history) == []


def test_the_error_of_a_hook_shows_where_it_was_raised() -> None:
    def hook(_: object) -> None:
        raise ZeroDivisionError("by zero")

    client = calling(hooks=Hooks(user_prompt_submit=[hook]))
    with pytest.raises(ZeroDivisionError) as caught:
        results_of(client)
    assert caught.traceback[-1].name == "hook"


def test_ctrl_c_in_a_hook() -> None:
    def hook(_: object) -> None:
        raise KeyboardInterrupt

    client = calling(tool("a", len), hooks=Hooks(pre_tool_use=[hook]))
    turn = client.send("Go")
    with pytest.raises(KeyboardInterrupt):
        list(turn)
    assert unfit(client.history) == []
    assert len(client.history) == 3


def test_a_tool_may_not_use_the_turn_that_runs_it() -> None:
    def nested(_: object) -> str:
        return client.send("Me too").collect().text

    client = calling(tool("a", nested))
    assert "while somebody waits" in told(results_of(client)[0])["error"]
