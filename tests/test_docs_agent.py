"""The pages about the agent layer name all of it: options, actions, decisions, paths, and the crate's public names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import tokwire
from tokwire.agent._hooks import KINDS
from tokwire.agent._requests import SHAPES

DOCS = Path(__file__).resolve().parent.parent / "docs"

CRATE = """
AgentOptions AnthropicBlockStart AnthropicDelta AnthropicErrorBody AnthropicEvent AnthropicMessage
AnthropicMessageDelta AnthropicRequest ApiProtocol BaseUrl Client ContentBlock Error EventStream FinishReason
HOOK_POST_TOOL_USE HOOK_PRE_TOOL_USE HOOK_USER_PROMPT_SUBMIT HookDecision Hooks ImageBlock ImageDetail Message
MessageRole ModelName OpenAIContent OpenAIContentPart OpenAIFunction OpenAIMessage OpenAIRequest OpenAIToolCall
PostToolUseEvent PreToolUseEvent Provider Result RetryConfig StreamEvent Temperature TextBlock Tool ToolBuilder
ToolResultBlock ToolUseBlock UserPromptSubmitEvent anthropic_finish_reason coalesce_text_blocks estimate_tokens
get_base_url get_model is_approaching_limit is_retryable_error prelude query retry_with_backoff
retry_with_backoff_conditional tool truncate_messages max_turns
"""


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def rows(name: str) -> dict[str, str]:
    """The second cell of each row of a page whose first cell is one name."""
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page(name), re.MULTILINE))


def test_every_option_has_a_row_with_its_default() -> None:
    documented = rows("options.md")
    assert set(documented) == set(tokwire.AgentOptions.__struct_fields__)
    options = tokwire.AgentOptions(model="m1", base_url="http://quay.example")
    assert documented.pop("model") == documented.pop("base_url") == "required"
    for field in msgspec.structs.fields(tokwire.AgentOptions):
        if not field.required:
            shown = documented[field.name].strip("`").replace('"', "'")
            value = () if field.name == "headers" else getattr(options, field.name)
            assert shown in (repr(value), f"{type(value).__name__}()"), field.name


def test_every_field_of_the_retry_policy_has_a_row_with_its_default() -> None:
    documented = rows("retry.md")
    config = tokwire.RetryConfig()
    assert documented == {name: f"`{getattr(config, name)!r}`" for name in config.__struct_fields__}


def test_every_action_has_a_row() -> None:
    documented = re.findall(r"^\| `([A-Z]\w+)\(", page("drive-the-loop.md"), re.MULTILINE)
    assert documented == [action.__name__ for action in get_args(tokwire.Action)]


def test_every_hook_and_every_decision_has_a_row() -> None:
    assert set(rows("hooks.md")) - {"None"} == set(tokwire.Hooks.__struct_fields__)
    decisions = re.findall(r"^\| `Decision\.(\w+)\(", page("hooks.md"), re.MULTILINE)
    assert sorted(decisions) == sorted(KINDS)


@pytest.mark.parametrize("protocol", SHAPES)
def test_every_protocol_has_a_row_with_its_path(protocol: str) -> None:
    row = re.search(rf"^\| `{protocol}` \| `(http[^`]+)`.*? \| `(/[^`]+)` \|", page("requests.md"), re.MULTILINE)
    assert row is not None
    options = tokwire.AgentOptions(protocol=protocol, model="MODEL", base_url=row[1], max_tokens=9)
    assert tokwire.build_request(options, [tokwire.Message.user("Ahoy")]).url == row[1] + row[2]


def test_every_public_name_of_the_crate_is_on_its_page() -> None:
    prose = re.sub(r"^```.*?^```$", "", page("coming-from-rust.md"), flags=re.MULTILINE | re.DOTALL)
    named = {word for span in re.findall(r"`([^`\n]+)`", prose) for word in re.findall(r"\w+", span)}
    assert not set(CRATE.split()) - named
