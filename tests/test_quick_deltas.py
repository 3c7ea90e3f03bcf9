"""The quick machine of deltas: events in an envelope, and near one, as the exact machine reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.alike import KINDS, KNOWN, STOP, anthropic_text, argument, blank, noisy, text
from tests.quick import check
from tests.support import START, chunk, cut, decoded
from tests.wire import begin, openai, piece, rows

import tokwire
from tokwire.framing._envelope import MAX_EVENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

STOPPED = ("finish", "stop")


def shown(decoder: tokwire.StreamDecoder) -> str:
    """The text, or the reasoning, of all that is ready."""
    return "".join(event.as_text() or event.as_reasoning() or "" for event in decoder.events())


def without_whole_decoding(decoder: tokwire.StreamDecoder) -> None:
    """From here on a payload that is decoded whole fails the test."""

    def decode(payload: bytes) -> Any:
        raise AssertionError(f"decoded whole: {payload!r}")

    state = decoder._engine.state
    state.shape = msgspec.structs.replace(state.shape, decode=decode)


@pytest.mark.parametrize(("protocol", "begin", "make"), KINDS)
@pytest.mark.parametrize("is_cut", [False, True])
def test_once_an_envelope_is_known_only_the_text_is_decoded(
    protocol: str, begin: bytes, make: Callable[[str], bytes], *, is_cut: bool
) -> None:
    decoder = tokwire.StreamDecoder(protocol, include_reasoning=True)
    for read in (begin, *map(make, "abcdef")):
        decoder.receive_data(read)
        shown(decoder)
    without_whole_decoding(decoder)
    letters = ["d", "\u00e9", '"', "\\", "\n", "\U0001f600", "", "g"]
    events = [make(letter) for letter in letters]
    body = b"".join(events)
    found = ""
    for read in cut(body, [len(body) // 3, len(body) // 3 * 2]) if is_cut else events:
        decoder.receive_data(read)
        found += shown(decoder)
    assert found in ("".join(letters), "")
    pieces = [call.pieces for call in decoder._engine.state.open_calls.values()]
    assert found or [piece for piece in pieces[0] if piece][-7:] == [letter for letter in letters if letter]


def test_long_events_are_not_searched_for_an_envelope() -> None:
    limits = tokwire.Limits(max_json_depth=None)
    for size, is_long in ((MAX_EVENT_BYTES, False), (MAX_EVENT_BYTES + 1, True)):
        decoder = tokwire.StreamDecoder("openai-chat", limits=limits)
        for read in map(text, KNOWN):
            decoder.receive_data(read)
            shown(decoder)
        without_whole_decoding(decoder)
        decoder.receive_data(text("x" * (size - len(text("")))))
        if is_long:
            with pytest.raises(AssertionError, match="decoded whole"):
                shown(decoder)
        else:
            assert len(shown(decoder)) == size - len(text(""))


@pytest.mark.parametrize("padded", [noisy, blank])
def test_an_event_that_is_cut_off_is_not_taken_for_a_whole_one(padded: Callable[[str], bytes]) -> None:
    protocol, begun = ("openai-chat", b"") if padded is noisy else ("anthropic", START + begin(0, "text", text=""))
    known = [begun, *map(padded, "abcdefg")]
    for size in range(len(padded("h"))):
        cut_off = padded("h")[:size]
        check(protocol, [*known, cut_off], complete=bool(size % 2))
        check(protocol, [b"".join([*known, cut_off, *([b"\n\n", padded("i")] if size % 2 else [])])])


# ---- near an envelope ----------------------------------------------------------------------------------------

LEARNED = b"".join(map(text, KNOWN))
SLOT = b'"y"}'


@pytest.mark.parametrize(
    ("slot", "found"),
    [
        (b' "y" }', "y"),
        (b'\t"y"}', "y"),
        (b'"\\u00e9\\ud83d\\ude00"}', "\u00e9\U0001f600"),
        (b'"\xff"}', "\ufffd"),
        (b'"a\x01b"}', "a\x01b"),
        (b"null}", None),
        (b"5}", None),
        (b'"y","content":"z"}', "z"),
        (b'"y"},"x":{"content":"z"}', "y"),
        (b'["y"]}', "y"),
    ],
)
def test_a_slot_with_something_else(slot: bytes, found: str | None) -> None:
    body = LEARNED + text("y").replace(SLOT, slot) + text("d") + STOP
    middle = [] if found is None else [("text", found)]
    expected = [*(("text", letter) for letter in KNOWN), *middle, ("text", "d"), STOPPED]
    assert rows(openai(body)) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b"\n\n"])
@pytest.mark.parametrize("place", [b'"y"', b'"content":'])
def test_line_ends_beside_a_slot_end_the_line(place: bytes, end: bytes) -> None:
    for broken in (place + end, end + place):
        body = LEARNED + text("y").replace(place, broken) + text("d") + STOP
        found = decoded("openai-chat", body)
        assert [event.as_text() for event in found.events] == list(KNOWN)
        assert found.failure is not None
        check("openai-chat", [*map(text, KNOWN), text("y").replace(place, broken), text("d"), STOP])


@pytest.mark.parametrize("broken", [b'"a\n"}', b'"a\r"}', b'"a"b"}', b'"a\\"}', b"}", b'"}'])
def test_a_slot_that_is_no_json_fails(broken: bytes) -> None:
    body = LEARNED + text("y").replace(SLOT, broken) + STOP
    found = decoded("openai-chat", body)
    assert [event.as_text() for event in found.events] == list(KNOWN)
    assert found.failure is not None


def test_noise_changes_with_every_event() -> None:
    words = ["x", "Y7", "abc", "de", "q", "", "a b", "\u00e9", "z", ""]
    events = [text(letter, obfuscation=word) for letter, word in zip("abcdefghij", words, strict=True)]
    assert rows(openai(b"".join(events) + STOP)) == [*(("text", letter) for letter in "abcdefghij"), STOPPED]
    decoder = tokwire.StreamDecoder("openai-chat")
    for read in events[:8]:
        decoder.receive_data(read)
        shown(decoder)
    without_whole_decoding(decoder)
    for read in events[8:]:
        decoder.receive_data(read)
    assert shown(decoder) == "ij"


def test_blanks_change_with_every_event() -> None:
    blanks = ["", "   ", " ", "     ", "  ", "", " \t ", "    ", "\f", " "]
    events = [
        anthropic_text(letter).replace(b"}\n", blank.encode() + b"}\n")
        for letter, blank in zip("abcdefghij", blanks, strict=True)
    ]
    begun = [START, begin(0, "text", text="")]
    for reads in ([*begun, *events], [b"".join([*begun, *events])]):
        check("anthropic", reads)
    decoder = tokwire.StreamDecoder("anthropic")
    for read in [*begun, *events[:6]]:
        decoder.receive_data(read)
        shown(decoder)
    without_whole_decoding(decoder)
    for read in (events[7], events[9]):
        decoder.receive_data(read)
    assert shown(decoder) == "hj"


@pytest.mark.parametrize("noise", [b'"', b"\n", b"\\", b'"}}', b'","error":"E', b"\xff"])
def test_noise_that_is_no_word_is_read_whole(noise: bytes) -> None:
    events = [text(letter, obfuscation=word) for letter, word in zip("abcd", ["p", "qq", "r", "WORD"], strict=True)]
    events[3] = events[3].replace(b"WORD", b"W" + noise)
    check("openai-chat", [*events, text("e", obfuscation="s"), STOP])
    check("openai-chat", [b"".join(events), text("e", obfuscation="s"), STOP])


def test_arguments_go_to_their_own_call() -> None:
    parts = [piece(0, "a", "f", ""), piece(1, "b", "g", "")]
    for letters in ("[1", ",2", ",3"):
        parts += [piece(0, arguments=letters), piece(1, arguments=letters), piece(1, arguments=" ")]
    parts += [piece(0, arguments="]"), piece(1, arguments="]"), chunk({}, "tool_calls")]
    calls = [("call", "a", "f", "[1,2,3]"), ("call", "b", "g", "[1,2,3]")]
    assert rows(openai(b"".join(parts))) == [*calls, ("finish", "tool_calls")]


def test_more_arguments_than_the_limit_allows_in_an_envelope() -> None:
    limits = tokwire.Limits(max_tool_arguments_bytes=5)
    body = piece(1, "a", "f", "") + b"".join(argument(letter) for letter in "[12345]")
    found = decoded("openai-chat", body, limits=limits)
    assert found.failure is not None
    assert found.failure.kind == "LimitExceeded"


@pytest.mark.parametrize("limit", ["max_line_bytes", "max_event_bytes"])
def test_a_longer_event_than_the_limit_allows_in_an_envelope(limit: str) -> None:
    limits = tokwire.Limits(**{limit: len(text("a")) + 20})
    events = [*map(text, KNOWN), text("d" * 60), text("e"), STOP]
    found = decoded("openai-chat", b"".join(events), limits=limits)
    assert [event.as_text() for event in found.events] == list(KNOWN)
    assert found.failure is not None
    assert found.failure.kind == "LimitExceeded"
    check("openai-chat", events, limits=limits)
    check("openai-chat", [b"".join(events)], limits=limits)


def test_a_summary_holds_no_envelope() -> None:
    decoder = tokwire.StreamDecoder("openai-chat")
    decoder.receive_data(LEARNED + STOP)
    shown(decoder)
    assert decoder._engine.state.envelope.end
    decoder.receive_eof()
    shown(decoder)
    assert not decoder._engine.state.envelope.end
