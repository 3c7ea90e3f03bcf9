"""`AgentOptions`: what is needed, model, URL and protocol, and how one set of options is made from another."""

from __future__ import annotations

import importlib
from enum import StrEnum
from typing import Any

import pytest
from tests.agent_bodies import HOME, options, refusal, tide_tool
from tests.pigeon import pigeon

import tokwire
from tokwire import AgentOptions, Hooks, Limits, StreamDecoder

TIMEOUTS = ("timeout", "connect_timeout", "idle_timeout", "tool_timeout")


def test_a_model_and_a_url_are_enough() -> None:
    made = options()
    assert (made.model, made.base_url, made.protocol) == ("gull-1", "http://harbour.example/v1", "openai-chat")
    assert (made.api_key, made.key_text(), made.system_prompt, made.max_tokens, made.temperature) == (
        *(None, ""),
        *(None, None, None),
    )
    assert (made.tools, made.auto_execute_tools, made.max_tool_iterations) == ((), False, 5)
    assert (made.include_reasoning, made.include_usage, made.replay_thinking) == (False, False, False)
    assert tuple(getattr(made, name) for name in TIMEOUTS) == (120.0, 10.0, 60.0, None)
    assert (dict(made.headers), made.extra_body, made.synthesize_tool_ids, made.repair_arguments) == (
        *({}, {}),
        *(False, None),
    )
    assert (made.retry, made.hooks, made.limits) == (None, Hooks(), Limits())


def test_what_options_take_is_what_their_types_say() -> None:
    made = AgentOptions(
        model="gull-1",
        base_url="http://harbour.example/v1",
        api_key="herring",
        headers={"X-Title": "Tides"},
        tools=[tide_tool()],
        extra_body={"seed": 1},
        temperature=1,
    )
    again = AgentOptions(
        model=made.model,
        base_url=made.base_url,
        api_key=made.api_key,
        headers=[("X-Title", "Tides")],
        tools=made.tools,
        extra_body=made.extra_body,
        temperature=made.temperature,
    )
    assert again == made


def test_options_stay_as_they_are() -> None:
    frozen: Any = options()
    with pytest.raises(AttributeError):
        frozen.model = "gull-2"


@pytest.mark.parametrize("missing", ["model", "base_url"])
def test_model_and_url_are_required(missing: str) -> None:
    make: Any = AgentOptions
    with pytest.raises(TypeError, match=missing):
        make(**{name: value for name, value in HOME.items() if name != missing})


def test_options_are_given_by_name_and_an_unknown_one_is_named() -> None:
    make: Any = AgentOptions
    with pytest.raises(TypeError):
        make("gull-1", "http://harbour.example/v1")
    assert "temprature" in refusal(temprature=1)


@pytest.mark.parametrize("model", ["", "  ", "\n"])
def test_a_blank_model_is_refused(model: str) -> None:
    assert refusal(model=model).startswith(f"AgentOptions(model={model!r})")


def test_a_model_is_text_and_kept_as_it_is() -> None:
    class Gull(StrEnum):
        ONE = "gull-1"

    assert options(model=" gull-1 ").model == " gull-1 "
    assert type(options(model=Gull.ONE).model) is str
    assert options(model=Gull.ONE).model == "gull-1"
    assert refusal(model=7) == "AgentOptions(model): expected a text, not int"
    assert "NoneType" in refusal(model=None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://harbour.example/v1", "http://harbour.example/v1"),
        ("https://harbour.example", "https://harbour.example"),
        ("https://harbour.example/", "https://harbour.example"),
        ("https://harbour.example:8443/v1///", "https://harbour.example:8443/v1"),
        ("HTTPS://harbour.example/V1/", "https://harbour.example/V1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://harbour.example/v1/?api-version=3", "https://harbour.example/v1?api-version=3"),
    ],
)
def test_a_url_loses_its_last_slashes_and_the_case_of_its_scheme(given: str, kept: str) -> None:
    assert options(base_url=given).base_url == kept
    assert options(base_url=kept).base_url == kept


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("", "empty"),
        (" ", "empty"),
        ("harbour.example/v1", "must begin with http:// or https://"),
        ("ftp://harbour.example", "must begin with http:// or https://"),
        (" http://harbour.example", "must begin with http:// or https://"),
        ("http://", "must begin with http:// or https:// and a host"),
        ("http://harbour.example:0/", "port"),
        ("http://harbour.example/über", "ASCII"),
        ("http://harbour.example/v 1", "host"),
        ("http://harbour.example/v1#here", "fragment"),
        ("http://gull:herring@harbour.example", "user or password"),
        ("http://herring@harbour.example/v1#x", "fragment"),
    ],
)
def test_a_url_that_leads_nowhere_is_refused(url: str, rule: str) -> None:
    message = refusal(base_url=url)
    assert message.startswith("AgentOptions(base_url")
    assert rule in message
    assert "herring" not in message


