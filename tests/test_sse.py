"""`SSEDecoder` against a slow reading of the event-stream format, and the facts of the standard one by one."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import cut, describe, every_way

import tokwire
from tokwire import FINISHED, NEED_DATA, Limits, ServerSentEvent, SSEDecoder, StreamState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.support import Failure

ALPHABET = [
    *(b"\r", b"\n", b"\r\n", b"\n\n", b":", b" ", b"\t", b"\0", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xff", b"x", b"7"),
    *(b"data", b"data:", b"data: ", b"event:", b"event: ", b"id:", b"id: ", b"retry:", b"retry: ", b"Data:"),
]
BODIES = st.lists(st.sampled_from(ALPHABET), max_size=30).map(b"".join)
PLACES = st.lists(st.integers(0, 60), max_size=5)


def message(data: str, name: str = "message", last_id: str = "", retry: int | None = None) -> ServerSentEvent:
    return ServerSentEvent(name, data, last_id, retry)


def naive_events(body: bytes) -> Iterator[ServerSentEvent]:
    """The whole text at once, line by line, as the standard tells it; and the pending event at the end."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    data, name, last_id, retry = "", "", "", None
    for line in [*re.split("\r\n|\r|\n", text), ""]:
        if line == "":
            if data:
                yield message(data.removesuffix("\n"), name or "message", last_id, retry)
            data, name, retry = "", "", None
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data += value + "\n"
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
        elif field == "retry" and re.fullmatch("[0-9]{1,18}", value):
            retry = int(value)


def state(decoder: SSEDecoder) -> StreamState:
    """The state, as a value that a type checker does not narrow."""
    return decoder.state


def run(
    reads: Iterable[bytes], *, complete: bool | None = True, limits: Limits | None = None
) -> tuple[list[ServerSentEvent], Failure | None]:
    decoder = SSEDecoder(limits=limits)
    events: list[ServerSentEvent] = []
    try:
        for read in reads:
            decoder.receive_data(read)
            events.extend(decoder.events())
        if complete is not None:
            decoder.receive_eof(complete=complete)
            events.extend(decoder.events())
    except tokwire.TokwireError as error:
        return events, describe(error)
    return events, None


