"""Every adapter closes its connection when the consumer stops, at the end of the stream and after errors."""

from __future__ import annotations

import pytest
from tests.contract.driver import Adapter, Ask
from tests.support import PROTOCOLS, data, marker_of, reason_of, text_stream

import tokwire
from tokwire_replay import ReplayServer, serve


def stream(protocol: str) -> bytes:
    """A whole answer in three fragments."""
    return text_stream(protocol, "one", "two", "three") + reason_of(protocol) + marker_of(protocol)


def until_closed(server: ReplayServer, url: str, protocol: str, leave_after: int | None = None) -> Ask:
    """A request at whose end the server must see that the client closed, while the client itself is alive."""
    return Ask(
        url,
        protocol,
        leave_after=leave_after,
        at_the_end=lambda: server.wait(lambda: server.closed_by_client == server.connections),
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("taken", [0, 1, 2])
def test_leaving_early_closes_the_socket(adapter: Adapter, protocol: str, taken: int) -> None:
    body = stream(protocol)
    server = serve(body, faults=[f"stall:{len(text_stream(protocol, 'one', 'two'))}"])
    with server as url:
        (seen,) = adapter.run(until_closed(server, url, protocol, taken))
    assert len(seen.events) == taken
    assert server.open_connections == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_the_end_marker_ends_the_stream_while_the_server_keeps_the_connection(
    adapter: Adapter, protocol: str, framing: str
) -> None:
    server = serve(stream(protocol), framing=framing, faults=["stall"])
    with server as url:
        (seen,) = adapter.run(until_closed(server, url, protocol))
    assert seen.error is None
    assert seen.events[-1] == tokwire.Finish(tokwire.FinishReason.STOP)
    assert seen.summary.end_marker


def test_an_error_in_the_stream_closes_the_socket(adapter: Adapter) -> None:
    body = text_stream("openai-chat", "one") + data({"error": {"message": "gone", "type": "server_error"}})
    server = serve(body, faults=["stall"])
    with server as url:
        (seen,) = adapter.run(until_closed(server, url, "openai-chat"))
    assert isinstance(seen.error, tokwire.APIError)
    assert len(seen.events) == 1


def test_a_timeout_closes_the_socket(adapter: Adapter) -> None:
    server = serve(text_stream("openai-chat", "one"), faults=["stall"])
    with server as url:
        (seen,) = adapter.run(until_closed(server, url, "openai-chat"), timeout=0.1)
    assert isinstance(seen.error, tokwire.TransportTimeout)


def test_many_streams_leave_nothing_open(adapter: Adapter) -> None:
    server = serve(stream("openai-chat"), faults=["stall"])
    with server as url:
        seen = adapter.run(*[Ask(url, leave_after=number % 5) for number in range(30)])
        server.wait(lambda: server.open_connections == 0)
    assert [len(each.events) for each in seen] == [number % 5 for number in range(30)]
    assert server.connections == server.closed_by_client == 30