def test_the_url_is_shown_where_it_is_one_and_its_query_never() -> None:
    assert "ftp://harbour.example/v1?..." in refusal(base_url="ftp://harbour.example/v1?key=herring")
    assert "herring" not in refusal(base_url="ftp://harbour.example/v1?key=herring")
    assert refusal(base_url=None) == "AgentOptions(base_url): expected a text, not NoneType"
    long = "ftp://harbour.example/" + "v" * 500
    assert len(refusal(base_url=long)) < 250


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("OpenAI", "openai-chat"),
        ("openai_chat", "openai-chat"),
        ("ANTHROPIC", "anthropic"),
        ("responses", "openai-responses"),
        ("google", "gemini"),
    ],
)
def test_a_protocol_is_kept_under_its_own_name(spelling: str, name: str) -> None:
    assert options(protocol=spelling, max_tokens=1).protocol == name


def test_a_protocol_that_nobody_knows_is_refused() -> None:
    message = refusal(protocol="pigeon")
    assert message.startswith("AgentOptions(protocol='pigeon')")
    assert "openai-chat" in message
    assert refusal(protocol=None) == "AgentOptions(protocol): expected a text, not NoneType"


def test_a_registered_protocol_is_taken_by_name_and_as_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = importlib.import_module("tokwire.protocols")
    monkeypatch.setattr(registry, "_by_name", dict(registry._by_name))
    own = pigeon()
    assert "pigeon-post" in refusal(protocol=own)
    tokwire.register_protocol(own)
    assert options(protocol="COO").protocol == options(protocol=own).protocol == "pigeon-post"
    assert options(protocol=own, temperature=50).temperature == 50
    assert "another protocol has that name" in refusal(protocol=pigeon())


def test_changed_options_are_validated_anew_and_the_old_ones_stay() -> None:
    old = options(api_key="herring", headers={"X-A": "1"}, extra_body={"stop": "END"}, tools=[tide_tool()])
    new = old.replace(model="gull-2", max_tokens=5)
    assert (old.model, new.model, new.max_tokens) == ("gull-1", "gull-2", 5)
    assert (new.key_text(), new.headers, new.extra_body, new.tools) == (
        *("herring", old.headers),
        *(old.extra_body, old.tools),
    )
    assert old.replace() == old
    with pytest.raises(ValueError, match="max_tokens=0"):
        old.replace(max_tokens=0)
    with pytest.raises(ValueError, match="anthropic answers no request"):
        old.replace(protocol="anthropic")
    with pytest.raises(TypeError, match="modle"):
        old.replace(modle="gull-2")


def test_a_decoder_takes_the_options_that_concern_it() -> None:
    limits = Limits(max_tool_calls=3)
    made = options(
        include_reasoning=True,
        include_usage=True,
        replay_thinking=True,
        synthesize_tool_ids=True,
        repair_arguments=len,
        limits=limits,
    )
    chosen = made.decoder_options()
    assert chosen == {
        "include_reasoning": True,
        "include_usage": True,
        "keep_thinking": True,
        "synthesize_tool_ids": True,
        "repair_arguments": len,
        "limits": limits,
    }
    assert StreamDecoder(made.protocol, **chosen).limits is limits
    defaults = options().decoder_options()
    assert not any(value for name, value in defaults.items() if name != "limits")
