"""Interrupts: at every step of a turn, what stays in the history, what is asked for then, and what comes too late."""

from __future__ import annotations

import pytest
from tests.machine import DONE, OK, PROTOCOLS, Driver, Reply, adder, called, options, said, told, unfit
from tests.support import chunk

import tokwire
from tokwire import Hooks, RetryConfig, TurnInterrupted

BUSY = Reply(b"{}", tokwire.ResponseHead(529))


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def nothing(_: object) -> None:
    """A hook that decides nothing."""


def whole(protocol: str, stop_at: int | None = None, size: int | None = None) -> Driver:
    """A turn through every state: hooks, a retry, two rounds of tools, an answer; interrupted before one action."""
    hooks = Hooks(user_prompt_submit=[nothing], pre_tool_use=[nothing], post_tool_use=[nothing])
    given = options(protocol, tools=[adder()], auto_execute_tools=True, hooks=hooks, retry=RetryConfig(jitter=0.0))
    replies: list[Reply | bytes] = [
        BUSY,
        said(protocol, "One.", called("add", '{"a":1}', "x"), called("add", '{"a":2}', "y")),
        said(protocol, "Two.", called("add", "{}", "z")),
        said(protocol, "Three."),
        said(protocol, "Later."),
    ]

    def before(driver: Driver, action: tokwire.Action) -> None:
        if len(driver.actions) - 1 == stop_at:
            driver.conversation.interrupt()

    return Driver(given, replies, size=size, before=before)


def test_at_every_action_an_interrupt_leaves_a_history_that_can_go_on(protocol: str) -> None:
    complete = whole(protocol)
    complete.send("Go")
    assert complete.kinds.count("AskHook") == 7
    for stop_at in range(len(complete.actions) - 1):
        driver = whole(protocol, stop_at)
        with pytest.raises(TurnInterrupted):
            driver.send("Go")
        history = driver.conversation.history
        assert unfit(history) == []
        assert len(history) % 2 == 0 or history[-1].role == "user"
        known = complete.conversation.history[: len(history)]
        assert [message.role for message in history] == [message.role for message in known]
        assert driver.kinds[stop_at + 1 :] in ([], ["CloseResponse"])
        assert driver.conversation.finish_reason is None
        driver.replies = [Reply(said(protocol, "Later."))]
        driver.before = None
        driver.send("Go on")
        assert driver.text == "Later."


def test_between_any_two_events_an_interrupt_ends_the_turn_and_nothing_comes_after_it(protocol: str) -> None:
    number = len(whole(protocol).send("Go"))
    for stop_at in range(number - 1):
        driver = whole(protocol)
        conversation = driver.conversation
        conversation.send("Go")
        seen: list[tokwire.StreamEvent] = []
        with pytest.raises(TurnInterrupted):  # noqa: PT012 - the loop of a driver
            while True:
                for event in conversation.events():
                    seen.append(event)
                    if len(seen) == stop_at + 1:
                        conversation.interrupt()
                driver.do(conversation.next_action())
        assert len(seen) == stop_at + 1
        assert unfit(conversation.history) == []


def test_a_response_that_is_not_whole_leaves_no_trace(protocol: str) -> None:
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("When?")
    list(conversation.events())
    conversation.next_action()
    conversation.response_started(OK)
    body = said(protocol, "noon")
    conversation.receive_data(body[: body.index(b'"on"')])
    assert "".join(event.as_text() or "" for event in conversation.events()) == "no"
    conversation.interrupt()
    assert conversation.next_action() == tokwire.CloseResponse(reuse=False)
    assert list(conversation.events()) == []
    for _ in range(2):
        with pytest.raises(TurnInterrupted):
            conversation.next_action()
    assert conversation.history == ()


def test_tools_that_had_ended_keep_their_results_and_the_others_are_cancelled(protocol: str) -> None:
    calls = [called("add", '{"a":1}', "x"), called("add", '{"a":2}', "y")]
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [said(protocol, "", *calls)])
    conversation = driver.conversation
    action = driver.send_until_tools("Go")
    conversation.tool_finished(action.calls[1], 2)
    conversation.interrupt()
    cancelled, kept = conversation.history[-1].content
    assert isinstance(cancelled, tokwire.ToolResultBlock)
    assert told(cancelled) == {"error": "the call was cancelled before it ended", "tool": "add", "id": "x"}
    assert kept == tokwire.ToolResultBlock("y", "2")
    conversation.tool_finished(action.calls[0], "too late")
    assert conversation.history[-1].content == (cancelled, kept)
    with pytest.raises(TurnInterrupted):
        conversation.next_action()


