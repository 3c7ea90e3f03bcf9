"""What both clients take while a turn of theirs is open, and nobody waits for an event of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agent_scripts import asyncio_client, run_alone, threads_client
from tests.machine import called, said

import tokwire
from tokwire import LocalProtocolError, Message, ToolResultBlock, ToolUseBlock

CHAT = "openai-chat"
CALM = said(CHAT, "Calm")
ASKED, ANSWERED = Message.user("Hello"), Message.assistant("Calm")
BOTH = said(CHAT, "", called("f", "{}", "c1"), called("g", "{}", "c2"))
RESULTS = (ToolResultBlock("c1", "9 m"), ToolResultBlock("c2", '{"error":"closed"}', is_error=True))
REFUSED: tuple[Any, ...] = ("", [], [3], [ToolResultBlock("c1", "")], Message.assistant("Calm"))


def handed_out(event: tokwire.StreamEvent) -> list[str]:
    """The id of the call that an event holds."""
    match event:
        case tokwire.Block(ToolUseBlock(id=call_id)):
            return [call_id]
    return []


def add_result(client: Any, call_id: str) -> None:
    """Answer a call as `RESULTS` has it."""
    if call_id == "c1":
        client.add_tool_result("c1", "9 m")
    else:
        client.add_tool_result("c2", {"error": "closed"}, is_error=True)


def test_clearing_the_history_closes_the_turn() -> None:
    client, transport = threads_client(CALM, CALM)
    client.history = [ASKED, ANSWERED]
    with client.send("Hello") as turn:
        next(turn)
        client.clear_history()
        assert transport.responses[0].closed == [False]
        assert list(turn) == []
    assert list(client.history) == []
    assert client.send("Hello").collect() == ANSWERED
    assert client.history == (ASKED, ANSWERED)


def test_clearing_the_history_closes_the_turn_on_asyncio() -> None:
    async def main() -> None:
        client, transport = asyncio_client(CALM, CALM)
        client.history = [ASKED, ANSWERED]
        turn = client.send("Hello")
        await anext(turn)
        client.clear_history()
        assert transport.responses[0].aborted == 1
        assert [event async for event in turn] == []
        assert list(client.history) == []
        assert await client.send("Hello").collect() == ANSWERED
        assert transport.responses[0].closed == [False]
        assert client.history == (ASKED, ANSWERED)

    run_alone(main())


@pytest.mark.parametrize("prompt", REFUSED)
def test_a_prompt_that_is_refused_does_not_cost_the_turn_that_goes_on(prompt: Any) -> None:
    client, _ = threads_client(CALM)
    turn = client.send("Hello")
    next(turn)
    with pytest.raises((ValueError, TypeError)):
        client.send(prompt)
    assert turn.collect() == ANSWERED


@pytest.mark.parametrize("prompt", REFUSED)
def test_a_prompt_that_is_refused_does_not_cost_the_turn_on_asyncio(prompt: Any) -> None:
    async def main() -> None:
        client, _ = asyncio_client(CALM)
        turn = client.send("Hello")
        await anext(turn)
        with pytest.raises((ValueError, TypeError)):
            client.send(prompt)
        assert await turn.collect() == ANSWERED

    run_alone(main())


def test_nor_does_one_that_comes_too_early() -> None:
    client, _ = threads_client(CALM)
    turn = client.send("Hello")
    next(turn)
    with pytest.raises(LocalProtocolError, match="this one is empty"):
        client.send(None)
    assert turn.collect() == ANSWERED


def test_calls_are_answered_as_they_come() -> None:
    client, transport = threads_client(BOTH, CALM)
    for event in client.send("Hello"):
        for call_id in handed_out(event):
            add_result(client, call_id)
    assert client.history[-1] == Message("user", RESULTS)
    assert client.send(None).collect() == ANSWERED
    assert b"9 m" in transport.requests[1].body


def test_calls_are_answered_as_they_come_on_asyncio() -> None:
    async def main() -> None:
        client, transport = asyncio_client(BOTH, CALM)
        async for event in client.send("Hello"):
            for call_id in handed_out(event):
                add_result(client, call_id)
        assert client.history[-1] == Message("user", RESULTS)
        assert await client.send(None).collect() == ANSWERED
        assert b"9 m" in transport.requests[1].body

    run_alone(main())


def test_a_result_is_lost_with_a_turn_that_is_closed_before_its_end() -> None:
    client, _ = threads_client(BOTH, CALM)
    turn = client.send("Hello")
    assert handed_out(next(turn)) == ["c1"]
    add_result(client, "c1")
    turn.close()
    with pytest.raises(LocalProtocolError, match="c1"):
        add_result(client, "c1")
    assert list(client.history) == []
    assert client.send("Hello").collect() == ANSWERED
