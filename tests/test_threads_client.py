"""`Client` and `query` of `tokwire_threads`, over scripted transports: history, transports, failures, secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.agent_scripts import Answer, FakeTransport, answer, threads_client
from tests.http_fakes import Script
from tests.machine import called, options, said

import tokwire
from tokwire import Decision, Hooks, LocalProtocolError, Message, TextBlock, ToolUseBlock, TurnInterrupted
from tokwire_http import Timeouts
from tokwire_threads import Client, Turn, query

if TYPE_CHECKING:
    from tokwire_http import Interrupt

CHAT = "openai-chat"
SECRET = "sk-harbour-4711"
CALM = said(CHAT, "Calm")
ASKED, ANSWERED = Message.user("Hello"), Message.assistant("Calm")


def text_of(turn: Turn) -> str:
    """The text of a turn that is read to its end."""
    return tokwire.collect(list(turn)).text


def test_history_is_for_the_caller_between_turns() -> None:
    client, _ = threads_client(CALM, CALM)
    turn = client.send("Hello")
    next(turn)
    with pytest.raises(LocalProtocolError, match="while a turn is open"):
        client.history = ()
    with pytest.raises(LocalProtocolError, match="c1"):
        client.add_tool_result("c1", "x")
    list(turn)
    client.history = [ASKED]
    assert client.history == (ASKED,)
    with pytest.raises(TypeError, match="holds a str"):
        client.history = ("Hello",)  # type: ignore[assignment]  # that is the test
    assert text_of(client.send(None)) == "Calm"
    client.clear_history()
    assert client.history == ()


def test_calls_that_the_caller_runs() -> None:
    client, transport = threads_client(said(CHAT, "", called("f")), CALM)
    list(client.send("Hello"))
    with pytest.raises(LocalProtocolError, match="c1"):
        client.send("And?")
    client.add_tool_result("c1", "sunk", is_error=True)
    assert text_of(client.send("And?")) == "Calm"
    assert b"sunk" in transport.requests[1].body


@pytest.mark.parametrize(("prompt", "error"), [("", ValueError), (None, LocalProtocolError), ([3], TypeError)])
def test_a_prompt_that_is_none_is_refused_at_once(prompt: Any, error: type[Exception]) -> None:
    client, _ = threads_client()
    with pytest.raises(error):
        client.send(prompt)


def test_a_client_closes_only_its_own_transport() -> None:
    class Closing(FakeTransport):
        def close(self) -> None:
            raise AssertionError("it is not the client's")

        def __len__(self) -> int:
            return 0

    transport = Closing(CALM, CALM)
    with Client(options(), transport=transport, history=[ASKED]) as client:
        turn = client.send(None)
        next(turn)
    client.close()
    assert list(turn) == []
    assert transport.responses[0].closed == [False]
    with pytest.raises(LocalProtocolError, match="the client was closed"):
        client.send("Hello")


def test_an_interrupt_without_a_turn_does_nothing() -> None:
    client, _ = threads_client(CALM)
    client.interrupt()
    assert text_of(client.send("Hello")) == "Calm"
    client.interrupt()
    assert client.history == (ASKED, ANSWERED)


def test_timeouts_come_from_the_options() -> None:
    client, transport = threads_client(CALM, timeout=3.0, connect_timeout=2.0, idle_timeout=None)
    list(client.send("Hello"))
    assert transport.timeouts == [Timeouts(connect=2.0, idle=None, total=3.0)]


class GaveUpTimeoutError(Exception):
    """As clients name it."""


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (tokwire.NoResponse("closed"), tokwire.NoResponse),
        (ConnectionRefusedError(SECRET), tokwire.ConnectError),
        (GaveUpTimeoutError(SECRET), tokwire.TransportTimeout),
        (ValueError(SECRET), tokwire.TransportError),
        (TimeoutError(SECRET), tokwire.TransportTimeout),
    ],
)
def test_what_a_transport_raises_in_place_of_a_response(raised: Exception, expected: type[Exception]) -> None:
    client, _ = threads_client(answer(refused=raised))
    with pytest.raises(tokwire.TransportError) as caught:
        list(client.send("Hello"))
    assert type(caught.value) is expected
    assert caught.value is raised or caught.value.__cause__ is raised
    assert SECRET not in str(caught.value)


def test_what_a_client_raises_in_the_middle_of_a_response() -> None:
    client, _ = threads_client(answer(CALM[:200], GaveUpTimeoutError()), answer(CALM[:200], OSError()))
    with pytest.raises(tokwire.TransportTimeout) as caught:
        list(client.send("Hello"))
    assert caught.value.phase == "idle"
    with pytest.raises(tokwire.StreamTruncated):
        list(client.send("Hello"))


def test_a_transport_that_breaks_its_contract_ends_the_turn() -> None:
    class Texts(Script):
        def __next__(self) -> Any:
            return "text"

    class Odd(FakeTransport):
        def response(self, given: Answer) -> Script:
            return Texts(head=given.head)

    transport = Odd(CALM)
    client = Client(options(), transport=transport)
    turn = client.send("Hello")
    for _ in range(2):
        with pytest.raises(TypeError, match="str"):
            next(turn)
    assert transport.responses[0].closed == [False]
    assert client.history == ()


def test_nothing_shows_the_key() -> None:
    client, transport = threads_client(CALM, api_key=SECRET, headers={"x-key": SECRET})
    turn = client.send("Hello")
    shown = [repr(client), repr(turn), repr(client.options), repr(client.history)]
    list(turn)
    shown += [repr(turn), repr(transport.requests), repr(client)]
    assert (SECRET in repr(transport.requests[0].headers)) or dict(transport.requests[0].headers)["x-key"] == SECRET
    assert not [text for text in shown if SECRET in text]
    assert repr(client) == "<Client openai-chat 'm1' 2 messages>"
    assert repr(turn) == "<Turn openai-chat 'm1' over>"


def test_a_query_is_one_request() -> None:
    transport = FakeTransport(CALM)
    with query("Hello", options(), transport=transport) as turn:
        assert transport.requests == []
        assert turn.collect() == ANSWERED
    assert len(transport.requests) == 1


def test_a_query_never_runs_a_tool() -> None:
    tool = tokwire.Tool("f", "", {}, lambda _: pytest.fail("it was run"))
    transport = FakeTransport(said(CHAT, "", called("f")))
    asked = options(tools=[tool], auto_execute_tools=True)
    events = list(query("Hello", asked, transport=transport))
    assert events[0] == tokwire.Block(ToolUseBlock("c1", "f", {}))
    assert isinstance(events[-1], tokwire.Finish)
    assert b'"tools"' in transport.requests[0].body


def test_hooks_see_the_prompt_of_a_query() -> None:
    transport = FakeTransport(CALM)
    asked = options(hooks=Hooks(user_prompt_submit=[lambda _: Decision.modify_prompt("Louder")]))
    list(query([TextBlock("Hello")], asked, transport=transport))
    assert b"Louder" in transport.requests[0].body


def test_a_query_wants_options() -> None:
    with pytest.raises(TypeError, match="must be AgentOptions"):
        query("Hello", "m1")  # type: ignore[arg-type]  # that is the test
    with pytest.raises(TypeError, match="must be AgentOptions"):
        Client("m1")  # type: ignore[arg-type]  # that is the test


def test_an_interrupt_that_the_transport_hears_of() -> None:
    class Deaf(FakeTransport):
        def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Script:
            turn.interrupt()
            assert interrupt.is_set
            if self.requests:
                raise tokwire.ConnectError("interrupted, though it does not say so")
            return super().send(request, timeouts=timeouts, interrupt=interrupt)

    transport = Deaf(CALM)
    client = Client(options(retry=tokwire.RetryConfig()), transport=transport)
    for _ in range(2):
        turn = client.send("Hello")
        with pytest.raises(TurnInterrupted):
            next(turn)
    assert transport.responses[0].closed == [False]
    assert client.history == ()
