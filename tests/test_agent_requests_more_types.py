"""Bodies of requests are what the official packages of OpenAI, Google, Ollama and AWS would send, or could read.

Cohere's package brings compilers of tokenizers with it, which is too much for a test.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Any

import ollama._types
import pytest
from botocore.loaders import Loader  # type: ignore[import-untyped]  # botocore has no types
from botocore.model import ServiceModel  # type: ignore[import-untyped]  # as above
from botocore.serialize import create_serializer  # type: ignore[import-untyped]  # as above
from botocore.validate import ParamValidator  # type: ignore[import-untyped]  # as above
from google.genai import types as genai
from hypothesis import given, settings
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, TypeAdapter, ValidationError
from tests.agent_bodies import BARE_TOOL, KEY, PNG, QUAY, TIDE, TIDE_TOOL, body, request, results
from tests.agent_histories import histories

from tokwire import ContentBlock, ImageBlock, Message, TextBlock, ThinkingBlock, ToolResultBlock

ARN = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.gull.tern-v1:0"
EVERYTHING: dict[str, Any] = {
    "system_prompt": "Know the tides.",
    "max_tokens": 9,
    "temperature": 0.5,
    "include_usage": True,
    "replay_thinking": True,
    "tools": [TIDE_TOOL, BARE_TOOL],
}
HISTORY = [
    Message.system("Be brief."),
    Message("user", (TextBlock("When does it leave?"), PNG)),
    Message.assistant([ThinkingBlock("hm", "c2ln"), TextBlock("Let me see."), TIDE]),
    results(ToolResultBlock("1", (TextBlock("noon"), PNG), is_error=True)),
    Message.user("And then?"),
]
BEDROCK = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"), "bedrock-runtime")
CONVERSE = BEDROCK.operation_model("ConverseStream")
RESPONSES: TypeAdapter[Any] = TypeAdapter(ResponseCreateParamsStreaming)


class Refused(Exception):
    """An official package does not take a body."""


def as_openai_understands(sent: dict[str, Any]) -> Any:
    """The body as OpenAI's types read it. Fields that they do not know are lost."""
    return read_whole(RESPONSES.validate_python(sent))


def read_whole(value: Any) -> Any:
    """The value with all lists in it read to their ends: only then are their items validated."""
    if isinstance(value, dict):
        return {name: read_whole(inner) for name, inner in value.items()}
    return [read_whole(inner) for inner in value] if hasattr(value, "__next__") or isinstance(value, list) else value


def as_google_understands(sent: dict[str, Any]) -> Any:
    """The body as Google's types read it. Fields that they do not know are refused."""
    lists: dict[str, type[BaseModel]] = {"contents": genai.Content, "tools": genai.Tool}
    single: dict[str, type[BaseModel]] = {
        "systemInstruction": genai.Content,
        "generationConfig": genai.GenerationConfig,
    }
    understood: dict[str, Any] = {}
    for name, value in sent.items():
        if name in lists:
            understood[name] = [as_model(lists[name], item) for item in value]
        else:
            understood[name] = as_model(single[name], value)
    return understood


def as_model(kind: type[BaseModel], value: object) -> Any:
    """A value as a type of pydantic reads and writes it."""
    return kind.model_validate_json(json.dumps(value)).model_dump(mode="json", by_alias=True, exclude_none=True)


def as_ollama_understands(sent: dict[str, Any]) -> Any:
    """The body as Ollama's types read it. Fields that they do not know are lost."""
    understood = ollama._types.ChatRequest.model_validate(sent).model_dump(mode="python", exclude_none=True)
    return understood | {"messages": [as_ollama_message(message) for message in sent["messages"]]}


def as_ollama_message(message: dict[str, Any]) -> Any:
    """A message as Ollama's type reads it, which has each image in an object, and writes it."""
    images = {"images": [{"value": image} for image in message["images"]]} if "images" in message else {}
    return ollama._types.Message.model_validate(message | images).model_dump(mode="python", exclude_none=True)


def as_aws_understands(sent: dict[str, Any]) -> Any:
    """The body as botocore validates it and writes it again. Fields that it does not know are refused."""
    parameters = {**with_bytes(sent, CONVERSE.input_shape), "modelId": ARN}
    report = ParamValidator().validate(parameters, CONVERSE.input_shape)
    if report.has_errors():
        raise Refused(report.generate_report())
    return json.loads(create_serializer("rest-json").serialize_to_request(parameters, CONVERSE)["body"])


