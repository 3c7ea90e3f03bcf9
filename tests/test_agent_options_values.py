"""`AgentOptions`: temperature, counts, time limits, switches and objects: what they may be, and what is refused."""

from __future__ import annotations

import math

import pytest
from tests.agent_bodies import options, refusal

from tokwire import AgentOptions, RetryConfig

TIMEOUTS = ("timeout", "connect_timeout", "idle_timeout", "tool_timeout")
PROTOCOLS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock", "cohere")


@pytest.mark.parametrize(
    ("protocol", "highest"),
    [("openai-chat", 2), ("openai-responses", 2), ("gemini", 2), ("anthropic", 1), ("bedrock", 1)],
)
def test_the_range_of_the_temperature_is_that_of_the_protocol(protocol: str, highest: int) -> None:
    for fine in (0, 0.0, 0.7, highest, float(highest)):
        assert options(protocol=protocol, max_tokens=1, temperature=fine).temperature == fine
    for wrong in (-0.1, highest + 0.1, math.nan, math.inf):
        message = refusal(protocol=protocol, max_tokens=1, temperature=wrong)
        assert message.startswith(f"AgentOptions(temperature={wrong!r}): {protocol} takes a number from 0 to {highest}")


@pytest.mark.parametrize("protocol", ["ollama", "cohere"])
def test_where_the_server_alone_knows_the_range_only_senseless_temperatures_are_refused(protocol: str) -> None:
    assert options(protocol=protocol, temperature=5).temperature == 5
    for wrong in (-1, math.inf, math.nan):
        assert "of at least 0" in refusal(protocol=protocol, temperature=wrong)


@pytest.mark.parametrize("wrong", ["1", True, [1]])
def test_a_temperature_is_a_number(wrong: object) -> None:
    assert f"temperature={wrong!r}" in refusal(temperature=wrong)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_anthropic_needs_a_limit_of_tokens(protocol: str) -> None:
    if protocol == "anthropic":
        assert refusal(protocol=protocol).startswith("AgentOptions(max_tokens=None): anthropic answers no request")
        assert "max_tokens=None" in refusal(protocol=protocol, extra_body={"max_tokens": None})
        assert options(protocol=protocol, extra_body={"max_tokens": 9}).max_tokens is None
    else:
        assert options(protocol=protocol).max_tokens is None
    assert AgentOptions.needs_max_tokens(protocol) is (protocol == "anthropic")


def test_whether_a_limit_is_needed_is_told_by_any_name_of_a_protocol() -> None:
    assert AgentOptions.needs_max_tokens("ANTHROPIC")
    assert not AgentOptions.needs_max_tokens("openai_chat")
    with pytest.raises(ValueError, match="pigeon"):
        AgentOptions.needs_max_tokens("pigeon")
    with pytest.raises(TypeError, match="expected a text, not NoneType"):
        AgentOptions.needs_max_tokens(None)  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize(("name", "least"), [("max_tokens", 1), ("max_tool_iterations", 0)])
def test_counts_are_whole_numbers(name: str, least: int) -> None:
    assert getattr(options(**{name: least}), name) == least
    for wrong in (least - 1, 1.0, "1", True):
        message = refusal(**{name: wrong})
        assert message == f"AgentOptions({name}={wrong!r}): expected a whole number of at least {least}"


@pytest.mark.parametrize("name", TIMEOUTS)
def test_time_limits_are_seconds_above_zero_or_none(name: str) -> None:
    for fine in (0.001, 1, 86400.0, None):
        assert getattr(options(**{name: fine}), name) == fine
    for wrong in (0, -1.0, math.inf, math.nan, "1", True):
        assert refusal(**{name: wrong}).startswith(f"AgentOptions({name}={wrong!r}): expected seconds above 0")


@pytest.mark.parametrize(
    "name", ["auto_execute_tools", "include_reasoning", "include_usage", "replay_thinking", "synthesize_tool_ids"]
)
def test_switches_are_on_or_off(name: str) -> None:
    assert getattr(options(**{name: True}), name) is True
    for wrong in (1, "yes", None):
        kind = type(wrong).__name__
        assert refusal(**{name: wrong}) == f"AgentOptions({name}): expected True or False, not {kind}"


def test_the_system_prompt_is_text_or_none() -> None:
    assert options(system_prompt="").system_prompt == ""
    assert refusal(system_prompt=b"Be brief") == "AgentOptions(system_prompt): expected a text, not bytes"


def test_objects_have_their_type() -> None:
    assert options(retry=RetryConfig(max_attempts=2)).retry == RetryConfig(max_attempts=2)
    assert "expected RetryConfig" in refusal(retry=3)
    assert "expected Hooks" in refusal(hooks=None)
    assert "expected Limits" in refusal(limits={"max_tool_calls": 1})
    assert options(repair_arguments=len).repair_arguments is len
    assert "expected a function" in refusal(repair_arguments="strip")
