"""`Conversation` as its driver sees it: prompts, order of calls, manual results, and the history."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from tests.machine import OK, Driver, adder, called, options, said

import tokwire
from tokwire import ImageBlock, LocalProtocolError, Message, TextBlock, ToolResultBlock, ToolUseBlock


def conversation(*history: Message, **changes: Any) -> tokwire.Conversation:
    """A conversation that nobody has sent anything to."""
    return tokwire.Conversation(options(**changes), history, random=lambda: 0.5)


ASKED = (Message.user("Go"), Message.assistant([ToolUseBlock("a", "f", {}), ToolUseBlock("b", "g", {})]))


@pytest.mark.parametrize(
    "prompt",
    ["", " \n", [], [TextBlock("")], Message("user"), Message.user(""), [TextBlock(" "), TextBlock("\t")]],
)
def test_an_empty_prompt_is_refused(prompt: Any) -> None:
    with pytest.raises(ValueError, match="the prompt is empty"):
        conversation(Message.user("Hi")).send(prompt)


@pytest.mark.parametrize("message", [Message.assistant("Hi"), Message.system("Hi"), Message("tool", (TextBlock("x"),))])
def test_a_prompt_is_the_users(message: Message) -> None:
    with pytest.raises(ValueError, match=f"the role '{message.role}'"):
        conversation().send(message)


@pytest.mark.parametrize("block", [ToolResultBlock("a", "1"), ToolUseBlock("a", "f", {}), tokwire.ThinkingBlock("hm")])
def test_a_prompt_holds_text_and_images(block: Any) -> None:
    with pytest.raises(TypeError, match=f"not a {type(block).__name__}"):
        conversation().send([TextBlock("x"), block])


def test_a_prompt_can_be_text_blocks_or_a_message() -> None:
    picture = ImageBlock.from_url("https://quay.example/a.png")
    for prompt in ("See", [TextBlock("See")], Message.user("See")):
        driver = Driver(options(), [said("openai-chat", "a")])
        driver.send(prompt)
        assert driver.conversation.history[0] == Message.user("See")
    driver = Driver(options(), [said("openai-chat", "a")])
    driver.send([TextBlock("See"), TextBlock(""), picture])
    assert driver.conversation.history[0] == Message("user", (TextBlock("See"), picture))


def test_there_is_nothing_to_go_on_with_in_an_empty_history() -> None:
    with pytest.raises(LocalProtocolError, match="pass a prompt"):
        conversation().send(None)


def test_a_turn_must_end_before_the_next_begins() -> None:
    talk = conversation()
    talk.send("Hi")
    calls: list[Any] = [lambda: talk.send("Again"), talk.clear_history]
    for call in calls:
        with pytest.raises(LocalProtocolError, match="while a turn is open"):
            call()
    with pytest.raises(LocalProtocolError, match="while a turn is open"):
        talk.history = ()
    assert talk.is_open


def test_nothing_can_be_asked_before_the_first_turn() -> None:
    talk = conversation()
    assert list(talk.events()) == []
    assert (talk.finish_reason, talk.usage, talk.reasoning, talk.head, talk.summary) == (None, None, None, None, None)
    with pytest.raises(LocalProtocolError, match="call send first"):
        talk.next_action()
    calls: list[Any] = [
        lambda: talk.response_started(OK),
        lambda: talk.receive_data(b"x"),
        talk.receive_eof,
        lambda: talk.request_failed(OSError()),
        lambda: talk.hook_decided(None),
        lambda: talk.hook_failed(ValueError()),
        talk.waited,
        lambda: talk.tool_finished(tokwire.ToolCall(0, "a", "f", {}, adder()), 1),
    ]
    for call in calls:
        with pytest.raises(LocalProtocolError, match="was called before send"):
            call()


def test_answers_to_what_was_not_asked_are_refused() -> None:
    talk = conversation()
    talk.send("Hi")
    list(talk.events())
    talk.next_action()
    calls: list[Any] = [lambda: talk.receive_data(b"x"), talk.receive_eof, talk.waited, lambda: talk.hook_decided(None)]
    for call in calls:
        with pytest.raises(LocalProtocolError, match="while the turn waits for a response to its request"):
            call()
    talk.response_started(OK)
    assert talk.next_action() == tokwire.ReadResponse()
    assert talk.head == OK
    assert talk.summary is not None
    with pytest.raises(LocalProtocolError, match="while the turn waits for more of the response"):
        talk.response_started(OK)


def test_an_action_is_the_same_until_it_is_answered() -> None:
    talk = conversation()
    talk.send("Hi")
    first = talk.next_action()
    assert isinstance(first, tokwire.SendRequest)
    assert list(talk.events()) == []
    assert talk.next_action() is first


def test_events_that_are_ready_come_before_the_next_action() -> None:
    talk = conversation()
    talk.send("Hi")
    talk.next_action()
    talk.response_started(OK)
    talk.receive_data(b": a comment\n\n")
    assert talk.next_action() == tokwire.ReadResponse()
    talk.receive_data(said("openai-chat", "noon"))
    for _ in range(2):
        with pytest.raises(LocalProtocolError, match="take them all"):
            talk.next_action()
    assert "".join(event.as_text() or "" for event in talk.events()) == "noon"
    assert talk.next_action() == tokwire.CloseResponse(reuse=True)
    assert talk.next_action() == tokwire.CloseResponse(reuse=True)
    assert next(talk.events()) == tokwire.Finish(tokwire.FinishReason.STOP)
    assert talk.next_action() == tokwire.Done(tokwire.FinishReason.STOP)


def test_no_event_is_lost_where_the_next_action_is_asked_for_too_early() -> None:
    driver = Driver(options(auto_execute_tools=True, max_tool_iterations=0), [said("openai-chat", "", called("f"))])
    talk = driver.conversation
    talk.send("Go")
    events: list[tokwire.StreamEvent] = []
    while not any(isinstance(event, tokwire.Finish) for event in events):
        events += [event for _, event in zip(range(1), talk.events(), strict=False)]
        with suppress(LocalProtocolError):
            driver.do(talk.next_action())
    kinds = [type(event.as_block() or event).__name__ for event in events]
    assert kinds == ["ToolUseBlock", "ToolResultBlock", "Finish"]


def test_what_is_of_the_wrong_type_is_told_at_once() -> None:
    talk = conversation()
    with pytest.raises(TypeError, match="the prompt is a int"):
        talk.send(5)  # type: ignore[arg-type]  # the mistake under test
    talk.send(TextBlock("Hi"))  # type: ignore[arg-type]  # one block is taken all the same
    with pytest.raises(TypeError, match="the head is a int"):
        talk.response_started(200)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="the error is a str"):
        talk.request_failed("reset")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="the call is a str"):
        talk.tool_finished("a", 1)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="random must be a function"):
        tokwire.Conversation(options(), random=0.5)  # type: ignore[arg-type]  # the mistake under test


def test_an_interim_head_is_no_response() -> None:
    talk = conversation()
    talk.send("Hi")
    list(talk.events())
    talk.next_action()
    with pytest.raises(LocalProtocolError, match="status 103 is interim"):
        talk.response_started(tokwire.ResponseHead(103))
    talk.response_started(OK)
    list(talk.events())
    assert talk.next_action() == tokwire.ReadResponse()


def test_events_can_be_dropped_and_taken_again() -> None:
    talk = conversation()
    talk.send("Hi")
    list(talk.events())
    talk.next_action()
    talk.response_started(OK)
    talk.receive_data(said("openai-chat", "noon"))
    texts = [event.as_text() for _ in range(2) for event in [next(talk.events())]]
    assert texts == ["no", "on"]
    assert list(talk.events()) == []
    assert talk.next_action() == tokwire.CloseResponse(reuse=True)


def test_calls_without_results_hold_up_the_next_prompt() -> None:
    talk = conversation(*ASKED)
    with pytest.raises(LocalProtocolError, match=r"'f' \(id 'a'\), 'g' \(id 'b'\)"):
        talk.send("More")
    talk.add_tool_result("a", 1)
    with pytest.raises(LocalProtocolError, match=r"without a result: 'g' \(id 'b'\); use add_tool_result"):
        talk.send(None)
    talk.add_tool_result("b", 2)
    talk.send("More")


def test_many_open_calls_are_not_all_named() -> None:
    calls = [ToolUseBlock(f"c{at}", "f", {}) for at in range(9)]
    with pytest.raises(LocalProtocolError, match=r"'c4'.* and 4 more"):
        conversation(Message.user("Go"), Message.assistant(calls)).send("More")


def test_results_stand_in_one_message_in_the_order_of_the_calls() -> None:
    talk = conversation(*ASKED)
    talk.add_tool_result("b", [TextBlock("two"), ImageBlock.from_url("https://quay.example/a.png")])
    talk.add_tool_result("a", "failed", is_error=True)
    assert talk.history[2:] == (
        Message(
            "user",
            (
                ToolResultBlock("a", "failed", is_error=True),
                ToolResultBlock("b", (TextBlock("two"), ImageBlock.from_url("https://quay.example/a.png"))),
            ),
        ),
    )


def test_a_result_needs_a_call_that_waits_for_it() -> None:
    talk = conversation(*ASKED)
    with pytest.raises(LocalProtocolError, match="no tool call with the id 'z' waits for a result; open: 'a', 'b'"):
        talk.add_tool_result("z", 1)
    talk.add_tool_result("a", 1)
    with pytest.raises(LocalProtocolError, match="'a' waits"):
        talk.add_tool_result("a", 2)
    with pytest.raises(LocalProtocolError, match="open: none"):
        conversation().add_tool_result("a", 1)


def test_a_result_must_be_something_that_json_can_hold() -> None:
    talk = conversation(*ASKED)
    with pytest.raises(TypeError):
        talk.add_tool_result("a", object())
    assert talk.history == ASKED


def test_equal_ids_are_answered_in_order() -> None:
    calls = [ToolUseBlock("a", "f", {}), ToolUseBlock("b", "f", {}), ToolUseBlock("a", "g", {})]
    talk = conversation(Message.user("Go"), Message.assistant(calls))
    for value in (1, 2):
        talk.add_tool_result("a", value)
    talk.add_tool_result("b", 3)
    talk.send(None)


def test_a_result_joins_what_was_said_behind_the_calls() -> None:
    talk = conversation(*ASKED, Message.user("and hurry"))
    talk.add_tool_result("b", 2)
    talk.add_tool_result("a", 1)
    assert talk.history[2] == Message(
        "user", (ToolResultBlock("a", "1"), ToolResultBlock("b", "2"), TextBlock("and hurry"))
    )


def test_the_history_can_be_cleared_and_replaced_between_turns() -> None:
    driver = Driver(options(), [said("openai-chat", "a"), said("openai-chat", "b"), said("openai-chat", "c")])
    talk = driver.conversation
    driver.send("One")
    talk.history = tokwire.truncate_messages(talk.history, 1)
    driver.send("Two")
    assert driver.said == [("assistant", "a"), ("user", "Two"), ("assistant", "b")]
    talk.clear_history()
    assert talk.history == ()
    driver.send("Three")
    assert driver.said == [("user", "Three"), ("assistant", "c")]


def test_a_history_holds_messages() -> None:
    with pytest.raises(TypeError, match="the history holds a str"):
        tokwire.Conversation(options(), ["Hi"], random=lambda: 0.5)  # type: ignore[list-item]  # the mistake under test
    talk = conversation()
    with pytest.raises(TypeError, match="the history holds a dict"):
        talk.history = [{"role": "user"}]  # type: ignore[list-item]  # the mistake under test
    with pytest.raises(TypeError, match="options must be AgentOptions"):
        tokwire.Conversation("openai", random=lambda: 0.5)  # type: ignore[arg-type]  # the mistake under test


def test_a_history_survives_json() -> None:
    driver = Driver(options(), [said("openai-chat", "a", called("f", '{"x":[1,null]}'))])
    driver.send([TextBlock("See"), ImageBlock.from_url("https://quay.example/a.png")])
    driver.conversation.add_tool_result("c1", {"ok": True}, is_error=True)
    text = tokwire.history_to_json(driver.conversation.history)
    assert tokwire.history_from_json(text) == driver.conversation.history


def test_the_repr_tells_the_state_and_no_secret() -> None:
    talk = conversation(api_key="sk-harbour-4711")
    assert repr(talk) == "<Conversation openai-chat 'm1' 0 messages, idle>"
    talk.send("Hi")
    assert repr(talk).endswith("in a turn>")
    assert talk.options.model == "m1"
