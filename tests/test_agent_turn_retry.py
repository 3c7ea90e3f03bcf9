"""Retries in the turn loop: which requests are sent again, when, and what the caller sees of it."""

from __future__ import annotations

import pytest
from tests.machine import PROTOCOLS, Driver, Reply, adder, called, options, said
from tests.support import chunk

import tokwire
from tokwire import RetryConfig, Retrying

BUSY = Reply(b'{"error":{"message":"busy"}}', tokwire.ResponseHead(529))
RETRY = RetryConfig(max_attempts=3, initial_delay=1.0, multiplier=2.0, jitter=0.0)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def waits(driver: Driver) -> list[float]:
    """The pauses that the machine asked for."""
    return [action.seconds for action in driver.actions if isinstance(action, tokwire.Wait)]


def limited(seconds: str) -> Reply:
    """A reply that tells when to come back."""
    return Reply(b"{}", tokwire.ResponseHead(429, (("retry-after", seconds),)))


@pytest.mark.parametrize(
    "reply",
    [
        BUSY,
        Reply(refused=tokwire.ConnectError("no route")),
        Reply(refused=tokwire.NoResponse("closed")),
        Reply(refused=tokwire.TransportTimeout("too slow")),
        Reply(broken=tokwire.TransportTimeout("too slow")),
        Reply(complete=False),
    ],
)
def test_a_request_whose_response_nobody_saw_is_sent_again(protocol: str, reply: Reply) -> None:
    driver = Driver(options(protocol, retry=RETRY), [reply, reply, Reply(said(protocol, "noon"))])
    events = driver.send("When?")
    retried = [event for event in events if isinstance(event, Retrying)]
    assert [(event.attempt, event.delay) for event in retried] == [(1, 1.0), (2, 2.0)]
    assert all(isinstance(event.error, tokwire.TokwireError) for event in retried)
    assert waits(driver) == [1.0, 2.0]
    assert driver.requests[0] == driver.requests[1] == driver.requests[2]
    assert driver.said == [("user", "When?"), ("assistant", "noon")]


def test_the_response_is_closed_before_the_pause(protocol: str) -> None:
    driver = Driver(options(protocol, retry=RETRY), [BUSY, said(protocol, "noon")])
    driver.send("When?")
    at = driver.kinds.index("Wait")
    assert driver.actions[at - 1] == tokwire.CloseResponse(reuse=False)
    assert driver.kinds[at + 1] == "SendRequest"


def test_after_the_last_attempt_the_error_stands(protocol: str) -> None:
    driver = Driver(options(protocol, retry=RETRY), [BUSY, BUSY, BUSY, said(protocol, "noon")])
    with pytest.raises(tokwire.APIError, match="busy"):
        driver.send("When?")
    assert len(driver.requests) == 3
    assert waits(driver) == [1.0, 2.0]
    assert driver.conversation.history == ()


def test_without_a_policy_nothing_is_sent_again(protocol: str) -> None:
    driver = Driver(options(protocol), [BUSY, said(protocol, "noon")])
    with pytest.raises(tokwire.APIError):
        driver.send("When?")
    assert len(driver.requests) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 501])
def test_a_no_that_stays_a_no_is_not_asked_again(protocol: str, status: int) -> None:
    driver = Driver(options(protocol, retry=RETRY), [Reply(b"{}", tokwire.ResponseHead(status))])
    with pytest.raises(tokwire.APIError):
        driver.send("When?")
    assert waits(driver) == []


def test_once_an_event_was_handed_out_the_request_is_not_sent_again() -> None:
    driver = Driver(options(retry=RETRY), [Reply(chunk({"content": "no"}), complete=False)])
    with pytest.raises(tokwire.StreamTruncated):
        driver.send("When?")
    assert driver.text == "no"
    assert len(driver.requests) == 1


def test_the_server_says_how_long_to_wait(protocol: str) -> None:
    driver = Driver(options(protocol, retry=RETRY), [limited("7"), said(protocol, "noon")])
    driver.send("When?")
    assert waits(driver) == [7.0]


def test_a_wait_longer_than_allowed_raises_at_once(protocol: str) -> None:
    driver = Driver(options(protocol, retry=RETRY), [limited("3600"), said(protocol, "noon")])
    with pytest.raises(tokwire.APIError):
        driver.send("When?")
    assert waits(driver) == []


def test_each_request_of_a_turn_has_its_own_attempts(protocol: str) -> None:
    given = options(protocol, tools=[adder()], auto_execute_tools=True, retry=RETRY)
    replies: list[Reply | bytes] = [BUSY, BUSY, said(protocol, "", called("add")), BUSY, BUSY, said(protocol, "0")]
    driver = Driver(given, replies)
    events = driver.send("Go")
    assert [event.attempt for event in events if isinstance(event, Retrying)] == [1, 2, 1, 2]
    assert driver.said == [("user", "Go"), ("assistant", "add(c1)"), ("user", "c1=0"), ("assistant", "0")]


def test_mistakes_of_the_program_are_not_repeated(protocol: str) -> None:
    for error in (tokwire.LocalProtocolError("closed"), tokwire.TurnInterrupted("stop"), OSError("foreign")):
        driver = Driver(options(protocol, retry=RETRY), [Reply(refused=error)])
        with pytest.raises(type(error)):
            driver.send("When?")
        assert waits(driver) == []
