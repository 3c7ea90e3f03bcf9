"""`StreamDecoder` as its user sees it: arguments, verbs, order, and what may be dropped, nested and repeated."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import (
    BODIES,
    EVERYTHING,
    PROTOCOLS,
    chunk,
    data,
    single_bytes,
    text_stream,
    without_quick_path,
)

import tokwire
from tokwire import FINISHED, NEED_DATA, Block, Finish, FinishReason, StreamDecoder, StreamState, TextBlock

STOPPED = Finish(FinishReason.STOP)


def state(decoder: StreamDecoder) -> StreamState:
    """The state, as a value that a type checker does not narrow."""
    return decoder.state


def texts(events: list[tokwire.StreamEvent]) -> str:
    return "".join(each.as_text() or "" for each in events)


@pytest.mark.parametrize("name", ["openai-chat", "openai", "openai_chat", "OpenAI-Chat", "OPENAI"])
def test_a_protocol_by_name(name: str) -> None:
    decoder = StreamDecoder(name)
    assert decoder.protocol.name == "openai-chat"
    assert repr(decoder) == "<StreamDecoder openai-chat OPEN>"
    assert decoder.limits == tokwire.Limits()
    assert StreamDecoder(decoder.protocol).protocol is decoder.protocol


@pytest.mark.parametrize("name", ["", "openai chat", "gpt", "opena\u0130", "anthropi\u212a"])
def test_an_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match=r"known are anthropic, .*openai, openai-chat, "):
        StreamDecoder(name)


def test_what_is_no_name() -> None:
    with pytest.raises(TypeError, match="not bytes"):
        StreamDecoder(b"openai")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="positional"):
        StreamDecoder("openai", True)  # type: ignore[call-arg]  # noqa: FBT003 - the mistake under test


@pytest.mark.parametrize("wrong", ["text", None, 3, [b"a"]])
def test_what_is_no_data(wrong: Any) -> None:
    decoder = StreamDecoder("openai")
    with pytest.raises(TypeError, match="bytes, bytearray or memoryview"):
        decoder.receive_data(wrong)
    assert decoder.state is StreamState.OPEN


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_not_bytes_is_copied(protocol: str) -> None:
    body = BODIES[protocol]
    expected = tokwire.decode(body, protocol)
    for size in (1, 7, 100, len(body)):
        decoder = StreamDecoder(protocol)
        events: list[tokwire.StreamEvent] = []
        for start in range(0, len(body), size):
            mutable = bytearray(body[start : start + size])
            decoder.receive_data(mutable if start % 2 else memoryview(mutable))
            mutable[:] = b"x" * len(mutable)
            events += decoder.events()
        assert events == expected
    assert tokwire.decode(bytearray(body), protocol) == tokwire.decode(memoryview(body), protocol) == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_empty_read_does_nothing(protocol: str) -> None:
    for path in (protocol, without_quick_path(protocol)):
        decoder = StreamDecoder(path)
        decoder.receive_data(b"")
        assert decoder.next_event() is NEED_DATA
        events: list[tokwire.StreamEvent] = []
        for read in single_bytes(BODIES[protocol]):
            for each in (b"", read, bytearray(), b""):
                decoder.receive_data(each)
            events += decoder.events()
            decoder.receive_data(b"")
            events += decoder.events()
        assert events == tokwire.decode(BODIES[protocol], protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_states(protocol: str) -> None:
    decoder = StreamDecoder(protocol)
    assert decoder.next_event() is NEED_DATA
    assert state(decoder) is StreamState.OPEN
    decoder.receive_data(BODIES[protocol])
    found = [decoder.next_event()]
    while (each := decoder.next_event()) is not FINISHED:
        assert state(decoder) is (StreamState.DONE if isinstance(each, Finish) else StreamState.OPEN)
        found.append(each)
    assert found == tokwire.decode(BODIES[protocol], protocol)
    assert repr(decoder).endswith("DONE>")
    decoder.receive_data(text_stream(protocol, "late"))
    decoder.receive_eof()
    decoder.receive_eof(complete=False)
    assert (list(decoder.events()), decoder.next_event()) == ([], FINISHED)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_first_flag_of_the_end_stands(protocol: str) -> None:
    for first, second in ((True, False), (False, True)):
        decoder = StreamDecoder(protocol)
        decoder.receive_data(text_stream(protocol, "a"))
        decoder.receive_eof(complete=first)
        decoder.receive_eof(complete=second)
        with pytest.raises(tokwire.LocalProtocolError):
            decoder.receive_data(b"")
        with pytest.raises(tokwire.LocalProtocolError):
            decoder.receive_data(b"more")
        assert decoder.next_event() == Block(TextBlock("a"))
        decoder.receive_eof(complete=second)
        if first:
            assert decoder.next_event() == Finish(FinishReason.UNSPECIFIED)
        else:
            with pytest.raises(tokwire.StreamTruncated):
                decoder.next_event()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_lost_wherever_the_caller_stops(protocol: str) -> None:
    body = BODIES[protocol]
    expected = tokwire.decode(body, protocol, **EVERYTHING)
    for path in (protocol, without_quick_path(protocol)):
        for stop in range(1, len(expected)):
            for reads in ([body], single_bytes(body), [body[:200], body[200:]]):
                decoder = StreamDecoder(path, **EVERYTHING)
                for read in reads:
                    decoder.receive_data(read)
                found: list[tokwire.StreamEvent] = []
                while len(found) < len(expected):
                    for place, each in enumerate(decoder.events(), 1):
                        found.append(each)
                        if place == stop:
                            break
                assert found == expected
                assert decoder.next_event() is FINISHED


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_data_may_come_inside_the_loop(protocol: str) -> None:
    body = BODIES[protocol] + b"data: ignored\n\n"
    for path in (protocol, without_quick_path(protocol)):
        for size in (1, 50, 300):
            reads = [body[start : start + size] for start in range(0, len(body), size)]
            decoder = StreamDecoder(path, **EVERYTHING)
            found: list[tokwire.StreamEvent] = []
            while reads:
                decoder.receive_data(reads.pop(0))
                for each in decoder.events():
                    found.append(each)
                    if reads:
                        decoder.receive_data(reads.pop(0))
            assert found == tokwire.decode(body, protocol, **EVERYTHING)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_end_may_come_inside_the_loop(protocol: str) -> None:
    decoder = StreamDecoder(protocol)
    decoder.receive_data(text_stream(protocol, "a", "b"))
    found = []
    for each in decoder.events():
        found.append(each)
        decoder.receive_eof()
    assert texts(found) == "ab"
    assert found[-1] == Finish(FinishReason.UNSPECIFIED)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_event_comes_with_its_last_byte(protocol: str, end: bytes) -> None:
    wire = text_stream(protocol, "a", "b").replace(b"\n", end)
    ends = [place + len(end) + 1 for place in range(len(wire)) if wire.startswith(end * 2, place)]
    for path in (protocol, without_quick_path(protocol)):
        decoder = StreamDecoder(path)
        came: list[int] = []
        for position, read in enumerate(single_bytes(wire), 1):
            decoder.receive_data(read)
            came += [position for _ in decoder.events()]
        assert came == ends[-2:]


def test_decode_puts_the_events_on_the_error() -> None:
    body = text_stream("openai-chat", "a", "b") + data(b"junk")
    with pytest.raises(tokwire.RemoteProtocolError) as caught:
        tokwire.decode(body, "openai")
    assert texts(list(caught.value.events)) == "ab"
    with pytest.raises(ValueError, match="unknown protocol"):
        tokwire.decode(b"", "none")
    decoder = StreamDecoder("openai")
    decoder.receive_data(text_stream("openai-chat", "a") + data(b"junk"))
    with pytest.raises(tokwire.RemoteProtocolError) as handed_out:
        list(decoder.events())
    assert handed_out.value.events == ()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_summary_is_never_ahead_of_the_events(protocol: str) -> None:
    for path in (protocol, without_quick_path(protocol)):
        decoder = StreamDecoder(path)
        assert decoder.summary.response_id is None
        decoder.receive_data(BODIES[protocol] + b"rest")
        assert decoder.summary.response_id is None
        first = decoder.next_event()
        assert first == Block(TextBlock("a"))
        early = decoder.summary
        assert (early.raw_finish_reason, early.usage and early.usage.output_tokens) == (None, None)
        assert early.finish_reason is FinishReason.UNSPECIFIED
        assert not early.end_marker
        assert early.response_id == decoder.summary.response_id is not None
        for each in decoder.events():
            assert decoder.summary.end_marker is isinstance(each, Finish)
        late = decoder.summary
        assert (late.raw_finish_reason, late.finish_reason.as_str()) == (late.finish_reasons[0], "tool_calls")
        assert late.usage is not None
        assert late.usage.output_tokens == 6


def test_facts_without_an_event_are_there_once_the_events_run_dry() -> None:
    decoder = StreamDecoder("openai-chat")
    decoder.receive_data(chunk({}, "stop"))
    assert decoder.next_event() is NEED_DATA
    assert decoder.summary.raw_finish_reason == "stop"
    decoder.receive_data(data({"choices": [], "usage": {"prompt_tokens": 5}}))
    assert list(decoder.events()) == []
    assert decoder.summary.usage is not None
