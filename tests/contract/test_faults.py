"""Every adapter reports each fault of a connection as the same error, behind the events that came before it."""

from __future__ import annotations

import traceback

import pytest
from tests.contract.clients import SECRET
from tests.contract.driver import Adapter, Ask, Seen
from tests.support import DONE, chunk

import tokwire
from tokwire_replay import Reply, serve

HALF = chunk({"content": "Half"}) + chunk({"content": " an answer"})
REST = chunk({"content": "."}) + chunk({}, "stop") + DONE
TEXTS = [tokwire.Block(tokwire.TextBlock(text)) for text in ("Half", " an answer", ".")]
WHOLE = [*TEXTS, tokwire.Finish(tokwire.FinishReason.STOP)]
AFTER_HALF = len(HALF)


def assert_truncated(seen: Seen) -> None:
    """Half of the answer came, and the error says that it is a half."""
    assert seen.events == TEXTS[:2]
    assert isinstance(seen.error, tokwire.StreamTruncated)


@pytest.mark.parametrize("framing", ["chunked", "length"])
@pytest.mark.parametrize("place", [AFTER_HALF, AFTER_HALF + 5])
def test_a_cut_body(adapter: Adapter, framing: str, place: int) -> None:
    with serve(HALF + REST, framing=framing, faults=[f"cut:{place}"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert_truncated(seen)


def test_a_cut_that_no_framing_shows_ends_with_an_unspecified_reason(adapter: Adapter) -> None:
    with serve(HALF + REST, framing="close", faults=[f"cut:{AFTER_HALF}"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert seen.events == [*TEXTS[:2], tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)]
    assert not seen.summary.end_marker


def test_a_cut_after_the_finish_reason_is_no_error(adapter: Adapter) -> None:
    with serve(HALF + REST, faults=[f"cut:{len(HALF + REST) - len(DONE)}"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert (seen.events, seen.error) == (WHOLE, None)


def test_a_reset_once_the_events_were_taken(adapter: Adapter) -> None:
    server = serve(HALF + REST, faults=[f"stall:{AFTER_HALF}", f"reset:{AFTER_HALF}"])
    with server as url:
        (seen,) = adapter.run(Ask(url, at_event=(2, server.release)))
    assert_truncated(seen)


def test_bytes_that_came_before_a_reset_are_decoded_before_the_error(adapter: Adapter) -> None:
    with serve(HALF + REST, reads=50, faults=[f"reset:{AFTER_HALF}"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert isinstance(seen.error, tokwire.StreamTruncated)
    assert seen.events == TEXTS[: len(seen.events)]
    if adapter.keeps_bytes:
        assert_truncated(seen)


def test_a_missing_terminator_after_the_marker_is_no_error(adapter: Adapter) -> None:
    with serve(HALF + REST, faults=["no-terminator"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert (seen.events, seen.error) == (WHOLE, None)


@pytest.mark.parametrize("framing", ["chunked", "length"])
def test_a_missing_terminator_without_the_marker(adapter: Adapter, framing: str) -> None:
    with serve(HALF, framing=framing, faults=["no-terminator"]) as url:
        (seen,) = adapter.run(Ask(url))
    assert_truncated(seen)


def test_garbage_behind_the_response_hurts_no_one(adapter: Adapter) -> None:
    if not adapter.bears_garbage:
        pytest.skip("the client refuses such a response before anybody can read it")
    server = serve(HALF + REST, faults=["garbage"])
    with server as url:
        first, second = adapter.run(Ask(url), Ask(url))
    assert first.events == second.events == WHOLE


@pytest.mark.parametrize("fault", ["content-type", "content-type:application/octet-stream"])
def test_a_wrong_content_type_hurts_no_stream(adapter: Adapter, fault: str) -> None:
    with serve(HALF + REST, faults=[fault]) as url:
        (seen,) = adapter.run(Ask(url))
    assert (seen.events, seen.error) == (WHOLE, None)


def test_a_page_is_told_from_a_stream(adapter: Adapter) -> None:
    with serve(b"<html><body>Sign in</body></html>") as url:
        (seen,) = adapter.run(Ask(url))
    assert isinstance(seen.error, tokwire.RemoteProtocolError)
    assert "HTML" in str(seen.error)


def test_a_stall_is_an_idle_timeout(adapter: Adapter) -> None:
    with serve(HALF + REST, faults=[f"stall:{AFTER_HALF}"]) as url:
        (seen,) = adapter.run(Ask(url), timeout=0.1)
    assert seen.events == TEXTS[:2]
    assert isinstance(seen.error, tokwire.TransportTimeout)
    assert seen.error.phase == "idle"
    assert seen.error.__cause__ is not None


def test_a_stall_after_the_finish_reason_is_no_error(adapter: Adapter) -> None:
    with serve(HALF + REST, faults=[f"stall:{len(HALF + REST) - len(DONE)}"]) as url:
        (seen,) = adapter.run(Ask(url), timeout=0.1)
    assert (seen.events, seen.error) == (WHOLE, None)


def test_heartbeats_without_end_are_no_idle_timeout(adapter: Adapter) -> None:
    server = serve(HALF + REST, faults=[f"heartbeat:{AFTER_HALF}"], delay=0.005)
    with server as url:
        (seen,) = adapter.run(
            Ask(url, leave_after=2, at_the_end=lambda: server.wait(lambda: server.closed_by_client == 1))
        )
    assert seen.events == TEXTS[:2]
    assert seen.error is None


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b'{"error": {"message": "No such key"}}', status=401),
        Reply(body=HALF, faults=["no-terminator"]),
        Reply(body=b"<html></html>"),
        Reply(body=HALF, faults=["stall"]),
    ],
    ids=["status", "cut", "page", "timeout"],
)
def test_nothing_secret_is_shown(adapter: Adapter, reply: Reply) -> None:
    server = serve(reply)
    with server as url:
        (seen,) = adapter.run(Ask(f"{url}/v1/chat?key={SECRET}"), timeout=0.1)
    assert seen.error is not None
    (request,) = server.requests
    assert request.header("authorization") == f"Bearer {SECRET}"
    shown = "".join(traceback.format_exception(seen.error)) + repr(seen.error) + seen.shown + repr((server, request))
    assert SECRET not in shown
