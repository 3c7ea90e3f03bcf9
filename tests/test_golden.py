"""The recordings under `examples/recordings`, each against what was written down for it, however its bytes are cut.

`FEATURE.expect.json` beside `FEATURE.sse`, or beside a body with another ending, holds the options, the events as JSON,
the error, and those facts of the summary that the recording is about. CONTRIBUTING.md says how to add one.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parent.parent / "examples" / "recordings"
EXPECTATION = ".expect.json"
EVERY_CUT_UP_TO = 1500
PROTOCOLS = ("openai-chat", "anthropic", "openai-responses", "gemini", "ollama", "bedrock", "cohere")


class Recording(NamedTuple):
    """One body and what must become of it."""

    protocol: str
    feature: str
    body: bytes
    want: dict[str, Any]


class Outcome(NamedTuple):
    """What a decoder made of a body."""

    events: list[tokwire.StreamEvent]
    error: tokwire.TokwireError | None
    summary: tokwire.StreamSummary


def load() -> list[Recording]:
    """Every recording in the folder."""
    return [
        Recording(
            path.parent.name, path.stem, path.read_bytes(), json.loads(path.with_suffix(".expect.json").read_text())
        )
        for path in bodies()
    ]


def bodies() -> list[Path]:
    """Every file in the folder that is no expectation."""
    return sorted(path for path in ROOT.glob("*/*") if not path.name.endswith(EXPECTATION))


RECORDINGS = load()
SHORT = [recording for recording in RECORDINGS if len(recording.body) <= EVERY_CUT_UP_TO]


def name(recording: Recording) -> str:
    """The name of a test case."""
    return f"{recording.protocol}/{recording.feature}"


def decode(recording: Recording, reads: Iterable[bytes]) -> Outcome:
    """Feed the reads one by one, and take what is ready after each."""
    decoder = tokwire.StreamDecoder(recording.protocol, **recording.want["options"])
    events: list[tokwire.StreamEvent] = []
    try:
        for read in reads:
            decoder.receive_data(read)
            events.extend(decoder.events())
        decoder.receive_eof(complete=recording.want.get("complete", True))
        events.extend(decoder.events())
    except tokwire.TokwireError as error:
        return Outcome(events, error, decoder.summary)
    return Outcome(events, None, decoder.summary)


def trace(outcome: Outcome) -> tuple[bytes, bytes, str]:
    """All of an outcome, to the last bit: two ways to cut a body must not differ in anything."""
    events, error, summary = outcome
    problem = "" if error is None else f"{error!r} {vars(error)!r}"
    return msgspec.json.encode(events), msgspec.json.encode(summary), problem


def plain(value: object) -> object:
    """The value as JSON holds it, where 1, 1.0 and true differ; a finish reason as the word that the server used."""
    if isinstance(value, tokwire.FinishReason):
        return str(value)
    return json.loads(msgspec.json.encode(value))


def same(want: object, found: object) -> bool:
    """Equal as typed JSON. In a list of objects only the members that are written down are compared."""
    if isinstance(want, list) and isinstance(found, list):
        return len(want) == len(found) and all(
            all(key in have and same(value, have[key]) for key, value in item.items())
            if isinstance(item, dict) and isinstance(have, dict)
            else same(item, have)
            for item, have in zip(want, found, strict=True)
        )
    return json.dumps(want, sort_keys=True) == json.dumps(found, sort_keys=True)


def check_error(want: dict[str, Any] | None, error: tokwire.TokwireError | None) -> None:
    """Compare the class of the error and each attribute that is written down; `says` is part of its text."""
    if want is None:
        assert error is None, f"unexpected {error!r}"
        return
    assert error is not None, f"expected {want}"
    assert type(error).__name__ == want["kind"], repr(error)
    for attribute, value in want.items():
        if attribute == "says":
            assert value in str(error)
        elif attribute != "kind":
            found = plain(getattr(error, attribute))
            assert same(value, found), f"{attribute}: expected {value!r}, found {found!r}"


def check(recording: Recording, reads: Sequence[bytes]) -> None:
    """Decode one way of arriving and compare it with the file."""
    events, error, summary = decode(recording, reads)
    assert [json.dumps(plain(event), sort_keys=True) for event in events] == [
        json.dumps(event, sort_keys=True) for event in recording.want["events"]
    ]
    check_error(recording.want["error"], error)
    for field, value in recording.want["summary"].items():
        found = plain(getattr(summary, field))
        assert same(value, found), f"summary.{field}: expected {value!r}, found {found!r}"


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body, cut at the places."""
    return [body[start:end] for start, end in pairwise([0, *sorted(places), len(body)])]


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_whole(recording: Recording) -> None:
    check(recording, [recording.body])


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_one_byte_per_read(recording: Recording) -> None:
    check(recording, [bytes([byte]) for byte in recording.body])


