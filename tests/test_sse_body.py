"""The framing of real event streams: which frames a body holds, for every way to cut it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import every_way

from tokwire import LimitExceeded, Limits
from tokwire.framing._frames import Frame, FrameKind
from tokwire.framing._sse_body import SSEBody

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMITS = Limits()
FIRST = b"data: 1\n\n"
ONE = Frame(FrameKind.PAYLOAD, b"1", 0)
PAGE = "an HTML or XML page"


def framed(
    reads: Sequence[bytes], *, complete: bool = True, limits: Limits = LIMITS, started: bool = False
) -> tuple[list[Frame], SSEBody]:
    """All frames of a body; where one says that it is no stream, those after it mean nothing."""
    framing = SSEBody(limits)
    framing.started = started
    frames: list[Frame] = []
    offset = 0
    for read in reads:
        frames += framing.feed(read, offset)
        offset += len(read)
        if framing.error is not None or any(frame.kind is FrameKind.FOREIGN for frame in frames):
            break
    else:
        frames += framing.finish(complete=complete)
    foreign = next((place for place, frame in enumerate(frames) if frame.kind is FrameKind.FOREIGN), len(frames))
    return frames[: foreign + 1], framing


def payload(data: bytes, offset: int, name: str | None = None, *parts: bytes) -> Frame:
    return Frame(FrameKind.PAYLOAD, data, offset, name, parts)


def body(text: bytes, offset: int = 0) -> Frame:
    return Frame(FrameKind.BODY, text, offset)


def mark(offset: int) -> Frame:
    return Frame(FrameKind.END_MARK, b"[DONE]", offset)


def broken(error: bytes, offset: int = 0) -> Frame:
    return Frame(FrameKind.ERROR, error, offset)


def loose(text: bytes, offset: int) -> Frame:
    return Frame(FrameKind.LOOSE_JSON, text, offset)


def foreign(looks: str, text: bytes, offset: int = 0) -> Frame:
    return Frame(FrameKind.FOREIGN, text, offset, looks)


def pending(text: bytes, offset: int, name: str | None = None, *parts: bytes) -> Frame:
    return Frame(FrameKind.PENDING, text, offset, name, parts)


def torn(text: bytes, offset: int, name: str | None = None) -> Frame:
    return Frame(FrameKind.PENDING_CUT, text, offset, name)


def unfinished(text: bytes, offset: int) -> Frame:
    return Frame(FrameKind.UNFINISHED, text, offset)


def off(text: bytes, offset: int) -> Frame:
    return Frame(FrameKind.CUT, text, offset)


WHOLE: list[tuple[bytes, list[Frame]]] = [
    (b"", []),
    (b": comment\n\n\r\n", []),
    (FIRST, [ONE]),
    (b"event: n\ndata: a\ndata:b\nid: 7\nretry: 3\n\n", [payload(b"a\nb", 0, "n", b"a", b"b")]),
    (b"event: n\n\ndata: a\n\n", [payload(b"a", 10)]),
    (b"event: \xff\ndata: a\n\n", [payload(b"a", 0, "\ufffd")]),
    (b"event: error\n\n", [payload(b"", 0, "error")]),
    (b"\xef\xbb\xbfdata: 1\r\n\r\n\r\n: c\rdata: 2\r\r", [ONE, payload(b"2", 20)]),
    (FIRST + b"[DONE]\n", [ONE, mark(9)]),
    (FIRST + b" [DONE]\t\r\n", [ONE, mark(9)]),
    (b"data: 1\n[DONE]\n", [ONE, mark(8)]),
    (b"[DONE]\n", [mark(0)]),
    (b"data: [DONE]\n", [mark(0)]),
    (b"data: 1\ndata:[DONE]\ndata: 2\n\n", [ONE, mark(8), payload(b"2", 20)]),
    (b"data: {\ndata: [DONE]\n\n", [payload(b"{\n[DONE]", 0, None, b"{", b"[DONE]")]),
    (b"event: error\ndata: [DONE]\n\n", [payload(b"[DONE]", 0, "error")]),
    (b'{"a":1}\n[DONE]\n', [body(b'{"a":1}'), mark(8)]),
    (b"error: boom\n\n", [broken(b"boom")]),
    (b"error:{}\n\n", [broken(b"{}")]),
    (b"event: x\ndata: 1\nerror: boom\n\n", [payload(b"1", 0, "x"), broken(b"boom", 17)]),
    (FIRST + b"error\n\n", [ONE]),
    (FIRST + b'{"error":{\n"a":1}}\n', [ONE, loose(b'{"error":{\n"a":1}}', 9)]),
    (b'data: 1\n{"a":"}"}\n', [ONE, loose(b'{"a":"}"}', 8)]),
    (FIRST + b'[{"a":\n\n: not a comment\n1}]\n', [ONE, loose(b'[{"a":\n\n: not a comment\n1}]', 9)]),
    (b'{"a":\ndata: 1\n\n', [payload(b"1", 6)]),
    (FIRST + b"some text\n", [ONE]),
    (b'{"a":1}', [body(b'{"a":1}')]),
    (b' \r\n\t{"a":\n1}\r\n\r\n', [body(b'\t{"a":\n1}', 3)]),
    (b'\xef\xbb\xbf{"a":1}\n', [body(b'{"a":1}')]),
    (b"[1,\n2]", [body(b"[1,\n2]")]),
    (b"[\n]\n", [body(b"[\n]")]),
    (b"{\n}\n", [body(b"{\n}")]),
    (b'{"a":1}\n\ndata: 2\n\n', [body(b'{"a":1}'), payload(b"2", 9)]),
    (b'words first\n{"a":1}\n', [body(b'{"a":1}', 12)]),
]

NO_STREAM: list[tuple[bytes, list[Frame]]] = [
    (b'{"a":1}\n{"b":2}\n', [foreign("JSON lines", b'{"a":1}')]),
    (b'{"a":1}\n\n{"b":2}', [foreign("JSON lines", b'{"a":1}')]),
    (b"<!DOCTYPE html>\n<p>", [foreign(PAGE, b"<!DOCTYPE html>")]),
    (b"\n  <x/>", [foreign(PAGE, b"  <x/>", 1)]),
    (b'{"a":1}\n<html>', [foreign(PAGE, b"<html>", 8)]),
    (b"upstream is down\nsorry\n", [foreign("plain text", b"upstream is down")]),
    (b"{not: json}", [foreign("plain text", b"{not: json}")]),
    (b"x" * 99, [foreign("plain text", b"x" * 64)]),
    (b"error\n\n", [foreign("plain text", b"error")]),
    (b"[done]", [foreign("plain text", b"[done]")]),
    (b"dat", [foreign("plain text", b"dat")]),
    (b"\x1f\x8b\x08\x00", [foreign("gzip-compressed bytes", b"")]),
    (b"\x28\xb5\x2f\xfd\x04", [foreign("zstd-compressed bytes", b"")]),
]

ENDS: list[tuple[bytes, list[Frame], list[Frame]]] = [
    (FIRST + b'data: {"a"', [ONE, pending(b'{"a"', 9)], [ONE, unfinished(b'{"a"', 9)]),
    (
        FIRST + b"data: a\ndata: b",
        [ONE, pending(b"a\nb", 9, None, b"a", b"b")],
        [ONE, torn(b"a", 9), unfinished(b"b", 17)],
    ),
    (FIRST + b"data: a\n", [ONE, pending(b"a", 9)], [ONE, torn(b"a", 9)]),
    (FIRST + b"data: a\r", [ONE, pending(b"a", 9)], [ONE, torn(b"a", 9)]),
    (FIRST + b"event: n", [ONE], [ONE, unfinished(b"n", 9)]),
    (FIRST + b"event: n\n", [ONE], [ONE]),
    (FIRST + b"event: error", [ONE, pending(b"", 9, "error")], [ONE, unfinished(b"error", 9)]),
    (FIRST + b"event: error\n", [ONE, pending(b"", 9, "error")], [ONE, torn(b"", 9, "error")]),
    (FIRST + b"id: 4", [ONE], [ONE, unfinished(b"4", 9)]),
    (FIRST + b"error: x", [ONE, broken(b"x", 9)], [ONE, off(b"error: x", 9)]),
    (b"error: x\n", [broken(b"x")], [broken(b"x")]),
    (FIRST + b"[DONE]", [ONE, mark(9)], [ONE, off(b"[DONE]", 9)]),
    (FIRST + b"[DO", [ONE, off(b"[DO", 9)], [ONE, off(b"[DO", 9)]),
    (FIRST + b"da", [ONE, off(b"da", 9)], [ONE, off(b"da", 9)]),
    (FIRST + b": comm", [ONE], [ONE, off(b": comm", 9)]),
    (FIRST + b'{"a":', [ONE, off(b'{"a":', 9)], [ONE, off(b'{"a":', 9)]),
    (FIRST + b'{"a":1}', [ONE, loose(b'{"a":1}', 9), off(b'{"a":1}', 9)], [ONE, off(b'{"a":1}', 9)]),
    (b'{"a":\n[1,', [off(b'{"a":\n[1,', 0)], [off(b'{"a":\n[1,', 0)]),
    (b'{"a":1}', [body(b'{"a":1}')], [body(b'{"a":1}')]),
    (b"<html>", [foreign(PAGE, b"<html>")], [foreign(PAGE, b"<html>")]),
    (b"some text\n", [foreign("plain text", b"some text")], []),
    (b"some text", [foreign("plain text", b"some text")], []),
    (b"[DONE]", [mark(0)], []),
    (b"data", [pending(b"", 0)], []),
]


@pytest.mark.parametrize(("text", "frames"), WHOLE + NO_STREAM)
def test_the_frames_of_a_body_for_every_cut(text: bytes, frames: list[Frame]) -> None:
    for reads in every_way(text):
        assert framed(reads)[0] == frames


@pytest.mark.parametrize(("text", "clean", "cut_off"), ENDS)
def test_the_end_of_a_body(text: bytes, clean: list[Frame], cut_off: list[Frame]) -> None:
    for reads in every_way(text):
        assert framed(reads)[0] == clean
        assert framed(reads, complete=False)[0] == cut_off


def test_a_body_that_others_began_is_a_stream() -> None:
    assert framed([b"some text"], started=True)[0] == [off(b"some text", 0)]
    assert framed([b'{"a":1}\n'], started=True)[0] == [loose(b'{"a":1}', 0)]


def test_compressed_bytes_are_seen_before_their_line_ends() -> None:
    framing = SSEBody(LIMITS)
    assert framing.feed(b"\x1f", 0) == []
    assert framing.feed(b"\x8b\x08", 1)[0].name == "gzip-compressed bytes"


def test_a_frame_comes_with_its_last_byte() -> None:
    framing = SSEBody(LIMITS)
    assert framing.is_idle
    assert framing.feed(b"data: 1\n", 0) == []
    assert not framing.is_idle
    assert framing.feed(b"\n", 8) == [ONE]
    assert framing.is_idle
    assert framing.started


def test_it_goes_on_where_it_is_told() -> None:
    framing = SSEBody(LIMITS)
    assert framing.feed(FIRST, 0) == [ONE]
    assert framing.feed(b"data: 2\n\n", 500) == [payload(b"2", 500)]


@pytest.mark.parametrize("text", [b"data: 1", b"data: 1\n", b"event: x\n", b'{"a":\n', b'{"a":1}\n', b"\r", b"x"])
def test_it_is_not_idle_while_it_holds_something(text: bytes) -> None:
    framing = SSEBody(LIMITS)
    framing.feed(text, 0)
    assert not framing.is_idle


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (b"data: 123", 9),
        (b"data: 123\n", 3),
        (b"data: 123\ndata: 4\nda", 7),
        (b'{"a":\n12', 8),
        (b'{"a":1}\n', 7),
        (FIRST, 0),
    ],
)
def test_what_is_held(text: bytes, held: int) -> None:
    framing = SSEBody(LIMITS)
    framing.feed(text, 0)
    assert framing.held == held


@pytest.mark.parametrize("size", [9, 10, 11, 40])
@pytest.mark.parametrize(
    ("before", "after"),
    [(b"data: 1234\ndata: ", b"\n\n"), (b"data: 1234\ndata: ", b""), (b'{"1":\n', b"\n}"), (b'{"1":\n', b"")],
)
def test_a_limit_of_an_event(before: bytes, after: bytes, size: int) -> None:
    first = len(before.removeprefix(b"data: ").removesuffix(b"data: "))
    text = before + b"5" * (size - first - len(after.strip(b"\n")) - after.startswith(b"\n}")) + after
    for reads in every_way(text):
        frames, framing = framed(reads, limits=Limits(max_event_bytes=10))
        if size <= 10:
            assert framing.error is None
            assert len(frames) == 1
        else:
            assert frames == []
            assert isinstance(framing.error, LimitExceeded)
            assert (framing.error.limit, framing.error.offset) == ("max_event_bytes", 0)


@pytest.mark.parametrize("text", [b"data: 12345678\n\n", b"data: 12345678", b"some text without an end"])
def test_a_limit_of_a_line(text: bytes) -> None:
    for reads in every_way(FIRST + text):
        frames, framing = framed(reads, limits=Limits(max_line_bytes=13))
        assert frames == [ONE]
        assert isinstance(framing.error, LimitExceeded)
        assert (framing.error.limit, framing.error.offset) == ("max_line_bytes", 9)


def test_without_limits() -> None:
    text = b"data: " + b"x" * 5000 + b"\n\n{\n" + b" " * 5000 + b"\n}\n"
    frames, _ = framed([text], limits=Limits(max_line_bytes=None, max_event_bytes=None))
    assert [frame.kind for frame in frames] == [FrameKind.PAYLOAD, FrameKind.LOOSE_JSON]


PIECES = st.sampled_from(
    [
        *(b"\n", b"\r\n", b"\n\n", b"\r", b"data: 1", b"data: x", b"event: error", b"error: x", b"[DONE]", b'{"a":1}'),
        *(b"{", b"}", b'"', b"<", b"text", b": c", b"id: 1", b"data: [DONE]", b"\xef\xbb\xbf", b"\x1f\x8b"),
    ]
)


@given(st.lists(PIECES, max_size=10).map(b"".join), st.sampled_from([None, 3, 9, 14]), st.booleans())
def test_any_body_has_the_same_frames_for_every_cut(text: bytes, limit: int | None, complete: bool) -> None:  # noqa: FBT001
    limits = Limits(max_line_bytes=limit, max_event_bytes=None if limit is None else limit // 2)
    expected, framing = framed([text], complete=complete, limits=limits)
    for reads in every_way(text):
        frames, other = framed(reads, complete=complete, limits=limits)
        assert frames == expected
        if not any(frame.kind is FrameKind.FOREIGN for frame in frames):
            assert str(other.error) == str(framing.error)
