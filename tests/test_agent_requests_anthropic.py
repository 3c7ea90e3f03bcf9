"""Requests of anthropic: how messages, images, tool calls, results and thinking are written for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tokwire import (
    AgentOptions,
    HTTPRequest,
    ImageBlock,
    LocalProtocolError,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
    build_request,
)

HELLO = (Message.user("Hello"),)
QUAY = ImageBlock("https://images.example/quay.png", "low")
PNG = ImageBlock("data:image/png;charset=utf-8;base64,iVBORw0K", "high")
TIDE = ToolUseBlock("1", "tide", {"port": "Ayr"})
WIRE_TIDE = {"type": "tool_use", "id": "1", "name": "tide", "input": {"port": "Ayr"}}
WIRE_QUAY = {"type": "image", "source": {"type": "url", "url": QUAY.url}}
WIRE_PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}}


def request(history: Any = HELLO, **changes: Any) -> HTTPRequest:
    """A request."""
    fields: dict[str, Any] = {
        "model": "gull-1",
        "base_url": "http://harbour.example/v1",
        "protocol": "anthropic",
        "max_tokens": 9,
    }
    return build_request(AgentOptions(**fields | changes), history)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    parsed: dict[str, Any] = json.loads(request(history or HELLO, **changes).body)
    return parsed


def sent(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The messages of a request."""
    messages: list[dict[str, Any]] = body(*history, **changes)["messages"]
    return messages


def said(text: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": text}


def test_what_is_not_set_is_not_sent() -> None:
    assert body(include_usage=True) == {
        "model": "gull-1",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
    }


def test_what_is_set_is_sent() -> None:
    tide = Tool("tide", "Height of the tide", {"port": "str"}, print)
    made = body(temperature=0, tools=[tide], system_prompt="Know the tides.")
    assert (made["temperature"], made["system"]) == (0, "Know the tides.")
    assert made["tools"] == [{"name": "tide", "description": "Height of the tide", "input_schema": tide.input_schema}]


def test_the_key_has_a_header_of_its_own_and_the_version_is_told() -> None:
    made = request(api_key="herring")
    assert made.url == "http://harbour.example/v1/messages"
    assert (made.header("x-api-key"), made.header("authorization")) == ("herring", None)
    assert made.header("anthropic-version") == "2023-06-01"
    without = request(headers={"X-Title": "Tides", "Anthropic-Version": "2099-01-01"})
    assert [name.lower() for name, _ in without.headers] == ["content-type", "accept", "anthropic-version", "x-title"]
    assert without.header("anthropic-version") == "2099-01-01"


def test_vertex_is_reached_by_options_alone() -> None:
    method = "https://vertex.example/v1/projects/p/publishers/anthropic/models/gull-1:streamRawPredict"
    extra = {"anthropic_version": "vertex-2023-10-16", "model": None}
    made = request(base_url=f"{method}?alt=sse", extra_body=extra, headers={"authorization": "Bearer herring"})
    assert made.url == f"{method}?alt=sse"
    assert json.loads(made.body) == {
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "anthropic_version": "vertex-2023-10-16",
    }


def test_system_messages_leave_the_history_and_follow_the_system_prompt() -> None:
    made = body(
        Message.system("Be brief."),
        Message.user("Hello"),
        Message.system("In Scots."),
        Message.user("Well?"),
        system_prompt="Know the tides.",
    )
    assert made["system"] == "Know the tides.\n\nBe brief.\n\nIn Scots."
    assert made["messages"] == [{"role": "user", "content": [said("Hello"), said("Well?")]}]
    assert "system" not in body(Message.system(" "), Message.user("Hello"), system_prompt="")


def test_a_lone_text_is_a_plain_string_and_everything_else_blocks() -> None:
    assert sent(Message.user(" as it is ")) == [{"role": "user", "content": " as it is "}]
    assert sent(Message("user", (TextBlock("a"), TextBlock("b")))) == [
        {"role": "user", "content": [said("a"), said("b")]}
    ]
    assert sent(Message("user", (QUAY,))) == [{"role": "user", "content": [WIRE_QUAY]}]


def test_images_come_from_their_data_or_their_url_without_detail() -> None:
    assert sent(Message("user", (TextBlock("look"), QUAY, TextBlock(""), PNG))) == [
        {"role": "user", "content": [said("look"), WIRE_QUAY, WIRE_PNG]}
    ]
    assert sent(Message.user("Hello"), Message("assistant", (QUAY, TextBlock("a"))))[1]["content"] == "a"


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_no_blank_text_goes_out(blank: str) -> None:
    history = (
        Message.user(blank),
        Message.user("Hello"),
        Message.assistant([TextBlock(blank), TIDE]),
        Message("user", (TextBlock(blank), ToolResultBlock("1", (TextBlock(blank), QUAY, TextBlock("2.1 m"))))),
        Message.user(blank),
    )
    assert sent(*history) == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [WIRE_TIDE]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": [WIRE_QUAY, said("2.1 m")]}],
        },
    ]


