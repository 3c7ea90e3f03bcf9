"""Requests of cohere: how messages, images, tool calls and results are written for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from tests.agent_bodies import BARE_TOOL, FERRY, HELLO, KEY, PNG, QUAY, TIDE, TIDE_TOOL, results
from tests.agent_bodies import body as body_of
from tests.agent_bodies import request as request_of
from tests.agent_histories import histories, unfit_for_openai

from tokwire import HTTPRequest, LocalProtocolError, Message, TextBlock, ThinkingBlock, ToolResultBlock

WIRE_TIDE = {"id": "1", "type": "function", "function": {"name": "tide", "arguments": '{"port":"Ayr"}'}}
WIRE_FERRY = {"id": "2", "type": "function", "function": {"name": "ferry", "arguments": "{}"}}
WIRE_QUAY = {"type": "image_url", "image_url": {"url": QUAY.url, "detail": "low"}}
WIRE_PNG = {"type": "image_url", "image_url": {"url": PNG.url, "detail": "high"}}


def request(*history: Message, **changes: Any) -> HTTPRequest:
    """A request."""
    return request_of("cohere", *history, **{"base_url": "https://cohere.example"} | changes)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    return body_of("cohere", *history, **changes)


def messages(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The messages of a request."""
    sent: list[dict[str, Any]] = body(*history, **changes)["messages"]
    return sent


def test_the_least_request() -> None:
    made = request()
    assert made.url == "https://cohere.example/v2/chat"
    assert made.headers == (("content-type", "application/json"), ("accept", "text/event-stream"))
    assert made.body == b'{"model":"gull-1","messages":[{"role":"user","content":"Hello"}],"stream":true}'


def test_the_base_url_may_hold_the_version() -> None:
    assert request(base_url="https://cohere.example/v2").url == "https://cohere.example/v2/chat"


def test_the_key_is_a_bearer_token() -> None:
    assert request(api_key=KEY).header("authorization") == f"Bearer {KEY}"


def test_every_option_has_its_field_and_the_counts_come_unasked() -> None:
    assert body(max_tokens=9, temperature=0, system_prompt="Be brief.", include_usage=True) == {
        "model": "gull-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "stream": True,
        "max_tokens": 9,
        "temperature": 0,
    }


def test_extra_fields_ask_for_what_has_no_option() -> None:
    extra = {"safety_mode": "OFF", "p": 0.5, "thinking": {"type": "disabled"}}
    assert body(extra_body=extra) == body() | extra


def test_tools_are_those_of_openai_chat() -> None:
    assert body(tools=[TIDE_TOOL, BARE_TOOL])["tools"] == [TIDE_TOOL.to_openai_format(), BARE_TOOL.to_openai_format()]


def test_texts_and_images_of_the_user_stay_in_order() -> None:
    said = Message("user", (TextBlock("a"), QUAY, TextBlock(" "), PNG))
    assert messages(said) == [{"role": "user", "content": [{"type": "text", "text": "a"}, WIRE_QUAY, WIRE_PNG]}]


def test_calls_stand_beside_text_or_alone_and_results_follow_as_messages() -> None:
    history = [
        HELLO,
        Message.assistant([ThinkingBlock("hm", "c2ln"), TextBlock("Let me see."), TIDE]),
        results(ToolResultBlock("1", "2.1 m")),
        Message.assistant([TextBlock(" "), FERRY]),
        results(ToolResultBlock("2", "", is_error=True)),
    ]
    assert messages(*history) == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [WIRE_TIDE]},
        {"role": "tool", "tool_call_id": "1", "content": "2.1 m"},
        {"role": "assistant", "tool_calls": [WIRE_FERRY]},
        {"role": "tool", "tool_call_id": "2", "content": ""},
    ]


def test_images_of_results_follow_as_the_users() -> None:
    answered = results(ToolResultBlock("1", (TextBlock("a"), PNG)), ToolResultBlock("2", (QUAY, TextBlock("b"))))
    assert messages(HELLO, Message.assistant([TIDE, FERRY]), answered)[2:] == [
        {"role": "tool", "tool_call_id": "1", "content": "a"},
        {"role": "tool", "tool_call_id": "2", "content": "b"},
        {"role": "user", "content": [WIRE_PNG, WIRE_QUAY]},
    ]


def test_messages_without_anything_are_left_out_and_nothing_is_no_request() -> None:
    history = [HELLO, Message.assistant(" "), Message.user(""), Message.system("\n")]
    assert messages(*history) == messages(HELLO)
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        messages(Message.user(""), system_prompt="Be brief.")


@given(histories())
def test_the_request_for_any_history_has_its_calls_answered_and_no_empty_text(history: list[Message]) -> None:
    sent = messages(*history)
    assert unfit_for_openai([{"content": "", **message} for message in sent]) == []
    for message in sent:
        assert message.get("content") or message.get("tool_calls") or message["role"] == "tool"
        assert message.get("content") != "" or message["role"] == "tool"
