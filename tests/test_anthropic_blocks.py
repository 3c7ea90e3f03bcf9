"""Anthropic Messages: text, thinking, signatures and blocks that are not the caller's."""

from __future__ import annotations

from typing import Any

import pytest
from tests.quick import read_in_full
from tests.support import START, STOP, close_block, decoded, event
from tests.wire import ABSENT, Row, anthropic, begin, dropped, message, more, row, rows, said, tool_use, written

from tokwire import RedactedThinkingBlock, Signature, ThinkingBlock
from tokwire.framing._shape import NO_SHAPE
from tokwire.protocols.anthropic import _shapes
from tokwire.protocols.anthropic._shapes import ignored_input

STOPPED = ("finish", "stop")
TEXT = begin(0, "text", text="")


def told(*parts: bytes, **options: Any) -> list[Row]:
    """The rows of a whole message with these parts."""
    found = rows(anthropic(message(*parts), **options))
    assert found[-1] == STOPPED
    return found[:-1]


def thought(index: object, text: object) -> bytes:
    """A fragment of thinking."""
    return more(index, "thinking_delta", thinking=text)


def signed(index: object, signature: object) -> bytes:
    """A signature."""
    return more(index, "signature_delta", signature=signature)


# ---- text ----------------------------------------------------------------------------------------------------


def test_fragments_go_out_as_they_came() -> None:
    fragments = ["a", "", " b\n", "b", "b", "\u2028", "c"]
    parts = [said(0, fragment) for fragment in fragments]
    assert told(TEXT, *parts, close_block(0)) == [("text", fragment) for fragment in fragments if fragment]


@pytest.mark.parametrize("index", [0, 5, "0", 0.0, -1, 10**30, None, ABSENT, True, [], "x"])
def test_text_needs_no_opened_block(index: object) -> None:
    assert told(said(index, "a"), said(index, "b"), said(index, "c")) == [("text", "a"), ("text", "b"), ("text", "c")]


def test_text_in_the_start_of_a_block_is_used() -> None:
    assert told(begin(0, "text", text="a", citations=None), said(0, "b")) == [("text", "a"), ("text", "b")]


@pytest.mark.parametrize(
    "nothing",
    [
        more(0, "text_delta"),
        said(0, None),
        said(0, 7),
        said(0, ["x"]),
        more(0, "citations_delta", citation={"cited_text": "x"}),
        more(0, "compaction_delta", content="x"),
        event("content_block_delta", index=0),
        event("content_block_delta", index=0, delta=None),
        event("content_block_delta", index=0, delta={"text": "x"}),
        event("content_block_delta", index=0, delta={"type": ["text_delta"], "text": "x"}),
        event("content_block_start", index=3),
        event("content_block_start", index=3, content_block=None),
        begin(3, "text"),
        begin(3, "fallback", text="x"),
        event("content_block_stop"),
        event("ping"),
        event("brand_new", text="x"),
    ],
)
def test_what_says_nothing_changes_nothing(nothing: bytes) -> None:
    assert told(TEXT, said(0, "a"), said(0, "b"), nothing, said(0, "c")) == [
        ("text", "a"),
        ("text", "b"),
        ("text", "c"),
    ]


@pytest.mark.parametrize(
    ("fragments", "texts"),
    [
        (["\ud83d", "\ude00b"], ["\U0001f600b"]),
        (["a\ud83d", "b"], ["a", "\ufffdb"]),
        (["\ude00"], ["\ufffd"]),
        (["a\ud83d"], ["a", "\ufffd"]),
    ],
)
def test_halves_of_surrogate_pairs(fragments: list[str], texts: list[str]) -> None:
    parts = [said(0, fragment) for fragment in fragments]
    assert told(TEXT, said(0, "x"), *parts) == [("text", text) for text in ["x", *texts]]
    parts = [thought(0, fragment) for fragment in fragments]
    assert told(thought(0, "x"), *parts) == [("reasoning", text) for text in ["x", *texts]]


