"""Bedrock's event streams: exceptions and errors as frames, events that nobody knows, damage, and other bodies."""

from __future__ import annotations

import pytest
from tests.bodies import api_error, begun, block, decode, exception, failed, frame, packed, stopped, text_header
from tests.wire import rows

from tokwire import Limits
from tokwire.protocols import find_protocol

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")


def said(text: str) -> bytes:
    """A fragment of text."""
    return block(0, text=text)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("internalServerException", 500),
        ("validationException", 400),
        ("throttlingException", 429),
        ("serviceUnavailableException", 503),
        ("modelTimeoutException", 408),
        ("modelStreamErrorException", 424),
        ("ThrottlingException", 429),
        ("laterException", None),
    ],
)
def test_exceptions(name: str, status: int | None) -> None:
    error = api_error("bedrock", said("a"), begun(1), exception(name, {"message": "Slow down."}), stopped())
    assert (error.status_code, error.type, error.message) == (status, name, "Slow down.")
    assert error.body == {"message": "Slow down."}


@pytest.mark.parametrize(("original", "status"), [(503, 503), (200, 424), (None, 424)])
def test_an_exception_of_the_model(original: object, status: int) -> None:
    body = {"originalMessage": "Gone.", "originalStatusCode": original}
    error = api_error("bedrock", exception("modelStreamErrorException", body))
    assert (error.status_code, error.message, error.body) == (status, "Gone.", body)


@pytest.mark.parametrize("payload", [b"", b" ", b"null", b'""', b"{}"])
def test_an_exception_that_says_nothing(payload: bytes) -> None:
    error = api_error("bedrock", said("a"), exception("throttlingException", payload))
    assert (error.status_code, error.type, error.body) == (429, "throttlingException", {})


def test_an_exception_in_plain_text() -> None:
    assert api_error("bedrock", exception("validationException", b"no such model")).message == "no such model"


def test_error_frames() -> None:
    names = {":message-type": "error", ":error-code": "InternalError", ":error-message": "Boom."}
    error = api_error("bedrock", said("a"), packed(b"".join(text_header(*pair) for pair in names.items())))
    assert (error.type, error.message) == ("InternalError", "Boom.")
    assert error.body == {"code": "InternalError", "message": "Boom."}
    assert api_error("bedrock", packed(text_header(":message-type", "error"))).body == {"code": None, "message": None}


def test_frames_without_a_kind_are_events() -> None:
    body = packed(text_header(":event-type", "messageStop"), b'{"stopReason":"end_turn"}')
    assert rows(decode("bedrock", body)) == [STOPPED]


def test_events_that_nobody_knows() -> None:
    assert rows(decode("bedrock", frame("later", k=1), said("a"), packed(b"", b"{}"), stopped())) == [
        ("text", "a"),
        STOPPED,
    ]
    assert rows(decode("bedrock", frame("later", k=1))) == [("error", "RemoteProtocolError")]
    assert rows(decode("bedrock", frame("messageStop", raw=b""), said("a"))) == [("text", "a"), UNSAID]


def test_damage_and_payloads_that_are_no_json() -> None:
    damaged = said("b")[:-1] + b"x"
    assert rows(decode("bedrock", said("a"), damaged)) == [("text", "a"), ("error", "RemoteProtocolError")]
    bad = rows(decode("bedrock", said("a"), frame("messageStop", raw=b"{no")))
    assert bad == [("text", "a"), ("error", "RemoteProtocolError")]


def test_the_limit_of_a_frame() -> None:
    assert rows(decode("bedrock", said("x" * 200), limits=Limits(max_frame_bytes=200))) == [("error", "LimitExceeded")]


def test_a_body_of_another_kind_is_named_at_once() -> None:
    assert "server-sent events" in str(failed("bedrock", b"data: {}\n\n, 12 bytes and more"))
    assert not find_protocol("bedrock").marks({"messageStop": {}}, "messageStop")


def test_what_is_held() -> None:
    framing, body = find_protocol("bedrock").framing(Limits()), said("a")
    assert (framing.is_idle, framing.held) == (True, 0)
    assert framing.feed(body[:20], 0) == []
    assert (framing.is_idle, framing.held) == (False, 20)
    (found,) = framing.feed(body[20:] + b"\0", 20)
    assert (found.offset, framing.is_idle, framing.held) == (0, False, 1)
