"""Requests of gemini: how messages, images, tool calls and results are written as contents and parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.agent_bodies import BARE_TOOL, FERRY, HELLO, KEY, PNG, PORT_SCHEMA, QUAY, TIDE, TIDE_TOOL, results
from tests.agent_bodies import body as body_of
from tests.agent_bodies import request as request_of

import tokwire
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

BASE = "https://gemini.example/v1beta"
WIRE_PNG = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}}
WIRE_QUAY = {"fileData": {"mimeType": "image/png", "fileUri": QUAY.url}}
WIRE_TIDE = {"functionCall": {"id": "1", "name": "tide", "args": {"port": "Ayr"}}}
WIRE_FERRY = {"functionCall": {"id": "2", "name": "ferry", "args": {}}}


def request(*history: Message, **changes: Any) -> HTTPRequest:
    """A request."""
    return request_of("gemini", *history, **{"base_url": BASE} | changes)


def body(*history: Message, **changes: Any) -> dict[str, Any]:
    """The body of a request."""
    return body_of("gemini", *history, **changes)


def contents(*history: Message, **changes: Any) -> list[dict[str, Any]]:
    """The contents of a request."""
    sent: list[dict[str, Any]] = body(*history, **changes)["contents"]
    return sent


def response(call_id: str, name: str, key: str, text: str) -> dict[str, Any]:
    """The part of a result."""
    return {"functionResponse": {"id": call_id, "name": name, "response": {key: text}}}


def test_the_least_request() -> None:
    made = request()
    assert made.url == f"{BASE}/models/gull-1:streamGenerateContent?alt=sse"
    assert made.headers == (("content-type", "application/json"), ("accept", "text/event-stream"))
    assert made.body == b'{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}'


def test_the_key_has_a_header_of_its_own() -> None:
    made = request(api_key=KEY)
    assert (made.header("x-goog-api-key"), made.header("authorization")) == (KEY, None)
    assert KEY not in made.url


def test_vertex_is_reached_by_options_alone() -> None:
    base = "https://vertex.example/v1/projects/p/locations/global/publishers/google"
    made = request(base_url=base, headers={"Authorization": "Bearer t"})
    assert made.url == f"{base}/models/gull-1:streamGenerateContent?alt=sse"
    assert (made.header("authorization"), made.header("x-goog-api-key")) == ("Bearer t", None)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("models/gull-1", "models/gull-1"),
        ("tunedModels/gull-1", "tunedModels/gull-1"),
        ("endpoints/42", "endpoints/42"),
        ("gull 1?:x", "models/gull%201%3F%3Ax"),
    ],
)
def test_a_model_may_bring_the_collection_that_it_is_in(model: str, path: str) -> None:
    assert request(model=model).url == f"{BASE}/{path}:streamGenerateContent?alt=sse"


def test_the_query_of_the_base_url_follows() -> None:
    made = request(base_url=f"{BASE}?key=a")
    assert made.url == f"{BASE}/models/gull-1:streamGenerateContent?alt=sse&key=a"


def test_every_option_has_its_field_and_the_counts_come_unasked() -> None:
    assert body(max_tokens=9, temperature=0, system_prompt="Be brief.", include_usage=True) == {
        "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0},
    }
    assert body(temperature=1)["generationConfig"] == {"temperature": 1}


def test_extra_fields_replace_ours_whole() -> None:
    extra = {"generationConfig": {"topK": 3}, "safetySettings": []}
    assert body(max_tokens=9, extra_body=extra) == body() | extra


def test_tools_are_declared_with_json_schema() -> None:
    assert body(tools=[TIDE_TOOL, BARE_TOOL])["tools"] == [
        {
            "functionDeclarations": [
                {"name": "tide", "description": "Height of the tide", "parametersJsonSchema": PORT_SCHEMA},
                {"name": "ferry", "parametersJsonSchema": BARE_TOOL.input_schema},
            ]
        }
    ]


def test_system_messages_become_one_instruction() -> None:
    sent = body(Message.system("Be brief."), HELLO, Message.system("In Scots."), system_prompt="Know the tides.")
    assert sent["systemInstruction"] == {"parts": [{"text": "Know the tides.\n\nBe brief.\n\nIn Scots."}]}
    assert sent["contents"] == contents()


def test_images_are_sent_as_data_or_by_their_url_with_the_type_that_it_tells() -> None:
    urls = ["https://images.example/quay.JPG", "https://images.example/quay.webp#top?", "https://images.example/quay"]
    said = Message("user", (TextBlock("a"), PNG, QUAY, TextBlock("b"), *map(ImageBlock, urls)))
    assert contents(said)[0]["parts"] == [
        {"text": "a"},
        WIRE_PNG,
        WIRE_QUAY,
        {"text": "b"},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": urls[0]}},
        {"fileData": {"mimeType": "image/webp", "fileUri": urls[1]}},
        {"fileData": {"fileUri": urls[2]}},
    ]


def test_a_result_names_the_tool_of_its_call_and_says_whether_it_failed() -> None:
    calls = Message.assistant([ThinkingBlock("hm", "c2ln"), TextBlock("Let me see."), TIDE, FERRY])
    answered = results(ToolResultBlock("2", "storm", is_error=True), ToolResultBlock("1", "2.1 m"))
    assert contents(HELLO, calls, answered, replay_thinking=True) == [
        {"role": "user", "parts": [{"text": "Hello"}]},
        {"role": "model", "parts": [{"text": "Let me see."}, WIRE_TIDE, WIRE_FERRY]},
        {"role": "user", "parts": [response("1", "tide", "output", "2.1 m"), response("2", "ferry", "error", "storm")]},
    ]


def test_images_of_results_and_the_next_prompt_follow_the_results_in_one_turn() -> None:
    first = ToolResultBlock("1", (TextBlock("a"), PNG, TextBlock("b")))
    second = ToolResultBlock("2", (QUAY,))
    sent = contents(HELLO, Message.assistant([TIDE, FERRY]), results(first, second), Message.user("And now?"))
    assert sent[2]["parts"] == [
        response("1", "tide", "output", "a\nb"),
        response("2", "ferry", "output", ""),
        WIRE_PNG,
        WIRE_QUAY,
        {"text": "And now?"},
    ]


def test_calls_of_one_id_are_answered_under_their_own_names() -> None:
    calls = [ToolUseBlock("same", "tide", {}), ToolUseBlock("same", "ferry", {})]
    sent = contents(
        HELLO, Message.assistant(calls), results(ToolResultBlock("same", "a"), ToolResultBlock("same", "b"))
    )
    assert sent[2]["parts"] == [response("same", "tide", "output", "a"), response("same", "ferry", "output", "b")]


def decoded_call(function_call: dict[str, Any]) -> ToolUseBlock:
    """The call as it comes out of a stream."""
    payload = {
        "candidates": [{"content": {"parts": [{"functionCall": function_call}]}, "finishReason": "STOP"}],
        "responseId": "r-1",
    }
    events = tokwire.collect(tokwire.decode(b"data: " + json.dumps(payload).encode() + b"\n\n", "gemini"))
    (call,) = events.tool_calls
    return call


@pytest.mark.parametrize("function_call", [{"name": "tide", "args": {"port": "Ayr"}}, {"id": "x7", "name": "tide"}])
def test_the_ids_of_the_server_go_back_and_those_that_the_decoder_made_do_not(function_call: dict[str, Any]) -> None:
    call = decoded_call(function_call)
    sent = contents(HELLO, Message.assistant([call]), results(ToolResultBlock(call.id, "2.1 m")))
    told = {"id": function_call["id"]} if "id" in function_call else {}
    assert sent[1]["parts"] == [{"functionCall": {"args": {}} | function_call}]
    assert sent[2]["parts"] == [{"functionResponse": {**told, "name": "tide", "response": {"output": "2.1 m"}}}]


def test_arguments_that_are_no_object_are_wrapped_in_one() -> None:
    call = ToolUseBlock("1", "tide", ["Ayr"])
    sent = contents(HELLO, Message.assistant([call]), results(ToolResultBlock("1", "2.1 m")))
    assert sent[1]["parts"][0]["functionCall"]["args"] == {"value": ["Ayr"]}


def test_neighbours_are_joined_and_blank_texts_left_out() -> None:
    history = [HELLO, Message.user(" "), Message.user("again"), Message("assistant", (QUAY, TextBlock("Hello.")))]
    assert contents(*history) == [
        {"role": "user", "parts": [{"text": "Hello"}, {"text": "again"}]},
        {"role": "model", "parts": [{"text": "Hello."}]},
    ]
    with pytest.raises(LocalProtocolError, match="no message holds anything to send"):
        contents(Message.user(" "))
