"""Ollama: lines of both endpoints, whole tool calls, reasons on any line, errors, usage, and how a body ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import api_error, cut_off, decode, failed, invalid_calls, line, tool
from tests.support import cut, data, outcome
from tests.wire import ABSENT, Row, dropped, present, rows

import tokwire
from tokwire import Limits
from tokwire.protocols import find_protocol

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")
CUT = ("error", "StreamTruncated")
END = line("", done=True, done_reason="stop")


def plain(**members: object) -> bytes:
    """One line with exactly these members."""
    return json.dumps(present(**members)).encode() + b"\n"


def generated(text: object, **members: object) -> bytes:
    """One line of `/api/generate`."""
    return plain(**{"model": "m1", "response": text, "done": False, **members})


# ---- content -------------------------------------------------------------------------------------------------


def test_text_and_thinking_of_a_chat() -> None:
    thinking = plain(model="m1", message={"role": "assistant", "content": "", "thinking": "hm"}, done=False)
    both = plain(model="m1", message={"role": "assistant", "content": "b", "thinking": "so"}, done=False)
    found = decode("ollama", thinking, line("a"), both, line("c", done=True, done_reason="stop"), line("late"))
    assert rows(found) == [
        ("reasoning", "hm"),
        ("text", "a"),
        ("reasoning", "so"),
        ("text", "b"),
        ("text", "c"),
        STOPPED,
    ]
    assert (found.summary.model, found.summary.end_marker) == ("m1", True)


def test_generate() -> None:
    last = generated("b", done=True, done_reason="length", context=[1, 2])
    assert rows(decode("ollama", generated("", thinking="hm"), generated("a"), last)) == [
        ("reasoning", "hm"),
        ("text", "a"),
        ("text", "b"),
        ("finish", "length"),
    ]


@pytest.mark.parametrize("message", [None, "x", [], {}, {"content": None}, {"content": 5, "thinking": []}])
def test_lines_without_content(message: object) -> None:
    assert rows(decode("ollama", plain(model="m1", message=message, done=False), END)) == [STOPPED]


def test_images_are_counted() -> None:
    image = plain(model="m1", message={"role": "assistant", "images": ["AA", "BB"]}, done=False)
    assert decode("ollama", image, plain(model="m1", message={"images": []}, done=False), END).summary.media == {
        "image": 2
    }


@pytest.mark.parametrize("images", [[], None, "AA", {"k": 1}])
def test_images_that_are_none(images: object) -> None:
    body = plain(model="m1", message={"role": "assistant", "images": images}, done=False)
    assert decode("ollama", body, END).summary.media == {}


# ---- calls ---------------------------------------------------------------------------------------------------


def test_every_listed_call_is_whole_and_new() -> None:
    calls = [tool("f", {"k": 1}), tool("f", {"k": 1}), tool("g", '{"k":2}', id="c1"), tool("h")]
    found = decode("ollama", line("", *calls), line("", tool("f", {})), END)
    assert [(name, value) for _, name, value in found.calls] == [
        ("f", {"k": 1}),
        ("f", {"k": 1}),
        ("g", {"k": 2}),
        ("h", {}),
        ("f", {}),
    ]
    ids = [call_id for call_id, _, _ in found.calls]
    assert (ids[2], len(set(ids))) == ("c1", 5)
    assert rows(found)[-1] == STOPPED


def test_the_index_of_a_function_is_ignored() -> None:
    calls = [
        {"function": {"index": index, "name": name, "arguments": {}}} for index, name in ((1, "f"), (0, "g"), (0, "h"))
    ]
    assert [name for _, name, _ in decode("ollama", line("", *calls), END).calls] == ["f", "g", "h"]


def test_one_call_in_place_of_a_list() -> None:
    body = plain(model="m1", message={"tool_calls": tool("f", {})}, done=True)
    assert [name for _, name, _ in decode("ollama", body).calls] == ["f"]


def test_a_call_without_a_name_is_dropped() -> None:
    found = decode("ollama", line("", tool(ABSENT, {"k": 1}), {}, {"function": "f"}), END)
    assert (rows(found), dropped(found)) == ([STOPPED], [(0, None, None, '{"k":1}')])


def test_arguments_that_are_no_json() -> None:
    ((_, name, text),) = invalid_calls("ollama", line("", tool("f", '{"k":'), tool("g", "{}")), END)
    assert (name, text) == ("f", '{"k":')


def test_at_the_token_limit_the_last_call_needs_arguments() -> None:
    limit = line("", done=True, done_reason="length")
    assert [name for _, name, _ in invalid_calls("ollama", line("", tool("f")), limit)] == ["f"]
    assert decode("ollama", line("", tool("f", {})), limit).calls[0][2] == {}
    assert decode("ollama", line("", tool("f")), line("a"), limit).calls[0][2] == {}


# ---- reasons and the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("stop", STOPPED),
        ("STOP", STOPPED),
        ("length", ("finish", "length")),
        ("tool_calls", ("finish", "tool_calls")),
        ("load", ("finish", "load", "other")),
        ("", UNSAID),
        (None, UNSAID),
        (5, UNSAID),
        (ABSENT, UNSAID),
    ],
)
def test_reasons(word: object, row: Row) -> None:
    assert rows(decode("ollama", plain(model="m1", done=True, done_reason=word))) == [row]


def test_a_reason_may_stand_on_any_line_and_the_first_counts() -> None:
    early = line("a", tool("f", {}), done_reason="length")
    found = rows(decode("ollama", early, line("b"), END))
    assert [row[0] for row in found] == ["text", "call", "text", "finish"]
    assert found[-1] == ("finish", "length")
    assert cut_off("ollama", line("a", done_reason="stop")) == [("text", "a"), STOPPED]


@pytest.mark.parametrize("done", [1, "true", None, ABSENT, False])
def test_only_true_ends_the_stream(done: object) -> None:
    body = plain(model="m1", message={"content": "a"}, done=done) + line("b")
    assert rows(decode("ollama", body)) == [("text", "a"), ("text", "b"), UNSAID]
    assert cut_off("ollama", body)[-1] == CUT


def test_a_mark_of_another_api_is_one_at_the_end() -> None:
    found = decode("ollama", line("a"), b"[DONE]\n", line("b"))
    assert (rows(found), found.summary.end_marker) == ([("text", "a"), ("text", "b"), UNSAID], True)
    assert cut_off("ollama", line("a"), b"[DONE]\n") == [("text", "a"), UNSAID]
    assert cut_off("ollama", line("a"), b"[DONE]") == [("text", "a"), CUT]


def test_the_last_line_without_its_end() -> None:
    assert rows(decode("ollama", line("a"), END[:-1])) == [("text", "a"), STOPPED]
    assert cut_off("ollama", line("a"), END[:-1]) == [("text", "a"), CUT]
    assert cut_off("ollama", line("a", done_reason="stop"), line("b")[:-1]) == [("text", "a"), ("text", "b"), STOPPED]


def test_a_line_that_is_cut() -> None:
    rest = line("b")[:-9]
    assert rows(decode("ollama", line("a"), rest)) == [("text", "a"), CUT]
    assert rows(decode("ollama", rest)) == [CUT]
    assert rows(decode("ollama", line("a", done_reason="stop"), rest)) == [("text", "a"), STOPPED]
    assert rows(decode("ollama", line("a", done=True), rest)) == [("text", "a"), UNSAID]


@pytest.mark.parametrize("bad", [b"internal error\n", b"internal error", b"{\n", b'{"k":}\n', b"data: {}\n"])
def test_a_line_that_is_no_json(bad: bytes) -> None:
    assert rows(decode("ollama", line("a"), bad)) == [("text", "a"), ("error", "RemoteProtocolError")]


@pytest.mark.parametrize("body", [b"", b"\n\r\n", b"\xef\xbb\xbf"])
def test_bodies_without_anything(body: bytes) -> None:
    assert rows(decode("ollama", body)) == [UNSAID]


@pytest.mark.parametrize(
    "body", [b"5\n", b"[1]\n", b'"x"\n', b'{"k":1}\n', b'{"model":"m1"}\n', b"[\n1]\n", b"event: x\n\n"]
)
def test_bodies_that_are_something_else(body: bytes) -> None:
    assert rows(decode("ollama", body)) == [("error", "RemoteProtocolError")]


def test_an_event_stream_is_named_at_its_first_data_line() -> None:
    body = data({"type": "message_start", "message": {}}, name="message_start")
    found = outcome(lambda: tokwire.StreamDecoder("ollama"), [body], complete=None)
    assert found.failure is not None
    assert "an event stream of anthropic" in found.failure.text


# ---- whole bodies and errors ---------------------------------------------------------------------------------


def test_a_body_printed_for_people() -> None:
    whole = json.dumps(json.loads(line("a", tool("f", {}), done=True, done_reason="stop")), indent=2).encode()
    assert [row[0] for row in rows(decode("ollama", whole))] == ["text", "call", "finish"]
    assert rows(decode("ollama", whole[:-2])) == [CUT]
    assert rows(decode("ollama", line("a"), whole))[-1] == ("error", "RemoteProtocolError")
    unfinished = json.dumps(json.loads(line("a")), indent=2).encode()
    assert rows(decode("ollama", unfinished)) == [("text", "a"), UNSAID]


@pytest.mark.parametrize("lead", [b"", line("a")])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_an_error_line(lead: bytes, end: bytes) -> None:
    error = api_error("ollama", lead, b'{"error":"no such model"}' + end)
    assert (error.message, error.body, error.status_code) == ("no such model", "no such model", None)
    assert api_error("ollama", lead, b'{"error":"x","status":503}' + end).status_code == 503


@pytest.mark.parametrize("nothing", [None, "", False])
def test_an_error_that_is_none(nothing: object) -> None:
    assert rows(decode("ollama", line("a", error=nothing), END)) == [("text", "a"), STOPPED]


def test_an_error_beside_content_runs_nothing() -> None:
    body = line("a", tool("f", {}), done=True, done_reason="stop", error="boom")
    assert rows(decode("ollama", body)) == [("text", "a"), ("error", "APIError")]
    assert isinstance(failed("ollama", json.dumps({"error": "boom"}, indent=1).encode()), tokwire.APIError)


# ---- facts beside the events ---------------------------------------------------------------------------------


def test_usage_holds_counts_and_durations() -> None:
    counts = {"prompt_eval_count": 5, "eval_count": 7, "total_duration": 900, "eval_duration": None}
    found = decode("ollama", line("a", prompt_eval_count=3), line("", done=True, done_reason="stop", **counts))
    assert rows(found)[-2] == ("usage", {"input_tokens": 5, "output_tokens": 7})
    assert found.summary.usage is not None
    assert found.summary.usage.raw == {"prompt_eval_count": 5, "eval_count": 7, "total_duration": 900}
    assert decode("ollama", line("a"), END).summary.usage is None


@pytest.mark.parametrize(
    ("payload", "is_marked"),
    [
        ({"model": "m", "done": False, "message": {"role": "assistant"}}, True),
        ({"model": "m", "done": True, "response": ""}, True),
        ({"model": "m", "done": True}, False),
        ({"model": "m", "done": True, "message": {}}, False),
        ({"model": "m", "message": {"role": "x"}}, False),
        ({"done": True, "response": "x"}, False),
    ],
)
def test_marks(payload: dict[str, Any], *, is_marked: bool) -> None:
    assert find_protocol("ollama").marks(payload, None) is is_marked


def test_limits() -> None:
    assert rows(decode("ollama", line("x" * 90), limits=Limits(max_line_bytes=100))) == [("error", "LimitExceeded")]


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
PARTS = st.lists(st.tuples(st.sampled_from(["text", "reasoning", "call"]), WORDS), max_size=6)


@settings(max_examples=150, deadline=None)
@given(PARTS, st.booleans(), st.sampled_from([b"\n", b"\r\n", b"\n\n"]), st.lists(st.integers(0, 2000), max_size=6))
def test_what_was_generated_comes_out(parts: list[tuple[str, str]], old: Any, end: bytes, places: list[int]) -> None:
    lines: list[bytes] = []
    for kind, word in parts:
        name = {"text": "content", "reasoning": "thinking", "call": "tool_calls"}[kind]
        value: object = [tool("f", {"k": word})] if kind == "call" else word
        lines.append(plain(model="m1", message={"role": "assistant", name: value}, done=False))
    body = b"".join([*lines, plain(model="m1", done=True) if old else END]).replace(b"\n", end)
    reads = cut(body, [min(place, len(body)) for place in places])
    found = outcome(lambda: tokwire.StreamDecoder("ollama", include_reasoning=True), reads)
    assert found.text == "".join(word for kind, word in parts if kind == "text")
    assert found.reasoning == "".join(word for kind, word in parts if kind == "reasoning")
    assert [value for _, _, value in found.calls] == [{"k": word} for kind, word in parts if kind == "call"]
    assert rows(found)[-1] == (UNSAID if old else STOPPED)
