"""The quick and the exact machine hand a body to each other at any place, and nothing is lost or seen twice."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import (
    BODIES,
    DONE,
    EVERYTHING,
    PROTOCOLS,
    chunk,
    cut,
    data,
    decode_options,
    decoded,
    delta,
    every_way,
    marker_of,
    outcome,
    reason_of,
    single_bytes,
    text_stream,
    without_quick_path,
)

import tokwire
from tokwire import Finish, FinishReason, Limits, StreamDecoder
from tokwire._intake import Intake
from tokwire._state import DecodeState
from tokwire.framing._quick_frames import BLOCK_BYTES
from tokwire.framing._sse_body import SSEBody

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOISE = [
    b": comment\n",
    b": comment\n\n",
    b"\n",
    b"\n\n\n",
    b"\r\n",
    b"\r",
    b"id: 7\n\n",
    b"retry: 5\n",
    b"unknown: x\n",
    b"event: other\ndata: {}\n\n",
    b"data: \n\n",
    b"data: : keepalive\n\n",
    b'{"loose":1}\n',
    b'{"loose":\n1}\n\n',
]


class Bare(Intake):
    """An intake from which nothing comes out."""

    def slow_events(self) -> Iterator[tokwire.StreamEvent]:
        return iter(())

    def finish(self) -> None:
        self.complete = None


def events_of(protocol: str) -> list[bytes]:
    """The events of the long body of a protocol, each with its blank line."""
    return [part + b"\n\n" for part in BODIES[protocol].split(b"\n\n")[:-1]]


def check(protocol: str, body: bytes, reads: Sequence[bytes]) -> None:
    expected = outcome(lambda: StreamDecoder(without_quick_path(protocol), **EVERYTHING), [body])
    assert outcome(lambda: StreamDecoder(protocol, **EVERYTHING), reads) == expected


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_noise_anywhere(protocol: str, noise: bytes) -> None:
    body = text_stream(protocol, "a", "b", "c") + reason_of(protocol)
    parts = [part + b"\n\n" for part in body.split(b"\n\n")[:-1]]
    for place in range(len(parts) + 1):
        noisy = b"".join([*parts[:place], noise, *parts[place:]]) + marker_of(protocol)
        found = decoded(protocol, noisy)
        assert (found.text, found.events[-1]) == ("abc", Finish(FinishReason.STOP))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_event_in_a_read_of_its_own_or_several_in_one(protocol: str) -> None:
    parts = events_of(protocol)
    body = b"".join(parts)
    check(protocol, body, parts)
    check(protocol, body, [b"".join(parts[start : start + 3]) for start in range(0, len(parts), 3)])
    for place in range(1, len(parts)):
        check(protocol, body, [b"".join(parts[:place])[:-1], b"\n" + b"".join(parts[place:])])
        check(protocol, body, [b"".join(parts[:place])[:-2], b"\n\n" + b"".join(parts[place:])])
        check(protocol, body, [b"".join(parts[:place])[:-2], b"\n", b"\n", b"".join(parts[place:])])
        check(protocol, body, [b"".join(parts[:place]), parts[place][:9], b"".join(parts[place:])[9:]])


@given(data=st.data())
def test_events_in_any_mixture_of_line_ends_and_noise(data: st.DataObject) -> None:
    protocol = data.draw(st.sampled_from(PROTOCOLS))
    parts: list[bytes] = []
    for part in events_of(protocol):
        parts.append(part.replace(b"\n", data.draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"]))))
        if data.draw(st.booleans()):
            parts.append(data.draw(st.sampled_from(NOISE)))
    body = b"".join(parts)
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=10))
    check(protocol, body, cut(body, places))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_reads_longer_than_a_block(protocol: str) -> None:
    words = [f"word {number} " for number in range(900)]
    body = text_stream(protocol, *words) + reason_of(protocol) + marker_of(protocol)
    assert len(body) > 3 * BLOCK_BYTES
    lot = random.Random(7)
    for reads in (
        [body],
        [body.replace(b"\n", b"\r\n")],
        [body[:100], body[100:]],
        cut(body, [lot.randrange(len(body)) for _ in range(5)]),
        [b"".join(single_bytes(body)[: BLOCK_BYTES - 1]), body[BLOCK_BYTES - 1 :]],
    ):
        found = outcome(lambda: StreamDecoder(protocol), reads)
        assert (found.text, found.failure) == ("".join(words), None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_event_longer_than_a_block(protocol: str) -> None:
    long = "x" * (3 * BLOCK_BYTES)
    body = text_stream(protocol, "a", long, "b") + reason_of(protocol)
    for size in (len(body), BLOCK_BYTES, 5000, 997):
        reads = [body[start : start + size] for start in range(0, len(body), size)]
        assert outcome(lambda: StreamDecoder(protocol), reads).text == f"a{long}b"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_place_of_an_error_behind_ordinary_events(protocol: str) -> None:
    body = text_stream(protocol, "a", "b", "c")
    more = chunk({"content": "d"}) if protocol == "openai-chat" else delta(0, "text", "d")
    for bad in (data(b"junk"), data(b"junk", name="n"), b"data: x\ndata: y\n\n"):
        found = decoded(protocol, body + bad + more)
        assert found.text == "abc"
        assert found.failure is not None
        assert found.failure.offset == len(body)


def test_what_is_held_is_counted() -> None:
    intake = Bare(SSEBody, DecodeState(decode_options(), {}))
    assert intake.held == 0
    assert intake.whole_events(b"data: abc") == b""
    assert (intake.held, intake.is_unfinished) == (9, True)
    assert intake.whole_events(b"\n\ndata: d") == b"data: abc"
    assert (intake.held, intake.reads) == (7, [])
    assert intake.whole_events(b"\n\n: d") == b"data: d"
    assert (intake.held, intake.reads) == (0, [b": d"])
    intake.exact(b"id: 1\nda")
    assert (intake.held, intake.is_unfinished) == (2, True)
    intake.drop_all()
    assert (intake.held, intake.is_unfinished) == (0, False)
    assert intake.next_read() is None
    assert intake.whole_events(b"") == b""


@pytest.mark.parametrize("limit", [12, 40, 90, None])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_held_stays_within_the_limits_and_one_read(protocol: str, limit: int | None) -> None:
    bodies = [
        BODIES[protocol],
        BODIES[protocol].replace(b"\n", b"\r"),
        b"x" * 500,
        b"data: 1\n" * 60,
        b'{"a":\n' * 60,
        b'{"a":1}' + b" " * 90,
        b": " + b"c" * 300,
    ]
    for body in bodies:
        for size in (1, 7, 64, len(body)):
            decoder = StreamDecoder(protocol, limits=Limits(max_line_bytes=limit, max_event_bytes=limit))
            found = 0
            for start in range(0, len(body), size):
                decoder.receive_data(body[start : start + size])
                try:
                    list(decoder.events())
                except tokwire.TokwireError:
                    assert decoder._engine.held == 0
                    break
                found = max(found, decoder._engine.held)
            assert found <= size + (len(body) if limit is None else 2 * limit)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_short_body_in_every_way_holds_nothing_behind_an_event(protocol: str) -> None:
    body = text_stream(protocol, "a")
    for reads in every_way(body):
        decoder = StreamDecoder(protocol)
        for read in reads:
            decoder.receive_data(read)
            assert len([event.as_text() for event in decoder.events()]) <= 1
        assert decoder._engine.held == 0
        assert not decoder._engine.is_unfinished


def test_the_end_mark_comes_through_either_machine() -> None:
    for before in (b"", b"\r", b": c\n"):
        for body in (
            before + chunk({"content": "a"}) + DONE,
            before + DONE.replace(b"\n\n", b"\n"),
            before + DONE[:-2],
        ):
            assert decoded("openai-chat", body).summary.end_marker
