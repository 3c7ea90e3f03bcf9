"""`StreamBuffers`, where a change of the code went unseen: the outermost halves of surrogate pairs."""

from __future__ import annotations

import pytest

from tokwire import Block, StreamBuffers, TextBlock


@pytest.mark.parametrize("code", [0x10000, 0x10FFFF])
def test_the_outermost_halves_wait_for_their_other_half_too(code: int) -> None:
    first, second = divmod(code - 0x10000, 0x400)
    buffers = StreamBuffers()
    assert buffers.push_text(chr(0xD800 + first)) is None
    assert buffers.push_text(chr(0xDC00 + second)) == Block(TextBlock(chr(code)))
