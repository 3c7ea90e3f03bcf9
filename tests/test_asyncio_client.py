"""`Client` and `query` of `tokwire_asyncio`, over scripted transports: history, transports, failures, secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.agent_scripts import AsyncFakeTransport, answer, asyncio_client, run_alone
from tests.machine import called, options, said

import tokwire
from tokwire import Decision, Hooks, LocalProtocolError, Message, TextBlock, ToolUseBlock
from tokwire_asyncio import AsyncTurn, Client, query
from tokwire_http import Timeouts

if TYPE_CHECKING:
    pass

CHAT = "openai-chat"
SECRET = "sk-harbour-4711"
CALM = said(CHAT, "Calm")
ASKED = Message.user("Hello")


async def text_of(turn: AsyncTurn) -> str:
    """The text of a turn that is read to its end."""
    return tokwire.collect([event async for event in turn]).text


@pytest.mark.parametrize(("prompt", "error"), [("", ValueError), (None, LocalProtocolError), ([3], TypeError)])
def test_a_prompt_that_is_none_is_refused_at_once(prompt: Any, error: type[Exception]) -> None:
    client, _ = asyncio_client()
    with pytest.raises(error):
        client.send(prompt)


def test_a_client_closes_only_its_own_transport() -> None:
    class Closing(AsyncFakeTransport):
        def close(self) -> None:
            raise AssertionError("it is not the client's")

        def __len__(self) -> int:
            return 0

    async def main() -> None:
        transport = Closing(CALM)
        async with Client(options(), transport=transport, history=[ASKED]) as client:
            turn = client.send(None)
            await anext(turn)
        await client.aclose()
        assert [event async for event in turn] == []
        assert transport.responses[0].closed == [False]
        with pytest.raises(LocalProtocolError, match="the client was closed"):
            client.send("Hello")

    run_alone(main())


def test_timeouts_come_from_the_options() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM, timeout=3.0, connect_timeout=2.0, idle_timeout=None)
        await client.send("Hello").collect()
        assert transport.timeouts == [Timeouts(connect=2.0, idle=None, total=3.0)]

    run_alone(main())


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (tokwire.NoResponse("closed"), tokwire.NoResponse),
        (ConnectionRefusedError(SECRET), tokwire.ConnectError),
        (TimeoutError(SECRET), tokwire.TransportTimeout),
        (ValueError(SECRET), tokwire.TransportError),
    ],
)
def test_what_a_transport_raises_in_place_of_a_response(raised: Exception, expected: type[Exception]) -> None:
    async def main() -> None:
        client, _ = asyncio_client(answer(refused=raised))
        with pytest.raises(tokwire.TransportError) as caught:
            await client.send("Hello").collect()
        assert type(caught.value) is expected
        assert caught.value is raised or caught.value.__cause__ is raised
        assert SECRET not in str(caught.value)

    run_alone(main())


def test_what_a_client_raises_in_the_middle_of_a_response() -> None:
    async def main() -> None:
        client, _ = asyncio_client(answer(CALM[:200], TimeoutError()), answer(CALM[:200], OSError()))
        with pytest.raises(tokwire.TransportTimeout) as caught:
            await client.send("Hello").collect()
        assert caught.value.phase == "total"
        with pytest.raises(tokwire.StreamTruncated):
            await client.send("Hello").collect()

    run_alone(main())


def test_nothing_shows_the_key() -> None:
    async def main() -> None:
        client, _ = asyncio_client(CALM, api_key=SECRET, headers={"x-key": SECRET})
        turn = client.send("Hello")
        shown = [repr(client), repr(turn), repr(client.options)]
        await turn.collect()
        shown += [repr(turn), repr(client)]
        assert not [text for text in shown if SECRET in text]
        assert shown[-2:] == ["<AsyncTurn openai-chat 'm1' over>", "<Client openai-chat 'm1' 2 messages>"]

    run_alone(main())


def test_a_query_is_one_request_and_never_runs_a_tool() -> None:
    async def main() -> None:
        tool = tokwire.Tool("f", "", {}, lambda _: pytest.fail("it was run"))
        transport = AsyncFakeTransport(said(CHAT, "", called("f")))
        hooks = Hooks(user_prompt_submit=[lambda _: Decision.modify_prompt("Louder")])
        asked = options(tools=[tool], auto_execute_tools=True, hooks=hooks)
        async with query([TextBlock("Hello")], asked, transport=transport) as turn:
            assert transport.requests == []
            events = [event async for event in turn]
        assert events[0] == tokwire.Block(ToolUseBlock("c1", "f", {}))
        assert isinstance(events[-1], tokwire.Finish)
        assert len(transport.requests) == 1
        assert b"Louder" in transport.requests[0].body

    run_alone(main())