FACTS = {
    "a byte order mark opens the body": (b"\xef\xbb\xbfdata:1\n\ndata:2\n\n", [message("1"), message("2")]),
    "a later one is part of a name": (
        b"\xef\xbb\xbfdata:1\n\n\xef\xbb\xbfdata:2\n\ndata:3\n\n",
        [message("1"), message("3")],
    ),
    "only one is skipped": (b"\xef\xbb\xbf\xef\xbb\xbfdata:1\n\ndata:2\n\n", [message("2")]),
    "comments": (b"data:a\r:\0\n:\r\ndata:b\n:" + b"c" * 300 + b"\rdata:c\n:data:no\r\n\n", [message("a\nb\nc")]),
    "an unfinished event counts at a clean end": (
        b"retry:10\ndata:a\n\nid:i\ndata:b",
        [message("a", retry=10), message("b", last_id="i")],
    ),
    "data without a value": (b"data:\n\ndata\ndata\n\ndata:t\n\n", [message(""), message("\n"), message("t")]),
    "a name holds for one event": (b"event:n\ndata:a\n\ndata:b\n\n", [message("a", "n"), message("b")]),
    "an empty name is the default": (b"event: \ndata:a\n\n", [message("a")]),
    "the last name wins": (b"event:m\nevent:n\ndata:a\n\n", [message("a", "n")]),
    "a name alone is no event": (b"event:n\n\ndata:a\n\n", [message("a")]),
    "an id stays": (b"id: 1\ndata:a\n\ndata:b\n\n", [message("a", last_id="1"), message("b", last_id="1")]),
    "an id changes": (
        b"id:1\ndata:a\n\nid:\xe2\x80\xa6\ndata:b\n\n",
        [message("a", last_id="1"), message("b", "message", "…")],
    ),
    "an empty id resets": (b"id:1\ndata:a\n\nid\ndata:b\n\n", [message("a", last_id="1"), message("b")]),
    "an id of an event without data": (b"id:1\n\ndata:a\n\n", [message("a", last_id="1")]),
    "an id with NUL is none": (
        b"id:1\ndata:a\n\nid:2\0\ndata:b\n\n",
        [message("a", last_id="1"), message("b", last_id="1")],
    ),
    "names are compared whole": (
        b"data:\0\ndata:  b\rDATA:c\ndata\0:d\ndata:e\r\0data:f\nda-ta:g\rdata_h\ndata:\r\n data:i\ndata:j\n\n",
        [message("\0\n b\ne\n\nj")],
    ),
    "retry is decimal": (b"retry:0200\ndata:a\n\ndata:b\n\n", [message("a", retry=200), message("b")]),
    "a bogus retry is none": (b"retry:20\nretry:10x\nretry:-1\nretry:\ndata:a\n\n", [message("a", retry=20)]),
    "digits of other scripts are none": ("retry:٣\ndata:a\n\n".encode(), [message("a")]),
    "a retry too long to be a number": (
        b"retry:" + b"9" * 18 + b"\ndata:a\n\nretry:" + b"9" * 19 + b"\ndata:b\n\n",
        [message("a", retry=10**18 - 1), message("b")],
    ),
    "retry without a value": (b"retry\ndata:a\n\n", [message("a")]),
    "unknown fields": (b"data:a\n data\ndata\nfoo:x\nonly text\n:comment\ndata:b\n\n", [message("a\n\nb")]),
    "one space goes": (b"data:\ta\rdata: \ndata:  b\n\n", [message("\ta\n\n b")]),
    "line ends": (b"data:a\r\ndata\ndata:b\r\n\r\n", [message("a\n\nb")]),
    "NUL is data": (b"data:\0\n\n", [message("\0")]),
    "invalid bytes": (b"data:a\xff\xc3\n\n", [message("a\ufffd\ufffd")]),
    "separators of text end no line": ("data:\u2028\u0085\n\n".encode(), [message("\u2028\u0085")]),
    "nothing": (b"", []),
    "blank lines": (b"\n\r\n\r\r", []),
    "a byte order mark alone": (b"\xef\xbb\xbf", []),
}


@pytest.mark.parametrize(("body", "events"), FACTS.values(), ids=FACTS)
def test_a_fact_of_the_format_for_every_cut(body: bytes, events: list[ServerSentEvent]) -> None:
    assert list(naive_events(body)) == events
    for reads in every_way(body):
        assert run(reads) == (events, None)


@given(body=BODIES, places=PLACES)
def test_any_body_reads_as_the_slow_decoder_reads_it(body: bytes, places: list[int]) -> None:
    assert run(cut(body, [min(place, len(body)) for place in places])) == (list(naive_events(body)), None)


@given(body=st.binary(max_size=60), places=PLACES)
def test_any_bytes_are_events_or_nothing(body: bytes, places: list[int]) -> None:
    assert run(cut(body, [min(place, len(body)) for place in places])) == (list(naive_events(body)), None)


@pytest.mark.parametrize("body", [b"", b"data:a\n\n", b"data:a\n\ndata:b", b"data:a\r\n\r\ndata:b\r", b"da"])
def test_a_body_that_the_transport_cut(body: bytes) -> None:
    whole = list(naive_events(body + b"\n\n")) if body.endswith(b"\n\n") else list(naive_events(body))[:1]
    whole = [event for event in whole if event.data == "a"]
    for reads in every_way(body):
        events, failure = run(reads, complete=False)
        assert events == whole
        assert failure is not None
        assert (failure.kind, failure.offset) == ("StreamTruncated", len(body))


def test_events_come_with_their_blank_line() -> None:
    decoder = SSEDecoder()
    decoder.receive_data(b"data: a\r\n\r")
    assert decoder.next_event() == message("a")
    assert decoder.next_event() is NEED_DATA
    decoder.receive_data(b"\ndata: b\n")
    assert decoder.next_event() is NEED_DATA
    decoder.receive_data(b"\n")
    assert decoder.next_event() == message("b")


