"""Transports without sockets, which answer the requests of a client from a script, and clients over them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.http_fakes import HEAD, AsyncScript, Script, Step
from tests.machine import called, options, said

import tokwire
import tokwire_asyncio
import tokwire_threads

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tokwire_http import Interrupt, Timeouts


class Answer(NamedTuple):
    """How a request is answered.

    Attributes:
        steps: The chunks of the body, errors to raise in their place, functions to call between them.
        head: Status and headers.
        refused: Raised in place of a response.
    """

    steps: tuple[Step, ...] = ()
    head: tokwire.ResponseHead = HEAD
    refused: Exception | None = None


def answer(*steps: Step, **more: Any) -> Answer:
    """A response with these steps."""
    return Answer(steps, **more)


class Answers:
    """Answers from a script.

    Attributes:
        requests: What was sent.
        timeouts: What was said about waiting.
    """

    def __init__(self, *answers: Answer | bytes) -> None:
        self._answers = list(answers)
        self.requests: list[tokwire.HTTPRequest] = []
        self.timeouts: list[Timeouts] = []

    def take(self, request: tokwire.HTTPRequest, timeouts: Timeouts) -> Answer:
        """The answer to a request, or what is raised in its place."""
        self.requests.append(request)
        self.timeouts.append(timeouts)
        given = self._answers.pop(0)
        if isinstance(given, bytes):
            given = answer(given)
        if given.refused is not None:
            raise given.refused
        return given


class FakeTransport(Answers):
    """A `Transport` that answers from a script.

    Attributes:
        responses: What came back.
    """

    def __init__(self, *answers: Answer | bytes) -> None:
        super().__init__(*answers)
        self.responses: list[Script] = []

    def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Script:
        """Answer as the script says."""
        response = self.response(self.take(request, timeouts))
        self.responses.append(response)
        return response

    def response(self, given: Answer) -> Script:
        """The response of an answer."""
        return Script(*given.steps, head=given.head)


class AsyncFakeTransport(Answers):
    """The same as an `AsyncTransport`."""

    def __init__(self, *answers: Answer | bytes) -> None:
        super().__init__(*answers)
        self.responses: list[AsyncScript] = []

    async def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts) -> AsyncScript:
        """Answer as the script says."""
        response = self.response(self.take(request, timeouts))
        self.responses.append(response)
        return response

    def response(self, given: Answer) -> AsyncScript:
        """The response of an answer."""
        return AsyncScript(*given.steps, head=given.head)


def threads_client(*answers: Answer | bytes, **changes: Any) -> tuple[tokwire_threads.Client, FakeTransport]:
    """A client of `tokwire_threads` over a script."""
    transport = FakeTransport(*answers)
    return tokwire_threads.Client(options(**changes), transport=transport), transport


def asyncio_client(*answers: Answer | bytes, **changes: Any) -> tuple[tokwire_asyncio.Client, AsyncFakeTransport]:
    """A client of `tokwire_asyncio` over a script."""
    transport = AsyncFakeTransport(*answers)
    return tokwire_asyncio.Client(options(**changes), transport=transport), transport


def calls_of(tools: tuple[tokwire.Tool, ...]) -> tuple[bytes, ...]:
    """What a model says that calls every tool at once, is content with what they say, and then goes on."""
    calls = [called(each.name, "{}", f"c{at}") for at, each in enumerate(tools)]
    return said("openai-chat", "", *calls), said("openai-chat", "Done"), said("openai-chat", "Again")


def run_alone(main: Coroutine[Any, Any, None]) -> None:
    """Run a test in an event loop, and see that it leaves no task."""

    async def alone() -> None:
        await main
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(alone(), debug=True)