def test_a_half_waits_in_the_start_of_a_block() -> None:
    assert told(begin(0, "text", text="\ud83d"), thought(1, "T"), said(0, "\ude00")) == [
        ("reasoning", "T"),
        ("text", "\U0001f600"),
    ]


# ---- thinking ------------------------------------------------------------------------------------------------


def test_deltas_go_by_their_own_tag() -> None:
    parts = [TEXT, thought(0, "T"), said(0, "a"), begin(1, "thinking", thinking=""), said(1, "b"), thought(1, "U")]
    assert told(*parts) == [("reasoning", "T"), ("text", "a"), ("text", "b"), ("reasoning", "U")]
    assert told(*parts, include_reasoning=False) == [("text", "a"), ("text", "b")]


def test_thinking_in_the_start_of_a_block_is_used() -> None:
    parts = [begin(0, "thinking", thinking="T", signature="S"), thought(0, "U"), thought(0, ""), thought(0, "V")]
    found = anthropic(message(*parts), keep_thinking=True)
    assert rows(found)[:-1] == [("reasoning", "T"), ("reasoning", "U"), ("reasoning", "V")]
    assert found.summary.thinking_blocks == (ThinkingBlock("TUV", "S"),)
    assert found.summary.signatures == (Signature(0, "signature", 0, None, None, "S"),)


@pytest.mark.parametrize("asked", [True, False])
def test_thinking_is_kept_in_wire_order(asked: bool) -> None:  # noqa: FBT001
    parts = [
        begin(0, "thinking", thinking=""),
        thought(0, "T"),
        thought(0, "U\ud83d"),
        thought(0, "\ude00"),
        signed(0, "S"),
        begin(1, "redacted_thinking", data="R"),
        TEXT.replace(b'"index":0', b'"index":2'),
        said(2, "x"),
        begin(3, "thinking", thinking="", signature=""),
        signed(3, "Z"),
    ]
    found = anthropic(message(*parts), keep_thinking=True, include_reasoning=asked)
    kept = (ThinkingBlock("TU\U0001f600", "S"), RedactedThinkingBlock("R"), ThinkingBlock("", "Z"))
    assert found.summary.thinking_blocks == kept
    signatures = [(each.kind, each.block_index, each.data) for each in found.summary.signatures]
    assert signatures == [("signature", 0, "S"), ("redacted_thinking", 1, "R"), ("signature", 3, "Z")]
    assert ("text", "x") in rows(found)
    assert anthropic(message(*parts)).summary.thinking_blocks == ()


@pytest.mark.parametrize(
    "nothing", [signed(0, ""), signed(0, None), more(0, "signature_delta"), begin(1, "redacted_thinking", data=5)]
)
def test_what_is_no_signature(nothing: bytes) -> None:
    found = anthropic(message(thought(0, "T"), nothing), keep_thinking=True)
    assert (found.summary.signatures, found.summary.thinking_blocks) == ((), (ThinkingBlock("T"),))


def test_a_signature_without_a_block() -> None:
    found = anthropic(message(signed(ABSENT, "S")), keep_thinking=True)
    assert found.summary.signatures == (Signature(0, "signature", None, None, None, "S"),)
    assert found.summary.thinking_blocks == (ThinkingBlock("", "S"),)


# ---- blocks for others ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["server_tool_use", "mcp_tool_use", "web_search_tool_result", "container_upload", "new"]
)
def test_blocks_that_are_not_the_callers(kind: str) -> None:
    parts = [
        begin(0, kind, id="s", name="w", input={"q": 1}, content=[{"text": "x"}]),
        written(0, '{"q":'),
        written(0, "1}"),
    ]
    found = anthropic(message(*parts, TEXT.replace(b'"index":0', b'"index":1'), said(1, "x")))
    assert (rows(found), dropped(found)) == ([("text", "x"), STOPPED], [])


def test_input_that_is_not_for_the_caller_is_passed_over_quickly() -> None:
    server = begin(2, "server_tool_use", id="s", name="w", input={})
    events = [START, server, *(written(2, text) for text in ('{"q"', ":", '"', "x", '"}')), said(0, "a"), said(0, "b")]
    events += [tool_use(3), written(3, "{"), written(3, "}"), written(2, "z")]
    assert read_in_full("anthropic", events) == 7
    found = rows(anthropic(message(*events[1:], reason="tool_use")))
    assert found[:3] == [("text", "a"), ("text", "b"), ("call", "t1", "f", "{}")]


