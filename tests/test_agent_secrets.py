"""The key of the options: nothing that a conversation gives or raises shows it, for any protocol."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from rich.pretty import pretty_repr
from tests.conftest import KEY
from tests.machine import Driver, Reply, adder, called, options, said

import tokwire
from tokwire import Decision, Hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "tk-anchor-0815"
QUERY = "qk-buoy-1234"
SECRETS = (KEY, TOKEN, QUERY)
ALL_PROTOCOLS = ("openai-chat", "anthropic", "openai-responses", "gemini", "ollama", "bedrock", "cohere")
REPLIES = {
    "a refusal": Reply(json.dumps({"error": {"message": "no"}}).encode(), tokwire.ResponseHead(401)),
    "a refused connection": Reply(refused=tokwire.ConnectError("no route")),
    "nonsense": Reply(b"<html>no</html>"),
    "a cut body": Reply(b"data: {", complete=False),
}


def secret_options(protocol: str, **changes: Any) -> tokwire.AgentOptions:
    """Options with a key, a token in a header, and a credential in the query of the address."""
    return options(
        protocol,
        api_key=KEY,
        headers={"x-harbour-token": TOKEN},
        base_url=f"http://quay.example/v1?credential={QUERY}",
        **changes,
    )


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def shown(value: object) -> str:
    """All that printing, logging and formatting would show of a value."""
    texts = [repr(value), str(value), format(value), pretty_repr(value)]
    if isinstance(value, BaseException):
        texts += [repr(vars(value)), repr(value.args), *getattr(value, "__notes__", [])]
    return "\n".join(texts)


def leaks(*values: object) -> list[str]:
    """The secrets that any of the values shows."""
    everything = "\n".join(map(shown, values))
    return [secret for secret in SECRETS if secret in everything]


@pytest.mark.parametrize("protocol", ALL_PROTOCOLS)
def test_the_options_send_their_secrets_and_show_none(protocol: str) -> None:
    given = secret_options(protocol)
    request = tokwire.build_request(given, [tokwire.Message.user("Hi")])
    sent = request.url + str(request.headers)
    assert [secret for secret in SECRETS if secret not in sent] == []
    assert leaks(given, given.replace(model="m2"), request, tokwire.SendRequest(request)) == []
    assert KEY.encode() not in request.body
    with pytest.raises(TypeError):
        msgspec.json.encode(given)


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("protocol", ALL_PROTOCOLS)
def test_errors_show_no_secret(protocol: str, name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    driver = Driver(secret_options(protocol), [REPLIES[name]])
    with pytest.raises(tokwire.TokwireError) as caught:
        driver.send("Hi")
    assert leaks(*chain(caught.value), driver.conversation, *driver.actions, caplog.text) == []


@pytest.mark.parametrize("protocol", ALL_PROTOCOLS)
def test_a_server_that_repeats_the_key_does_not_bring_it_into_the_error(protocol: str) -> None:
    said_by_server = {"error": {"message": f"no such key: {KEY}, {TOKEN}", "keys": [KEY, {KEY: 1}], "code": KEY}}
    for body in (json.dumps(said_by_server).encode(), f"<html>{KEY} {TOKEN}</html>".encode()):
        for status in (401, 200):
            driver = Driver(secret_options(protocol), [Reply(body, tokwire.ResponseHead(status))])
            with pytest.raises(tokwire.TokwireError) as caught:
                driver.send("Hi")
            assert leaks(*chain(caught.value)) == []


def test_a_short_key_is_a_word_that_a_server_may_say() -> None:
    driver = Driver(options(api_key="none"), [Reply(b'{"error":{"message":"none left"}}', tokwire.ResponseHead(400))])
    with pytest.raises(tokwire.APIError, match="none left"):
        driver.send("Hi")


@pytest.mark.parametrize(
    "change", [{"temperature": 99}, {"max_tokens": 0}, {"model": ""}, {"tools": [1]}, {"timeout": 0}]
)
def test_refused_options_show_no_secret(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"temperature": 1.0, **change}
    with pytest.raises((ValueError, TypeError)) as caught:
        secret_options("openai-chat", **given)
    assert leaks(*chain(caught.value)) == []


@pytest.mark.parametrize("key", [KEY + "\n", KEY + "\x00", "ü" + KEY + "€", KEY.encode()])
def test_a_key_that_no_header_can_carry_is_not_shown(key: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        options(api_key=key)
    assert leaks(*chain(caught.value)) == []


def test_credentials_in_the_address_are_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="base_url") as caught:
        options(base_url=f"http://harbour:{KEY}@quay.example/v1")
    assert leaks(*chain(caught.value)) == []


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic"])
def test_a_whole_loop_shows_no_secret(protocol: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[object] = []
    hooks = Hooks(user_prompt_submit=[seen.append], pre_tool_use=[seen.append], post_tool_use=[seen.append])
    given = secret_options(protocol, tools=[adder()], auto_execute_tools=True, hooks=hooks)
    driver = Driver(given, [said(protocol, "Hm.", called("add")), said(protocol, "0")])
    events = driver.send("Go")
    history = tokwire.history_to_json(driver.conversation.history).decode()
    talk = driver.conversation
    assert leaks(*events, *driver.actions, *seen, history, talk, talk.summary, talk.head, caplog.text) == []
    assert leaks(*map(json.dumps, driver.requests)) == []


def test_a_blocked_prompt_shows_no_secret() -> None:
    hooks = Hooks(user_prompt_submit=[lambda _: Decision.block("no")])
    driver = Driver(secret_options("openai-chat", hooks=hooks))
    with pytest.raises(tokwire.PromptBlocked) as caught:
        driver.send("Hi")
    assert leaks(*chain(caught.value)) == []
