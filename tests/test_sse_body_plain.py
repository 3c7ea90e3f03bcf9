"""Events that are written as most are: their framing takes a short way, and finds what the long one finds."""

from __future__ import annotations

import pytest
from tests.test_sse_body import FIRST, framed, payload

from tokwire import LimitExceeded, Limits
from tokwire.framing._sse_body import SSEBody


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"a":1}\n\n',
        b'event: x\ndata: {"a":1}\n\n',
        b'event: \ndata: {"a":1}\n\n',
        b"event: \xff\ndata: {}\n\n",
        b"event: error\ndata: {}\n\n",
        b'event: x\ndata: {"a":\n}\n\n',
        b'event: x\ndata: {\ndata: "a":1}\n\n',
        b'event: x\nid: 1\ndata: {"a":1}\n\n',
        b"event: x\rdata: {}\n\n",
        b"event: x\n\ndata: {}\n\n",
        b"event: x\ndata: {\r}\n\n",
        b"event: x\n: data: {}\n\n",
        b"data: {}\ndata: {}\n\n",
        b"data: [{}\n\n",
        b"data: {}\n\ndata: {}\n\n",
    ],
)
@pytest.mark.parametrize("limit", [None, 20, 21])
@pytest.mark.parametrize("before", [b"", FIRST, b": c\n\n", b"data: 2\n"])
def test_an_event_in_one_read_is_that_of_its_lines(before: bytes, limit: int | None, event: bytes) -> None:
    limits = Limits(max_line_bytes=limit, max_event_bytes=limit)
    whole, framing = framed([before, event], limits=limits)
    single, reference = framed([bytes([byte]) for byte in before + event], limits=limits)
    assert whole == single
    assert (framing.started, repr(framing.error)) == (reference.started, repr(reference.error))


def test_plain_events_are_found_without_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SSEBody, "_take_line", None)
    event = b'event: x\ndata: {"a":1}\n\n'
    frames, _ = framed([event, event])
    assert frames == [payload(b'{"a":1}', 0, "x"), payload(b'{"a":1}', len(event), "x")]


@pytest.mark.parametrize(("limit", "is_enough"), [(15, True), (14, False)])
def test_a_value_behind_a_whole_answer_is_held_with_it(limit: int, is_enough: bool) -> None:  # noqa: FBT001
    """Neither is known to be the answer before the body ends or the second one does, so both count."""
    answer = b'{"a":1}\n'
    for reads in ([answer, b'{"b":\n12\n'], [bytes([byte]) for byte in answer + b'{"b":\n12\n']):
        _, framing = framed(reads, limits=Limits(max_event_bytes=limit))
        assert isinstance(framing.error, LimitExceeded) != is_enough
