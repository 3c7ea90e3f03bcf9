"""The turn loop when a response fails: what is raised, what was handed out before, and what stays in the history."""

from __future__ import annotations

from typing import Any

import pytest
from tests.machine import PROTOCOLS, Driver, Reply, adder, called, options, said

import tokwire
from tokwire import Message, TextBlock


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


FAILURES: dict[str, tuple[Reply, type[tokwire.TokwireError]]] = {
    "a status": (Reply(b'{"error":{"message":"no"}}', tokwire.ResponseHead(400)), tokwire.APIError),
    "a redirect": (Reply(head=tokwire.ResponseHead(302, (("location", "http://a.example/"),))), tokwire.APIError),
    "no connection": (Reply(refused=tokwire.ConnectError("no route")), tokwire.ConnectError),
    "no response": (Reply(refused=tokwire.NoResponse("closed")), tokwire.NoResponse),
    "a timeout in the body": (Reply(broken=tokwire.TransportTimeout("idle", phase="idle")), tokwire.TransportTimeout),
    "a client that fails in the body": (Reply(broken=OSError("reset")), tokwire.StreamTruncated),
    "a cut body": (Reply(complete=False), tokwire.StreamTruncated),
    "nonsense": (Reply(b"<html>"), tokwire.RemoteProtocolError),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_in_the_first_round_leaves_the_history_as_it_was(protocol: str, name: str) -> None:
    reply, kind = FAILURES[name]
    before = (Message.user("Hi"), Message.assistant("Hello"))
    driver = Driver(options(protocol), [reply, said(protocol, "Yes.")], history=before)
    with pytest.raises(kind) as caught:
        driver.send("Again")
    assert driver.conversation.history == before
    assert driver.conversation.finish_reason is None
    assert not driver.conversation.is_open
    assert list(driver.conversation.events()) == []
    with pytest.raises(kind) as again:
        driver.conversation.next_action()
    assert again.value is caught.value
    driver.send("Again")
    assert driver.text == "Yes."


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_in_a_later_round_keeps_the_earlier_ones(protocol: str, name: str) -> None:
    reply, kind = FAILURES[name]
    given = options(protocol, tools=[adder()], auto_execute_tools=True)
    driver = Driver(given, [said(protocol, "", called("add")), reply, said(protocol, "Here.")])
    with pytest.raises(kind):
        driver.send("Go")
    assert driver.said == [("user", "Go"), ("assistant", "add(c1)"), ("user", "c1=0")]
    driver.send(None)
    assert driver.said[-1] == ("assistant", "Here.")


def test_events_before_a_failure_are_handed_out_and_the_response_is_closed(protocol: str) -> None:
    body = said(protocol, "noon")
    driver = Driver(options(protocol), [Reply(body[: body.index(b'"on"')], complete=False)])
    with pytest.raises(tokwire.StreamTruncated):
        driver.send("When?")
    assert driver.text == "no"
    assert driver.actions[-1] == tokwire.CloseResponse(reuse=False)


def test_the_failure_of_a_client_is_the_cause(protocol: str) -> None:
    reset = OSError("reset")
    driver = Driver(options(protocol), [Reply(broken=reset)])
    with pytest.raises(tokwire.StreamTruncated) as caught:
        driver.send("When?")
    assert caught.value.__cause__ is reset


def test_a_failure_behind_the_end_marker_does_not_matter() -> None:
    body = said("openai-chat", "noon").removesuffix(b"data: [DONE]\n\n")
    driver = Driver(options(), [Reply(body, broken=OSError("reset"))])
    driver.send("When?")
    assert driver.text == "noon"


@pytest.mark.parametrize("reply", [{"broken": OSError("reset")}, {"complete": False}])
def test_a_connection_that_failed_is_not_used_again(reply: dict[str, Any]) -> None:
    body = said("openai-chat", "noon").removesuffix(b"data: [DONE]\n\n")
    driver = Driver(options(), [Reply(body, **reply)])
    driver.send("When?")
    assert driver.actions[-2] == tokwire.CloseResponse(reuse=False)


def test_arguments_that_are_no_json_fail_the_round(protocol: str) -> None:
    given = options(protocol, tools=[adder()], auto_execute_tools=True)
    driver = Driver(given, [said(protocol, "Hm.", called("add", '{"a":'))])
    with pytest.raises(tokwire.InvalidToolArguments):
        driver.send("Go")
    assert driver.text == "Hm."
    assert driver.said == []


def test_a_request_that_cannot_be_built_ends_the_turn() -> None:
    picture = tokwire.ImageBlock.from_url("http://quay.example/a.png")
    driver = Driver(options("ollama"))
    with pytest.raises(ValueError, match=r"(?i)image"):
        driver.send([TextBlock("See"), picture])
    assert driver.requests == []
    assert driver.conversation.history == ()
