"""The turns of a `Client` of `tokwire_asyncio`, over scripts: what they give, and how they begin and end."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

import pytest
from tests.agent_scripts import Answer, AsyncFakeTransport, answer, asyncio_client, run_alone
from tests.http_fakes import HEAD, AsyncScript, ReadTooFarError
from tests.machine import called, options, said
from tests.support import chunk

import tokwire
from tokwire import Hooks, LocalProtocolError, Message, ToolUseBlock, TurnInterrupted
from tokwire_asyncio import AsyncTurn, Client

if TYPE_CHECKING:
    pass

CHAT = "openai-chat"
CALM = said(CHAT, "Calm")
ASKED, ANSWERED = Message.user("Hello"), Message.assistant("Calm")


async def text_of(turn: AsyncTurn) -> str:
    """The text of a turn that is read to its end."""
    return tokwire.collect([event async for event in turn]).text


def test_a_turn() -> None:
    async def main() -> None:
        client, transport = asyncio_client(said(CHAT, "Calm", tokens=3))
        turn = client.send("Hello")
        assert transport.requests == []
        assert turn.head is None
        assert [event.as_text() async for event in turn] == ["Ca", "lm", None]
        assert client.history == (ASKED, ANSWERED)
        assert client.finish_reason is tokwire.FinishReason.STOP
        assert client.usage is not None
        assert client.usage.input_tokens == 3
        assert client.reasoning is None
        assert turn.head == HEAD
        assert turn.summary is not None
        assert turn.summary.end_marker
        assert [event async for event in turn] == []
        assert transport.responses[0].closed == [True]
        assert transport.responses[0].aborted == 0

    run_alone(main())


def test_the_answer_as_a_message() -> None:
    async def main() -> None:
        client, _ = asyncio_client(CALM, said(CHAT, "", called("f")), said(CHAT))
        assert await client.send("Hello").collect() == ANSWERED
        call = await client.send("Go on").collect()
        assert call.content == (ToolUseBlock("c1", "f", {}),)
        client.add_tool_result("c1", {"depth": 4})
        assert await client.send(None).collect() == Message.assistant(())

    run_alone(main())


def test_an_answer_that_is_cut_off_by_closing_is_none() -> None:
    async def main() -> None:
        client, _ = asyncio_client(CALM)
        turn = client.send("Hello")
        await anext(turn)
        await turn.aclose()
        with pytest.raises(TurnInterrupted, match="closed before its end"):
            await turn.collect()

    run_alone(main())


def test_no_more_is_read_than_is_asked_for() -> None:
    async def main() -> None:
        steps = (chunk({"content": "a"}), chunk({"content": "b"}), CALM, ReadTooFarError())
        client, transport = asyncio_client(answer(*steps))
        turn = client.send("Hello")
        for taken in (1, 2):
            await anext(turn)
            assert transport.responses[0].taken == taken
        assert await text_of(turn) == "Calm"

    run_alone(main())


def test_an_error_comes_again() -> None:
    async def main() -> None:
        client, transport = asyncio_client(
            answer(b'{"error": {"message": "no"}}', head=tokwire.ResponseHead(401)), CALM
        )
        turn = client.send("Hello")
        seen = []
        for _ in range(3):
            with pytest.raises(tokwire.APIError, match="no") as caught:
                await anext(turn)
            seen.append(caught.value)
        assert seen[0] is seen[1] is seen[2]
        assert client.history == ()
        assert transport.responses[0].closed == [False]
        assert await text_of(client.send("Hello")) == "Calm"

    run_alone(main())


def test_closing_ends_the_turn_and_does_not_raise() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM, CALM)
        async with client.send("Hello") as turn:
            await anext(turn)
        await turn.aclose()
        assert [event async for event in turn] == []
        assert transport.responses[0].closed == [False]
        assert transport.responses[0].aborted == 1
        assert client.history == ()
        assert await text_of(client.send("Hello")) == "Calm"

    run_alone(main())


def test_a_turn_that_was_never_begun_sends_nothing() -> None:
    async def main() -> None:
        client, transport = asyncio_client()
        async with client.send("Hello"):
            pass
        turn = client.send("Hello")
        turn.interrupt()
        for _ in range(2):
            with pytest.raises(TurnInterrupted):
                await anext(turn)
        assert transport.requests == []
        assert client.history == ()

    run_alone(main())


def test_the_next_turn_closes_the_one_before() -> None:
    """`send` cannot wait, so that it drops the connection; what is left of closing is done where the next one waits."""

    async def main() -> None:
        client, transport = asyncio_client(CALM, CALM)
        before = client.send("Hello")
        await anext(before)
        client.send("Hello").interrupt()
        after = client.send("Hello")
        assert transport.responses[0].aborted == 1
        assert transport.responses[0].closed == []
        assert [event async for event in before] == []
        assert await text_of(after) == "Calm"
        assert transport.responses[0].closed == [False]
        assert client.history == (ASKED, ANSWERED)

    with pytest.warns(ResourceWarning, match="unclosed"):
        run_alone(main())


@pytest.mark.parametrize("closes_turn", [True, False])
def test_closing_also_closes_what_came_before(*, closes_turn: bool) -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM)
        before = client.send("Hello")
        await anext(before)
        after = client.send("Hello")
        assert transport.responses[0].closed == []
        await (after if closes_turn else client).aclose()
        assert transport.responses[0].closed == [False]

    run_alone(main())


def test_a_turn_belongs_to_one_task_at_a_time() -> None:
    class Slow(AsyncScript):
        async def __anext__(self) -> bytes:
            reading.set()
            await go_on.wait()
            return await super().__anext__()

    class SlowTransport(AsyncFakeTransport):
        def response(self, given: Answer) -> AsyncScript:
            return Slow(*given.steps)

    async def main() -> None:
        client = Client(options(), transport=SlowTransport(CALM))
        turn = client.send("Hello")
        task = asyncio.create_task(text_of(turn))
        await reading.wait()
        with pytest.raises(LocalProtocolError, match="while somebody waits"):
            client.send("Hello")
        with pytest.raises(LocalProtocolError, match="another task"):
            await anext(turn)
        with pytest.raises(LocalProtocolError, match="clear_history was called while somebody waits"):
            client.clear_history()
        with pytest.raises(LocalProtocolError, match="add_tool_result was called while somebody waits"):
            client.add_tool_result("c1", 4)
        go_on.set()
        assert await task == "Calm"

    reading, go_on = asyncio.Event(), asyncio.Event()
    run_alone(main())


def test_a_turn_cannot_be_used_from_its_own_hook() -> None:
    async def hook(_: object) -> None:
        await anext(turns[0])

    async def main() -> None:
        client, _ = asyncio_client(CALM, hooks=Hooks(user_prompt_submit=[hook]))
        turns.append(client.send("Hello"))
        with pytest.raises(LocalProtocolError, match="another task"):
            await anext(turns[0])

    turns: list[AsyncTurn] = []
    run_alone(main())


def test_a_turn_that_is_dropped_is_closed_with_a_warning() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM, CALM)
        turn = client.send("Hello")
        await anext(turn)
        with pytest.warns(ResourceWarning, match="unclosed <AsyncTurn openai-chat 'm1' open>"):
            del turn
        await asyncio.sleep(0)
        assert transport.responses[0].aborted == 1
        client.interrupt()
        client.history = (ASKED, ANSWERED)
        assert await text_of(client.send("Hello")) == "Calm"
        gc.collect()

    run_alone(main())


def test_one_that_is_dropped_behind_its_event_loop() -> None:
    client, transport = asyncio_client(CALM)
    turn = client.send("Hello")
    asyncio.run(turn.__anext__())
    with pytest.warns(ResourceWarning, match="unclosed"):
        del turn
    assert transport.responses[0].aborted == 0


def test_an_interrupted_turn_stands_in_nobodys_way() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM)
        turn = client.send("Hello")
        await anext(turn)
        client.interrupt()
        client.history = [ANSWERED]
        with pytest.raises(TurnInterrupted):
            await anext(turn)
        assert client.history == (ANSWERED,)
        await client.aclose()
        assert transport.responses[0].closed == [False]

    run_alone(main())
