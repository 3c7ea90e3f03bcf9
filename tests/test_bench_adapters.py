"""The benchmarks of the adapters: every way gives the events of the decoder, and each of its reads is waited for.

Nothing here looks at a time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import select
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from bench import __main__ as command
from bench import adapters, open_streams, report, streams, ways, wire
from bench.contestants import WrongAnswer, each_event
from tests.test_bench import TINY, say

import tokwire
import tokwire_asyncio._link

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDINGS = [make(30) for make in streams.SPEED]
WAYS, SKIPPED = ways.known_ways()


def decoded(protocol: str, chunks: list[bytes]) -> list[tokwire.StreamEvent]:
    """The events of the decoder alone."""
    return list(each_event(tokwire.StreamDecoder(protocol, include_reasoning=True), chunks))


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_way_gives_the_events_of_the_decoder_again_and_again(
    way: ways.Way, recording: streams.Recording, size: int
) -> None:
    chunks = adapters.chunks_of(recording, size)
    with ExitStack() as stack:
        run = way.prepare(stack, recording.protocol, chunks)
        assert [run() for _ in range(3)] == [decoded(recording.protocol, chunks)] * 3


def test_every_adapter_is_measured_and_httpcore_with_and_without_it() -> None:
    assert not SKIPPED
    assert {way.name: way.beside for way in WAYS if way.beside} == {
        "tokwire_httpcore": "httpcore, iter_stream",
        "tokwire_httpcore, async": "httpcore, aiter_stream",
    }
    assert {"tokwire_threads", "tokwire_asyncio"} < {way.name for way in WAYS}


def test_without_httpcore_the_others_are_measured() -> None:
    with patch.dict("sys.modules", {"tokwire_httpcore": None}):
        known, skipped = ways.known_ways()
    assert [way.name for way in known] == [way.name for way in WAYS[:4]]
    assert len(skipped) == 1
    assert skipped[0].startswith("tokwire_httpcore: ")


def test_a_way_that_gives_other_events_is_not_timed() -> None:
    def lossy(stack: ExitStack, protocol: str, chunks: list[bytes]) -> ways.Run:
        return ways.decoder_alone(stack, protocol, chunks[2:])

    broken = replace(WAYS[0], name="lossy", prepare=lossy)
    with pytest.raises(WrongAnswer, match="lossy: its events of OpenAI text"):
        adapters.measure_size(RECORDINGS[0], 1, [WAYS[0], broken], 1)


@pytest.mark.parametrize("size", [1, 10])
def test_a_blocking_socket_is_polled_for_every_read(size: int) -> None:
    chunks = adapters.chunks_of(RECORDINGS[0], size)
    polls = 0
    real = select.poll

    def counted() -> Any:
        nonlocal polls
        polls += 1
        return real()

    with ExitStack() as stack, patch("select.poll", counted):
        ways.over_threads(stack, "openai-chat", chunks)()
    assert polls == len(chunks)  # not for the head, which comes after a send; nor for the end, behind the end marker


@pytest.mark.parametrize("size", [1, 10])
def test_an_event_loop_wakes_the_reader_for_every_read(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = adapters.chunks_of(RECORDINGS[0], size)
    waits = 0
    real: Callable[..., Any] = tokwire_asyncio._link.Link.wait

    async def counted(self: Any, until: float) -> bool:
        nonlocal waits
        waits += 1
        return bool(await real(self, until))

    monkeypatch.setattr(tokwire_asyncio._link.Link, "wait", counted)
    with ExitStack() as stack:
        ways.over_asyncio(stack, "openai-chat", chunks)()
    assert waits == 1 + len(chunks)


def test_a_response_is_its_head_its_chunks_and_its_end() -> None:
    reads = wire.response([b"one", b"x" * 20])
    assert reads[1:] == [b"3\r\none\r\n", b"14\r\n" + b"x" * 20 + b"\r\n", b"0\r\n\r\n"]
    exchange = tokwire.HTTPExchange(ways.REQUEST)
    exchange.data_to_send()
    exchange.receive_data(b"".join(reads))
    assert b"".join(exchange.body()) == b"one" + b"x" * 20
    assert exchange.ended


class LeavesAtOnce(asyncio.Protocol):
    """Drops its connection at the first read."""

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.transport: Any = None

    def data_received(self, data: bytes) -> None:
        self.given.append(data)
        self.transport.abort()


def test_a_connection_that_was_dropped_gives_no_more() -> None:
    reader = LeavesAtOnce()

    async def main() -> None:
        reader.transport = wire.ReadyTransport(asyncio.get_running_loop(), reader, [b"one", b"two"])
        reader.transport.write(b"request")
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert reader.given == [b"one"]
    assert reader.transport.is_closing()


def test_what_is_patched_for_the_blocking_sockets_comes_back() -> None:
    from tokwire_threads import _connection  # noqa: PLC0415 - what stands there now

    before = _connection.connect
    with wire.blocking_sockets([]):
        assert _connection.connect is not before
    assert _connection.connect is before


def test_open_streams_hold_more_than_their_decoder() -> None:
    rows = open_streams.measure_open_streams(scale=0.01, say=say)
    alone, threads, tasks, peak = rows
    assert [row.count for row in rows] == [5] * 4
    assert 1_000 < alone.bytes < threads.bytes < tasks.bytes <= peak.bytes
    assert threads.what == "tokwire_threads"
    assert tasks.what.startswith("tokwire_asyncio")


def test_the_server_of_the_open_streams_sends_half_and_ends_with_its_user() -> None:
    recording = streams.openai_text(10)
    half = recording.events[:4]
    with open_streams.silent_server(recording, half) as url:
        assert len(multiprocessing.active_children()) == 1
        stream = open_streams.opened(tokwire.HTTPRequest("POST", url), recording.protocol, half)
        assert stream.summary.model
        stream.close()
    assert not multiprocessing.active_children()


def test_the_table_shows_ratios_first() -> None:
    costs = [
        adapters.Cost("decoder alone", 1, 2.0, 2.0, None),
        adapters.Cost("tokwire_httpcore", 1, 9.0, 2.0, ("httpcore", 6.0)),
    ]
    table = report.adapters_table(report.Results({}, adapters=costs))
    assert table.body == [
        ["decoder alone", "1", "1.00x", "", "", "2.00"],
        ["tokwire_httpcore", "1", "4.50x", "1.50x", "1.50x", "9.00"],
    ]
    assert len(table.head) == len(table.body[0])


def test_the_command_measures_only_the_adapters_where_that_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "QUICK", TINY)
    assert command.main(["adapters", "--quick"]) == 0
    printed = capsys.readouterr().out
    assert "\n\nAdapters\n\n" in printed
    assert "\n\nOpen streams\n\n" in printed
    assert "\n\nSpeed\n\n" not in printed
    assert printed.count("tokwire_threads  ") >= len(adapters.SIZES)
