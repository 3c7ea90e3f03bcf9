"""The framings, where a change of the code went unseen: bytes that are no text, ends without line end, and offsets."""

from __future__ import annotations

import pytest
from tests.bodies import packed, text_header
from tests.test_json_array import every_cut as every_cut_of_array
from tests.test_ndjson import every_cut

from tokwire import EventStreamDecoder, LimitExceeded, Limits, RemoteProtocolError, ServerSentEvent, SSEDecoder
from tokwire.framing._frames import Frame, FrameKind


def test_a_name_and_an_id_that_are_no_utf8_are_mended_like_data() -> None:
    decoder = SSEDecoder()
    decoder.receive_data(b"id: \xff7\nevent: \xfe\ndata: \xfd\n\n")
    assert list(decoder.events()) == [ServerSentEvent("\ufffd", "\ufffd", "\ufffd7", None)]


def test_a_byte_order_mark_on_a_line_without_end_is_no_text() -> None:
    decoder = SSEDecoder()
    decoder.receive_data(b"\xef\xbb\xbfdata: x")
    decoder.receive_eof()
    assert list(decoder.events()) == [ServerSentEvent("message", "x", "", None)]


def test_a_line_without_end_that_is_too_much_tells_where_its_event_begins() -> None:
    decoder = SSEDecoder(limits=Limits(max_event_bytes=3))
    decoder.receive_data(b"\n\ndata: long")
    decoder.receive_eof()
    with pytest.raises(LimitExceeded) as caught:
        list(decoder.events())
    assert (caught.value.limit, caught.value.offset) == ("max_event_bytes", 2)


@pytest.mark.parametrize("at", [0, 11])
def test_lines_that_begin_with_a_zero_byte_are_told_at_the_end_of_the_body(at: int) -> None:
    line = b"\0" + b"x" * 100
    frames, error = every_cut(b"\n" * at + line + b"\n")
    assert frames == [Frame(FrameKind.FOREIGN, line[:64], at, "binary bytes")]
    assert error is None


def test_a_zero_byte_further_on_is_a_line_that_the_reader_refuses() -> None:
    assert every_cut(b"\n" * 12 + b"\0x\n") == ([Frame(FrameKind.PAYLOAD, b"\0x", 12)], None)


@pytest.mark.parametrize(
    ("line", "shown", "name"),
    [
        (b"data: x", b"x", "an event stream"),
        (b"event: a", b"event: a", "an event stream"),
        (b"<html>", b"<html>", "an HTML or XML page"),
    ],
)
def test_a_body_that_is_no_json_tells_where_that_shows(line: bytes, shown: bytes, name: str) -> None:
    assert every_cut(b"\n\n" + line + b"\n") == ([Frame(FrameKind.FOREIGN, shown, 2, name)], None)


def test_an_array_that_only_begins_is_cut_at_its_bracket() -> None:
    assert every_cut_of_array(b"[\n ") == ([Frame(FrameKind.CUT, b"[", 0)], None)


def test_an_element_that_is_too_long_names_the_limit() -> None:
    _, error = every_cut_of_array(b"[ 12345]", limit=3)
    assert error is not None
    assert error[0] is LimitExceeded
    assert "max_event_bytes=3" in error[1]
    assert error[2] == 2


def test_a_damaged_message_tells_its_place_behind_all_messages_before_it() -> None:
    messages = [packed(text_header(":event-type", "a" * size), b"{}") for size in (1, 20)]
    decoder = EventStreamDecoder()
    decoder.receive_data(b"".join(messages) + b"x" * 16)
    with pytest.raises(RemoteProtocolError) as caught:
        list(decoder.messages())
    assert caught.value.offset == sum(map(len, messages))
