"""Requests of bedrock: how messages, images, tool calls, results and thinking are written for ConverseStream."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agent_bodies import BARE_TOOL, FERRY, HELLO, KEY, PNG, PORT_SCHEMA, QUAY, TIDE, TIDE_TOOL, results
from tests.agent_bodies import body as body_of
from tests.agent_bodies import request as request_of

from tokwire import (
    HTTPRequest,
    ImageBlock,
    LocalProtocolError,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

BASE = "https://bedrock-runtime.eu-west-1.example"
ARN = "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/gull_1.x~"
WIRE_PNG = {"image": {"format": "png", "source": {"bytes": "iVBORw0K"}}}
WIRE_TIDE = {"toolUse": {"toolUseId": "1", "name": "tide", "input": {"port": "Ayr"}}}
WIRE_FERRY = {"toolUse": {"toolUseId": "2", "name": "ferry", "input": {}}}


def request(*history: Message, **changes: Any) -> HTTPRequest:
    """A request."""
    return request_of("bedrock", *history, **{"base_url": BASE} | changes)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    return body_of("bedrock", *history, **changes)


def messages(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The messages of a request."""
    sent: list[dict[str, Any]] = body(*history, **changes)["messages"]
    return sent


def result(call_id: str, *content: dict[str, Any], **more: str) -> dict[str, Any]:
    """The block of a result."""
    return {"toolResult": {"toolUseId": call_id, "content": list(content), **more}}


def test_the_least_request() -> None:
    made = request()
    assert made.url == f"{BASE}/model/gull-1/converse-stream"
    assert made.headers == (("content-type", "application/json"), ("accept", "application/vnd.amazon.eventstream"))
    assert made.body == b'{"messages":[{"role":"user","content":[{"text":"Hello"}]}]}'


def test_the_key_is_a_bearer_token() -> None:
    assert request(api_key=KEY).header("authorization") == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("model", "segment"),
    [
        ("gull.tern-v1:0", "gull.tern-v1%3A0"),
        (ARN, "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2Fgull_1.x~"),
    ],
)
def test_the_id_of_the_model_is_one_segment_of_the_path(model: str, segment: str) -> None:
    assert request(model=model).url == f"{BASE}/model/{segment}/converse-stream"


def test_every_option_has_its_field_and_the_counts_come_unasked() -> None:
    assert body(max_tokens=9, temperature=0, system_prompt="Be brief.", include_usage=True) == {
        "messages": [{"role": "user", "content": [{"text": "Hello"}]}],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 9, "temperature": 0},
    }
    assert body(max_tokens=9)["inferenceConfig"] == {"maxTokens": 9}


def test_extra_fields_replace_ours_whole() -> None:
    extra = {"inferenceConfig": {"topP": 0.5}, "additionalModelRequestFields": {"top_k": 3}}
    assert body(max_tokens=9, extra_body=extra) == body() | extra


def test_tools_have_specifications() -> None:
    assert body(tools=[TIDE_TOOL, BARE_TOOL])["toolConfig"] == {
        "tools": [
            {"toolSpec": {"name": "tide", "description": "Height of the tide", "inputSchema": {"json": PORT_SCHEMA}}},
            {"toolSpec": {"name": "ferry", "inputSchema": {"json": BARE_TOOL.input_schema}}},
        ]
    }


def test_tools_that_a_history_calls_are_declared_where_no_others_are() -> None:
    tide, ferry = ToolResultBlock("1", "a"), ToolResultBlock("2", "b")
    twice = [Message.assistant([FERRY, TIDE]), results(tide, ferry), Message.assistant([TIDE]), results(tide)]
    history = [HELLO, *twice]
    named = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in ("ferry", "tide")]
    assert body(*history)["toolConfig"] == {"tools": named}
    assert len(body(*history, tools=[TIDE_TOOL])["toolConfig"]["tools"]) == 1


def test_system_messages_are_hoisted_into_one_text() -> None:
    sent = body(Message.system("Be brief."), HELLO, Message.system("In Scots."), system_prompt="Know the tides.")
    assert sent["system"] == [{"text": "Know the tides.\n\nBe brief.\n\nIn Scots."}]
    assert sent["messages"] == messages()


@pytest.mark.parametrize("kind", ["gif", "jpeg", "png", "webp", "jpg"])
def test_images_are_data_in_one_of_four_formats(kind: str) -> None:
    image = ImageBlock(f"data:image/{kind};base64,iVBORw0K")
    (sent,) = messages(Message("user", (TextBlock("a"), image)))
    shown = {"format": kind.replace("jpg", "jpeg"), "source": {"bytes": "iVBORw0K"}}
    assert sent["content"] == [{"text": "a"}, {"image": shown}]


def test_other_images_are_refused() -> None:
    with pytest.raises(ValueError, match=r"of the type image/bmp; bedrock takes PNG, JPEG, GIF and WebP"):
        messages(Message("user", (ImageBlock("data:image/bmp;base64,Qk0="),)))
    with pytest.raises(ValueError, match="holds an image by its URL"):
        messages(Message("user", (QUAY,)))


def test_calls_and_results_are_blocks_and_only_failure_is_told() -> None:
    calls = Message.assistant([TextBlock("Let me see."), TIDE, FERRY])
    answered = results(ToolResultBlock("1", "2.1 m"), ToolResultBlock("2", "storm", is_error=True))
    assert messages(HELLO, calls, answered, Message.user("And now?")) == [
        {"role": "user", "content": [{"text": "Hello"}]},
        {"role": "assistant", "content": [{"text": "Let me see."}, WIRE_TIDE, WIRE_FERRY]},
        {
            "role": "user",
            "content": [
                result("1", {"text": "2.1 m"}),
                result("2", {"text": "storm"}, status="error"),
                {"text": "And now?"},
            ],
        },
    ]


def test_a_result_may_hold_images_and_is_never_empty() -> None:
    shown = ToolResultBlock("1", (TextBlock("a"), PNG, TextBlock(" ")))
    sent = messages(HELLO, Message.assistant([TIDE, FERRY]), results(shown, ToolResultBlock("2", " ")))
    assert sent[2]["content"] == [result("1", {"text": "a"}, WIRE_PNG), result("2", {"json": {}})]


def test_arguments_that_are_no_object_are_wrapped_in_one() -> None:
    call = ToolUseBlock("1", "tide", ["Ayr"])
    sent = messages(HELLO, Message.assistant([call]), results(ToolResultBlock("1", "2.1 m")))
    assert sent[1]["content"][0]["toolUse"]["input"] == {"value": ["Ayr"]}


def test_signed_thinking_goes_back_when_asked_for() -> None:
    said = (ThinkingBlock("hm", "c2ln"), ThinkingBlock("unsigned"), RedactedThinkingBlock("ZW5j"), TextBlock("Hello."))
    history = [HELLO, Message("assistant", said), HELLO]
    assert messages(*history, replay_thinking=True)[1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "ZW5j"}},
        {"text": "Hello."},
    ]
    assert messages(*history)[1]["content"] == [{"text": "Hello."}]


def test_neighbours_are_joined_and_blank_texts_left_out() -> None:
    history = [HELLO, Message.user(" "), Message.user("again"), Message("assistant", (QUAY, TextBlock("So it \n")))]
    assert messages(*history) == [
        {"role": "user", "content": [{"text": "Hello"}, {"text": "again"}]},
        {"role": "assistant", "content": [{"text": "So it"}]},
    ]
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        messages(Message.user(" "))
