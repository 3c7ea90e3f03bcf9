"""The splitter of JSON arrays: elements as soon as they are whole, whatever stands in their strings, for every cut."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import LimitExceeded, Limits, RemoteProtocolError
from tokwire.framing._frames import Frame, FrameKind
from tokwire.framing.json_array import JSONArray

ODD = ['"', "\\", "\\\\", '\\"', "]", "},{", "[[", ",", "\u00e9\u2028", "\n", ""]


def split(reads: list[bytes], *, complete: bool = True, limit: int | None = None) -> tuple[list[Frame], Any]:
    """The frames of these reads, and the error in place of the rest."""
    framing = JSONArray(Limits(max_event_bytes=limit))
    frames: list[Frame] = []
    offset = 0
    for read in reads:
        assert not framing.is_idle
        frames += framing.feed(read, offset)
        offset += len(read)
        if framing.error is not None or (frames and frames[-1].kind is FrameKind.CLOSED):
            error = framing.error
            return frames, None if error is None else (type(error), str(error), error.offset)
    return frames + framing.finish(complete=complete), None


def every_cut(body: bytes, *, complete: bool = True, limit: int | None = None) -> tuple[list[Frame], Any]:
    """The frames of a body, once they were the same for every cut in two and one byte per read."""
    whole = split([body], complete=complete, limit=limit)
    for place in range(1, len(body)):
        assert split([body[:place], body[place:]], complete=complete, limit=limit) == whole, place
    assert split([bytes([byte]) for byte in body], complete=complete, limit=limit) == whole
    return whole


def elements(body: bytes) -> list[Any]:
    """The elements of an array that closes."""
    frames, error = every_cut(body)
    assert error is None
    assert frames[-1].kind is FrameKind.CLOSED
    assert {frame.kind for frame in frames[:-1]} <= {FrameKind.PAYLOAD}
    for frame in frames:
        assert body[frame.offset :].startswith(frame.data)
    return [json.loads(frame.data) for frame in frames[:-1]]


@pytest.mark.parametrize("text", ODD)
def test_strings_with_brackets_quotes_and_escapes(text: str) -> None:
    payloads = [{text: [text, {"k": text}]}, [text], {}]
    assert elements(json.dumps(payloads).encode()) == payloads
    assert elements(json.dumps(payloads, indent=2, ensure_ascii=False).encode()) == payloads


@pytest.mark.parametrize("body", [b"[]", b"[ ]", b" \r\n[\t]", b"[,]", b"[ , , ]"])
def test_arrays_without_elements(body: bytes) -> None:
    assert elements(body) == []


def test_elements_that_are_no_objects() -> None:
    assert elements(b' [1, "a,]", null , true]x[{') == [1, "a,]", None, True]


def test_an_element_comes_out_before_the_array_ends() -> None:
    framing = JSONArray(Limits())
    assert framing.feed(b'[{"a":1}', 0) == []
    assert framing.held == 7
    assert framing.feed(b",", 8) == [Frame(FrameKind.PAYLOAD, b'{"a":1}', 1)]
    assert (framing.held, framing.started) == (0, True)
    assert framing.feed(b" \n {", 9) == []
    assert framing.held == 1


@pytest.mark.parametrize("rest", [b'{"b":2}', b'{"b":2} \n ', b'{"b":', b'{"b":"\\'])
@pytest.mark.parametrize(("complete", "kind"), [(True, FrameKind.PENDING), (False, FrameKind.PENDING_CUT)])
def test_an_element_at_the_end_of_the_body(rest: bytes, kind: FrameKind, *, complete: bool) -> None:
    frames, error = every_cut(b'[{"a":1},\n' + rest, complete=complete)
    assert error is None
    assert frames == [Frame(FrameKind.PAYLOAD, b'{"a":1}', 1), Frame(kind, rest.strip(), 10)]


@pytest.mark.parametrize("complete", [True, False])
def test_a_body_that_ends_between_elements(*, complete: bool) -> None:
    assert every_cut(b'[{"a":1},\n ', complete=complete) == ([Frame(FrameKind.PAYLOAD, b'{"a":1}', 1)], None)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("body", [b"[", b" [ \n"])
def test_a_body_that_ends_before_the_first_element(body: bytes, *, complete: bool) -> None:
    frames, error = every_cut(body, complete=complete)
    assert (error, [frame.kind for frame in frames]) == (None, [FrameKind.CUT])


@pytest.mark.parametrize(("body", "place"), [(b"[}", 1), (b'[{"a":1}}', 8), (b'[{"a":1}, 5 } ]', 12)])
def test_a_brace_that_closes_nothing(body: bytes, place: int) -> None:
    _, error = every_cut(body)
    assert error[0] is RemoteProtocolError
    assert error[2] == place


@pytest.mark.parametrize("over", [0, 1, 30])
@pytest.mark.parametrize("end", [b"]", b",", b""])
def test_the_size_of_an_element(over: int, end: bytes) -> None:
    payload = b'{"k":"' + b"x" * (32 + over) + b'"}'
    frames, error = every_cut(b"[{},  " + payload + end, limit=40)
    assert frames[0] == Frame(FrameKind.PAYLOAD, b"{}", 1)
    if over:
        assert error[0] is LimitExceeded
        assert (len(frames), error[2]) == (1, 6)
    else:
        assert (error, frames[1].data) == (None, payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('\\"[]{},: \u00e9\n'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('\\"]}', max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=5), st.sampled_from([None, 0, 3]), st.booleans(), st.lists(st.integers(0, 300)))
def test_what_was_written_comes_out(
    payloads: list[Any],
    indent: int | None,
    escaped: bool,  # noqa: FBT001 - hypothesis passes by position
    places: list[int],
) -> None:
    body = json.dumps(payloads, indent=indent, ensure_ascii=escaped).encode()
    ends = [0, *sorted(min(place, len(body)) for place in places), len(body)]
    frames, error = split([body[start:end] for start, end in pairwise(ends) if end > start])
    assert error is None
    assert [json.loads(frame.data) for frame in frames[:-1]] == payloads
