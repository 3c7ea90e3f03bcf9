"""What a turn adds up over its rounds: the usage of tokens, and reasoning."""

from __future__ import annotations

import pytest
from tests.machine import PROTOCOLS, Driver, Reply, adder, called, options, said
from tests.support import chunk

import tokwire


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_usage_is_added_up_and_starts_anew(protocol: str) -> None:
    given = options(protocol, tools=[adder()], auto_execute_tools=True)
    replies = [said(protocol, "", called("add"), tokens=10), said(protocol, "0", tokens=20), said(protocol, "1")]
    driver = Driver(given, replies)
    assert driver.conversation.usage is None
    events = driver.send("Go")
    usage = driver.conversation.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (30, 2)
    assert not any(isinstance(event, tokwire.Usage) for event in events)
    driver.send("More")
    assert driver.conversation.usage is None


def test_usage_events_go_out_by_rounds(protocol: str) -> None:
    given = options(protocol, tools=[adder()], auto_execute_tools=True, include_usage=True)
    driver = Driver(given, [said(protocol, "", called("add"), tokens=10), said(protocol, "0", tokens=20)])
    events = driver.send("Go")
    assert [event.input_tokens for event in events if isinstance(event, tokwire.Usage)] == [10, 20]


def test_usage_of_a_response_that_failed_counts() -> None:
    body = chunk({"content": "no"}, usage={"prompt_tokens": 7, "completion_tokens": 1})
    driver = Driver(options(), [Reply(body, complete=False)])
    with pytest.raises(tokwire.StreamTruncated):
        driver.send("Go")
    usage = driver.conversation.usage
    assert usage is not None
    assert usage.input_tokens == 7


@pytest.mark.parametrize("is_included", [True, False])
def test_reasoning_is_joined_over_rounds_and_never_in_the_history(is_included: bool) -> None:  # noqa: FBT001
    given = options(tools=[adder()], auto_execute_tools=True, include_reasoning=is_included)
    thought = chunk({"reasoning_content": "hm"})
    replies = [
        thought + said("openai-chat", "", called("add")),
        thought + said("openai-chat", "0"),
        said("openai-chat"),
    ]
    driver = Driver(given, replies)
    driver.send("Go")
    assert driver.conversation.reasoning == ("hmhm" if is_included else None)
    assert driver.said[-1] == ("assistant", "0")
    driver.send("More")
    assert driver.conversation.reasoning is None
