"""The rows of the other protocols: recordings decode to what they were made from, and the floors find the same."""

from __future__ import annotations

import pytest
from bench.contestants import check, each_event
from bench.typed import OWN, PLAIN, measure_typed
from bench.typed_streams import TYPED

import tokwire

RECORDINGS = {make(40).protocol: make(40) for make in TYPED}


def say(_: str) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("size", [None, 1, 7, 100, 1 << 10, 16 << 10])
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_decodes_to_what_it_was_made_from(name: str, size: int | None) -> None:
    recording = RECORDINGS[name]
    decoder = tokwire.StreamDecoder(recording.protocol, include_reasoning=True)
    found = tokwire.collect(each_event(decoder, recording.reads(size)))
    assert (found.text, found.reasoning) == (recording.text, recording.reasoning)
    assert decoder.summary.raw_finish_reason == recording.finish
    assert decoder.summary.end_marker == (name != "gemini")
    usage = decoder.summary.usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (57, 40)


@pytest.mark.parametrize("size", [None, 100, 1 << 10, 16 << 10, 1 << 24])
@pytest.mark.parametrize("name", RECORDINGS)
def test_the_floor_finds_the_same(name: str, size: int | None) -> None:
    check(PLAIN, RECORDINGS[name], size)
    check(OWN, RECORDINGS[name], size)


def test_every_recording_has_a_row_for_each_size_of_reads() -> None:
    rows = measure_typed(count=30, rounds=1, say=say)
    assert len(rows) == len({(row.stream, row.reads) for row in rows}) == 15
    assert not any(row.failures for row in rows)
    assert all(row.ratio(PLAIN.name) and row.ratio(OWN.name) for row in rows)
