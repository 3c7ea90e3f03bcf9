"""The turn loop with tools: batches, results, rounds and their cap."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from tests.machine import PROTOCOLS, Driver, adder, called, options, said, told, unfit

import tokwire
from tokwire import Block, Finish, FinishReason, ToolResultBlock

if TYPE_CHECKING:
    from tokwire import StreamEvent

SIZES = [None, 1, 7, 100]


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> Any:
    return request.param


def kinds(events: list[StreamEvent]) -> list[str]:
    """Kinds of events, blocks by what they hold, fragments of one text once."""
    names = [type(event.as_block() or event).__name__ for event in events]
    return [name for at, name in enumerate(names) if at == 0 or name != "TextBlock" or names[at - 1] != "TextBlock"]


def test_tools_run_and_their_results_go_back(protocol: str, size: int | None) -> None:
    seen: list[object] = []
    replies = [said(protocol, "Let me see.", called("add", '{"a":2,"b":3}')), said(protocol, "It is 5.")]
    given = options(protocol, tools=[adder(seen)], auto_execute_tools=True)
    driver = Driver(given, replies, size=size)
    events = driver.send("What is 2 + 3?")
    assert kinds(events) == ["TextBlock", "ToolUseBlock", "ToolResultBlock", "TextBlock", "Finish"]
    assert driver.results == [ToolResultBlock("c1", "5")]
    assert seen == [{"a": 2, "b": 3}]
    assert driver.said == [
        ("user", "What is 2 + 3?"),
        ("assistant", "Let me see.", "add(c1)"),
        ("user", "c1=5"),
        ("assistant", "It is 5."),
    ]
    assert len(driver.requests) == 2
    assert events[-1] == Finish(FinishReason.STOP)


def test_a_round_is_committed_before_its_results_go_out(protocol: str) -> None:
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [said(protocol, "", called("add"))])
    conversation = driver.conversation
    action = driver.send_until_tools("Go")
    assert conversation.history == ()
    driver.do(action)
    result = next(conversation.events())
    assert result == Block(ToolResultBlock("c1", "0"))
    assert driver.said == [("user", "Go"), ("assistant", "add(c1)"), ("user", "c1=0")]


def test_calls_of_one_answer_come_as_one_batch_in_any_order_of_ends(protocol: str) -> None:
    calls = [called("add", '{"a":1}', "x"), called("add", '{"a":2}', "y"), called("add", '{"a":3}', "z")]
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [said(protocol, "", *calls)])
    conversation = driver.conversation
    action = driver.send_until_tools("Go")
    assert [(call.position, call.id, call.input) for call in action.calls] == [
        (0, "x", {"a": 1}),
        (1, "y", {"a": 2}),
        (2, "z", {"a": 3}),
    ]
    for call in reversed(action.calls):
        assert conversation.next_action() == action
        conversation.tool_finished(call, f"number {call.position}")
        if call.position:
            assert list(conversation.events()) == []
    assert [event.as_block() for event in conversation.events()] == [
        ToolResultBlock("x", "number 0"),
        ToolResultBlock("y", "number 1"),
        ToolResultBlock("z", "number 2"),
    ]
    conversation.tool_finished(action.calls[0], "late")
    assert "late" not in str(conversation.history)


def test_a_call_is_answered_once_and_only_if_it_runs(protocol: str) -> None:
    calls = [called("add", "{}", "x"), called("add", "{}", "y")]
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [said(protocol, "", *calls)])
    conversation = driver.conversation
    action = driver.send_until_tools("Go")
    first, second = action.calls
    conversation.tool_finished(copy.copy(first), "one")
    conversation.tool_finished(first, "again")
    conversation.tool_finished(tokwire.ToolCall(1, "y", "add", {"a": 1}, first.tool), "of another turn")
    assert conversation.next_action() is action
    conversation.tool_finished(second, "two")
    assert [event.as_block() for event in conversation.events()] == [
        ToolResultBlock("x", "one"),
        ToolResultBlock("y", "two"),
    ]


def test_what_the_caller_does_to_an_event_changes_neither_the_call_nor_the_history(protocol: str) -> None:
    seen: list[object] = []
    given = options(protocol, tools=[adder(seen)], auto_execute_tools=True)
    driver = Driver(given, [said(protocol, "", called("add", '{"a":2}')), said(protocol, "2")])
    talk = driver.conversation
    talk.send("Go")
    while not isinstance(action := talk.next_action(), tokwire.Done):
        driver.do(action)
        for event in talk.events():
            block = event.as_block()
            if isinstance(block, tokwire.ToolUseBlock):
                block.input.clear()
    assert seen == [{"a": 2}]
    assert talk.history[1].content == (tokwire.ToolUseBlock("c1", "add", {"a": 2}),)


def test_results_of_the_caller_can_come_before_the_answer_is_complete(protocol: str) -> None:
    driver = Driver(options(protocol), [said(protocol, "", called("add"), called("sail", "{}", "c2"))])
    talk = driver.conversation
    talk.send("Go")
    while not isinstance(action := talk.next_action(), tokwire.Done):
        driver.do(action)
        for event in talk.events():
            block = event.as_block()
            if isinstance(block, tokwire.ToolUseBlock):
                talk.add_tool_result(block.id, {"ran": block.name})
                with pytest.raises(tokwire.LocalProtocolError, match="waits for a result"):
                    talk.add_tool_result(block.id, "twice")
    assert driver.said == [
        ("user", "Go"),
        ("assistant", "add(c1)", "sail(c2)"),
        ("user", 'c1={"ran":"add"}', 'c2={"ran":"sail"}'),
    ]


def test_results_of_calls_that_run_by_themselves_are_not_the_callers(protocol: str) -> None:
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [said(protocol, "", called("add"))])
    driver.send_until_tools("Go")
    with pytest.raises(tokwire.LocalProtocolError, match="leave it to the turn"):
        driver.conversation.add_tool_result("c1", 5)


def test_calls_that_cannot_run_are_answered_with_errors(protocol: str) -> None:
    @tokwire.tool
    def tide(harbour: str) -> str:
        """The tide in a harbour."""
        raise RuntimeError(f"no gauge in {harbour}")

    calls = [called("sail", "{}", "a"), called("tide", '{"harbour":7}', "b"), called("tide", '{"harbour":"Ulm"}', "c")]
    given = options(protocol, tools=[tide], auto_execute_tools=True)
    driver = Driver(given, [said(protocol, "", *calls), said(protocol, "Sorry.")])
    driver.send("Go")
    unknown, unfit_call, failed = map(told, driver.results)
    assert unknown == {"error": "there is no tool named 'sail'", "tool": "sail", "id": "a"}
    assert unfit_call["tool"] == "tide"
    assert "harbour" in unfit_call["error"]
    assert failed == {"error": "no gauge in Ulm", "tool": "tide", "id": "c"}
    assert driver.text == "Sorry."


def test_a_batch_of_unknown_tools_asks_nobody(protocol: str) -> None:
    driver = Driver(
        options(protocol, auto_execute_tools=True), [said(protocol, "", called("sail")), said(protocol, "Sorry.")]
    )
    driver.send("Go")
    assert "CallTools" not in driver.kinds
    assert driver.said[-1] == ("assistant", "Sorry.")


def test_calls_run_whatever_the_server_says_why_it_stopped(protocol: str) -> None:
    replies = [said(protocol, "", called("add"), reason="stop" if protocol == "openai-chat" else "end_turn")]
    driver = Driver(options(protocol, tools=[adder()], auto_execute_tools=True), [*replies, said(protocol, "Done.")])
    driver.send("Go")
    assert [result.content for result in driver.results] == ["0"]


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_the_cap_stops_the_loop_and_leaves_the_history_valid(protocol: str, cap: int) -> None:
    seen: list[object] = []
    given = options(protocol, tools=[adder(seen)], auto_execute_tools=True, max_tool_iterations=cap)
    replies = [said(protocol, f"Round {at}.", called("add", "{}", f"c{at}")) for at in range(cap + 1)]
    driver = Driver(given, [*replies, said(protocol, "Fine.")])
    events = driver.send("Go")
    assert len(driver.requests) == cap + 1
    assert len(seen) == cap
    assert [result.is_error for result in driver.results] == [False] * cap + [True]
    assert "limit of tool iterations" in told(driver.results[-1])["error"]
    assert events[-1] == Finish(FinishReason.TOOL_CALLS)
    assert driver.conversation.finish_reason == FinishReason.MAX_TOOL_ITERATIONS
    assert driver.actions[-1] == tokwire.Done(FinishReason.MAX_TOOL_ITERATIONS)
    assert driver.said[-2] == ("assistant", f"Round {cap}.", f"add(c{cap})")
    assert unfit(driver.conversation.history) == []
    driver.send("Go on")
    assert driver.text == "Fine."


def test_without_automatic_tools_calls_are_the_callers(protocol: str) -> None:
    driver = Driver(options(protocol, tools=[adder()]), [said(protocol, "", called("add")), said(protocol, "5")])
    events = driver.send("Go")
    assert kinds(events) == ["ToolUseBlock", "Finish"]
    assert driver.said == [("user", "Go"), ("assistant", "add(c1)")]
    driver.conversation.add_tool_result("c1", {"sum": 5})
    driver.send(None)
    assert driver.said[1:] == [("assistant", "add(c1)"), ("user", 'c1={"sum":5}'), ("assistant", "5")]


def test_an_empty_answer_behind_results_adds_nothing(protocol: str) -> None:
    given = options(protocol, tools=[adder()], auto_execute_tools=True)
    driver = Driver(given, [said(protocol, "", called("add")), said(protocol)])
    driver.send("Go")
    assert driver.said == [("user", "Go"), ("assistant", "add(c1)"), ("user", "c1=0")]