def with_bytes(value: Any, shape: Any) -> Any:
    """The value with bytes where the model of the service has some, which JSON writes as base64."""
    if isinstance(value, dict) and not shape.is_document_type:
        members = shape.members
        return {name: with_bytes(inner, members[name]) if name in members else inner for name, inner in value.items()}
    if isinstance(value, list):
        return [with_bytes(inner, shape.member) for inner in value]
    return b64decode(value) if shape.type_name == "blob" else value


OFFICIAL: dict[str, Callable[[dict[str, Any]], Any]] = {
    "openai-responses": as_openai_understands,
    "gemini": as_google_understands,
    "ollama": as_ollama_understands,
    "bedrock": as_aws_understands,
}


def with_data(content: Iterable[ContentBlock]) -> tuple[ContentBlock, ...]:
    """The content with images as data in place of those by their URL, which not every protocol takes."""
    changed: list[ContentBlock] = []
    for block in content:
        if isinstance(block, ToolResultBlock) and not isinstance(block.content, str):
            inner = tuple(PNG if isinstance(part, ImageBlock) else part for part in block.content)
            changed.append(ToolResultBlock(block.tool_use_id, inner, block.is_error))
        else:
            changed.append(PNG if isinstance(block, ImageBlock) else block)
    return tuple(changed)


@pytest.mark.parametrize("protocol", OFFICIAL)
def test_a_request_with_everything_is_understood_and_nothing_of_it_is_lost(protocol: str) -> None:
    sent = body(protocol, *HISTORY, **EVERYTHING)
    assert OFFICIAL[protocol](sent) == sent


@pytest.mark.parametrize("protocol", ["openai-responses", "gemini"])
def test_images_by_their_url_are_understood(protocol: str) -> None:
    sent = body(protocol, Message("user", (QUAY,)))
    assert OFFICIAL[protocol](sent) == sent


@pytest.mark.parametrize("protocol", OFFICIAL)
@settings(deadline=None)
@given(history=histories())
def test_the_request_for_any_history_is_understood(protocol: str, history: list[Message]) -> None:
    fit = [Message(message.role, with_data(message.content)) for message in history]
    sent = body(protocol, *fit, **EVERYTHING)
    assert OFFICIAL[protocol](sent) == sent


FAULTS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("openai-responses", ("input", 1, "content", 0, "type"), "text"),
    ("openai-responses", ("input", 3, "call_id"), 5),
    ("openai-responses", ("tools", 0, "parameter"), {}),
    ("gemini", ("contents", 0, "parts", 0, "words"), "x"),
    ("gemini", ("contents", 2, "parts", 0, "functionResponse", "response"), "noon"),
    ("gemini", ("tools", 0, "functionDeclarations", 0, "schema"), {}),
    ("ollama", ("messages", 3, "tool_calls", 0, "function", "arguments"), "{}"),
    ("ollama", ("messages", 4, "tool_call"), "1"),
    ("ollama", ("tools", 0, "function", "parameter"), {}),
    ("bedrock", ("messages", 0, "content", 0, "words"), "x"),
    ("bedrock", ("messages", 2, "content", 0, "toolResult", "content"), "noon"),
    ("bedrock", ("toolConfig", "tools", 0, "toolSpec", "inputSchema"), None),
]


@pytest.mark.parametrize(("protocol", "place", "value"), FAULTS)
def test_the_official_packages_see_a_fault(protocol: str, place: tuple[Any, ...], value: object) -> None:
    sent = body(protocol, *HISTORY, **EVERYTHING)
    inner: Any = sent
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    assert not is_understood(protocol, sent)


def is_understood(protocol: str, sent: dict[str, Any]) -> bool:
    """Whether the official package takes a body, and loses nothing of it."""
    try:
        return bool(OFFICIAL[protocol](sent) == sent)
    except (ValidationError, Refused):
        return False


@pytest.mark.parametrize("model", [ARN, "gull.tern-v1:0", "a/b%c d~"])
def test_the_path_of_bedrock_is_the_one_that_aws_signs(model: str) -> None:
    parameters = {"modelId": model, "messages": []}
    official = create_serializer("rest-json").serialize_to_request(parameters, CONVERSE)
    made = request("bedrock", base_url="https://bedrock.example", model=model, api_key=KEY)
    assert (made.method, made.target) == (official["method"], official["url_path"])