@pytest.mark.parametrize("member", [b'"error":{"message":"x"},', b'"object":"error",'])
def test_an_error_beside_input_that_is_not_for_the_caller(member: bytes) -> None:
    server = begin(2, "server_tool_use", id="s", name="w", input={})
    bad = written(2, "c").replace(b'"delta"', member + b'"delta"')
    found = rows(decoded("anthropic", START + server + written(2, "a") + written(2, "b") + bad))
    assert found == [("error", "APIError")]


def test_the_shapes_of_other_inputs_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ignored_input(7)
    assert ignored_input(7) is known
    monkeypatch.setattr(_shapes, "MAX_IGNORED", 0)
    assert ignored_input(7) is known
    assert ignored_input(1 << 40) is NO_SHAPE


# ---- the ways of the quick path ------------------------------------------------------------------------------


def test_shapes_alternate() -> None:
    parts = [
        thought(0, "T"),
        thought(0, "U"),
        thought(0, ""),
        signed(0, "S"),
        TEXT,
        said(0, "a"),
        said(0, "b"),
        said(0, ""),
    ]
    parts += [
        tool_use(2),
        written(2, "["),
        written(2, "1"),
        written(2, ""),
        written(2, "]"),
        said(0, "c"),
        said(0, "d"),
    ]
    parts += [thought(0, "V"), thought(0, "W"), written(2, " "), written(2, " "), said(0, "e")]
    expected: list[Row] = [
        ("reasoning", "T"),
        ("reasoning", "U"),
        ("text", "a"),
        ("text", "b"),
        ("text", "c"),
        ("text", "d"),
    ]
    expected += [("reasoning", "V"), ("reasoning", "W"), ("text", "e"), ("call", "t1", "f", "[1]")]
    assert told(*parts) == expected
    assert told(*parts, include_reasoning=False) == [each for each in expected if each[0] != "reasoning"]


@pytest.mark.parametrize(
    ("odd", "events"),
    [
        (b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}\n\n', [("text", "x")]),
        (b'event:content_block_delta\ndata:{"delta":{"type":"text_delta","text":"x"}}\n\n', [("text", "x")]),
        (b'data: {"delta":{"type":"text_delta","text":"x"}}\nevent: content_block_delta\n\n', [("text", "x")]),
        (b'event: content_block_delta\ndata: {"delta":\ndata: {"type":"text_delta","text":"x"}}\n\n', [("text", "x")]),
        (said(0, "x").replace(b"\n", b"\r\n"), [("text", "x")]),
        (said(0, "x").replace(b"}}", b'}  ,"n":NaN}'), [("text", "x")]),
        (said(0, "x\xff").replace(b"\\u00ff", b"\xff"), [("text", "x\ufffd")]),
        (b": comment\n" + said(0, "x"), [("text", "x")]),
        (event("content_block_delta", index=0, delta={"type": "text_delta", "text": "x"}, error=None), [("text", "x")]),
        (b"event: content_block_delta\n\n", []),
        (b"event: content_block_delta\ndata:\n\n", []),
    ],
)
def test_an_odd_event_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    parts = [TEXT, said(0, "a"), said(0, "b"), odd, said(0, "c"), said(0, "d")]
    assert told(*parts) == [("text", "a"), ("text", "b"), *events, ("text", "c"), ("text", "d")]


def test_raw_payloads_come_before_what_they_give() -> None:
    body = START + TEXT + said(0, "a") + event("ping") + STOP
    found = rows(decoded("anthropic", body, include_raw=True))
    names = ["message_start", "content_block_start", "content_block_delta", "ping", "message_stop"]
    assert [each[1] for each in found if each[0] == "raw"] == names
    assert found[3:5] == [("text", "a"), ("raw", "ping", b'{"type":"ping"}')]
    assert row(decoded("anthropic", body).events[0]) == ("text", "a")
