"""Bodies of requests are what the official packages of OpenAI and Anthropic would send: their own types say so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from hypothesis import given, settings
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError
from tests.agent_histories import histories

from tokwire import AgentOptions, ImageBlock, Message, TextBlock, Tool, ToolResultBlock, ToolUseBlock, build_request

OFFICIAL: dict[str, TypeAdapter[Any]] = {
    "openai-chat": TypeAdapter(CompletionCreateParamsStreaming),
    "anthropic": TypeAdapter(MessageCreateParamsStreaming),
}
HISTORY = [
    Message.system("Be brief."),
    Message("user", (TextBlock("When does it leave?"), ImageBlock("data:image/png;base64,iVBORw0K"))),
    Message.assistant([TextBlock("Let me see."), ToolUseBlock("call_1", "ferry", {"port": "Ayr"})]),
    Message("user", (ToolResultBlock("call_1", (TextBlock("noon"), ImageBlock("https://images.example/quay.png"))),)),
]


def body(protocol: str, history: list[Message], **changes: Any) -> dict[str, Any]:
    """The body of a request in which every option is used."""
    options = AgentOptions(
        model="gull-1",
        base_url="http://harbour.example/v1",
        protocol=protocol,
        system_prompt="Know the tides.",
        max_tokens=9,
        temperature=0.5 if protocol == "openai-chat" else None,  # Anthropic's newest models and package know none
        include_usage=True,
        replay_thinking=True,
        tools=[Tool("ferry", "When a ferry leaves", {"port": "str"}, print), Tool("tide", "", {}, print)],
        **changes,
    )
    parsed: dict[str, Any] = json.loads(build_request(options, history).body)
    return parsed


def as_understood(protocol: str, sent: object) -> Any:
    """The body as the official type reads it. Fields that it does not know are lost, wrong ones are refused."""
    return read_whole(OFFICIAL[protocol].validate_python(sent))


def read_whole(value: Any) -> Any:
    """The value with all lists in it read to their ends: only then are their items validated."""
    if isinstance(value, dict):
        return {name: read_whole(inner) for name, inner in value.items()}
    return [read_whole(inner) for inner in value] if hasattr(value, "__next__") or isinstance(value, list) else value


@pytest.mark.parametrize("protocol", OFFICIAL)
def test_a_request_with_everything_is_understood_and_nothing_of_it_is_lost(protocol: str) -> None:
    sent = body(protocol, HISTORY)
    assert as_understood(protocol, sent) == sent


@pytest.mark.parametrize("protocol", OFFICIAL)
@settings(deadline=None, max_examples=50)
@given(history=histories())
def test_the_request_for_any_history_is_understood(protocol: str, history: list[Message]) -> None:
    sent = body(protocol, history)
    assert as_understood(protocol, sent) == sent


@pytest.mark.parametrize("protocol", OFFICIAL)
def test_extra_fields_of_the_official_types_are_understood(protocol: str) -> None:
    extra = {"openai-chat": {"seed": 1, "stop": ["END"]}, "anthropic": {"stop_sequences": ["END"]}}
    sent = body(protocol, HISTORY, extra_body=extra[protocol])
    assert as_understood(protocol, sent) == sent
    unknown = body(protocol, HISTORY, extra_body={"reasoning_depth": 1})
    assert as_understood(protocol, unknown) != unknown


@pytest.mark.parametrize("protocol", OFFICIAL)
@pytest.mark.parametrize("fault", [{"role": "captain"}, {"content": 5}, {"content": [{"type": "text"}]}])
def test_the_official_types_see_a_fault_inside_of_a_message(protocol: str, fault: dict[str, Any]) -> None:
    sent = body(protocol, HISTORY)
    sent["messages"][-1] |= fault
    with pytest.raises(ValidationError):
        as_understood(protocol, sent)
