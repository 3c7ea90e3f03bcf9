"""Gemini: the quick path. Ordinary events run through it; whatever is not ordinary leaves it unharmed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import array, call, candidate, decode, events
from tests.quick import OPTIONS, check, check_that_nothing_waits, one_by_one, read_in_full, ways
from tests.support import cut
from tests.wire import Row, rows

import tokwire
from tokwire.protocols.gemini import _shapes

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")
WHO = {"responseId": "r1", "modelVersion": "m1"}


def counted(output: object, **more: object) -> dict[str, Any]:
    """A usage object."""
    details = [{"modality": "TEXT", "tokenCount": 8}]
    return {"promptTokenCount": 8, "candidatesTokenCount": output, "promptTokensDetails": details, **more}


def payload(*parts: object, usage: object = None, **more: object) -> dict[str, Any]:
    """A payload with these parts, and counts unless told otherwise."""
    return candidate(*parts, **{"usageMetadata": counted(5) if usage is None else usage, **WHO, **more})


def said(text: object, **more: Any) -> bytes:
    """An event with text."""
    return events(payload({"text": text}, **more))


def part(text: object, **more: object) -> bytes:
    """An event with text in a part that has other members too."""
    return events(payload({"text": text, **more}))


END = events(payload({"text": ""}, reason="STOP"))


def test_ordinary_events_are_read_quickly() -> None:
    parts = [said(letter, usage=counted(number)) for number, letter in enumerate("abcdefgh")]
    body = b"".join(parts)
    for reads in (parts, [body], cut(body, range(190, len(body), 190)), cut(body, [90, 400, 460, 1200])):
        assert read_in_full("gemini", reads) == 1
        check("gemini", [*reads, END])
    assert rows(decode("gemini", body, include_usage=False)) == [*(("text", letter) for letter in "abcdefgh"), UNSAID]


def test_long_events_are_read_quickly_too() -> None:
    parts = [said(letter * 3000) for letter in "abc"]
    assert read_in_full("gemini", parts) == read_in_full("gemini", [b"".join(parts)]) == 1
    deep = tokwire.Limits(max_json_depth=None)
    assert read_in_full("gemini", parts, limits=deep) == 1
    check("gemini", parts)


@pytest.mark.parametrize("absent", ["responseId", "modelVersion", "usageMetadata"])
def test_events_without_one_of_the_usual_members(absent: str) -> None:
    payloads = [payload({"text": letter}) for letter in "abc"]
    for each in payloads:
        del each[absent]
    parts = [events(each) for each in payloads]
    assert read_in_full("gemini", parts) == 1
    check("gemini", [*parts, said("d"), said("e"), END])
    found = decode("gemini", *parts, said("d"), said("e"), END)
    assert found.text == "abcde"
    assert (found.summary.response_id, found.summary.model) == ("r1", "m1")


def test_relays_that_end_lines_otherwise_are_read_as_well() -> None:
    parts = [said(letter).replace(b"\r\n", b"\n") for letter in "abc"]
    check("gemini", parts)
    assert rows(decode("gemini", *parts, END, include_usage=False)) == [*(("text", each) for each in "abc"), STOPPED]


def test_an_array_is_read_as_well() -> None:
    payloads = [payload({"text": letter}) for letter in "abc"]
    for body in (array(*payloads), json.dumps(payloads).encode()):
        check("gemini", cut(body, range(0, len(body), 40)))


ODD: list[tuple[bytes, list[Row]]] = [
    (part("R", thought=True), [("reasoning", "R")]),
    (part("y", thought=False), [("text", "y")]),
    (part("y", thought=None, thoughtSignature="", functionCall=None, inlineData=None), [("text", "y")]),
    (part("y", thoughtSignature="s"), [("text", "y")]),
    (part("y", inlineData={"mimeType": "image/png", "data": "AA"}), [("text", "y")]),
    (part("y", unknown={"a": [1]}), [("text", "y")]),
    (said(""), []),
    (said(None), []),
    (said(5), []),
    (said("\ud83d") + said("\ude00"), [("text", "\U0001f600")]),
    (events(payload({"text": "y"}, {"text": "z"})), [("text", "y"), ("text", "z")]),
    (events(payload()), []),
    (said("y", index="0"), [("text", "y")]),
    (said("y", index=None), [("text", "y")]),
    (said("y", index=True), [("text", "y")]),
    (said("y", index=1), [("text", "y", 1)]),
    (said("y", reason=""), [("text", "y")]),
    (said("y", reason="FINISH_REASON_UNSPECIFIED"), [("text", "y")]),
    (said("y", error=None, object=None, type=None), [("text", "y")]),
    (said("y", error="", type="x"), [("text", "y")]),
    (said("y", promptFeedback={"blockReason": "SAFETY"}, responseId="r2", modelVersion="m2"), [("text", "y")]),
    (events({"candidates": [{"content": {"parts": {"text": "y"}}}], "usageMetadata": counted(6)}), [("text", "y")]),
    (events({"usageMetadata": counted(6)}), []),
    (said("y", usage={}), [("text", "y")]),
    (said("y", usage=[]), [("text", "y")]),
    (events(payload({"text": "y"}) | {"usageMetadata": None}), [("text", "y")]),
    (said("y").replace(b"data: ", b"data:"), [("text", "y")]),
    (said("y").replace(b"data: ", b"id: 7\r\ndata: "), [("text", "y")]),
    (said("y").replace(b"data: {", b"data: {\r\ndata: "), [("text", "y")]),
    (said("y").replace(b"data: {", b"data: {\rdata: "), [("text", "y")]),
    (said("y").replace(b"\r\n", b"\n"), [("text", "y")]),
    (said("y").replace(b"\r\n", b"\r"), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a","text":"y"'), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a\tb\xff"'), [("text", "a\tb\ufffd")]),
    (said("y").replace(b'"index":0', b'"index":0,"n":NaN,"big":1e999'), [("text", "y")]),
    (said("y").removeprefix(b"data: "), []),
    (b'{"unknown":\r\n\r\n[]}\r\n\r\n', []),
    (b": comment\r\n\r\n", []),
    (b"\r\n\n\r\r\n", []),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_event_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    found = rows(decode("gemini", said("a"), said("b"), odd, said("c"), said("d"), END, include_usage=False))
    assert found == [("text", "a"), ("text", "b"), *events, ("text", "c"), ("text", "d"), STOPPED]


@pytest.mark.parametrize("members", [{"error": {"code": 500}}, {"object": "error"}, {"type": "error"}])
def test_an_error_in_an_otherwise_ordinary_event(members: dict[str, Any]) -> None:
    found = rows(decode("gemini", said("a"), said("b"), said("x", **members), said("lost")))
    assert found == [*(("text", letter) for letter in "abx"), ("error", "APIError")]


TEXT_AND_CALL = [candidate({"text": "x"}), candidate(call("f"))]


@pytest.mark.parametrize(
    "between",
    [
        events(payload(call("f"))),
        events(payload({"text": "x", **call("f")})),
        events(payload({"text": "x"}, call("f"))),
        events({"candidates": [each["candidates"][0] for each in TEXT_AND_CALL], **WHO}),
        events(payload(call("f"))) + said("y", index=1),
    ],
)
def test_text_behind_a_call_makes_it_complete(between: bytes) -> None:
    end = events(payload(reason="MAX_TOKENS"))
    found = rows(decode("gemini", said("a"), said("b"), between, said("c"), said("d"), end, include_usage=False))
    assert [each[0] for each in found][-4:] == ["text", "text", "call", "finish"]


def test_text_behind_half_a_pair() -> None:
    found = rows(decode("gemini", said("a"), said("b"), said("\ud83d"), said("c"), said("d"), include_usage=False))
    assert found == [*(("text", text) for text in ("a", "b", "\ufffdc", "d")), UNSAID]


def test_counts_are_those_of_the_last_payload() -> None:
    decoder = tokwire.StreamDecoder("gemini")
    for number in range(1, 6):
        decoder.receive_data(said("a", usage=counted(number)))
        assert [event.as_text() for event in decoder.events()] == ["a"]
        usage = decoder.summary.usage
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens) == (8, number)
        assert usage.raw == counted(number)
        assert decoder.summary.usage == usage


COUNTS = [
    counted(6),
    counted(7, thoughtsTokenCount=3),
    counted(8, thoughtsTokenCount=4),
    counted(9, thoughtsTokenCount=None),
    counted(10, trafficType="ON_DEMAND"),
    counted(11, other={"a": 1}),
    counted(12.0),
    counted(output=True),
    counted("13"),
    counted(14, cachedContentTokenCount=2, candidatesTokensDetails=[]),
    counted(15, promptTokensDetails=[None, {"b": "\xe9"}, 1e300, [2]]),
    {"totalTokenCount": 3},
    {},
    {"candidatesTokenCount": 16, "promptTokenCount": 9},
]


@given(st.lists(st.sampled_from(COUNTS) | st.sampled_from(COUNTS[:1]), min_size=2, max_size=10), st.booleans())
@settings(max_examples=100, deadline=None)
def test_counts_are_merged_as_on_the_exact_path(usages: list[dict[str, Any]], doubled: bool) -> None:  # noqa: FBT001 - a parameter
    usages = [usage for usage in usages for _ in range(1 + doubled)]
    parts = [said("a", usage=usage) for usage in usages]
    check("gemini", parts, include_usage=True)
    check("gemini", [b"".join(parts)], include_usage=True)


def test_counts_with_bytes_that_are_no_text() -> None:
    details = said("b", usage=counted(6)).replace(b'"TEXT"', b'"\xff", "n": 1e999')
    check("gemini", [said("a"), details, details, said("c")], include_usage=True)


def test_shapes_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shapes, "_decoders", {})
    monkeypatch.setattr(_shapes, "MAX_SHAPES", 1)
    assert read_in_full("gemini", [said("a"), said("b")]) == 1
    others = [said(letter, usage={"totalTokenCount": 3}) for letter in "abc"]
    assert read_in_full("gemini", others) == 3
    check("gemini", others)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_end_between_members_is_one(end: bytes) -> None:
    broken = said("x").replace(b',"usageMetadata"', b"," + end + b'"usageMetadata"')
    found = rows(decode("gemini", said("a"), said("b"), broken, END))
    assert found == [("text", "a"), ("text", "b"), ("error", "RemoteProtocolError")]
    check("gemini", [said("a"), said("b"), broken, END])


def test_unfinished_events_count_once_against_a_limit() -> None:
    parts = [said(letter) for letter in "abcdefgh"]
    reads = [half for each in parts for half in (each[:100], each[100:])]
    assert read_in_full("gemini", reads, limits=tokwire.Limits(max_line_bytes=len(parts[0]))) == 1


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize("name", ["max_line_bytes", "max_event_bytes"])
def test_limits_hold_on_the_quick_path(name: str, spare: int) -> None:
    long = said("y" * 300)
    size = len(long) - 4 - (6 if name == "max_event_bytes" else 0)
    found = rows(decode("gemini", said("a"), said("b"), long, END, limits=tokwire.Limits(**{name: size - spare})))
    expected = [("error", "LimitExceeded")] if spare else [("text", "y" * 300)]
    assert found[2:3] == expected


@pytest.mark.parametrize("size", [1, 2000])
def test_the_limit_for_depth_holds_on_the_quick_path(size: int) -> None:
    deep = said("y" * size, unknown=[[[[[[[]]]]]]])
    for depth, expected in ((8, ("text", "y" * size)), (7, ("error", "LimitExceeded"))):
        limits = tokwire.Limits(max_json_depth=depth)
        assert rows(decode("gemini", said("a"), said("b"), deep, END, limits=limits))[2] == expected


def test_raw_payloads_come_before_what_they_give() -> None:
    found = rows(decode("gemini", said("a"), said("b"), include_raw=True))
    assert [row[2] for row in found if row[0] == "raw"] == [said("a")[6:-4], said("b")[6:-4]]


def test_generators_that_are_dropped_lose_nothing() -> None:
    decoder = tokwire.StreamDecoder("gemini")
    body = b"".join(map(said, "abcdef"))
    found: list[Any] = []
    for read in cut(body, [len(said("a")) * 3 + 50]):
        decoder.receive_data(read)
        found += [event.as_text() for event in one_by_one(decoder)]
    assert found == list("abcdef")


def test_data_may_come_while_events_are_taken() -> None:
    decoder = tokwire.StreamDecoder("gemini")
    rest = [said("c"), said("d") + said("e")[:50], said("e")[50:]]
    decoder.receive_data(said("a") + said("b"))
    found = []
    for event in decoder.events():
        found.append(event.as_text())
        if rest:
            decoder.receive_data(rest.pop(0))
    assert found == list("abcde")


def test_nothing_waits() -> None:
    check_that_nothing_waits("gemini", b"", [*map(said, "abcd")], "abcd")


FRAMES = [*map(said, "ab"), said("c", usage=counted(6)), *(odd for odd, _ in ODD), END]
FRAMES += [events(payload(call("f", {}))), events(payload({"text": "c"}, reason="MAX_TOKENS")), said("x" * 1500)]
FRAMES += [b"data: [DONE]\r\n\r\n", b"error: x\r\n", json.dumps({"error": {"code": 5}}, indent=1).encode() + b"\r\n"]
FRAMES += [said("q")[:60], said("q")[:-1], said("q")[:-2], said("q")[:-3], b"\n", b"data: x\r\n\r\n"]


@given(st.lists(st.sampled_from(FRAMES[:3]) | st.sampled_from(FRAMES), max_size=12), st.data())
@settings(max_examples=200, deadline=None)
def test_both_paths_show_the_same(frames: list[bytes], draw: st.DataObject) -> None:
    options = draw.draw(OPTIONS, label="options")
    check("gemini", ways(frames, draw), complete=draw.draw(st.booleans(), label="complete"), **options)
