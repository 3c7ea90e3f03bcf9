"""Requests of openai-chat: how messages, images, tool calls and results are written for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tokwire import (
    AgentOptions,
    ImageBlock,
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
PNG = ImageBlock("data:image/png;base64,iVBORw0K")


def body(history: Any = HELLO, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    options = AgentOptions(model="gull-1", base_url="http://harbour.example/v1", **changes)
    parsed: dict[str, Any] = json.loads(build_request(options, history).body)
    return parsed


def sent(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The messages of a request."""
    messages: list[dict[str, Any]] = body(history, **changes)["messages"]
    return messages


def answered(*results: ToolResultBlock) -> tuple[Message, Message]:
    """Calls of the model, and these results."""
    calls = [ToolUseBlock(result.tool_use_id, "tide", {"port": "Ayr"}) for result in results]
    return Message.assistant(calls), Message("user", results)


def test_what_is_not_set_is_not_sent() -> None:
    assert body() == {"model": "gull-1", "messages": [{"role": "user", "content": "Hello"}], "stream": True}


def test_what_is_set_is_sent() -> None:
    tide = Tool("tide", "Height of the tide", {"port": "str"}, print)
    made = body(max_tokens=9, temperature=0, include_usage=True, tools=[tide])
    del made["messages"], made["model"]
    assert made == {
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 9,
        "temperature": 0,
        "tools": [
            {
                "type": "function",
                "function": {"name": "tide", "description": "Height of the tide", "parameters": tide.input_schema},
            }
        ],
    }


def test_newer_models_get_their_own_limit_by_an_extra_field() -> None:
    made = body(max_tokens=9, extra_body={"max_completion_tokens": 9, "max_tokens": None})
    assert (made.get("max_tokens"), made["max_completion_tokens"]) == (None, 9)


def test_the_key_is_a_bearer_token() -> None:
    options = AgentOptions(model="gull-1", base_url="http://harbour.example/v1", api_key="herring")
    assert build_request(options, [Message.user("Hello")]).header("authorization") == "Bearer herring"
    assert build_request(options.replace(api_key=""), [Message.user("Hello")]).header("authorization") is None


def test_the_system_prompt_goes_first_and_system_messages_stay_where_they_are() -> None:
    assert sent(Message.user("Hello"), Message.system("Be brief."), system_prompt="Know the tides.") == [
        {"role": "system", "content": "Know the tides."},
        {"role": "user", "content": "Hello"},
        {"role": "system", "content": "Be brief."},
    ]
    assert sent(Message.user("Hello"), system_prompt="") == [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ((), ""),
        ((TextBlock(""),), ""),
        ((TextBlock("one"), TextBlock("two")), "one\ntwo"),
        ((ThinkingBlock("hm", "c2ln"), TextBlock("one")), "one"),
    ],
)
def test_text_blocks_of_one_message_are_lines(blocks: tuple[Any, ...], content: str) -> None:
    for role in ("user", "system"):
        assert sent(Message(role, blocks)) == [{"role": role, "content": content}]


def test_images_stand_among_the_text_in_order() -> None:
    aside = ThinkingBlock("hm", "c2ln")
    assert sent(Message("user", (TextBlock("look 👀"), QUAY, aside, TextBlock(""), PNG, TextBlock("  ")))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look 👀"},
                {"type": "image_url", "image_url": {"url": QUAY.url, "detail": "low"}},
                {"type": "text", "text": ""},
                {"type": "image_url", "image_url": {"url": PNG.url, "detail": "auto"}},
                {"type": "text", "text": "  "},
            ],
        }
    ]


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_images_are_the_users_alone(role: Any) -> None:
    assert sent(Message(role, (TextBlock("look"), QUAY))) == [{"role": role, "content": "look"}]


def test_a_call_carries_its_arguments_as_compact_json_and_stands_beside_explicit_text() -> None:
    call = ToolUseBlock("1", "tide", {"port": "Große Bucht", "day": [1, 2**70]})
    result = Message("user", (ToolResultBlock("1", "2.1 m"),))
    for before, content in (((), ""), ((TextBlock("Let me "), ThinkingBlock("hm", "c2ln")), "Let me ")):
        assert sent(Message.assistant([*before, call]), result)[0] == {
            "role": "assistant",
            "content": content,
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {
                        "name": "tide",
                        "arguments": '{"port":"Große Bucht","day":[1,1180591620717411303424]}',
                    },
                }
            ],
        }


def test_text_on_both_sides_of_a_call_becomes_lines() -> None:
    call = ToolUseBlock("1", "tide", {})
    message = Message.assistant([TextBlock("a"), call, TextBlock("b")])
    assert sent(message, Message("user", (ToolResultBlock("1", ""),)))[0]["content"] == "a\nb"


@pytest.mark.parametrize("replay_thinking", [False, True])
def test_reasoning_never_goes_back_and_a_message_of_nothing_else_is_left_out(replay_thinking: bool) -> None:  # noqa: FBT001
    thinking = (ThinkingBlock("hm", "c2ln"), RedactedThinkingBlock("ZW5j"))
    history = (Message.user("Hello"), Message.assistant(thinking), Message.assistant(""), Message.user("Well?"))
    assert sent(*history, replay_thinking=replay_thinking) == [
        {"role": "user", "content": "Hello"},
        {"role": "user", "content": "Well?"},
    ]


def test_every_result_is_a_message_of_its_own_as_it_is() -> None:
    results = answered(ToolResultBlock("1", "done"), ToolResultBlock("2", '{"n":1}', is_error=True))
    assert sent(*results)[1:] == [
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "tool", "tool_call_id": "2", "content": '{"n":1}'},
    ]


def test_what_is_said_beside_results_follows_all_of_them() -> None:
    calls, results = answered(ToolResultBlock("1", "done"), ToolResultBlock("2", "done"))
    beside = Message("user", (TextBlock("Hurry!"), *results.content))
    assert sent(calls, beside)[1:] == [
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "tool", "tool_call_id": "2", "content": "done"},
        {"role": "user", "content": "Hurry!"},
    ]


def test_images_of_results_follow_as_the_users() -> None:
    calls, results = answered(
        ToolResultBlock("1", (TextBlock("one"), QUAY, TextBlock("two"))), ToolResultBlock("2", (PNG,))
    )
    assert sent(calls, results, Message.user("So?"))[1:] == [
        {"role": "tool", "tool_call_id": "1", "content": "one\ntwo"},
        {"role": "tool", "tool_call_id": "2", "content": ""},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": QUAY.url, "detail": "low"}},
                {"type": "image_url", "image_url": {"url": PNG.url, "detail": "auto"}},
            ],
        },
        {"role": "user", "content": "So?"},
    ]
