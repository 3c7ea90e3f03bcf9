"""`build_request`: the order in which a history is sent, what is joined or left out, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent_bodies import FERRY, HELLO, QUAY, TIDE, body, request
from tests.agent_histories import histories, unfit_for_anthropic, unfit_for_openai

from tokwire import (
    LocalProtocolError,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from tokwire.agent._requests._arrange import alternating, arranged, hoisted


def refusal(history: Sequence[Message]) -> str:
    """Why a history is refused."""
    with pytest.raises(LocalProtocolError) as caught:
        request("openai-chat", *history)
    return str(caught.value)


def test_results_follow_their_calls_in_the_order_of_the_calls_and_what_was_said_comes_after() -> None:
    first, second = ToolResultBlock("1", "2.1 m"), ToolResultBlock("2", "noon", is_error=True)
    history = [
        Message("tool", (TextBlock("Hello"),)),
        Message.assistant([TextBlock("Let me see."), TIDE, FERRY]),
        Message.system("Be brief."),
        Message("user", (TextBlock("Quick!"), second, QUAY)),
        Message("assistant", (first, TextBlock("beside"))),
        Message.assistant("Noon."),
        Message.user(""),
    ]
    assert arranged(history) == [
        Message.user("Hello"),
        Message.assistant([TextBlock("Let me see."), TIDE, FERRY]),
        Message("user", (first, second)),
        Message.system("Be brief."),
        Message("user", (TextBlock("Quick!"), QUAY)),
        Message.user("beside"),
        Message.assistant("Noon."),
        Message.user(""),
    ]


def test_calls_are_the_assistants_whoever_is_said_to_speak() -> None:
    result = Message("user", (ToolResultBlock("1", "2.1 m"),))
    assert arranged([Message("user", (TIDE,)), result]) == [Message("assistant", (TIDE,)), result]


def test_calls_with_one_id_are_answered_in_order() -> None:
    calls = [ToolUseBlock("same", "tide", {}), ToolUseBlock("same", "ferry", {})]
    first, second = ToolResultBlock("same", "a"), ToolResultBlock("same", "b")
    history = [Message.assistant(calls), Message("user", (first,)), Message("user", (second,))]
    assert arranged(history) == [history[0], Message("user", (first, second))]
    assert arranged(history * 2) == arranged(history) * 2


def test_a_call_without_a_result_is_named() -> None:
    history = [HELLO, Message.assistant([TIDE, FERRY]), Message("user", (ToolResultBlock("1", "2.1 m"),))]
    assert "tool calls without a result: 'ferry' (id '2'); " in refusal(history)
    assert "'ferry' (id '2')" in refusal([*history, Message.assistant("Noon."), HELLO])
    many = [ToolUseBlock(str(number), "tide", {}) for number in range(8)]
    assert "'tide' (id '4') and 3 more" in refusal([Message.assistant(many)])
    assert "id '5'" not in refusal([Message.assistant(many)])


def test_a_result_without_a_call_is_named_with_its_place() -> None:
    call, result = Message.assistant([TIDE]), Message("tool", (ToolResultBlock("1", "2.1 m"),))
    for position, history in (
        (0, [result]),
        (1, [HELLO, result]),
        (3, [HELLO, call, result, result]),
        (4, [HELLO, call, result, Message.assistant("2.1 m"), result]),
        (2, [HELLO, call, Message("user", (ToolResultBlock("2", ""),))]),
    ):
        assert refusal(history).startswith(f"message {position} of the history holds a result for the tool call ")
    assert "the tool call '2'" in refusal([call, Message("user", (ToolResultBlock("2", ""),))])


def test_a_message_holds_calls_or_results() -> None:
    assert "message 1 of the history holds tool calls and results" in refusal(
        [HELLO, Message("user", (TIDE, ToolResultBlock("1", "2.1 m")))]
    )


def test_system_text_is_gathered_with_the_system_prompt_first() -> None:
    history = [
        Message("system", (TextBlock("Be "), QUAY, TextBlock("brief."))),
        HELLO,
        Message.system(" "),
        Message.system("In Scots."),
    ]
    assert hoisted("Know the tides.", history) == ("Know the tides.\n\nBe brief.\n\nIn Scots.", [HELLO])
    assert hoisted(None, [HELLO]) == (None, [HELLO])
    assert hoisted("\n", [Message.system("")]) == (None, [])


def test_neighbours_are_joined_and_blank_messages_vanish() -> None:
    history = [
        Message.user("a"),
        Message.assistant(" "),
        Message("user", (TextBlock("\n"), QUAY, TextBlock("b"))),
        Message("assistant", (QUAY, TextBlock("c"))),
        Message.user(""),
        Message.assistant("d"),
    ]
    assert alternating(history) == [
        Message("user", (TextBlock("a"), QUAY, TextBlock("b"))),
        Message("assistant", (TextBlock("c"), TextBlock("d"))),
    ]
    assert alternating(iter(history)) == alternating(history)


def test_thinking_goes_back_only_when_asked_for_and_signed_and_followed_by_something() -> None:
    signed, unsigned, hidden = ThinkingBlock("", "c2ln"), ThinkingBlock("hm"), RedactedThinkingBlock("ZW5j")
    history = [
        Message("user", (signed, hidden, TextBlock("a"))),
        Message.assistant([signed, unsigned, hidden, TextBlock("b"), signed, TIDE, hidden, signed]),
        Message.user("c"),
        Message.assistant([signed, hidden]),
        Message.user("d"),
    ]
    last = Message("user", (TextBlock("c"), TextBlock("d")))
    assert alternating(history, replay_thinking=True) == [
        Message.user("a"),
        Message.assistant([signed, hidden, TextBlock("b"), signed, TIDE]),
        last,
    ]
    assert alternating(history) == [Message.user("a"), Message.assistant([TextBlock("b"), TIDE]), last]


@pytest.mark.parametrize("history", [[], [Message.user(" ")], [Message.assistant([QUAY])]])
def test_nothing_to_send_is_an_error(history: list[Message]) -> None:
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        alternating(history)


@given(histories(), st.booleans())
def test_every_history_of_a_conversation_gives_requests_that_both_servers_take(
    history: list[Message],
    replay_thinking: bool,  # noqa: FBT001
) -> None:
    assert unfit_for_openai(body("openai-chat", *history)["messages"]) == []
    sent = body("anthropic", *history, max_tokens=9, replay_thinking=replay_thinking)
    assert unfit_for_anthropic(sent["messages"]) == []


@settings(max_examples=50)
@given(histories(), st.data())
def test_a_history_that_lost_one_result_gives_no_request(history: list[Message], data: st.DataObject) -> None:
    places = [at for at, message in enumerate(history) if any(map(is_result, message.content))]
    if not places:
        assert body("openai-chat", *history)["stream"] is True
        return
    at = data.draw(st.sampled_from(places))
    kept = list(history[at].content)
    kept.remove(data.draw(st.sampled_from([block for block in kept if is_result(block)])))
    history[at] = Message(history[at].role, tuple(kept))
    assert "without a result" in refusal(history) or "a result for the tool call" in refusal(history)


def is_result(block: object) -> bool:
    """Whether a block is the result of a tool."""
    return isinstance(block, ToolResultBlock)
