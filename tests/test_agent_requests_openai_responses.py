"""Requests of openai-responses: how messages, images, tool calls and results are written as items."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agent_bodies import BARE_TOOL, FERRY, HELLO, KEY, PNG, PORT_SCHEMA, QUAY, TIDE, TIDE_TOOL, results
from tests.agent_bodies import body as body_of
from tests.agent_bodies import request as request_of

from tokwire import (
    ContentBlock,
    HTTPRequest,
    LocalProtocolError,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)

WIRE_TIDE = {"type": "function_call", "call_id": "1", "name": "tide", "arguments": '{"port":"Ayr"}'}
WIRE_FERRY = {"type": "function_call", "call_id": "2", "name": "ferry", "arguments": "{}"}
WIRE_QUAY = {"type": "input_image", "image_url": QUAY.url, "detail": "low"}
WIRE_PNG = {"type": "input_image", "image_url": PNG.url, "detail": "high"}


def request(*history: Message, **changes: Any) -> HTTPRequest:
    """A request."""
    return request_of("openai-responses", *history, **{"base_url": "http://harbour.example/v1"} | changes)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    return body_of("openai-responses", *history, **changes)


def items(*history: Message) -> list[dict[str, Any]]:
    """The items of a request."""
    sent: list[dict[str, Any]] = body(*history)["input"]
    return sent


def result(call_id: str, output: object) -> dict[str, Any]:
    """The item of a result."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def test_the_least_request() -> None:
    made = request()
    assert made.url == "http://harbour.example/v1/responses"
    assert made.headers == (("content-type", "application/json"), ("accept", "text/event-stream"))
    assert made.body == b'{"model":"gull-1","input":[{"role":"user","content":"Hello"}],"stream":true}'


def test_the_key_is_a_bearer_token() -> None:
    assert request(api_key=KEY).header("authorization") == f"Bearer {KEY}"


def test_azure_needs_nothing_but_options() -> None:
    made = request(base_url="https://gull.openai.azure.example/openai/v1?api-version=preview", headers={"api-key": KEY})
    assert made.url == "https://gull.openai.azure.example/openai/v1/responses?api-version=preview"
    assert (made.header("api-key"), made.header("authorization")) == (KEY, None)


def test_every_option_has_its_field_and_the_counts_come_unasked() -> None:
    assert body(max_tokens=9, temperature=0, system_prompt="Be brief.", include_usage=True) == {
        "model": "gull-1",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "max_output_tokens": 9,
        "temperature": 0,
    }
    assert "instructions" not in body(system_prompt="")


def test_extra_fields_ask_for_what_has_no_option() -> None:
    extra = {"reasoning": {"effort": "low"}, "store": False}
    assert body(extra_body=extra) == body() | extra


def test_tools_are_flat_and_not_strict() -> None:
    assert body(tools=[TIDE_TOOL, BARE_TOOL])["tools"] == [
        {
            "type": "function",
            "name": "tide",
            "description": "Height of the tide",
            "parameters": PORT_SCHEMA,
            "strict": False,
        },
        {"type": "function", "name": "ferry", "parameters": BARE_TOOL.input_schema, "strict": False},
    ]


def test_texts_and_images_of_the_user_stay_in_order() -> None:
    said = Message("user", (TextBlock("a"), QUAY, TextBlock(" "), PNG, TextBlock("b")))
    parts = [{"type": "input_text", "text": "a"}, WIRE_QUAY, WIRE_PNG, {"type": "input_text", "text": "b"}]
    assert items(said) == [{"role": "user", "content": parts}]
    assert items(Message("user", (QUAY,))) == [{"role": "user", "content": [WIRE_QUAY]}]


def test_system_messages_keep_their_place() -> None:
    history = [Message.system("Be brief."), HELLO, Message.assistant("Hello."), Message.system("In Scots."), HELLO]
    assert [(item["role"], item["content"]) for item in items(*history)] == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("assistant", "Hello."),
        ("system", "In Scots."),
        ("user", "Hello"),
    ]


def test_what_the_model_said_and_called_stays_in_order_without_its_thinking() -> None:
    said: list[ContentBlock] = [ThinkingBlock("hm", "c2ln"), TextBlock("Let me see."), TIDE, TextBlock("And"), FERRY]
    answered = results(ToolResultBlock("1", "2.1 m"), ToolResultBlock("2", ""))
    assert items(HELLO, Message.assistant([*said, RedactedThinkingBlock("ZW5j")]), answered) == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Let me see."},
        WIRE_TIDE,
        {"role": "assistant", "content": "And"},
        WIRE_FERRY,
        result("1", "2.1 m"),
        result("2", ""),
    ]


def test_results_may_hold_images_and_a_prompt_follows_them() -> None:
    blocks = ToolResultBlock("1", (TextBlock("a"), QUAY, TextBlock("b")), is_error=True)
    history = [HELLO, Message.assistant([TIDE, FERRY]), results(blocks, ToolResultBlock("2", ())), HELLO]
    parts = [{"type": "input_text", "text": "a"}, WIRE_QUAY, {"type": "input_text", "text": "b"}]
    assert items(*history)[3:] == [result("1", parts), result("2", ""), {"role": "user", "content": "Hello"}]


def test_images_of_the_model_and_blank_texts_are_left_out() -> None:
    history = [HELLO, Message("assistant", (QUAY, TextBlock("\n"))), Message.user(" ")]
    assert items(*history) == [{"role": "user", "content": "Hello"}]
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        items(Message.user(" "))
