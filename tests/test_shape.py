"""What is expected of the next event: its shape, and how the events of the stream begin."""

from __future__ import annotations

import pytest
from tests.support import chunk, decode_options

from tokwire._state import DecodeState
from tokwire.framing._envelope import NO_ENVELOPE, NOT_YET, WAITS, learn
from tokwire.framing._shape import NO_SHAPE, SPELLINGS, leads_of
from tokwire.protocols.anthropic._shapes import INPUT_SHAPE
from tokwire.protocols.openai_chat._shapes import reasoning_shape, text_shape

TEXT_SHAPE, REASONING_SHAPE = text_shape(), reasoning_shape()


def test_another_shape_is_learned_anew() -> None:
    state = DecodeState(decode_options(), {})
    state.respell(b"data: ")
    state.expect(TEXT_SHAPE)
    for _ in range(WAITS + 1):
        learn(state, chunk({"content": "a"}), 0)
    assert state.envelope.end
    known = state.envelope
    state.expect(TEXT_SHAPE)
    assert state.envelope is known
    state.expect(REASONING_SHAPE)
    assert state.envelope is NOT_YET
    state.expect(NO_SHAPE)
    assert state.envelope is NO_ENVELOPE


def test_nothing_fits_where_nothing_is_known() -> None:
    for envelope in (NO_ENVELOPE, NOT_YET):
        assert b"data: x".removesuffix(envelope.end) == b"data: x"
    with pytest.raises(ValueError, match="not an ordinary payload"):
        NO_SHAPE.decode(b"{}")
    assert NO_SHAPE.text_of(None) is None
    assert NO_SHAPE.index_of(None) == 0


# ---- how events begin ----------------------------------------------------------------------------------------


def test_the_leads_of_a_name_and_of_none() -> None:
    named = [b"event: n\ndata: ", b"data: ", b"event:n\ndata:", b"data:"]
    assert [lead.whole for lead in leads_of("n")] == named
    assert [lead.common for lead in leads_of("n")] == list(SPELLINGS)
    assert [lead.own for lead in leads_of("n")] == [b"n\ndata: ", b"", b"n\ndata:", b""]
    assert [lead.separator for lead in leads_of("n")] == [b"\n\n" + common for common in SPELLINGS]
    without = [lead.whole for lead in leads_of(None)]
    assert without[1::2] == named[1::2]
    assert all(b"\0" in lead for lead in without[::2])


def test_a_spelling_holds_for_every_shape_of_the_stream() -> None:
    state = DecodeState(decode_options(), {})
    assert state.lead is NO_SHAPE.leads[0]
    state.respell(b"data:{}")
    state.expect(TEXT_SHAPE)
    assert state.lead.whole == b"data:"
    state.expect(INPUT_SHAPE)
    assert state.lead.whole == b"data:"
    state.respell(b"event:x")
    assert state.lead.whole == b"event:content_block_delta\ndata:"
    for other in (b": comment", b"id: 1", b"datum: ", b"", b": a\n\n: b\n\ndata: x"):
        state.respell(other)
        assert state.spelling == 2
    state.respell(b": comment\n\ndata: x\n\nevent: y")
    assert state.spelling == 1
