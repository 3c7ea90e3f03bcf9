"""Ollama: the quick path. Ordinary lines run through it; whatever is not ordinary leaves it unharmed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import decode, line, tool
from tests.quick import OPTIONS, check, check_that_nothing_waits, one_by_one, read_in_full, ways
from tests.support import cut
from tests.wire import Row, rows

import tokwire

STOPPED = ("finish", "stop")
END = line("", done=True, done_reason="stop")


def plain(**members: object) -> bytes:
    """One line with exactly these members, as the service writes it."""
    return json.dumps({"model": "m1", "created_at": "2026-11-29T18:21:08Z", **members}, separators=(",", ":")).encode()


def said(text: object, **message: object) -> bytes:
    """A line of a chat with text."""
    return plain(message={"role": "assistant", "content": text, **message}, done=False) + b"\n"


def thought(text: object) -> bytes:
    """A line of a chat with reasoning."""
    return plain(message={"role": "assistant", "content": "", "thinking": text}, done=False) + b"\n"


def generated(text: object, **members: object) -> bytes:
    """A line of a completion."""
    return plain(response=text, **members, done=False) + b"\n"


KINDS = {
    "text": [said(letter) for letter in "abcdefgh"],
    "reasoning": [thought(letter) for letter in "abcdefgh"],
    "text of a completion": [generated(letter) for letter in "abcdefgh"],
    "reasoning of a completion": [generated("", thinking=letter) for letter in "abcdefgh"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_reasoning", [True, False])
def test_ordinary_lines_are_read_quickly(kind: str, with_reasoning: bool) -> None:  # noqa: FBT001 - a parameter
    lines = KINDS[kind]
    body = b"".join(lines)
    for reads in (lines, [body], cut(body, range(0, len(body), 50)), cut(body, [70, len(lines[0]), 300])):
        assert read_in_full("ollama", reads, include_reasoning=with_reasoning) == 1
        check("ollama", [*reads, END], include_reasoning=with_reasoning)
    expected = [("reasoning" if "reasoning" in kind else "text", letter) for letter in "abcdefgh"]
    assert rows(decode("ollama", body, END)) == [*expected, STOPPED]


def test_kinds_alternate() -> None:
    lines = [said("a"), said("b"), thought("R"), thought("S"), said("c"), generated("d"), generated("e"), said("f")]
    expected: list[Row] = [("text", "a"), ("text", "b"), ("reasoning", "R"), ("reasoning", "S")]
    expected += [("text", letter) for letter in "cdef"]
    assert rows(decode("ollama", *lines, END)) == [*expected, STOPPED]
    assert read_in_full("ollama", lines) == 5


ODD: list[tuple[bytes, list[Row]]] = [
    (said("y", thinking="R"), [("reasoning", "R"), ("text", "y")]),
    (said("y", thinking=""), [("text", "y")]),
    (said("y", thinking=None), [("text", "y")]),
    (said(""), []),
    (said(None), []),
    (said(5), []),
    (said("y", images=[]), [("text", "y")]),
    (said("y", images=["AA"]), [("text", "y")]),
    (said("y", tool_calls=[]), [("text", "y")]),
    (said("y", unknown={"a": [1]}), [("text", "y")]),
    (said("\ud83d") + said("\ude00"), [("text", "\U0001f600")]),
    (said("\ud83d"), [("text", "\ufffd" + "c")]),
    (plain(message={"content": "y"}, response="z", done=False) + b"\n", [("text", "y")]),
    (plain(message={"content": ""}, response="z", done=False) + b"\n", [("text", "z")]),
    (plain(message={"content": "y"}, thinking="R", done=False) + b"\n", [("reasoning", "R"), ("text", "y")]),
    (plain(message={"content": "y"}) + b"\n", [("text", "y")]),
    (plain(message={"content": "y"}, done=False, error="") + b"\n", [("text", "y")]),
    (plain(message={"content": "y"}, done=False, error=None, type=None, object=None) + b"\n", [("text", "y")]),
    (plain(message={"content": "y"}, done=False, eval_count=3) + b"\n", [("text", "y")]),
    (plain(message={"content": "y"}, done=False, remote_model="m", remote_host="h") + b"\n", [("text", "y")]),
    (said("y").replace(b"{", b" { ", 1), [("text", "y")]),
    (said("y").replace(b"\n", b"\r\n"), [("text", "y")]),
    (said("y").replace(b"\n", b"\r"), [("text", "y")]),
    (said("y").replace(b"\n", b"\n\n\n"), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a","content":"y"'), [("text", "y")]),
    (said("y").replace(b'"y"', b'"a\tb\xff"'), [("text", "a\tb\ufffd")]),
    (said("y").replace(b"}\n", b',"n":NaN,"big":1e999}\n'), [("text", "y")]),
    (b"\n \n", []),
    (b'{"keepalive":1}\n', []),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_line_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    found = rows(decode("ollama", said("a"), said("b"), odd, said("c"), said("d"), END, include_usage=False))
    rest = [("text", "c"), ("text", "d"), STOPPED]
    if events and events[-1][1].endswith("\ufffdc"):  # a half that waits comes out with the next text
        rest = rest[1:]
    assert found == [("text", "a"), ("text", "b"), *events, *rest]


@pytest.mark.parametrize("error", ["bad", {"message": "bad"}, ["bad"]])
def test_an_error_in_an_otherwise_ordinary_line(error: object) -> None:
    lines = said("a"), said("b"), plain(message={"content": "x"}, done=False, error=error) + b"\n", said("lost")
    assert rows(decode("ollama", *lines)) == [("text", letter) for letter in "abx"] + [("error", "APIError")]


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_reason_in_an_otherwise_ordinary_line(reason: str) -> None:
    last = plain(message={"content": "x"}, done=False, done_reason=reason) + b"\n"
    assert rows(decode("ollama", said("a"), said("b"), last))[-2:] == [("text", "x"), ("finish", reason)]


def test_the_end_in_an_otherwise_ordinary_line() -> None:
    last = plain(message={"role": "assistant", "content": "x"}, done=True) + b"\n"
    found = decode("ollama", said("a"), said("b"), last, said("late"))
    assert rows(found)[-2:] == [("text", "x"), ("finish", "unspecified")]
    assert found.summary.end_marker


def test_text_behind_a_call_makes_it_complete() -> None:
    cut_short = line("", done=True, done_reason="length")
    for call in (line("", tool()), line("x", tool())):
        found = decode("ollama", said("a"), said("b"), call, said("c"), said("d"), cut_short)
        assert [each[0] for each in rows(found)][-4:] == ["text", "text", "call", "finish"]


def test_both_kinds_in_one_line_behind_reasoning() -> None:
    both = [said("y", thinking="R"), generated("y", thinking="R")]
    for lines, each in zip((KINDS["reasoning"], KINDS["reasoning of a completion"]), both, strict=True):
        assert rows(decode("ollama", *lines, each, END))[-3:] == [("reasoning", "R"), ("text", "y"), STOPPED]


def test_lines_without_a_model_are_read_as_well() -> None:
    lines = [json.dumps({"message": {"content": letter}, "done": False}).encode() + b"\n" for letter in "abc"]
    assert rows(decode("ollama", *lines, END)) == [("text", "a"), ("text", "b"), ("text", "c"), STOPPED]
    assert read_in_full("ollama", lines) == 3


def test_a_line_that_no_line_end_follows() -> None:
    assert rows(decode("ollama", said("a"), said("b"), said("c").rstrip())) == [
        *(("text", letter) for letter in "abc"),
        ("finish", "unspecified"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_end_between_members_is_one(end: bytes) -> None:
    broken = said("x").replace(b',"message"', b"," + end + b'"message"')
    expected = [("text", "a"), ("text", "b"), ("error", "RemoteProtocolError")]
    assert rows(decode("ollama", said("a"), said("b"), broken, END)) == expected
    check("ollama", [said("a"), said("b"), broken, END])
    for lines in KINDS.values():
        check("ollama", [*lines[:2], lines[2].replace(b",", b"," + end, 1), END])


def test_a_compressed_body_shows_at_once() -> None:
    decoder = tokwire.StreamDecoder("ollama")
    decoder.receive_data(b"\x1f\x8b\x08\x00" + b"a" * 20)
    with pytest.raises(tokwire.RemoteProtocolError, match="gzip"):
        list(decoder.events())


def test_unfinished_lines_count_once_against_a_limit() -> None:
    reads = [half for each in map(said, "abcdefgh") for half in (each[:100], each[100:])]
    assert read_in_full("ollama", reads, limits=tokwire.Limits(max_line_bytes=len(said("a")) + 6)) == 1


@pytest.mark.parametrize("spare", [0, 1])
def test_the_limit_for_a_line_holds_on_the_quick_path(spare: int) -> None:
    long = said("y" * 300)
    limits = tokwire.Limits(max_line_bytes=len(long) - 1 - spare)
    found = rows(decode("ollama", said("a"), said("b"), long, END, limits=limits))
    assert found[2:] == ([("error", "LimitExceeded")] if spare else [("text", "y" * 300), STOPPED])


def test_the_limit_for_depth_holds_on_the_quick_path() -> None:
    deep = said("y", unknown=[[[[]]]])
    limits = tokwire.Limits(max_json_depth=4)
    assert rows(decode("ollama", said("a"), said("b"), deep, END, limits=limits))[2:] == [("error", "LimitExceeded")]


def test_a_long_read_is_cut_in_blocks() -> None:
    body = b"".join(said(f"w{number} ") for number in range(2000))
    assert len(body) > 100_000
    found = decode("ollama", body, END)
    assert found.text == "".join(f"w{number} " for number in range(2000))


def test_raw_payloads_come_before_what_they_give() -> None:
    lines = [said("a"), said("b"), thought("R")]
    found = rows(decode("ollama", *lines, END, include_raw=True))
    assert [row for row in found if row[0] == "raw"] == [("raw", None, each[:-1]) for each in [*lines, END]]


def test_generators_that_are_dropped_lose_nothing() -> None:
    decoder = tokwire.StreamDecoder("ollama")
    body = b"".join(map(said, "abcdef"))
    found: list[Any] = []
    for read in cut(body, [len(said("a")) * 3 + 20]):
        decoder.receive_data(read)
        found += [event.as_text() for event in one_by_one(decoder)]
    assert found == list("abcdef")


def test_data_may_come_while_events_are_taken() -> None:
    decoder = tokwire.StreamDecoder("ollama")
    rest = [said("c"), said("d") + said("e")[:30], said("e")[30:], END]
    decoder.receive_data(said("a") + said("b"))
    found = []
    for event in decoder.events():
        found.append(event.as_text())
        if rest:
            decoder.receive_data(rest.pop(0))
    assert found == [*"abcde", None]


def test_nothing_waits() -> None:
    check_that_nothing_waits("ollama", b"", [*map(said, "abcd")], "abcd")


def test_a_whole_answer_printed_for_people() -> None:
    body = json.dumps(json.loads(plain(message={"content": "y"}, done=True)), indent=1).encode() + b"\n"
    for text in (body, body.replace(b"\n", b"\n\n")):
        check("ollama", [text])
        assert rows(decode("ollama", text))[0] == ("text", "y")


FRAMES = [*map(said, "ab"), thought("R"), generated("g"), generated("", thinking="T"), *(odd for odd, _ in ODD)]
FRAMES += [END, line("", tool()), b"{\n", b"x\n", b"[DONE]\n", b"\r\n", b'{"error":"x"}\n', said("n").rstrip()]
FRAMES += [said("z" * 1100), said("q")[:40], b'{\n "model": "m1",\n "done": true\n}\n']


@given(st.lists(st.sampled_from(FRAMES[:4]) | st.sampled_from(FRAMES), max_size=12), st.data())
@settings(max_examples=200, deadline=None)
def test_both_paths_show_the_same(frames: list[bytes], draw: st.DataObject) -> None:
    options = draw.draw(OPTIONS, label="options")
    check("ollama", ways(frames, draw), complete=draw.draw(st.booleans(), label="complete"), **options)
