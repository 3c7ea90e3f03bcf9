"""The timeouts of both socket transports: each by its own name, and none where the server keeps talking."""

from __future__ import annotations

import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.sockets import BEGIN, END, HOST, SECRET, SESSIONS, STREAM, Ask, chunked, deaf, read_request, scripted, silent

import tokwire
from tokwire_http import Timeouts
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sockets import Answer

pytestmark = pytest.mark.parametrize("kind", SESSIONS)

SOON = 0.1
"""Seconds."""

LATER = 30.0


def expect(phase: str, ask: Callable[[], Answer], *, text: str = "", seconds: float = SOON) -> None:
    """Ask, and see that one timeout is told, with its cause."""
    expect_answer(phase, ask(), text, seconds)


def expect_answer(phase: str, answer: Answer, text: str, seconds: float) -> None:
    """See that one timeout is told, with its cause."""
    assert isinstance(answer.error, tokwire.TransportTimeout)
    assert answer.error.phase == phase
    assert f"({phase} timeout)" in str(answer.error)
    assert f"after {seconds:g} s" in str(answer.error) or f"for {seconds:g} s" in str(answer.error)
    assert isinstance(answer.error.__cause__, TimeoutError)
    assert SECRET not in str(answer.error)
    assert answer.text == text


def asking(ask: Ask, url: str, **timeouts: float) -> Callable[[], Answer]:
    """A request to a server, with a query that must not be shown."""
    limits = {"connect": LATER, "idle": LATER, "total": LATER}
    return partial(ask, f"{url}/?key={SECRET}", timeouts=Timeouts(**limits | timeouts))


def expect_total_in_the_body(ask: Ask, url: str) -> None:
    """See that the total time ends a body that has begun; a busy machine gets more time to begin it."""
    for seconds in (SOON, 2 * SOON, 10 * SOON, 50 * SOON):
        answer = asking(ask, url, total=seconds)()
        if answer.text:
            break
    expect_answer("total", answer, "onetwo", seconds)


def test_connect(kind: str) -> None:
    with deaf() as port, SESSIONS[kind]() as ask:
        expect("connect", asking(ask, f"http://{HOST}:{port}", connect=SOON))


def test_total_while_connecting(kind: str) -> None:
    with deaf() as port, SESSIONS[kind]() as ask:
        expect("total", asking(ask, f"http://{HOST}:{port}", total=SOON))


def test_idle_before_the_head(kind: str) -> None:
    with silent() as port, SESSIONS[kind]() as ask:
        expect("idle", asking(ask, f"http://{HOST}:{port}", idle=SOON))


def test_idle_in_the_head(kind: str) -> None:
    with serve(STREAM, faults=["slow-head"]) as url, SESSIONS[kind]() as ask:
        expect("idle", asking(ask, url, idle=SOON))


def test_total_before_the_head(kind: str) -> None:
    with silent() as port, SESSIONS[kind]() as ask:
        expect("total", asking(ask, f"http://{HOST}:{port}", total=SOON))


def test_idle_in_the_body(kind: str) -> None:
    with serve(STREAM, faults=[f"stall:{len(BEGIN)}"]) as url, SESSIONS[kind]() as ask:
        expect("idle", asking(ask, url, idle=SOON), text="onetwo")


def test_total_in_a_body_that_never_ends(kind: str) -> None:
    """Heartbeats keep the idle timeout away, though it is as short as the total one."""
    server = serve(STREAM, faults=[f"heartbeat:{len(BEGIN)}"], delay=0.002)
    with server as url, SESSIONS[kind]() as ask:
        expect_total_in_the_body(ask, url)


def test_total_in_a_flood(kind: str) -> None:
    """There is always something to read, and so nothing to wait for."""

    def script(peer: socket.socket) -> None:
        read_request(peer)
        peer.sendall(chunked(BEGIN, end=b""))
        beats = chunked(b": heartbeat\n\n" * 1000, end=b"").partition(b"\r\n\r\n")[2]
        with suppress(OSError):
            while True:
                peer.sendall(beats)

    with scripted(script) as url, SESSIONS[kind]() as ask:
        expect_total_in_the_body(ask, url)


def test_heartbeats_keep_the_idle_timeout_away(kind: str) -> None:
    beats = [b": heartbeat\n\n"] * 150
    with serve([BEGIN, *beats, END], delay=0.002) as url, SESSIONS[kind]() as ask:
        assert asking(ask, url, idle=0.2)().error is None


def test_none_waits_as_long_as_it_takes(kind: str) -> None:
    with serve(STREAM, delay=0.01) as url, SESSIONS[kind]() as ask:
        assert ask(url, timeouts=Timeouts(connect=None, idle=None, total=None)).text == "onetwo"
        assert ask(url, timeouts=Timeouts(connect=None, idle=None, total=None)).text == "onetwo"


def test_a_timeout_after_the_finish_reason_is_no_error(kind: str) -> None:
    with serve(STREAM, faults=[f"stall:{len(STREAM) - len(b'data: [DONE]')}"]) as url, SESSIONS[kind]() as ask:
        answer = asking(ask, url, idle=SOON)()
    assert answer.error is None
    assert answer.events[-1] == tokwire.Finish(tokwire.FinishReason.STOP)
