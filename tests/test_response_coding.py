"""Content codings: gzip and deflate in every form, whole, cut, broken and far too large."""

from __future__ import annotations

import random
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.http_bodies import STREAM, WINDOWS, Answer, answered, coded, compressed, response_decoder
from tests.support import CHAT, chunk, cut, every_way, single_bytes

import tokwire
from tokwire._inflater import PIECE_BYTES, Inflater

if TYPE_CHECKING:
    from collections.abc import Sequence

EVENTS = tokwire.decode(CHAT, "openai-chat")
CODINGS = tuple(WINDOWS)


def inflated(reads: Sequence[bytes], coding: str = "gzip") -> tuple[bytes, bool, bool]:
    """What comes out, whether it is whole, and whether it is broken."""
    inflater = Inflater(coding.rpartition(" ")[2])
    out = bytearray()
    for read in reads:
        inflater.give(read)
        while inflater.has_more:
            try:
                piece = inflater.more()
            except tokwire.RemoteProtocolError:
                return bytes(out), inflater.is_whole, True
            assert len(piece) <= PIECE_BYTES
            out += piece
    return bytes(out), inflater.is_whole, False


def the_same_for_every_cut(wire: bytes, coding: str, status: int = 200) -> Answer:
    """The answer, once it was shown not to depend on the cuts."""
    expected = answered([wire], status, coded(coding))
    for reads in every_way(wire):
        assert answered(reads, status, coded(coding)) == expected, reads
    return expected


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("coding", CODINGS)
def test_every_coding_at_every_cut(coding: str, level: int) -> None:
    found = the_same_for_every_cut(compressed(CHAT, coding, level=level), coding)
    assert (found.events, found.failure, found.state) == (EVENTS, None, tokwire.StreamState.DONE)


@pytest.mark.parametrize("name", ["GZIP", " gzip ", "x-gzip"])
def test_names_of_codings(name: str) -> None:
    headers = [STREAM, ("content-encoding", name)]
    assert answered([compressed(CHAT, "gzip")], 200, headers).events == EVENTS


@pytest.mark.parametrize("name", ["br", "zstd", "compress", "gzip, br", "gzip, gzip", "x" * 300])
def test_other_codings_are_an_error_at_once(name: str) -> None:
    decoder = response_decoder(200, [("Content-Encoding", name)])
    assert decoder.state is tokwire.StreamState.FAILED
    with pytest.raises(tokwire.RemoteProtocolError, match="content coding") as caught:
        list(decoder.events())
    assert len(str(caught.value)) < 150


def test_other_codings_do_not_hide_the_status() -> None:
    found = answered([b"\x0b\x02\x80 compressed"], 503, [("Content-Encoding", "br")], complete=None)
    assert isinstance(found.error, tokwire.APIError)
    assert (found.error.status_code, found.error.message, found.error.body) == (503, "", None)


@pytest.mark.parametrize("coding", CODINGS)
def test_events_come_as_soon_as_they_can(coding: str) -> None:
    compressor = zlib.compressobj(wbits=WINDOWS[coding])
    decoder = response_decoder(200, coded(coding))
    for word in ("one", "two", "three"):
        wire = compressor.compress(chunk({"content": word})) + compressor.flush(zlib.Z_SYNC_FLUSH)
        decoder.receive_data(wire)
        assert [event.as_text() for event in decoder.events()] == [word]


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("missing", [1, 4, 30])
def test_a_cut_coding_is_a_cut_body(coding: str, missing: int) -> None:
    """Also where nothing but the trailer, or a part of it, is missing: it holds the checksum."""
    body = chunk({"content": "Half"}) + chunk({"content": " an answer, and more of it so that it takes some room"})
    found = the_same_for_every_cut(compressed(body, coding)[:-missing], coding)
    assert isinstance(found.error, tokwire.StreamTruncated)


def test_a_missing_trailer_after_the_marker_is_no_error() -> None:
    found = the_same_for_every_cut(compressed(CHAT, "gzip")[:-8], "gzip")
    assert (found.events, found.failure) == (EVENTS, None)


