"""The framing of JSON lines: lines, the bodies in their place, and what a body without lines looks like."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import LimitExceeded, Limits
from tokwire.framing._frames import Frame, FrameKind
from tokwire.framing.ndjson import JSONLines


def split(reads: list[bytes], *, complete: bool = True, limits: Limits | None = None) -> tuple[list[Frame], Any]:
    """The frames of these reads, and the error in place of the rest."""
    framing = JSONLines(Limits() if limits is None else limits)
    frames: list[Frame] = []
    offset = 0
    for read in reads:
        frames += framing.feed(read, offset)
        offset += len(read)
        if framing.error is not None:
            break
    else:
        frames += framing.finish(complete=complete)
    error = framing.error
    return frames, None if error is None else (type(error), str(error), error.offset)


def every_cut(body: bytes, *, complete: bool = True, limits: Limits | None = None) -> tuple[list[Frame], Any]:
    """The frames of a body, once they were the same for every cut in two and one byte per read."""
    whole = split([body], complete=complete, limits=limits)
    for place in range(1, len(body)):
        assert split([body[:place], body[place:]], complete=complete, limits=limits) == whole, place
    assert split([bytes([byte]) for byte in body], complete=complete, limits=limits) == whole
    return whole


def found(body: bytes, *, complete: bool = True) -> list[tuple[FrameKind, bytes, int]]:
    """Kind, data and offset of the frames of a body without an error."""
    frames, error = every_cut(body, complete=complete)
    assert error is None
    return [(frame.kind, frame.data, frame.offset) for frame in frames]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines(end: bytes) -> None:
    body = b"{}" + end + end + b' {"a":1} ' + end + b"null" + end
    assert [data for _, data, _ in found(body)] == [b"{}", b' {"a":1} ', b"null"]
    assert {kind for kind, _, _ in found(body)} == {FrameKind.PAYLOAD}


def test_a_byte_order_mark() -> None:
    assert found(b"\xef\xbb\xbf{}\n5\n") == [(FrameKind.PAYLOAD, b"{}", 0), (FrameKind.PAYLOAD, b"5", 6)]


@pytest.mark.parametrize("mark", [b"[DONE]", b" [DONE]\t"])
def test_an_end_mark(mark: bytes) -> None:
    assert [kind for kind, _, _ in found(b"{}\n" + mark + b"\n{}\n")][1:] == [FrameKind.END_MARK, FrameKind.PAYLOAD]
    assert [kind for kind, _, _ in found(mark + b"\n")] == [FrameKind.END_MARK]


def test_a_line_that_is_no_json_is_for_the_reader_to_refuse() -> None:
    assert found(b"{}\nno json\n{\n") == [
        (FrameKind.PAYLOAD, b"{}", 0),
        (FrameKind.PAYLOAD, b"no json", 3),
        (FrameKind.PAYLOAD, b"{", 11),
    ]
    assert found(b"no json\n{}") == [(FrameKind.PAYLOAD, b"no json", 0), (FrameKind.PAYLOAD, b"{}", 8)]


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        (b'{"a":1}', FrameKind.PENDING),
        (b'  {"a":', FrameKind.PENDING),
        (b"no json", FrameKind.PAYLOAD),
        (b"5", FrameKind.PAYLOAD),
    ],
)
def test_a_last_line_without_its_end(tail: bytes, kind: FrameKind) -> None:
    assert found(b"{}\n" + tail) == [(FrameKind.PAYLOAD, b"{}", 0), (kind, tail, 3)]
    assert found(b"{}\n" + tail, complete=False)[1:] == [(FrameKind.UNFINISHED, tail, 3)]
    assert found(b"{}\n" + b" \t")[1:] == []


@pytest.mark.parametrize("value", [{"a": {"b": ["]", "}"]}}, [1, {"a": "\n"}], {"error": "x"}])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("complete", [True, False])
def test_a_pretty_printed_body(value: object, end: bytes, *, complete: bool) -> None:
    body = json.dumps(value, indent=1).encode()
    assert found(b"\n" + body + end, complete=complete) == [(FrameKind.BODY, body, 1)]


@pytest.mark.parametrize("body", [b"{", b'{"a":', b'{\n "a": 1\n', b"[\n {}"])
@pytest.mark.parametrize("complete", [True, False])
def test_a_body_that_is_cut(body: bytes, *, complete: bool) -> None:
    assert [kind for kind, _, _ in found(body, complete=complete)] == [FrameKind.CUT]


@pytest.mark.parametrize(
    ("body", "looks", "shown"),
    [
        (b"data: {}\n\n", "an event stream", b"{}"),
        (b'event: x\nid: 1\ndata:{"a":1}', "an event stream", b'{"a":1}'),
        (b"event: x\n\n", "an event stream", b"event: x"),
        (b"<html>\n", "an HTML or XML page", b"<html>"),
        (b"\x1f\x8b\x08\0\n", "gzip-compressed bytes", b""),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed bytes", b""),
    ],
)
def test_what_a_body_looks_like(body: bytes, looks: str, shown: bytes) -> None:
    frames, error = every_cut(body)
    assert error is None
    assert [(frame.kind, frame.name, frame.data) for frame in frames] == [(FrameKind.FOREIGN, looks, shown)]


def test_fields_of_an_event_stream_are_forgotten_once_lines_come() -> None:
    assert found(b": comment\nretry: 5\n{}\n") == [(FrameKind.PAYLOAD, b"{}", 19)]
    assert found(b": comment\n") == []
    assert found(b"event: x", complete=False) == []


@pytest.mark.parametrize("over", [0, 1])
def test_the_size_of_a_line(over: int) -> None:
    _, error = every_cut(b'{}\n"' + b"x" * (18 + over) + b'"\n', limits=Limits(max_line_bytes=20))
    assert error == (None if not over else (LimitExceeded, error[1], 3))


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_the_size_of_a_body(over: int, end: bytes) -> None:
    body = b'\n{\n"a":\n"' + b"x" * (12 + over) + b'"}' + end
    frames, error = every_cut(body, limits=Limits(max_event_bytes=22))
    assert error == (None if not over else (LimitExceeded, error[1], 1))
    assert [frame.kind for frame in frames] == ([] if over else [FrameKind.BODY])


def test_what_is_held() -> None:
    framing = JSONLines(Limits())
    assert (framing.is_idle, framing.held) == (True, 0)
    framing.feed(b"{", 0)
    assert (framing.is_idle, framing.held) == (False, 1)
    framing.feed(b"\n", 1)
    assert (framing.is_idle, framing.held) == (False, 2)
    assert [frame.kind for frame in framing.feed(b"}\n", 2)] == [FrameKind.BODY]
    assert (framing.is_idle, framing.held) == (True, 0)


JSON = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=6) | st.lists(st.none(), max_size=2))


@given(st.lists(JSON, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n"]), st.lists(st.integers(0, 300)))
def test_what_was_written_comes_out(payloads: list[Any], end: bytes, places: list[int]) -> None:
    body = b"".join(json.dumps(payload).encode() + end for payload in payloads)
    ends = [0, *sorted(min(place, len(body)) for place in places), len(body)]
    frames, error = split([body[start:stop] for start, stop in pairwise(ends)])
    assert error is None
    assert [json.loads(frame.data) for frame in frames] == payloads
    assert all(body[frame.offset :].startswith(frame.data) for frame in frames)