def test_an_answer_that_was_whole_stays(protocol: str) -> None:
    def before(driver: Driver, action: tokwire.Action) -> None:
        if isinstance(action, tokwire.CloseResponse):
            driver.conversation.interrupt()

    driver = Driver(options(protocol), [said(protocol, "noon")], before=before)
    with pytest.raises(TurnInterrupted):
        driver.send("When?")
    assert driver.said == [("user", "When?"), ("assistant", "noon")]


def test_calls_of_a_whole_answer_wait_for_the_caller_where_tools_are_not_automatic(protocol: str) -> None:
    def before(driver: Driver, action: tokwire.Action) -> None:
        if isinstance(action, tokwire.CloseResponse):
            driver.conversation.interrupt()

    driver = Driver(options(protocol), [said(protocol, "", called("add"))], before=before)
    with pytest.raises(TurnInterrupted):
        driver.send("Go")
    driver.conversation.add_tool_result("c1", 3)
    assert driver.said[1:] == [("assistant", "add(c1)"), ("user", "c1=3")]


def test_an_interrupt_after_the_end_or_without_a_turn_changes_nothing(protocol: str) -> None:
    driver = Driver(options(protocol), [said(protocol, "noon")])
    driver.conversation.interrupt()
    driver.send("When?")
    driver.conversation.interrupt()
    assert driver.said == [("user", "When?"), ("assistant", "noon")]
    assert driver.conversation.finish_reason == tokwire.FinishReason.STOP
    assert driver.conversation.next_action() == tokwire.Done(tokwire.FinishReason.STOP)


def test_a_second_interrupt_changes_nothing(protocol: str) -> None:
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("When?")
    conversation.interrupt()
    with pytest.raises(TurnInterrupted) as first:
        conversation.next_action()
    conversation.interrupt()
    with pytest.raises(TurnInterrupted) as second:
        conversation.next_action()
    assert first.value is second.value


def test_answers_that_come_too_late_are_ignored(protocol: str) -> None:
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("When?")
    list(conversation.events())
    conversation.next_action()
    conversation.interrupt()
    conversation.response_started(OK)
    conversation.receive_data(said(protocol, "noon"))
    conversation.receive_eof()
    conversation.request_failed(OSError("reset"))
    conversation.hook_decided(None)
    conversation.hook_failed(ValueError("late"))
    conversation.waited()
    assert list(conversation.events()) == []
    assert conversation.next_action() == tokwire.CloseResponse(reuse=False)
    assert list(conversation.events()) == []
    with pytest.raises(TurnInterrupted):
        conversation.next_action()
    assert conversation.history == ()


def test_a_response_that_nobody_asked_for_is_not_closed(protocol: str) -> None:
    conversation = tokwire.Conversation(options(protocol), random=lambda: 0.5)
    conversation.send("When?")
    conversation.interrupt()
    conversation.response_started(OK)
    with pytest.raises(TurnInterrupted):
        conversation.next_action()


def test_the_next_turn_closes_what_the_last_one_left_open_first(protocol: str) -> None:
    driver = Driver(options(protocol), [Reply(said(protocol, "never read")), Reply(said(protocol, "noon"))])
    talk = driver.conversation
    talk.send("When?")
    driver.do(talk.next_action())
    talk.interrupt()
    driver.send("When then?")
    assert driver.kinds[:2] == ["CloseResponse", "SendRequest"]
    assert driver.actions[0] == tokwire.CloseResponse(reuse=False)
    assert driver.said == [("user", "When then?"), ("assistant", "noon")]


def test_a_turn_that_only_closed_what_the_last_one_left_open_can_be_interrupted(protocol: str) -> None:
    driver = Driver(options(protocol), [Reply(said(protocol, "never read"))])
    talk = driver.conversation
    talk.send("When?")
    driver.do(talk.next_action())
    talk.interrupt()
    talk.send("When then?")
    talk.interrupt()
    assert talk.next_action() == tokwire.CloseResponse(reuse=False)
    assert list(talk.events()) == []
    with pytest.raises(TurnInterrupted):
        talk.next_action()


def test_a_generator_of_events_from_before_the_interrupt_gives_no_more() -> None:
    conversation = tokwire.Conversation(options(), random=lambda: 0.5)
    conversation.send("When?")
    list(conversation.events())
    conversation.next_action()
    conversation.response_started(OK)
    conversation.receive_data(chunk({"content": "a"}) + chunk({"content": "b"}) + chunk({}, "stop") + DONE)
    events = conversation.events()
    assert next(events).as_text() == "a"
    conversation.interrupt()
    assert list(events) == []
    assert conversation.history == ()