@pytest.mark.parametrize("wire", [b"", b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08"])
def test_a_coding_that_has_hardly_begun_is_a_cut_body(wire: bytes) -> None:
    assert isinstance(the_same_for_every_cut(wire, "gzip").error, tokwire.StreamTruncated)


@pytest.mark.parametrize("tail", [b"", b"\x00", b"\x1f", b"\x1f\x8a", b"junk", b"\x1fjunk\x1f\x8b", b"\x00" * 600])
@pytest.mark.parametrize("coding", CODINGS)
def test_what_stands_behind_the_end_is_dropped(coding: str, tail: bytes) -> None:
    body = CHAT.partition(b"data: [DONE]")[0]
    found = the_same_for_every_cut(compressed(body, coding) + tail, coding)
    assert (found.events, found.failure) == (EVENTS, None)


def test_members_follow_each_other_in_gzip_alone() -> None:
    for place in range(0, len(CHAT), 97):
        wire = compressed(CHAT[:place], "gzip") + compressed(CHAT[place:], "gzip", level=0)
        assert inflated([wire]) == inflated(single_bytes(wire)) == (CHAT, True, False)
    wire = b"".join(compressed(bytes([byte]), "gzip") for byte in CHAT[:200])
    assert inflated([wire]) == (CHAT[:200], True, False)
    assert not inflated([wire[:-1]])[1]
    deflated = compressed(b"one", "deflate")
    assert inflated([deflated + compressed(b"two", "gzip")], "deflate") == (b"one", True, False)


@pytest.mark.parametrize("coding", CODINGS)
def test_corrupt_bytes_are_an_error_behind_the_events_before_them(coding: str) -> None:
    lot = random.Random(7)
    noise = "".join(chr(lot.randrange(33, 1000)) for _ in range(600))
    body = chunk({"content": "first"}) + chunk({"content": noise}) + CHAT
    whole = compressed(body, coding)
    kinds = set()
    for place in range(20, len(whole), 131):
        wire = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        expected = answered([wire], 200, coded(coding))
        for reads in (
            single_bytes(wire),
            cut(wire, [place]),
            cut(wire, [place // 2, place + 1]),
            cut(wire, [place + 9]),
        ):
            assert answered(reads, 200, coded(coding)) == expected
        kinds.add(type(expected.error).__name__)
    assert "RemoteProtocolError" in kinds
    assert kinds <= {"RemoteProtocolError", "StreamTruncated", "NoneType"}


def test_what_is_corrupt_behind_the_marker_is_no_error() -> None:
    wire = bytearray(compressed(CHAT, "gzip"))
    wire[-6] ^= 1
    found = the_same_for_every_cut(bytes(wire), "gzip")
    assert (found.events, found.failure) == (EVENTS, None)


def test_a_wrong_checksum_is_an_error_behind_all_events() -> None:
    body = chunk({"content": "a"}) + chunk({}, "stop")
    wire = bytearray(compressed(body, "gzip"))
    wire[-6] ^= 1
    found = the_same_for_every_cut(bytes(wire), "gzip")
    assert found.events == [tokwire.Block(tokwire.TextBlock("a"))]
    assert isinstance(found.error, tokwire.RemoteProtocolError)
    assert "content-encoding" in str(found.error)


@pytest.mark.parametrize("coding", CODINGS)
def test_text_in_place_of_the_coding(coding: str) -> None:
    found = the_same_for_every_cut(chunk({"content": "a" * 50}), coding)
    assert isinstance(found.error, tokwire.RemoteProtocolError)
    assert found.events == []


def test_an_error_status_wins_over_a_coding_that_breaks() -> None:
    body = b'{"error": {"message": "Too many ships"}}'
    for wire, message in (
        (compressed(body, "gzip"), "Too many ships"),
        (body, ""),
        (compressed(body, "gzip")[:-3], None),
    ):
        found = the_same_for_every_cut(wire, "gzip", 503)
        assert isinstance(found.error, tokwire.APIError)
        assert found.error.status_code == 503
        assert message is None or found.error.message == message


def test_a_bomb_is_stopped_by_the_limits_of_the_decoder() -> None:
    bomb = compressed(b"data: " + b"x" * 50_000_000, "gzip", level=9)
    assert len(bomb) < 60_000
    limits = tokwire.Limits(max_event_bytes=100_000, max_line_bytes=100_000, max_error_body_bytes=100_000)
    kinds = []
    for status in (200, 500):
        decoder = response_decoder(status, coded("gzip"), limits=limits)
        tracemalloc.start()
        decoder.receive_data(bomb)
        with pytest.raises(tokwire.TokwireError) as caught:
            list(decoder.events())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 3_000_000
        kinds.append(type(caught.value))
    assert kinds == [tokwire.LimitExceeded, tokwire.APIError]


@pytest.mark.parametrize("coding", CODINGS)
def test_pieces_are_bounded_and_none_is_lost(coding: str) -> None:
    body = b"x" * (3 * PIECE_BYTES) + random.Random(1).randbytes(3 * PIECE_BYTES) + b"y" * PIECE_BYTES
    wire = compressed(body, coding)
    for size in (len(wire), 1000, PIECE_BYTES):
        assert inflated([wire[place : place + size] for place in range(0, len(wire), size)], coding) == (
            body,
            True,
            False,
        )


def test_events_may_be_dropped_without_losing_any() -> None:
    decoder = response_decoder(200, coded("gzip"))
    wire = compressed(CHAT, "gzip")
    decoder.receive_data(wire[:100])
    decoder.receive_data(wire[100:])
    taken = []
    while (event := decoder.next_event()) is not tokwire.FINISHED:
        taken.append(event)
    assert taken == EVENTS
    decoder.receive_data(b"more")
    decoder.receive_eof()
    assert decoder.next_event() is tokwire.FINISHED


@given(st.binary(max_size=200), st.sampled_from(CODINGS), st.integers(0, 250), st.sampled_from([True, False]))
def test_garbage_gives_only_our_errors_and_one_verdict(junk: bytes, coding: str, place: int, honest: object) -> None:
    wire = compressed(CHAT, coding)[:place] + junk if honest else junk
    expected = answered([wire], 200, coded(coding))
    assert answered(single_bytes(wire), 200, coded(coding)) == expected
    assert answered(cut(wire, [min(place, len(wire))]), 200, coded(coding)) == expected
