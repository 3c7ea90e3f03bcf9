"""The blocking client over real sockets: a whole loop, while the server watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.agent_loop import QUESTION, check_loop, loop_options, loop_server
from tests.machine import options
from tests.sockets import STREAM, closed_port, open_files
from tests.support import PROTOCOLS

import tokwire
import tokwire_httpcore
import tokwire_threads
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokwire_http import Transport


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("make_transport", [None, tokwire_threads.SocketTransport, tokwire_httpcore.Transport])
def test_three_rounds(protocol: str, make_transport: Callable[[], Transport] | None) -> None:
    before = open_files()
    server = loop_server(protocol)
    with server as url:
        transport = None if make_transport is None else make_transport()
        with tokwire_threads.Client(loop_options(protocol, url), transport=transport) as client:
            with client.send(QUESTION) as turn:
                events = [next(turn)]
                assert events[0].as_text() == "I lo"  # the rest of this body was not sent yet
                server.release()
                events += turn
            check_loop(protocol, server, events, client.history)
        if transport is not None:
            transport.close()  # type: ignore[attr-defined]  # these have one
    assert open_files() == before


def test_a_query_makes_a_connection_of_its_own() -> None:
    before = open_files()
    server = serve(STREAM)
    with server as url:
        for _ in range(2):
            with tokwire_threads.query("Hello", options(base_url=url)) as turn:
                assert turn.collect() == tokwire.Message.assistant("onetwo")
        assert server.connections == 2
    assert open_files() == before


def test_nobody_is_there() -> None:
    asked = options(base_url=f"http://127.0.0.1:{closed_port()}", retry=tokwire.RetryConfig(initial_delay=0))
    with tokwire_threads.Client(asked) as client:
        turn = client.send("Hello")
        assert [type(next(turn)) for _ in range(2)] == [tokwire.Retrying] * 2
        with pytest.raises(tokwire.ConnectError):
            next(turn)


def test_the_idle_timeout_is_that_of_the_options() -> None:
    with (
        serve(STREAM, faults=["slow-head"]) as url,
        tokwire_threads.Client(options(base_url=url, idle_timeout=0.05)) as client,
    ):
        with pytest.raises(tokwire.TransportTimeout) as caught:
            client.send("Hello").collect()
        assert caught.value.phase == "idle"


def test_the_limits_are_those_of_the_options() -> None:
    asked = options(limits=tokwire.Limits(max_head_bytes=20))
    with serve(STREAM) as url:
        asked = asked.replace(base_url=url)
        with tokwire_threads.Client(asked) as client, pytest.raises(tokwire.LimitExceeded, match="max_head_bytes"):
            client.send("Hello").collect()
        with pytest.raises(tokwire.LimitExceeded, match="max_head_bytes"):
            tokwire_threads.query("Hello", asked).collect()