def test_nothing_is_lost_where_the_caller_stops() -> None:
    decoder = SSEDecoder()
    decoder.receive_data(b"data:1\n\ndata:2\n\ndata:3\n\n")
    assert next(decoder.events()) == message("1")
    taken = []
    for place, event in enumerate(decoder.events()):
        taken.append(event.data)
        if place == 0:
            decoder.receive_data(b"data:4\n\n")
        if place == 1:
            assert decoder.next_event() == message("4")
    assert taken == ["2", "3"]
    decoder.receive_eof()
    assert decoder.next_event() is FINISHED


def test_the_states() -> None:
    decoder = SSEDecoder()
    assert state(decoder) is StreamState.OPEN
    decoder.receive_data(b"data:a")
    decoder.receive_data(b"")
    decoder.receive_eof()
    decoder.receive_eof(complete=False)
    assert state(decoder) is StreamState.OPEN
    with pytest.raises(tokwire.LocalProtocolError, match="receive_eof"):
        decoder.receive_data(b"more")
    assert decoder.next_event() == message("a")
    assert decoder.next_event() is FINISHED
    assert state(decoder) is StreamState.DONE
    decoder.receive_data(b"data:b\n\n")
    decoder.receive_eof()
    assert list(decoder.events()) == []
    assert decoder.next_event() is FINISHED


def test_the_first_flag_stands() -> None:
    decoder = SSEDecoder()
    decoder.receive_eof(complete=False)
    decoder.receive_eof()
    with pytest.raises(tokwire.StreamTruncated):
        decoder.next_event()


def test_an_error_comes_again_and_again() -> None:
    decoder = SSEDecoder(limits=Limits(max_line_bytes=6))
    decoder.receive_data(b"data:a\n\ndata:too long\n\ndata:b\n\n")
    assert decoder.next_event() == message("a")
    with pytest.raises(tokwire.LimitExceeded) as first:
        decoder.next_event()
    assert state(decoder) is StreamState.FAILED
    decoder.receive_data(b"data:c\n\n")
    decoder.receive_eof()
    for _ in range(3):
        with pytest.raises(tokwire.LimitExceeded) as again:
            list(decoder.events())
        assert again.value is first.value
    assert state(decoder) is StreamState.FAILED
    assert describe(pickle.loads(pickle.dumps(first.value))) == describe(first.value)


def test_what_is_not_bytes_is_copied() -> None:
    decoder = SSEDecoder()
    mutable = bytearray(b"data:a\n\n")
    decoder.receive_data(mutable)
    decoder.receive_data(memoryview(mutable)[:6])
    mutable[:] = b"x" * len(mutable)
    decoder.receive_eof()
    assert list(decoder.events()) == [message("a"), message("a")]
    with pytest.raises(TypeError, match="not str"):
        decoder.receive_data("data:a")  # type: ignore[arg-type]  # the mistake under test


@pytest.mark.parametrize("tail", [b"\n\n", b"\r\n\r\n", b"\n", b""])
@pytest.mark.parametrize("size", [7, 8, 9, 40])
def test_a_limit_of_an_event(size: int, tail: bytes) -> None:
    body = b"data:ok\n\n: comment\nevent:n\ndata:1234\ndata:" + b"x" * (size - 5) + tail
    ok = [message("ok")]
    for reads in every_way(body):
        events, failure = run(reads, limits=Limits(max_event_bytes=8))
        if size <= 8:
            assert (events, failure) == ([*ok, message("1234\n" + "x" * (size - 5), "n")], None)
        else:
            assert events == ok
            assert failure is not None
            assert (failure.kind, failure.offset) == ("LimitExceeded", body.index(b"event"))
            assert "max_event_bytes=8" in failure.text


def test_none_switches_the_limits_off() -> None:
    body = b"data:" + b"x" * 1000 + b"\n\n"
    limits = Limits(max_line_bytes=None, max_event_bytes=None)
    for reads in ([body], cut(body, [500])):
        assert run(reads, limits=limits) == ([message("x" * 1000)], None)
