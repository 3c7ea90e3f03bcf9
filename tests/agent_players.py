"""Three who play a scripted conversation: both drivers, and nobody but the machine. What each of them saw is written
down in a form that can be compared.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.agent_scripts import Answer, AsyncFakeTransport, FakeTransport, answer
from tests.http_fakes import Script

import tokwire
import tokwire_asyncio
import tokwire_threads

if TYPE_CHECKING:
    from collections.abc import Callable

Prompt = str | tuple[tokwire.ContentBlock, ...] | tokwire.Message | None


class Controls:
    """What handlers and steps of a script can do while it is played.

    Attributes:
        interrupt: Interrupts the turn.
    """

    def __init__(self) -> None:
        self.interrupt: Callable[[], None] = lambda: None

    def interrupt_now(self) -> None:
        """Interrupt the turn of whoever plays."""
        self.interrupt()


class Play(NamedTuple):
    """A conversation to be played. It is made anew for each player, as handlers may have a memory.

    Attributes:
        options: The options.
        answers: What the server says to each request.
        prompts: One for each turn.
        controls: Where the player says how to interrupt.
        leave_after: The caller interrupts each turn after so many events of it.
    """

    options: tokwire.AgentOptions
    answers: tuple[Answer | bytes, ...]
    prompts: tuple[Prompt, ...] = ("What is new?",)
    controls: Controls | None = None
    leave_after: int | None = None


class Seen(NamedTuple):
    """What came of it, with one entry a turn, a request or a response."""

    events: list[list[tokwire.StreamEvent]]
    errors: list[tuple[str, str] | None]
    ends: list[tuple[Any, ...]]
    history: list[tuple[tokwire.Message, ...]]
    requests: list[Any]
    closed: list[bool]
    heads: list[int | None]
    summaries: list[str]


def nothing_seen() -> Seen:
    """Where to write it down."""
    return Seen([], [], [], [], [], [], [], [])


def told(error: BaseException) -> tuple[str, str]:
    """An error as values."""
    return type(error).__name__, str(error)


def note_turn(
    seen: Seen,
    client: tokwire.Conversation | tokwire_threads.Client | tokwire_asyncio.Client,
    turn: tokwire.Conversation | tokwire_threads.Turn | tokwire_asyncio.AsyncTurn | None,
    events: list[tokwire.StreamEvent],
    error: tuple[str, str] | None,
) -> None:
    """Write down what is known of a turn that is over; None where the prompt was refused."""
    seen.events.append(events)
    seen.errors.append(error)
    seen.ends.append((client.finish_reason, client.usage, client.reasoning))
    seen.history.append(client.history)
    if turn is not None:
        seen.heads.append(None if turn.head is None else turn.head.status)
        seen.summaries.append(repr(turn.summary))


def body_of(request: tokwire.HTTPRequest) -> Any:
    """The body of a request, as a value."""
    return request.method, request.url, json.loads(request.body)


def by_threads(play: Play) -> Seen:
    """Play it with `tokwire_threads`."""
    seen, transport = nothing_seen(), FakeTransport(*play.answers)
    with tokwire_threads.Client(play.options, transport=transport) as client:
        if play.controls is not None:
            play.controls.interrupt = client.interrupt
        for prompt in play.prompts:
            events: list[tokwire.StreamEvent] = []
            error = turn = None
            try:
                turn = client.send(prompt)
                for event in turn:
                    events.append(event)
                    if len(events) == play.leave_after:
                        turn.interrupt()
            except Exception as failure:  # noqa: BLE001 - whatever ended the turn
                error = told(failure)
            note_turn(seen, client, turn, events, error)
    seen.requests.extend(map(body_of, transport.requests))
    seen.closed.extend(reuse for response in transport.responses for reuse in response.closed)
    return seen


def by_asyncio(play: Play) -> Seen:
    """Play it with `tokwire_asyncio`."""

    async def main() -> None:
        async with tokwire_asyncio.Client(play.options, transport=transport) as client:
            if play.controls is not None:
                play.controls.interrupt = client.interrupt
            for prompt in play.prompts:
                events: list[tokwire.StreamEvent] = []
                error = turn = None
                try:
                    turn = client.send(prompt)
                    async for event in turn:
                        events.append(event)
                        if len(events) == play.leave_after:
                            turn.interrupt()
                except Exception as failure:  # noqa: BLE001 - whatever ended the turn
                    error = told(failure)
                note_turn(seen, client, turn, events, error)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    seen, transport = nothing_seen(), AsyncFakeTransport(*play.answers)
    asyncio.run(main())
    seen.requests.extend(map(body_of, transport.requests))
    seen.closed.extend(reuse for response in transport.responses for reuse in response.closed)
    return seen


def by_hand(play: Play) -> Seen:
    """Play it with nothing but the machine: one tool after the other, no waiting, no I/O."""
    hand = Hand(play)
    if play.controls is not None:
        play.controls.interrupt = hand.conversation.interrupt
    for prompt in play.prompts:
        hand.play_turn(prompt)
    return hand.seen


class Hand:
    """Does what the machine asks for, from the script."""

    def __init__(self, play: Play) -> None:
        self.conversation = tokwire.Conversation(play.options, random=lambda: 0.5)
        self.seen = nothing_seen()
        self._answers = list(play.answers)
        self._leave_after = play.leave_after
        self._script = Script()

    def play_turn(self, prompt: Prompt) -> None:
        """Play one turn, and write it down."""
        events: list[tokwire.StreamEvent] = []
        error = turn = None
        try:
            self.conversation.send(prompt)
            turn = self.conversation
            action: tokwire.Action | None = None
            while not isinstance(action, tokwire.Done):
                self._take(events)
                action = self.conversation.next_action()
                self._do(action)
        except Exception as failure:  # noqa: BLE001 - whatever ended the turn
            error = told(failure)
        note_turn(self.seen, self.conversation, turn, events, error)

    def _take(self, events: list[tokwire.StreamEvent]) -> None:
        for event in self.conversation.events():
            events.append(event)
            if len(events) == self._leave_after:
                self.conversation.interrupt()
                self._take(events)
                return

    def _do(self, action: tokwire.Action) -> None:
        conversation = self.conversation
        match action:
            case tokwire.SendRequest(request):
                self._send(request)
            case tokwire.ReadResponse():
                self._read()
            case tokwire.CloseResponse(reuse):
                self.seen.closed.append(reuse)
            case tokwire.CallTools(calls):
                for call in calls:
                    conversation.tool_finished(call, outcome_of(call))
            case tokwire.AskHook(asked, handler):
                try:
                    decision = awaited(handler(asked))
                except Exception as error:  # noqa: BLE001 - whatever a hook raises
                    conversation.hook_failed(error)
                else:
                    conversation.hook_decided(decision)
            case tokwire.Wait():
                conversation.waited()

    def _send(self, request: tokwire.HTTPRequest) -> None:
        self.seen.requests.append(body_of(request))
        given = self._answers.pop(0)
        given = answer(given) if isinstance(given, bytes) else given
        self._script = Script(*given.steps, head=given.head)
        if given.refused is None:
            self.conversation.response_started(given.head)
        else:
            self.conversation.request_failed(given.refused)

    def _read(self) -> None:
        try:
            self.conversation.receive_data(next(self._script))
        except StopIteration:
            self.conversation.receive_eof()
        except Exception as error:  # noqa: BLE001 - the script says which
            self.conversation.request_failed(error)


def outcome_of(call: tokwire.ToolCall) -> object:
    """What a tool gives, or the exception that it raises."""
    try:
        return awaited(call.tool.invoke(call.input))
    except Exception as error:  # noqa: BLE001 - whatever a tool raises
        return error


def awaited(value: Any) -> Any:
    """The value, or what it gives where it is awaitable."""

    async def finish() -> Any:
        return await value

    return asyncio.run(finish()) if inspect.isawaitable(value) else value


def everybody(make: Callable[[], Play]) -> dict[str, Seen]:
    """What each of the three saw."""
    return {"by hand": by_hand(make()), "threads": by_threads(make()), "asyncio": by_asyncio(make())}


def agreed(make: Callable[[], Play]) -> Seen:
    """What all three saw, once it is shown to be the same."""
    seen = everybody(make)
    for name in Seen._fields:
        # As text: an error in an event is equal to itself alone, and 1, 1.0 and true are to differ.
        by_machine, *by_drivers = (repr(getattr(each, name)) for each in seen.values())
        assert by_drivers == [by_machine] * 2, name
    return seen["by hand"]
