"""The asynchronous client over real sockets: a whole loop, while the server watches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.agent_loop import QUESTION, check_loop, loop_options, loop_server
from tests.machine import options
from tests.sockets import STREAM, closed_port, open_files, settled
from tests.support import PROTOCOLS

import tokwire
import tokwire_asyncio
import tokwire_httpcore
from tokwire_replay import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokwire_http import AsyncTransport


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("make_transport", [None, tokwire_asyncio.SocketTransport, tokwire_httpcore.AsyncTransport])
def test_three_rounds(protocol: str, make_transport: Callable[[], AsyncTransport] | None) -> None:
    async def main(url: str) -> None:
        transport = None if make_transport is None else make_transport()
        async with tokwire_asyncio.Client(loop_options(protocol, url), transport=transport) as client:
            async with client.send(QUESTION) as turn:
                events = [await anext(turn)]
                assert events[0].as_text() == "I lo"  # the rest of this body was not sent yet
                server.release()
                events += [event async for event in turn]
            check_loop(protocol, server, events, client.history)
        if isinstance(transport, tokwire_asyncio.SocketTransport):
            transport.close()
        elif isinstance(transport, tokwire_httpcore.AsyncTransport):
            await transport.aclose()
        await settled()

    before = open_files()
    server = loop_server(protocol)
    with server as url:
        asyncio.run(main(url), debug=True)
    assert open_files() == before


def test_a_query_makes_a_connection_of_its_own() -> None:
    async def main(url: str) -> None:
        for _ in range(2):
            async with tokwire_asyncio.query("Hello", options(base_url=url)) as turn:
                assert await turn.collect() == tokwire.Message.assistant("onetwo")
        await settled()

    before = open_files()
    server = serve(STREAM)
    with server as url:
        asyncio.run(main(url), debug=True)
        assert server.connections == 2
    assert open_files() == before


def test_nobody_is_there() -> None:
    async def main() -> None:
        asked = options(base_url=f"http://127.0.0.1:{closed_port()}", retry=tokwire.RetryConfig(initial_delay=0))
        async with tokwire_asyncio.Client(asked) as client:
            turn = client.send("Hello")
            assert [type(await anext(turn)) for _ in range(2)] == [tokwire.Retrying] * 2
            with pytest.raises(tokwire.ConnectError):
                await anext(turn)

    asyncio.run(main(), debug=True)


def test_the_idle_timeout_is_that_of_the_options() -> None:
    async def main(url: str) -> None:
        async with tokwire_asyncio.Client(options(base_url=url, idle_timeout=0.05)) as client:
            with pytest.raises(tokwire.TransportTimeout) as caught:
                await client.send("Hello").collect()
            assert caught.value.phase == "idle"

    with serve(STREAM, faults=["slow-head"]) as url:
        asyncio.run(main(url), debug=True)


@pytest.mark.parametrize("drops", [False, True])
def test_a_turn_that_is_left_closes_its_connection(*, drops: bool) -> None:
    async def main(url: str) -> None:
        async with tokwire_asyncio.Client(options(base_url=url)) as client:
            turn = client.send("Hello")
            await anext(turn)
            if drops:
                with pytest.warns(ResourceWarning, match="unclosed <AsyncTurn"):
                    del turn
            else:
                await turn.aclose()
            await server.async_wait(lambda: server.closed_by_client == 1)

    server = serve(STREAM, faults=[f"stall:{len(STREAM) // 2}"])
    with server as url:
        asyncio.run(main(url), debug=True)


def test_the_limits_are_those_of_the_options() -> None:
    async def main(url: str) -> None:
        asked = options(base_url=url, limits=tokwire.Limits(max_head_bytes=20))
        async with tokwire_asyncio.Client(asked) as client:
            with pytest.raises(tokwire.LimitExceeded, match="max_head_bytes"):
                await client.send("Hello").collect()
        with pytest.raises(tokwire.LimitExceeded, match="max_head_bytes"):
            await tokwire_asyncio.query("Hello", asked).collect()

    with serve(STREAM) as url:
        asyncio.run(main(url), debug=True)
