"""`EventStreamDecoder`: frames of AWS event streams by themselves, headers of every type, and every refusal."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bodies import header, packed, text_header

from tokwire import (
    FINISHED,
    NEED_DATA,
    EventStreamDecoder,
    EventStreamMessage,
    LimitExceeded,
    Limits,
    LocalProtocolError,
    RemoteProtocolError,
    StreamState,
    StreamTruncated,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

HELLO = packed(text_header(":event-type", "hello"), b'{"x":1}')
EMPTY = packed(b"")


def take(decoder: EventStreamDecoder, reads: Sequence[bytes]) -> list[EventStreamMessage]:
    """The messages of these reads, taken after each, and after a clean end."""
    found: list[EventStreamMessage] = []
    for read in reads:
        decoder.receive_data(read)
        found.extend(decoder.messages())
    decoder.receive_eof()
    found.extend(decoder.messages())
    return found


def unpack(*reads: bytes, limits: Limits | None = None) -> list[EventStreamMessage]:
    """The messages of these reads, which are whole."""
    decoder = EventStreamDecoder(limits=Limits() if limits is None else limits)
    found = take(decoder, reads)
    assert decoder.state is StreamState.DONE
    return found


def refused(*reads: bytes, limits: Limits | None = None) -> RemoteProtocolError:
    """The error of these reads; the same for one byte per read, and raised again by every later call."""
    problems = []
    for ways in (reads, [bytes([byte]) for read in reads for byte in read]):
        decoder = EventStreamDecoder(limits=Limits() if limits is None else limits)
        with pytest.raises(RemoteProtocolError) as caught:
            take(decoder, ways)
        assert decoder.state is StreamState.FAILED
        decoder.receive_data(HELLO)
        with pytest.raises(type(caught.value)) as again:
            decoder.next_message()
        assert again.value is caught.value
        problems.append(caught.value)
    first, second = problems
    assert (type(first), str(first), first.offset) == (type(second), str(second), second.offset)
    return first


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (0, b"", True),
        (1, b"", False),
        (2, b"\xff", -1),
        (3, struct.pack(">h", -300), -300),
        (4, struct.pack(">i", 70000), 70000),
        (5, struct.pack(">q", -(2**40)), -(2**40)),
        (6, b"\0\3abc", b"abc"),
        (6, b"\0\0", b""),
        (7, b"\0\2\xc3\xa9", "\u00e9"),
        (7, b"\0\1\xff", "\ufffd"),
        (8, struct.pack(">q", 1700000000123), 1700000000123),
        (9, bytes(range(16)), bytes(range(16))),
    ],
)
def test_a_header_of_every_type(kind: int, value: bytes, expected: object) -> None:
    (found,) = unpack(packed(header(b"a", kind, value) + text_header("b", "after"), b"pay"))
    assert (found.headers, found.payload) == ({"a": expected, "b": "after"}, b"pay")
    assert type(found.headers["a"]) is type(expected)


def test_messages_without_headers_or_payload() -> None:
    assert unpack(EMPTY + packed(b"", b"p") + HELLO) == [
        EventStreamMessage({}, b""),
        EventStreamMessage({}, b"p"),
        EventStreamMessage({":event-type": "hello"}, b'{"x":1}'),
    ]


def test_every_cut_in_two() -> None:
    body = HELLO + EMPTY + HELLO
    whole = unpack(body)
    assert len(whole) == 3
    for place in range(len(body) + 1):
        assert unpack(body[:place], body[place:]) == whole


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (header(b"", 7, b"\0\1x"), "a name is empty or cut off"),
        (header(b"a", 10, b""), "the type 10 is unknown"),
        (header(b"a", 255, b"x"), "the type 255 is unknown"),
        (header(b"\xff", 0, b""), "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (header(b"a", 0, b"") + header(b"a", 1, b""), "the name 'a' is there twice"),
        (header(b"a" * 41, 0, b"") * 2, f"the name '{'a' * 40}' is there twice"),
        (b"\x05abc", "a name is empty or cut off"),
        (b"\x03abc", "a name is empty or cut off"),
        (header(b"a", 4, b"\0\0"), "a number is cut off"),
        (header(b"a", 9, b"\0" * 15), "a value is cut off"),
        (header(b"a", 7, b"\0\5abc"), "a value is cut off"),
        (header(b"a", 6, b"\0"), "a value is cut off"),
        (header(b"a", 6, b""), "a value is cut off"),
    ],
)
def test_a_malformed_header(bad: bytes, reason: str) -> None:
    error = refused(HELLO, packed(bad, b"{}"))
    assert str(error).startswith(f"an event-stream message has a bad header: {reason} (at byte")
    assert error.offset == len(HELLO)


@pytest.mark.parametrize("place", [*range(len(HELLO))])
def test_damage_anywhere_is_found(place: int) -> None:
    damaged = HELLO[:place] + bytes([HELLO[place] ^ 1]) + HELLO[place + 1 :]
    error = refused(EMPTY, damaged)
    assert error.offset == len(EMPTY)
    assert str(error).partition(" (at byte")[0] in {
        "the bytes are damaged, not an event-stream message: the checksum of its prelude is wrong",
        "the checksum of an event-stream message is wrong: its bytes were damaged on the way",
    }


@pytest.mark.parametrize(("total", "size"), [(0, 0), (15, 0), (16, 1), (20, 5), (40, 30)])
def test_lengths_that_cannot_be(total: int, size: int) -> None:
    reason = f"an event-stream message announces {total} bytes with {size} bytes of headers, which cannot be"
    assert str(refused(packed(b"", b"x" * 24, total=total, size=size))).startswith(reason)


def test_a_length_over_the_limit_is_refused_at_the_prelude() -> None:
    decoder = EventStreamDecoder(limits=Limits(max_frame_bytes=100))
    decoder.receive_data(packed(b"", total=101)[:12])
    with pytest.raises(LimitExceeded) as caught:
        decoder.next_message()
    assert (caught.value.limit, caught.value.value, caught.value.offset) == ("max_frame_bytes", 100, 0)


def test_a_length_at_the_limit() -> None:
    body = packed(b"", b"x" * 84)
    assert [len(found.payload) for found in unpack(body, limits=Limits(max_frame_bytes=100))] == [84]
    assert isinstance(refused(body, limits=Limits(max_frame_bytes=99)), LimitExceeded)
    assert len(unpack(body, limits=Limits(max_frame_bytes=None))) == 1


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        (b"data: {}\n\ndata: {}\n\n", "server-sent events"),
        (b"event: message\ndata", "server-sent events"),
        (b": comment line\n", "server-sent events"),
        (b"id: 1234567\ndata", "server-sent events"),
        (b"retry: 1000\ndata", "server-sent events"),
        (b"\xef\xbb\xbfdata: {}\n\n", "server-sent events"),
        (b'{"message":"no"}', "JSON"),
        (b'  [{"message":1}]', "JSON"),
        (b"<html><body></body>", "an HTML or XML page"),
        (b"\x1f\x8b\x08" + b"\0" * 20, "gzip-compressed"),
        (b"internal server error", "damaged"),
    ],
)
def test_what_is_not_frames_is_named_at_the_twelfth_byte(body: bytes, looks: str) -> None:
    decoder = EventStreamDecoder()
    decoder.receive_data(body[:11])
    assert decoder.next_message() is NEED_DATA
    decoder.receive_data(body[11:12])
    with pytest.raises(RemoteProtocolError, match=looks):
        decoder.next_message()
    assert f"the bytes are {looks}, not an event-stream message: " in str(refused(body))


@pytest.mark.parametrize("left", [1, 11, 12, len(HELLO) - 1])
def test_an_end_inside_a_message(left: int) -> None:
    error = refused(EMPTY + HELLO[:left])
    assert isinstance(error, StreamTruncated)
    assert str(error).startswith("the event stream was cut inside a message")
    assert error.offset == len(EMPTY)


def test_a_body_that_the_transport_cut_between_messages() -> None:
    decoder = EventStreamDecoder()
    decoder.receive_data(HELLO)
    decoder.receive_eof(complete=False)
    decoder.receive_eof(complete=True)
    assert decoder.next_message() == EventStreamMessage({":event-type": "hello"}, b'{"x":1}')
    with pytest.raises(StreamTruncated):
        decoder.next_message()


def test_the_verbs() -> None:
    decoder = EventStreamDecoder()
    assert (decoder.next_message(), decoder.state) == (NEED_DATA, StreamState.OPEN)
    decoder.receive_data(bytearray(HELLO))
    decoder.receive_data(b"")
    decoder.receive_data(memoryview(EMPTY))
    iterator = decoder.messages()
    assert next(iterator).headers == {":event-type": "hello"}
    assert decoder.next_message() == EventStreamMessage({}, b"")
    decoder.receive_eof()
    with pytest.raises(LocalProtocolError):
        decoder.receive_data(HELLO)
    assert (decoder.next_message(), decoder.state) == (FINISHED, StreamState.DONE)
    decoder.receive_data(HELLO)
    assert decoder.next_message() is FINISHED
    with pytest.raises(TypeError):
        decoder.receive_data("text")  # type: ignore[arg-type]  # on purpose


HEADERS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
    st.text(st.characters(codec="utf-8"), max_size=20),
    max_size=4,
)


@given(
    st.lists(st.tuples(HEADERS, st.binary(max_size=60)), max_size=5),
    st.lists(st.integers(0, 400), max_size=8),
)
def test_what_was_packed_comes_out(messages: list[tuple[dict[str, str], bytes]], places: list[int]) -> None:
    body = b"".join(
        packed(b"".join(text_header(name, value) for name, value in headers.items()), payload)
        for headers, payload in messages
    )
    ends = [0, *sorted(min(place, len(body)) for place in places), len(body)]
    reads = [body[start:end] for start, end in pairwise(ends)]
    assert [(found.headers, found.payload) for found in unpack(*reads)] == messages


@given(st.binary(min_size=16, max_size=80))
def test_random_bytes_never_raise_anything_else(body: bytes) -> None:
    assert refused(body).offset == 0
