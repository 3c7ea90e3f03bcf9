"""What bodies of lines share: JSON over several lines, and first bytes that tell what a body is."""

from __future__ import annotations

import struct
import zlib

import pytest

from tokwire import LimitExceeded
from tokwire.framing._compression import compression_of
from tokwire.framing._foreign import BodyStart, looks_of_start
from tokwire.framing._json_gathering import JSONGathering

LENGTHS = struct.pack(">II", 16, 0)
PRELUDE = LENGTHS + struct.pack(">I", zlib.crc32(LENGTHS))
IMPOSSIBLE = struct.pack(">II", 15, 0)
STARTS = [
    (b"\x1f\x8b\x08", "gzip-compressed bytes"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed bytes"),
    (PRELUDE, "an AWS event stream, as of bedrock"),
    (PRELUDE[:-1], None),
    (PRELUDE[:-1] + b"?", None),
    (IMPOSSIBLE + struct.pack(">I", zlib.crc32(IMPOSSIBLE)), None),
    (b"data: {}\n\n..", None),
    (b"", None),
]


@pytest.mark.parametrize(("start", "looks"), STARTS)
def test_what_a_start_tells(start: bytes, looks: str | None) -> None:
    assert looks_of_start(start) == looks


def test_compressions_have_names() -> None:
    assert [compression_of(start) for start in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x1f")] == ["gzip", "zstd", None]


@pytest.mark.parametrize(("start", "looks"), STARTS)
@pytest.mark.parametrize("limit", [None, 12])
def test_a_start_tells_the_same_however_it_is_cut(start: bytes, looks: str | None, limit: int | None) -> None:
    body = start + b"more"
    for size in range(1, len(body) + 1):
        watch = BodyStart(limit)
        shown = [watch.shows(body[at : at + size], at) for at in range(0, len(body), size)]
        assert (any(shown), watch.looks) == (looks is not None, looks)


def test_nothing_is_watched_under_a_limit_that_ends_the_stream_before() -> None:
    watch = BodyStart(11)
    assert not watch.shows(b"\x1f\x8b", 0)


def test_bytes_that_were_not_seen_from_the_first_on_tell_nothing() -> None:
    watch = BodyStart(None)
    assert not watch.shows(b"\x1f\x8b", 4)
    assert not watch.shows(b"\x1f\x8b", 0)


def test_a_value_is_whole_once_its_brackets_are_closed() -> None:
    value = JSONGathering(None)
    value.begin(7)
    assert value.add(b'{"a": "}",') is None
    assert (value.is_open, value.offset, value.size, value.text) == (True, 7, 11, b'{"a": "}",')
    assert value.add(b'"b": [1]}') == b'{"a": "}",\n"b": [1]}'
    assert (value.is_open, value.offset, value.size, value.text) == (False, 7, 0, b"")


def test_beginning_again_and_dropping_forget_the_rest() -> None:
    value = JSONGathering(None)
    value.begin(0)
    value.add(b"[")
    value.begin(2)
    assert value.add(b"[]") == b"[]"
    value.begin(4)
    value.add(b"{")
    value.drop()
    assert (value.is_open, value.size) == (False, 0)


@pytest.mark.parametrize("limit", [4, 5, 6])
def test_the_limit_counts_the_lines_as_they_are_joined(limit: int) -> None:
    value = JSONGathering(limit)
    value.begin(3)
    value.add(b"[")
    if limit >= 5:
        assert value.add(b"12]") == b"[\n12]"
        return
    with pytest.raises(LimitExceeded) as caught:
        value.add(b"12]")
    assert (caught.value.limit, caught.value.value, caught.value.offset) == ("max_event_bytes", 4, 3)
