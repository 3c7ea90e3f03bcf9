"""`iter_events`, `aiter_events`, and the ready responses behind them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.http_fakes import EVENTS, HEAD, WHOLE, ReadTooFarError

import tokwire
from tokwire_http import AsyncChunkResponse, ChunkResponse, EventStream, aiter_events, from_response, iter_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

RECORDING = Path(__file__).resolve().parent.parent / "examples" / "recordings" / "openai-chat" / "text.sse"


class Source:
    """Makes generators of chunks and counts those that were closed."""

    def __init__(self) -> None:
        self.closed = 0

    def chunks(self) -> Iterator[bytes]:
        """A blocking one."""
        try:
            yield from WHOLE
            raise ReadTooFarError
        finally:
            self.closed += 1

    async def async_chunks(self) -> AsyncIterator[bytes]:
        """An asynchronous one."""
        try:
            for chunk in WHOLE:
                await asyncio.sleep(0)
                yield chunk
            raise ReadTooFarError
        finally:
            self.closed += 1


def test_a_list_a_generator_and_a_file() -> None:
    source = Source()
    assert list(iter_events(WHOLE, "openai-chat")) == EVENTS
    assert list(iter_events(source.chunks(), "openai-chat")) == EVENTS
    assert source.closed == 1
    with RECORDING.open("rb") as body:
        assert list(iter_events(body, "openai-chat")) == tokwire.decode(RECORDING.read_bytes(), "openai-chat")


def test_leaving_early_closes_the_generator() -> None:
    source = Source()
    for _ in iter_events(source.chunks(), "openai-chat"):
        break
    assert source.closed == 1
    with iter_events(source.chunks(), "openai-chat") as stream:
        next(stream)
    assert source.closed == 2


def test_asynchronous_chunks() -> None:
    source = Source()

    async def read() -> list[tokwire.StreamEvent]:
        return [event async for event in aiter_events(source.async_chunks(), "openai-chat")]

    assert asyncio.run(read()) == EVENTS
    assert source.closed == 1


def test_leaving_early_closes_the_asynchronous_generator() -> None:
    source = Source()

    async def read() -> None:
        async with aiter_events(source.async_chunks(), "openai-chat") as stream:
            async for _ in stream:
                break
        assert source.closed == 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(read())


def test_importing_it_loads_no_client_and_no_machinery_of_io() -> None:
    script = "import sys, msgspec; before = set(sys.modules); import tokwire_http; print(*set(sys.modules) - before)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in answer.stdout.split()}
    assert "tokwire_http" in loaded
    assert not loaded & {"asyncio", "socket", "ssl", "threading", "http", "urllib", "httpx", "aiohttp", "requests"}


def test_a_decoder_in_place_of_a_protocol() -> None:
    decoder = tokwire.StreamDecoder("openai-chat", include_raw=True)
    events = list(iter_events(WHOLE, decoder))
    assert [event for event in events if not isinstance(event, tokwire.RawPayload)] == EVENTS
    assert len(events) > len(EVENTS)
    assert decoder.state is tokwire.StreamState.DONE


def test_options_belong_to_a_protocol() -> None:
    assert len(list(iter_events(WHOLE, tokwire.protocols()[0].name, include_raw=True))) > 0
    with pytest.raises(TypeError, match="include_raw to StreamDecoder"):
        iter_events(WHOLE, tokwire.StreamDecoder("openai-chat"), include_raw=True)


def test_an_unknown_protocol_is_named_before_anything_is_read() -> None:
    source = Source()
    with pytest.raises(ValueError, match="pigeon"):
        iter_events(source.chunks(), "pigeon")
    with pytest.raises(ValueError, match="pigeon"):
        from_response(object(), "pigeon")


def test_a_chunk_response_closes_once_and_swallows_the_errors_of_closing() -> None:
    calls: list[int] = []

    def close() -> None:
        calls.append(1)
        raise OSError

    response = ChunkResponse(HEAD, iter(WHOLE), close)
    assert next(response) == WHOLE[0]
    response.close()
    response.close(reuse=True)
    assert calls == [1]
    assert list(response) == []


def test_a_ready_response_is_all_that_a_transport_needs() -> None:
    decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder("openai-chat"))
    with EventStream(ChunkResponse(HEAD, WHOLE), decoder) as stream:
        assert list(stream) == EVENTS
        assert stream.head == HEAD


def test_an_asynchronous_chunk_response() -> None:
    calls: list[str] = []

    async def close() -> None:
        calls.append("aclose")
        raise OSError

    def abort() -> None:
        calls.append("abort")
        raise OSError

    async def use() -> None:
        response = AsyncChunkResponse(HEAD, Source().async_chunks(), close, abort)
        assert await anext(response) == WHOLE[0]
        response.abort()
        await response.aclose()
        await response.aclose(reuse=True)
        assert [chunk async for chunk in response] == []

    asyncio.run(use())
    assert calls == ["abort", "aclose"]
