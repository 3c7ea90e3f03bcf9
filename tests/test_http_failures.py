"""A source that fails: one rule for blocking and asynchronous streams, whatever the client raises."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest
from tests.http_fakes import EVENTS, ONE, STOP, TWO, AsyncScript, Script, Step, decoder

import tokwire
from tokwire_http import AsyncEventStream, EventStream

Run = Callable[..., tuple[list[tokwire.StreamEvent], BaseException | None]]


class ReadTimeout(Exception):
    """As clients name it."""


class ServerReadTimeoutError(ReadTimeout):
    """A class below it, with another name."""


class ConnectTimeout(Exception):
    """As clients name it."""


def blocking(*steps: Step, status: int = 200) -> tuple[list[tokwire.StreamEvent], BaseException | None]:
    """Read a scripted response."""
    response = Script(*steps, head=tokwire.ResponseHead(status))
    events: list[tokwire.StreamEvent] = []
    failure: BaseException | None = None
    try:
        events.extend(EventStream(response, decoder()))
    except tokwire.TokwireError as error:
        failure = error
    assert response.closed
    return events, failure


def asynchronous(*steps: Step, status: int = 200) -> tuple[list[tokwire.StreamEvent], BaseException | None]:
    """Read a scripted response in a task."""
    response = AsyncScript(*steps, head=tokwire.ResponseHead(status))
    events: list[tokwire.StreamEvent] = []

    async def read() -> None:
        async for event in AsyncEventStream(response, decoder()):
            events.append(event)  # noqa: PERF401 - what came before an error counts

    failure: BaseException | None = None
    try:
        asyncio.run(read())
    except tokwire.TokwireError as error:
        failure = error
    assert len(response.closed) == 1
    return events, failure


@pytest.fixture(params=[blocking, asynchronous])
def run(request: pytest.FixtureRequest) -> Run:
    """Both ways."""
    chosen: Run = request.param
    return chosen


@pytest.mark.parametrize("error", [ConnectionResetError(104, "reset"), OSError(), ValueError("odd"), RuntimeError("x")])
def test_a_foreign_error_is_the_cause_of_a_truncation(run: Run, error: Exception) -> None:
    events, failure = run(ONE, TWO, error)
    assert events == EVENTS[:2]
    assert isinstance(failure, tokwire.StreamTruncated)
    assert failure.__cause__ is error


@pytest.mark.parametrize(
    "error", [OSError(), ReadTimeout(), tokwire.StreamTruncated("cut"), tokwire.NoResponse("gone")]
)
def test_an_error_behind_the_finish_reason_is_dropped(run: Run, error: Exception) -> None:
    assert run(ONE, TWO, STOP, error) == (EVENTS, None)


@pytest.mark.parametrize("error", [OSError(), ReadTimeout(), tokwire.TransportTimeout("idle", phase="idle")])
def test_an_error_status_wins(run: Run, error: Exception) -> None:
    events, failure = run(b'{"error": {"message": "busy"}}', error, status=503)
    assert events == []
    assert isinstance(failure, tokwire.APIError)
    assert (failure.status_code, failure.message) == (503, "busy")


@pytest.mark.parametrize(
    ("error", "phase"),
    [
        (ReadTimeout(), "idle"),
        (ServerReadTimeoutError(), "idle"),
        (ConnectTimeout(), "connect"),
        (TimeoutError(), {blocking: "idle", asynchronous: "total"}),
        (socket.timeout(), {blocking: "idle", asynchronous: "total"}),  # noqa: UP041 - the name that old clients raise
    ],
)
def test_a_timeout_of_the_client(run: Run, error: Exception, phase: str | dict[Run, str]) -> None:
    events, failure = run(ONE, error)
    assert events == EVENTS[:1]
    assert isinstance(failure, tokwire.TransportTimeout)
    assert failure.phase == (phase if isinstance(phase, str) else phase[run])
    assert failure.__cause__ is error


def test_a_timeout_before_the_first_byte(run: Run) -> None:
    events, failure = run(ReadTimeout())
    assert events == []
    assert isinstance(failure, tokwire.TransportTimeout)


@pytest.mark.parametrize(
    "error",
    [
        tokwire.TransportTimeout("total", phase="total"),
        tokwire.NoResponse("closed"),
        tokwire.RemoteProtocolError("no HTTP"),
    ],
)
def test_our_own_errors_pass_as_they_are(run: Run, error: Exception) -> None:
    error.__cause__ = cause = OSError()
    events, failure = run(ONE, error)
    assert events == EVENTS[:1]
    assert failure is error
    assert failure.__cause__ is cause


def test_a_truncation_that_a_transport_reports_is_the_cause_of_the_one_of_the_decoder(run: Run) -> None:
    error = tokwire.StreamTruncated("the connection was closed")
    events, failure = run(ONE, error)
    assert events == EVENTS[:1]
    assert isinstance(failure, tokwire.StreamTruncated)
    assert failure.offset == len(ONE)
    assert failure.__cause__ is error


@pytest.mark.parametrize("error", [tokwire.TurnInterrupted("stop"), tokwire.LocalProtocolError("misuse")])
def test_interrupts_and_misuse_pass_even_behind_the_finish_reason(run: Run, error: Exception) -> None:
    events, failure = run(ONE, STOP, error)
    assert events == [EVENTS[0]]
    assert failure is error


def test_what_the_decoder_finds_stays_when_the_source_fails_too(run: Run) -> None:
    _, failure = run(b"<html>", OSError())
    assert isinstance(failure, tokwire.RemoteProtocolError)
    assert not isinstance(failure, tokwire.StreamTruncated)


def test_a_clean_end_inside_an_event_is_truncated_without_a_cause(run: Run) -> None:
    events, failure = run(ONE, TWO[:20])
    assert events == EVENTS[:1]
    assert isinstance(failure, tokwire.StreamTruncated)
    assert failure.__cause__ is None
