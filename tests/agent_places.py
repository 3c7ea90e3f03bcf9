"""Places where the turn of an asynchronous client waits, to be cancelled there."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any

from tests.agent_scripts import Answer, AsyncFakeTransport, answer, asyncio_client, calls_of
from tests.http_fakes import AsyncScript
from tests.machine import options, said

import tokwire
from tokwire import Hooks, RetryConfig, Tool
from tokwire_asyncio import Client

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CALM = said("openai-chat", "Calm")


def tool(name: str, handler: Callable[..., Any]) -> Tool:
    """A tool that takes anything."""
    return Tool(name, "", {}, handler)


def calling(*tools: Tool, **changes: Any) -> Client:
    """A client whose model calls every tool at once, and is content with what they say."""
    return asyncio_client(*calls_of(tools), tools=tools, auto_execute_tools=True, **changes)[0]


async def for_ever() -> None:
    """Wait until it is cancelled."""
    await asyncio.Event().wait()


class Quiet(AsyncFakeTransport):
    """Says when a response is awaited, and in the end nothing more."""

    def __init__(self, *answers: Answer | bytes, in_head: bool = False) -> None:
        super().__init__(*answers)
        self.reading = asyncio.Event()
        self._in_head = in_head

    async def send(self, *args: Any, **kwargs: Any) -> AsyncScript:
        """Wait for ever, or come back with a response that does."""
        response = await super().send(*args, **kwargs)
        if self._in_head:
            self.reading.set()
            await for_ever()
        return response

    def response(self, given: Answer) -> AsyncScript:
        """One that waits behind its last step."""
        return Waiting(self.reading, given)


class Waiting(AsyncScript):
    """Waits for ever behind its last step."""

    def __init__(self, reading: asyncio.Event, given: Answer) -> None:
        super().__init__(*given.steps, head=given.head)
        self._reading = reading

    async def __anext__(self) -> bytes:
        with contextlib.suppress(StopAsyncIteration):
            return await super().__anext__()
        self._reading.set()
        await for_ever()
        raise AssertionError


class Place:
    """A client whose turn comes to a place and waits there.

    Attributes:
        client: The client.
        reached: Awaited until it is there.
        messages: How many of them the history has then.
    """

    def __init__(self, client: Client, reached: Callable[[], Awaitable[object]], messages: int = 0) -> None:
        self.client = client
        self.reached = reached
        self.messages = messages


def in_the_head() -> Place:
    """A turn that waits for a response."""
    transport = Quiet(CALM, in_head=True)
    return Place(Client(options(), transport=transport), transport.reading.wait)


def in_the_body() -> Place:
    """One that waits for more of it."""
    transport = Quiet(answer(CALM[:200]))
    return Place(Client(options(), transport=transport), transport.reading.wait)


def in_the_pause() -> Place:
    """One that waits for another attempt."""

    async def reached() -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    transport = AsyncFakeTransport(answer(refused=tokwire.ConnectError("nobody is there")))
    return Place(Client(options(retry=RetryConfig(initial_delay=60.0)), transport=transport), reached)


def in_a_hook() -> Place:
    """One whose hook waits."""

    async def hook(_: object) -> None:
        begun.set()
        await for_ever()

    begun = asyncio.Event()
    return Place(calling(hooks=Hooks(user_prompt_submit=[hook])), begun.wait)


def in_a_tool() -> Place:
    """One whose tool waits, and needs a while to end."""

    async def wait(_: object) -> None:
        begun.set()
        try:
            await for_ever()
        finally:
            await asyncio.sleep(0)

    begun = asyncio.Event()
    return Place(calling(tool("a", wait), tool("b", lambda _: "whole")), begun.wait, messages=3)


def in_a_stuck_tool() -> Place:
    """One whose tool cannot be stopped."""

    def stuck(_: object) -> None:
        loop.call_soon_threadsafe(begun.set)
        threading.Event().wait(0.2)

    loop = asyncio.get_running_loop()
    begun = asyncio.Event()
    return Place(calling(tool("a", stuck)), begun.wait, messages=3)


PLACES = (in_the_head, in_the_body, in_the_pause, in_a_hook, in_a_tool, in_a_stuck_tool)
