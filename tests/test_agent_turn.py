"""The turn loop without tools, hooks, retries and interrupts: prompts, answers and the end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.machine import OK, PROTOCOLS, Driver, options, said

import tokwire
from tokwire import Finish, FinishReason

SIZES = [None, 1, 7, 100]


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_an_answer_streams_and_enters_the_history_as_one_block(protocol: str, size: int | None) -> None:
    driver = Driver(options(protocol), [said(protocol, "The ferry leaves at noon.")], size=size)
    events = driver.send("When does it leave?")
    assert events[-1] == Finish(FinishReason.STOP)
    assert driver.text == "The ferry leaves at noon."
    assert driver.said == [("user", "When does it leave?"), ("assistant", "The ferry leaves at noon.")]
    assert driver.kinds[0] == "SendRequest"
    assert set(driver.kinds[1:-2]) == {"ReadResponse"}
    assert driver.actions[-2:] == [tokwire.CloseResponse(reuse=True), tokwire.Done(FinishReason.STOP)]
    assert driver.conversation.finish_reason == FinishReason.STOP
    assert not driver.conversation.is_open


def test_text_is_handed_out_before_the_answer_is_whole(protocol: str) -> None:
    body = said(protocol, "noon")
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("When?")
    assert list(conversation.events()) == []
    assert isinstance(conversation.next_action(), tokwire.SendRequest)
    conversation.response_started(OK)
    cut = body.index(b'"on"')
    conversation.receive_data(body[:cut])
    first = "".join(event.as_text() or "" for event in conversation.events())
    assert first == "no"
    assert conversation.history == ()
    assert conversation.is_open


def test_the_response_is_closed_and_the_history_committed_before_the_finish(protocol: str) -> None:
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("Hello")
    list(conversation.events())
    conversation.next_action()
    conversation.response_started(OK)
    list(conversation.events())
    conversation.receive_data(said(protocol, "Hi"))
    assert all(event.finish_reason() is None for event in conversation.events())
    assert conversation.next_action() == tokwire.CloseResponse(reuse=True)
    assert conversation.next_action() == tokwire.CloseResponse(reuse=True)
    for event in conversation.events():
        assert event == Finish(FinishReason.STOP)
        assert len(conversation.history) == 2
        assert not conversation.is_open


def test_an_empty_answer_commits_the_prompt_alone(protocol: str) -> None:
    driver = Driver(options(protocol), [said(protocol), said(protocol, "Yes.")])
    assert driver.send("Hello?") == [Finish(FinishReason.STOP)]
    assert driver.said == [("user", "Hello?")]
    driver.send("Are you there?")
    assert driver.said == [("user", "Hello?"), ("user", "Are you there?"), ("assistant", "Yes.")]


def test_the_finish_reason_is_cleared_with_the_next_request() -> None:
    driver = Driver(options(), [said("openai-chat", "a")])
    driver.send("One")
    assert driver.conversation.finish_reason == FinishReason.STOP
    driver.conversation.send("Two")
    assert driver.conversation.finish_reason is None