@pytest.mark.parametrize("recording", SHORT, ids=name)
def test_every_cut_in_two(recording: Recording) -> None:
    whole = trace(decode(recording, [recording.body]))
    for place in range(1, len(recording.body)):
        reads = cut(recording.body, [place])
        assert trace(decode(recording, reads)) == whole, f"cut at {place}: {reads[0][-30:]!r} | {reads[1][:30]!r}"


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_empty_reads_change_nothing(recording: Recording) -> None:
    reads = [read for byte in recording.body for read in (b"", bytes([byte]))]
    assert trace(decode(recording, [*reads, b""])) == trace(decode(recording, [recording.body]))


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_random_cuts(data: st.DataObject) -> None:
    recording = data.draw(st.sampled_from(RECORDINGS), label="recording")
    places = data.draw(st.lists(st.integers(0, len(recording.body)), max_size=12), label="places")
    reads = cut(recording.body, places)
    assert trace(decode(recording, reads)) == trace(decode(recording, [recording.body]))


@settings(max_examples=500, deadline=None)
@given(data=st.data(), complete=st.booleans())
def test_random_cuts_of_a_body_that_stops_anywhere(data: st.DataObject, *, complete: bool) -> None:
    recording = data.draw(st.sampled_from(RECORDINGS), label="recording")
    body = recording.body[: data.draw(st.integers(0, len(recording.body)), label="end")]
    stopped = recording._replace(body=body, want=recording.want | {"complete": complete})
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=12), label="places")
    assert trace(decode(stopped, cut(body, places))) == trace(decode(stopped, [body]))


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_the_expected_events_read_back_as_events(recording: Recording) -> None:
    events = [tokwire.event_from_json(json.dumps(event)) for event in recording.want["events"]]
    assert plain(events) == recording.want["events"]


def test_every_expectation_belongs_to_a_recording() -> None:
    found = [path.with_suffix("") for path in bodies()]
    assert len(found) == len(set(found))
    assert set(found) == {path.parent / path.name.removesuffix(EXPECTATION) for path in ROOT.glob(f"*/*{EXPECTATION}")}
    assert {recording.protocol for recording in RECORDINGS} == set(PROTOCOLS)


@pytest.mark.parametrize("recording", RECORDINGS, ids=name)
def test_a_stream_ends_with_one_finish_or_with_one_error(recording: Recording) -> None:
    kinds = [event["type"] for event in recording.want["events"]]
    assert kinds.count("finish") == (recording.want["error"] is None)
    assert recording.want["error"] is not None or kinds[-1] == "finish"


def test_a_difference_is_found() -> None:
    recording = next(recording for recording in RECORDINGS if name(recording) == "anthropic/text")
    changed = recording._replace(body=recording.body.replace(b"The lamp", b"The damp"))
    with pytest.raises(AssertionError):
        check(changed, [changed.body])
    with pytest.raises(AssertionError):
        check_error({"kind": "APIError"}, tokwire.StreamTruncated("cut"))
    assert not same([1], [True])
    assert not same([{"a": 1}], [{"a": 2, "b": 1}])
    assert same([{"a": 1}], [{"a": 1, "b": 1}])