def test_a_history_with_nothing_to_say_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="add a user message"):
        request([Message.system("Be brief."), Message.user(" ")])


def test_all_results_of_a_round_share_one_message_with_what_was_said_behind_them() -> None:
    ferry = ToolUseBlock("2", "ferry", [1])
    history = (
        Message.user("Hello"),
        Message.assistant([TextBlock("Let me see."), TIDE, ferry]),
        Message("tool", (TextBlock("Hurry!"), ToolResultBlock("2", "no such ferry", is_error=True))),
        Message("user", (ToolResultBlock("1", ""),)),
        Message.user("Well?"),
    )
    assert sent(*history) == [
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": [
                said("Let me see."),
                WIRE_TIDE,
                {"type": "tool_use", "id": "2", "name": "ferry", "input": {"value": [1]}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": ""},
                {"type": "tool_result", "tool_use_id": "2", "content": "no such ferry", "is_error": True},
                said("Hurry!"),
                said("Well?"),
            ],
        },
    ]


@pytest.mark.parametrize("content", [(), (TextBlock(" "),)])
def test_a_result_of_nothing_keeps_its_block(content: tuple[TextBlock, ...]) -> None:
    history = (Message.user("Hello"), Message.assistant([TIDE]), Message("user", (ToolResultBlock("1", content),)))
    assert sent(*history)[2]["content"] == [{"type": "tool_result", "tool_use_id": "1", "content": ""}]


def test_signed_thinking_goes_back_unchanged_and_in_order_where_it_is_wanted() -> None:
    thinking, hidden = ThinkingBlock("The tide ", "c2ln"), RedactedThinkingBlock("ZW5j")
    history = (
        Message.user("Hello"),
        Message.assistant([thinking, hidden, TextBlock("Let me see."), TIDE]),
        Message("user", (ToolResultBlock("1", "2.1 m"),)),
    )
    assert sent(*history, replay_thinking=True)[1]["content"] == [
        {"type": "thinking", "thinking": "The tide ", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZW5j"},
        said("Let me see."),
        WIRE_TIDE,
    ]
    assert sent(*history)[1]["content"] == [said("Let me see."), WIRE_TIDE]


def test_words_that_the_model_shall_continue_end_without_blanks() -> None:
    history = (Message.user("Hello"), Message.assistant([TextBlock("The tide "), TextBlock("is \n")]))
    assert sent(*history)[1]["content"] == [said("The tide "), said("is")]
    assert sent(Message.user("Hello"), Message.assistant("The tide is "))[1]["content"] == "The tide is"
    assert sent(*history, Message.user("Well? "))[1:] == [
        {"role": "assistant", "content": [said("The tide "), said("is \n")]},
        {"role": "user", "content": "Well? "},
    ]
