"""Whole and unfinished events as bytes, and a block of whole ones while it is decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire._cut_block import CutBlock, begins_an_event, is_one_event


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", False),
        (b"\n", False),
        (b"x", False),
        (b"\n\n", True),
        (b"a\n\n", True),
        (b"a\nb\nc\n\n", True),
        (b"\na\n\n", True),
        (b"a\n\nb\n\n", False),
        (b"\n\na\n\n", False),
        (b"a\n\n\n", False),
        (b"a\n\nb", False),
        (b"a\nb", False),
        (b"a\n", False),
    ],
)
def test_one_event(data: bytes, expected: bool) -> None:  # noqa: FBT001 - a parameter
    assert is_one_event(data) is expected


@given(st.text("ab\n", max_size=12))
def test_one_event_ends_with_the_only_blank_line(text: str) -> None:
    data = text.encode()
    assert is_one_event(data) is (data.find(b"\n\n") == len(data) - 2 >= 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"d", True),
        (b"e", True),
        (b"data: {", True),
        (b": comment", False),
        (b"{", False),
        (b"event: x\nd", True),
        (b"data: {}\n", True),
        (b"data: x\n", False),
        (b"event:x\n", False),
        (b"id: 1\n", False),
        (b"event: x\ndata: {}\n", False),
    ],
)
def test_an_unfinished_event(text: bytes, expected: bool) -> None:  # noqa: FBT001 - a parameter
    for pieces in ([text], [text[:1], text[1:]], [bytes([byte]) for byte in text]):
        known = [piece for piece in pieces if piece]
        assert begins_an_event(known, text.count(b"\n")) is expected


def test_a_block_knows_where_its_pieces_are_and_what_is_left() -> None:
    block = CutBlock([b"a", b"bc", b"", b"d"], b"data: ", 100)
    places = []
    for _ in block.pieces:
        places.append(block.offset())
        assert block.offset() == places[-1]
    assert places == [100, 109, 119, 127]
    block = CutBlock([b"a", b"b", b"c"], b"data: ", 0, b"\n")
    assert next(block.pieces) == b"a"
    assert block.rest() == b"data: b\ndata: c\n"
    assert block.rest() == b""
