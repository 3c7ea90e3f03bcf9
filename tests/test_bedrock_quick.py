"""Bedrock: the quick path. Ordinary deltas run through it; whatever is not ordinary leaves it unharmed."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import block, decode, exception, frame, invoked, packed, stopped, text_header
from tests.quick import OPTIONS, check, check_that_nothing_waits, one_by_one, read_in_full, ways
from tests.support import cut
from tests.wire import ABSENT, Row, present, rows

import tokwire
from tokwire.protocols.bedrock import _shapes

STOPPED = ("finish", "stop")
START = frame("messageStart", role="assistant")
HEADERS = b"".join(
    text_header(f":{name}", value)
    for name, value in (
        ("event-type", "contentBlockDelta"),
        ("content-type", "application/json"),
        ("message-type", "event"),
    )
)


def delta(members: object, index: object = 0, **more: object) -> bytes:
    """A delta of a content block, as the service sends it."""
    payload = {**present(contentBlockIndex=index), "delta": members, "p": "abcde", **more}
    return packed(HEADERS, json.dumps(payload, separators=(",", ":")).encode())


def said(text: object, index: object = 0, **more: object) -> bytes:
    """A delta with text."""
    return delta({"text": text}, index, **more)


def thought(text: object, index: object = 0, **more: object) -> bytes:
    """A delta with reasoning."""
    return delta({"reasoningContent": {"text": text, **more}}, index)


def test_the_headers_are_those_of_the_service() -> None:
    assert _shapes.HEADERS == HEADERS


@pytest.mark.parametrize("make", [said, thought])
@pytest.mark.parametrize("with_reasoning", [True, False])
def test_ordinary_deltas_are_read_quickly(make: Any, with_reasoning: bool) -> None:  # noqa: FBT001 - a parameter
    messages = [START, *map(make, "abcdefgh")]
    body = b"".join(messages)
    for reads in (messages, [body], cut(body, range(0, len(body), 70)), cut(body, [len(START) + 200, 500, 501])):
        assert read_in_full("bedrock", reads, include_reasoning=with_reasoning) == 2
        check("bedrock", [*reads, stopped()], include_reasoning=with_reasoning)
    kind = "text" if make is said else "reasoning"
    assert rows(decode("bedrock", body, stopped())) == [*((kind, letter) for letter in "abcdefgh"), STOPPED]


def test_kinds_and_blocks_alternate() -> None:
    messages = [thought("R"), thought("S"), said("a", 1), said("b", 1), thought("T"), said("c", 1), said("d", 1)]
    expected = [("reasoning", "R"), ("reasoning", "S"), ("text", "a"), ("text", "b"), ("reasoning", "T")]
    assert rows(decode("bedrock", *messages, stopped())) == [*expected, ("text", "c"), ("text", "d"), STOPPED]
    assert read_in_full("bedrock", messages) == 4


ODD: list[tuple[bytes, list[Row]]] = [
    (block(0, text="y"), [("text", "y")]),
    (said("y", 1), [("text", "y")]),
    (said("y", ABSENT), [("text", "y")]),
    (said("y", None), [("text", "y")]),
    (said("y", "0"), [("text", "y")]),
    (said("y", 0.0), [("text", "y")]),
    (said("y", index=True), [("text", "y")]),
    (said(""), []),
    (said(None), []),
    (said(5), []),
    (said("\ud83d") + said("\ude00"), [("text", "\U0001f600")]),
    (said("y", error=None, object=None, type=None), [("text", "y")]),
    (said("y", error="", type="x"), [("text", "y")]),
    (said("y", unknown=[{"a": [1]}]), [("text", "y")]),
    (delta({"text": "y", "reasoningContent": {"text": "R"}}), [("reasoning", "R"), ("text", "y")]),
    (delta({"text": "y", "reasoningContent": {}}), [("text", "y")]),
    (delta({"text": "y", "toolUse": None}), [("text", "y")]),
    (delta({"citation": {"title": "y"}}), []),
    (delta(None), []),
    (packed(HEADERS, b'{"contentBlockIndex":0,"delta":{"text":"a","text":"y"}}'), [("text", "y")]),
    (packed(HEADERS, b'{"contentBlockIndex":0,"delta":{"text":"a\tb\xff"}}'), [("text", "a\tb\ufffd")]),
    (packed(HEADERS, b' {"contentBlockIndex":0,"delta":\r\n{"text":"y"},"n":NaN,"big":1e999} '), [("text", "y")]),
    (packed(HEADERS, b""), []),
    (packed(HEADERS.replace(b"Delta", b"Dolta"), b'{"contentBlockIndex":0,"delta":{"text":"y"}}'), []),
    (packed(HEADERS + text_header("x", "y"), b'{"contentBlockIndex":0,"delta":{"text":"y"}}'), [("text", "y")]),
    (frame("contentBlockStop", contentBlockIndex=0), []),
    (invoked({"outputText": "y"}), [("text", "y")]),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_message_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    found = rows(decode("bedrock", START, said("a"), said("b"), odd, said("c"), said("d"), stopped()))
    assert found == [("text", "a"), ("text", "b"), *events, ("text", "c"), ("text", "d"), STOPPED]


@pytest.mark.parametrize("members", [{"error": {"message": "bad"}}, {"object": "error"}, {"type": "error"}])
def test_an_error_in_an_otherwise_ordinary_delta(members: dict[str, object]) -> None:
    found = rows(decode("bedrock", START, said("a"), said("b"), said("x", **members), said("lost")))
    assert found == [*(("text", letter) for letter in "abx"), ("error", "APIError")]


@pytest.mark.parametrize("signature", ["s", "", None])
def test_signed_reasoning_leaves_the_quick_path(signature: object) -> None:
    found = decode("bedrock", START, thought("R"), thought("S"), thought("T", signature=signature), stopped())
    assert rows(found) == [*(("reasoning", letter) for letter in "RST"), STOPPED]
    assert [each.data for each in found.summary.signatures] == (["s"] if signature else [])


def test_encrypted_reasoning_leaves_the_quick_path() -> None:
    found = decode("bedrock", START, thought("R"), thought("S"), thought("T", redactedContent="x"), stopped())
    assert rows(found) == [*(("reasoning", letter) for letter in "RST"), STOPPED]
    assert [(each.kind, each.data) for each in found.summary.signatures] == [("redacted_thinking", "x")]


def test_kept_thinking_is_whole() -> None:
    found = decode("bedrock", START, *map(thought, "RST"), said("a", 1), stopped(), keep_thinking=True)
    assert [repr(each) for each in found.summary.thinking_blocks] == [repr(tokwire.ThinkingBlock("RST"))]


def test_text_of_a_new_block_makes_a_call_complete() -> None:
    start = {"toolUse": {"toolUseId": "t", "name": "f"}}
    inner = {"contentBlockStart": {"contentBlockIndex": 1, "start": start}}
    calls = frame("contentBlockStart", contentBlockIndex=1, start=start), invoked(inner)
    for call, text in product(calls, (said("c", 2), said("c", 0))):
        found = rows(decode("bedrock", START, said("a"), said("b"), call, text, said("d", 0), stopped("max_tokens")))
        assert [each[0] for each in found] == ["text"] * 4 + ["call", "finish"]


def test_text_behind_half_a_pair() -> None:
    messages = START, said("a"), said("b"), said("\ud83d"), said("c"), said("d"), stopped()
    assert rows(decode("bedrock", *messages)) == [*(("text", text) for text in ("a", "b", "\ufffdc", "d")), STOPPED]


@pytest.mark.parametrize("make", [said, thought])
def test_a_new_block_is_noted(make: Any) -> None:
    call = frame("contentBlockStart", start={"toolUse": {"toolUseId": "t", "name": "f"}})
    messages = START, make("a"), make("b"), make("c", 2), make("d", 2), call, block(3, toolUse={"input": '{"k":1}'})
    assert rows(decode("bedrock", *messages, stopped("tool_use")))[-2] == ("call", "t", "f", '{"k":1}')


@pytest.mark.parametrize("make", [said, thought])
def test_input_beside_other_content(make: Any) -> None:
    members = {"text": "y"} if make is said else {"reasoningContent": {"text": "y"}}
    call = frame("contentBlockStart", contentBlockIndex=1, start={"toolUse": {"toolUseId": "t", "name": "f"}})
    messages = START, call, make("a"), make("b"), delta({**members, "toolUse": {"input": "[1]"}}, 1), make("c")
    assert rows(decode("bedrock", *messages, stopped("tool_use")))[-2] == ("call", "t", "f", "[1]")


def test_headers_that_end_early() -> None:
    less = len(HEADERS) - len(text_header(":message-type", "event"))
    other = packed(HEADERS, b'{"contentBlockIndex":0,"delta":{"text":"x"}}', size=less)
    assert decode("bedrock", START, said("a"), said("b"), other, said("c"), stopped()).text == "abc"


def test_a_message_inside_a_long_one_is_none() -> None:
    long = packed(HEADERS, b"y" * 5000 + said("x") + b"y" * 100)
    place = 12 + len(HEADERS) + 5000
    check("bedrock", [START, said("a"), said("b"), long[:place], long[place:], said("c")])


@pytest.mark.parametrize("place", range(12))
@pytest.mark.parametrize("part", ["prelude", "headers", "payload", "checksum"])
def test_damaged_messages_are_refused(place: int, part: str) -> None:
    good = said("x")
    size = {"prelude": 12, "headers": len(HEADERS), "payload": 40, "checksum": 4}[part]
    start = {"prelude": 0, "headers": 12, "payload": 12 + len(HEADERS), "checksum": len(good) - 4}[part]
    at = start + place * size // 12
    bad = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
    for reads in ([START, said("a"), said("b"), bad, said("c")], [START + said("a") + said("b") + bad + said("c")]):
        check("bedrock", reads)
    found = rows(decode("bedrock", START, said("a"), said("b"), bad, said("c")))
    assert found[:2] == [("text", "a"), ("text", "b")]
    assert found[-1][0] == "error"


def test_a_long_message_comes_in_many_reads() -> None:
    long = said("y" * 50_000)
    body = START + said("a") + said("b") + long + said("c") + stopped()
    for size in (100, 1000, 5000, 40_000):
        check("bedrock", cut(body, range(size, len(body), size)))
    assert decode("bedrock", body).text == "ab" + "y" * 50_000 + "c"


@pytest.mark.parametrize("spare", [0, 1])
@pytest.mark.parametrize(("size", "depth"), [(300, 512), (300, None), (9000, None)])
def test_the_limit_for_a_frame_holds_on_the_quick_path(size: int, depth: int | None, spare: int) -> None:
    long = said("y" * size)
    limits = tokwire.Limits(max_frame_bytes=len(long) - spare, max_json_depth=depth)
    found = rows(decode("bedrock", START, said("a"), said("b"), long, stopped(), limits=limits))
    assert found[2:] == ([("error", "LimitExceeded")] if spare else [("text", "y" * size), STOPPED])


def test_raw_payloads_come_before_what_they_give() -> None:
    found = rows(decode("bedrock", START, said("a"), said("b"), include_raw=True))
    assert [row[1] for row in found if row[0] == "raw"] == ["messageStart", "contentBlockDelta", "contentBlockDelta"]


def test_generators_that_are_dropped_lose_nothing() -> None:
    decoder = tokwire.StreamDecoder("bedrock")
    body = START + b"".join(map(said, "abcdef"))
    found: list[Any] = []
    for read in cut(body, [len(START) + len(said("a")) * 3 + 50]):
        decoder.receive_data(read)
        found += [event.as_text() for event in one_by_one(decoder)]
    assert found == list("abcdef")


def test_data_may_come_while_events_are_taken() -> None:
    decoder = tokwire.StreamDecoder("bedrock")
    rest = [said("c"), said("d") + said("e")[:50], said("e")[50:], stopped()]
    decoder.receive_data(said("a") + said("b"))
    found = []
    for event in decoder.events():
        found.append(event.as_text())
        if rest:
            decoder.receive_data(rest.pop(0))
    decoder.receive_eof()
    assert [*found, *(event.as_text() for event in decoder.events())] == [*"abcde", None]


def test_nothing_waits() -> None:
    check_that_nothing_waits("bedrock", START, [*map(said, "abcd")], "abcd")


FRAMES = [*map(said, "ab"), said("c", 1), thought("R"), thought("S", 2), *(odd for odd, _ in ODD), stopped()]
FRAMES += [START, delta({"toolUse": {"input": "{"}}, 1), delta({"toolUse": {"input": "}"}}, 1), said("x" * 1100)]
FRAMES += [frame("contentBlockStart", contentBlockIndex=1, start={"toolUse": {"toolUseId": "t", "name": "f"}})]
FRAMES += [frame("metadata", usage={"inputTokens": 5}), exception("throttlingException", {"message": "m"})]
FRAMES += [thought("T", 0, signature="s"), said("q")[:-1], said("q")[1:], b"\0", stopped("max_tokens")]


@given(st.lists(st.sampled_from(FRAMES[:5]) | st.sampled_from(FRAMES), max_size=12), st.data())
@settings(max_examples=200, deadline=None)
def test_both_paths_show_the_same(frames: list[bytes], draw: st.DataObject) -> None:
    options = draw.draw(OPTIONS, label="options")
    check("bedrock", ways(frames, draw), complete=draw.draw(st.booleans(), label="complete"), **options)
