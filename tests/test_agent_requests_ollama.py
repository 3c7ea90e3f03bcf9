"""Requests of ollama: how messages, images, tool calls and results are written for it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agent_bodies import BARE_TOOL, FERRY, HELLO, KEY, PNG, QUAY, TIDE, TIDE_TOOL, results
from tests.agent_bodies import body as body_of
from tests.agent_bodies import request as request_of

from tokwire import (
    HTTPRequest,
    ImageBlock,
    LocalProtocolError,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

WIRE_TIDE = {"function": {"name": "tide", "arguments": {"port": "Ayr"}}}
WIRE_FERRY = {"function": {"name": "ferry", "arguments": {}}}


def request(*history: Message, **changes: Any) -> HTTPRequest:
    """A request."""
    return request_of("ollama", *history, **{"base_url": "http://localhost:11434"} | changes)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    return body_of("ollama", *history, **changes)


def messages(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The messages of a request."""
    sent: list[dict[str, Any]] = body(*history, **changes)["messages"]
    return sent


def test_the_least_request() -> None:
    made = request()
    assert made.url == "http://localhost:11434/api/chat"
    assert made.headers == (("content-type", "application/json"), ("accept", "application/x-ndjson"))
    assert made.body == b'{"model":"gull-1","messages":[{"role":"user","content":"Hello"}],"stream":true}'


def test_the_base_url_may_hold_the_path_of_the_api() -> None:
    assert request(base_url="https://ollama.example/api/").url == "https://ollama.example/api/chat"


def test_the_key_is_a_bearer_token() -> None:
    assert request(api_key=KEY).header("authorization") == f"Bearer {KEY}"


def test_every_option_has_its_field_and_the_counts_come_unasked() -> None:
    assert body(max_tokens=9, temperature=0, system_prompt="Be brief.", include_usage=True) == {
        "model": "gull-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "stream": True,
        "options": {"num_predict": 9, "temperature": 0},
    }
    assert body(max_tokens=9)["options"] == {"num_predict": 9}


def test_extra_fields_replace_ours_whole() -> None:
    extra = {"options": {"num_ctx": 8192}, "think": "low", "keep_alive": "5m"}
    assert body(max_tokens=9, extra_body=extra) == body() | extra


def test_tools_are_those_of_openai_chat() -> None:
    assert body(tools=[TIDE_TOOL, BARE_TOOL])["tools"] == [TIDE_TOOL.to_openai_format(), BARE_TOOL.to_openai_format()]


def test_system_messages_keep_their_place() -> None:
    history = [Message.system("Be brief."), HELLO, Message.assistant("Hello."), Message.system("In Scots.")]
    assert messages(*history, system_prompt="Know the tides.") == [
        {"role": "system", "content": "Know the tides."},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello."},
        {"role": "system", "content": "In Scots."},
    ]


def test_images_stand_beside_the_text_as_data() -> None:
    webp = ImageBlock("data:image/webp;base64,UklGRg==")
    said = Message("user", (TextBlock("a"), PNG, TextBlock("b"), webp))
    assert messages(said) == [{"role": "user", "content": "a\nb", "images": ["iVBORw0K", "UklGRg=="]}]
    assert messages(Message("user", (PNG,))) == [{"role": "user", "content": "", "images": ["iVBORw0K"]}]
    with pytest.raises(ValueError, match=r"image by its URL, https://images\.example/quay\.png, and servers of ollama"):
        messages(Message("user", (QUAY,)))


def test_arguments_are_objects_and_a_result_names_the_tool_of_its_call() -> None:
    calls = Message.assistant([ThinkingBlock("hm", "c2ln"), TextBlock("Let me see."), TIDE, FERRY])
    answered = results(ToolResultBlock("2", "storm", is_error=True), ToolResultBlock("1", (TextBlock("2.1 m"), PNG)))
    assert messages(HELLO, calls, answered, Message.user("And now?")) == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [WIRE_TIDE, WIRE_FERRY]},
        {"role": "tool", "tool_name": "tide", "content": "2.1 m", "images": ["iVBORw0K"]},
        {"role": "tool", "tool_name": "ferry", "content": "storm"},
        {"role": "user", "content": "And now?"},
    ]


def test_a_call_without_text_and_arguments_that_are_no_object() -> None:
    call = ToolUseBlock("1", "tide", ["Ayr"])
    sent = messages(HELLO, Message.assistant([call]), results(ToolResultBlock("1", "")))
    arguments = {"value": ["Ayr"]}
    assert sent[1:] == [
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "tide", "arguments": arguments}}]},
        {"role": "tool", "tool_name": "tide", "content": ""},
    ]


def test_calls_of_one_id_are_answered_under_their_own_names() -> None:
    calls = [ToolUseBlock("same", "tide", {}), ToolUseBlock("same", "ferry", {})]
    sent = messages(
        HELLO, Message.assistant(calls), results(ToolResultBlock("same", "a"), ToolResultBlock("same", "b"))
    )
    assert [(message["tool_name"], message["content"]) for message in sent[2:]] == [("tide", "a"), ("ferry", "b")]


def test_messages_without_anything_are_left_out_and_nothing_is_no_request() -> None:
    assert messages(HELLO, Message.assistant([ThinkingBlock("hm")]), Message.user("")) == messages(HELLO)
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        messages(Message.user(""), system_prompt="Be brief.")
