"""The line splitter against a slow one that looks at one byte after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import cut, every_way, single_bytes

from tokwire.framing._lines import Line, LineSplitter

if TYPE_CHECKING:
    from collections.abc import Iterable

BODIES = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b":", b" ", b"xy"]), max_size=24).map(b"".join)
PLACES = st.lists(st.integers(0, 48), max_size=6)

VECTORS = [
    b"",
    b"one",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\r",
    b"\n\r",
    b"\r\n\r\n",
    b"a\nb\rc\r\nd",
    b"a\r\n\n\rb\r",
    b"\r\r\n\n\r\n",
    b"tail without end\r\nof it",
    b"\xe2\x80\xa8 and \xc2\x85 end no line\x0b\x0c\x1c\nnor \x00\n",
]


def naive_lines(body: bytes) -> tuple[list[Line], int]:
    """The lines of a body with their offsets, and the offset of what is left behind the last end."""
    lines: list[Line] = []
    start = place = 0
    while place < len(body):
        byte = body[place]
        place += 1
        if byte in b"\r\n":
            lines.append((start, body[start : place - 1]))
            if byte == 13 and body[place : place + 1] == b"\n":
                place += 1
            start = place
    return lines, start


def split(reads: Iterable[bytes], limit: int | None = None, position: int = 0) -> tuple[list[Line], LineSplitter]:
    splitter = LineSplitter(limit, position)
    return [line for read in reads for line in splitter.feed(read)], splitter


def check(body: bytes, reads: list[bytes]) -> None:
    lines, splitter = split(reads)
    expected, start = naive_lines(body)
    assert lines == expected
    assert splitter.overflow is None
    assert splitter.held == len(body) - start
    assert splitter.position == len(body)
    assert splitter.tail_offset == start
    assert splitter.is_between_lines == (start == len(body) and body[-1:] != b"\r")
    assert splitter.finish() == body[start:]
    assert splitter.held == 0


@pytest.mark.parametrize("body", VECTORS)
def test_every_cut_gives_the_lines_of_the_slow_splitter(body: bytes) -> None:
    for reads in every_way(body):
        check(body, reads)


@given(body=BODIES, places=PLACES)
def test_any_cut_gives_the_lines_of_the_slow_splitter(body: bytes, places: list[int]) -> None:
    check(body, cut(body, [min(place, len(body)) for place in places]))


@given(body=st.binary(max_size=40), places=PLACES)
def test_any_bytes(body: bytes, places: list[int]) -> None:
    check(body, cut(body, [min(place, len(body)) for place in places]))


def test_a_line_comes_with_the_read_that_holds_its_end() -> None:
    splitter = LineSplitter(None)
    assert splitter.feed(b"data: 1") == []
    assert splitter.feed(b"\r") == [(0, b"data: 1")]
    assert splitter.feed(b"\n") == []
    assert splitter.feed(b"\n") == [(9, b"")]


def test_a_line_feed_behind_a_carriage_return_counts_once() -> None:
    splitter = LineSplitter(None)
    assert splitter.feed(b"\r") == [(0, b"")]
    assert not splitter.is_between_lines
    assert splitter.feed(b"") == []
    assert splitter.feed(b"\n\n") == [(2, b"")]
    assert splitter.is_between_lines


def test_offsets_count_from_the_given_position() -> None:
    lines, splitter = split([b"a\r", b"\nbc", b"\nrest"], position=100)
    assert lines == [(100, b"a"), (103, b"bc")]
    assert (splitter.tail_offset, splitter.position) == (106, 110)


def test_the_last_line_is_handed_over_once() -> None:
    _, splitter = split(single_bytes(b"abcdef"))
    assert splitter.finish() == b"abcdef"
    assert splitter.finish() == b""


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b""])
@pytest.mark.parametrize("size", [7, 8, 9, 30])
def test_the_limit_holds_for_every_cut(size: int, end: bytes) -> None:
    body = b"ok\n" + b"x" * size + end
    for reads in every_way(body):
        lines, splitter = split(reads, limit=8)
        if size <= 8:
            assert splitter.overflow is None
            assert lines == naive_lines(body)[0]
            continue
        assert lines == [(0, b"ok")]
        assert splitter.overflow is not None
        assert (splitter.overflow.limit, splitter.overflow.value, splitter.overflow.offset) == (
            "max_line_bytes",
            8,
            3,
        )
        assert splitter.held == 0


def test_nothing_is_taken_after_an_overflow() -> None:
    splitter = LineSplitter(2)
    assert splitter.feed(b"a\nlong\nb\n") == [(0, b"a")]
    assert splitter.feed(b"c\n") == []
    assert splitter.finish() == b""


@given(body=BODIES, places=PLACES, limit=st.integers(1, 4))
def test_the_verdict_and_its_place_do_not_depend_on_the_cut(body: bytes, places: list[int], limit: int) -> None:
    lines, start = naive_lines(body)
    all_lines = [*lines, (start, body[start:])]
    too_long = next((place for place, (_, line) in enumerate(all_lines) if len(line) > limit), None)
    found, splitter = split(cut(body, [min(place, len(body)) for place in places]), limit)
    assert found == lines[:too_long]
    assert (splitter.overflow and splitter.overflow.offset) == (None if too_long is None else all_lines[too_long][0])


@given(reads=st.lists(st.binary(max_size=12), max_size=12), limit=st.integers(1, 20))
def test_what_is_held_stays_within_the_limit(reads: list[bytes], limit: int) -> None:
    splitter = LineSplitter(limit)
    for read in reads:
        splitter.feed(read)
        assert splitter.held <= limit
