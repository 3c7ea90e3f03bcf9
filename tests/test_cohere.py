"""Cohere: one object in place of lists, counters of content and calls, the plan, errors at the end, whole answers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bodies import api_error, cut_off, decode, invalid_calls, message_end, part, piece
from tests.support import DONE, cut, data, outcome
from tests.wire import ABSENT, Row, dropped, rows

import tokwire
from tokwire.protocols import find_protocol

STOPPED = ("finish", "stop")
UNSAID = ("finish", "unspecified")
START = data({"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant", "content": []}}})
CUT = ("error", "StreamTruncated")


def said(text: object, index: object = 0, kind: str = "content-delta") -> bytes:
    """A fragment of text."""
    return part(kind, index, content={"type": "text", "text": text})


def called(*parts: bytes) -> list[Row]:
    """The rows of an answer that stops for its tools, without the end."""
    found = rows(decode("cohere", *parts, message_end("TOOL_CALL")))
    assert found[-1] == ("finish", "tool_calls")
    return found[:-1]


def run(call_id: str, value: str, name: str = "f") -> Row:
    """The row of a call."""
    return ("call", call_id, name, value)


# ---- content -------------------------------------------------------------------------------------------------


def test_text_thinking_and_the_plan() -> None:
    parts = [
        START,
        part("tool-plan-delta", tool_plan="I "),
        part("tool-plan-delta", tool_plan="look."),
        part("content-start", 0, content={"type": "thinking", "thinking": "hm"}),
        part("content-delta", 0, content={"thinking": "so"}),
        said("", 1, "content-start"),
        said("a", 1),
        data({"type": "content-end", "index": 1}),
        said("b", 1),
    ]
    found = decode("cohere", *parts, message_end(), DONE)
    assert rows(found) == [
        *(("reasoning", text) for text in ("I ", "look.", "hm", "so")),
        ("text", "a"),
        ("text", "b"),
        STOPPED,
    ]
    assert (found.summary.response_id, found.summary.end_marker) == ("m1", True)


@pytest.mark.parametrize(
    ("content", "text"),
    [("a", "a"), ([{"text": "a"}, {"text": "b"}], "ab"), ({"text": None}, ""), (None, ""), ([5, None], ""), (7, "")],
)
def test_content_of_any_form(content: object, text: str) -> None:
    assert decode("cohere", part("content-delta", 0, content=content), message_end()).text == text


@pytest.mark.parametrize("delta", [None, [], "x", {}, {"message": None}, {"message": "x"}])
def test_events_without_content(delta: object) -> None:
    odd = data({"type": "content-delta", "delta": delta})
    assert rows(decode("cohere", odd, said("a"), message_end())) == [("text", "a"), STOPPED]


@pytest.mark.parametrize("nothing", [{}, {"type": ""}, {"type": None}, {"type": 5}])
def test_payloads_without_type_go_by_their_name(nothing: dict[str, Any]) -> None:
    start = data({"id": "m1", "delta": {"message": {}}} | nothing, name="message-start")
    delta = data({"index": 0, "delta": {"message": {"content": {"text": "a"}}}}, name="content-delta")
    end = data({"delta": {"finish_reason": "MAX_TOKENS"}}, name="message-end")
    assert rows(decode("cohere", start, delta, end)) == [("text", "a"), ("finish", "length")]


def test_events_that_say_nothing_here() -> None:
    quiet = [
        part("citation-start", 0, citations={"text": "x"}),
        data({"type": "citation-end"}),
        data({"type": "debug"}),
    ]
    assert rows(decode("cohere", *quiet, data({"type": "later-event"}), message_end())) == [STOPPED]
    assert rows(decode("cohere", data({"type": "later-event"}))) == [("error", "RemoteProtocolError")]


# ---- calls ---------------------------------------------------------------------------------------------------


def test_calls_by_their_own_counter() -> None:
    parts = [said("x", 0), piece(0, "a", "f", ""), piece(1, "b", "g", ""), piece(1, arguments="[]")]
    parts += [piece(0, arguments='{"k"'), piece(0, arguments=":1}"), data({"type": "tool-call-end", "index": 0})]
    assert called(*parts) == [("text", "x"), run("a", '{"k":1}'), run("b", "[]", "g")]


def test_lists_in_place_of_objects() -> None:
    start = part("tool-call-start", 0, tool_calls=[{"id": "a", "function": {"name": "f", "arguments": "["}}])
    assert called(start, part("tool-call-delta", 0, tool_calls=[{"function": {"arguments": "]"}}])) == [run("a", "[]")]


def test_a_missing_index_means_the_call_opened_last() -> None:
    parts = [piece(ABSENT, "a", "f"), piece(ABSENT, arguments="1"), piece(None, "b", "f"), piece(ABSENT, arguments="2")]
    assert called(*parts) == [run("a", "1"), run("b", "2")]


def test_a_fragment_that_repeats_id_and_name() -> None:
    assert called(piece(0, "a", "f", "["), piece(0, "a", "f", "]")) == [run("a", "[]")]
    assert called(piece(0, "a", ABSENT, "["), piece(0, ABSENT, "f", "]")) == [run("a", "[]")]


def test_a_second_start_under_a_used_index() -> None:
    parts = [piece(0, "a", "f", "1"), piece(0, "b", "g"), piece(0, arguments="2")]
    assert called(*parts) == [run("a", "1"), run("b", "2", "g")]


def test_fragments_that_belong_to_no_call_are_recorded() -> None:
    found = decode("cohere", piece(0, arguments="[1]"), piece(ABSENT, arguments="x"), piece(0), message_end())
    assert (rows(found), dropped(found)) == ([STOPPED], [(0, None, None, "[1]"), (None, None, None, "x")])


@pytest.mark.parametrize(
    ("given", "value"), [("", "{}"), (None, "{}"), ({"k": 1}, '{"k":1}'), (5, "{}"), (ABSENT, "{}")]
)
def test_arguments_of_any_form(given: object, value: str) -> None:
    assert called(piece(0, "a", "f", given)) == [run("a", value)]


def test_at_the_token_limit_the_last_call_needs_arguments_unless_something_follows() -> None:
    end = message_end("MAX_TOKENS")
    assert invalid_calls("cohere", piece(0, "a", "f", ""), data({"type": "tool-call-end", "index": 0}), end) == [
        ("a", "f", "")
    ]
    for after in (said("", 0, "content-start"), said("x"), part("tool-plan-delta", tool_plan="p")):
        assert run("a", "{}") in rows(decode("cohere", piece(0, "a", "f"), after, end))
    assert invalid_calls("cohere", piece(0, "a", "f", '{"k":'), end) == [("a", "f", '{"k":')]


# ---- reasons, usage and the end ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("COMPLETE", STOPPED),
        ("STOP_SEQUENCE", STOPPED),
        ("MAX_TOKENS", ("finish", "length")),
        ("tool_call", ("finish", "tool_calls")),
        *[(word, ("finish", word, "other")) for word in ("ERROR", "TIMEOUT", "stop", "Later")],
        *[(word, UNSAID) for word in ("", None, 5)],
    ],
)
def test_reasons(word: object, row: Row) -> None:
    assert rows(decode("cohere", said("a"), message_end(word), said("late"))) == [("text", "a"), row]


def test_usage() -> None:
    usage = {
        "billed_units": {"input_tokens": 1, "output_tokens": 2},
        "tokens": {"input_tokens": 5, "output_tokens": 7},
        "cached_tokens": 3,
    }
    found = decode("cohere", said("a"), message_end(usage=usage))
    assert rows(found)[1] == ("usage", {"input_tokens": 5, "output_tokens": 7, "cached_tokens": 3})
    assert found.summary.usage is not None
    assert found.summary.usage.raw == usage
    billed = decode("cohere", message_end(usage={"billed_units": {"input_tokens": 1}}))
    assert rows(billed) == [("usage", {}), STOPPED]


def test_how_a_body_ends() -> None:
    assert rows(decode("cohere", said("a"), message_end()[:-2])) == [("text", "a"), STOPPED]
    assert rows(decode("cohere", said("a"), piece(0, "a", "f"))) == [("text", "a"), run("a", "{}"), UNSAID]
    assert cut_off("cohere", said("a"), piece(0, "a", "f", "{}")) == [("text", "a"), CUT]
    assert cut_off("cohere", said("a"), DONE) == [("text", "a"), UNSAID]
    assert rows(decode("cohere", said("a"), DONE, said("b"))) == [("text", "a"), ("text", "b"), UNSAID]


# ---- errors and whole answers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message", "status"),
    [("Timed out.", "Timed out.", None), ({"message": "Busy.", "code": 503}, "Busy.", 503), ({}, "", None)],
)
def test_an_error_at_the_end(error: object, message: str, status: int | None) -> None:
    found = api_error("cohere", said("a"), piece(0, "a", "f"), message_end("ERROR", error=error))
    assert (found.message or "", found.status_code, found.body) == (message, status, error)


@pytest.mark.parametrize("nothing", [None, "", False])
def test_an_error_that_is_none(nothing: object) -> None:
    assert rows(decode("cohere", message_end(error=nothing))) == [STOPPED]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_body_with_a_message_in_text_is_an_error(indent: int | None) -> None:
    payload = {"id": "x", "message": "invalid api token"}
    error = api_error("cohere", json.dumps(payload, indent=indent).encode())
    assert (error.message, error.body) == ("invalid api token", payload)
    assert rows(decode("cohere", data(payload))) == [("error", "RemoteProtocolError")]


def whole(**members: object) -> dict[str, Any]:
    """A whole answer."""
    calls = [{"id": each, "function": {"name": "f", "arguments": text}} for each, text in (("a", ""), ("b", "[1]"))]
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x"}]
    message = {"role": "assistant", "tool_plan": "p", "content": content, "tool_calls": calls}
    return {
        "id": "m1",
        "message": message,
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {"input_tokens": 5}},
    } | members


def test_a_whole_answer() -> None:
    found = decode("cohere", json.dumps(whole(), indent=1).encode())
    answer = [("reasoning", "p"), ("reasoning", "hm"), ("text", "x"), run("a", "{}"), run("b", "[1]")]
    assert rows(found) == [*answer, ("usage", {"input_tokens": 5}), ("finish", "tool_calls")]
    assert (found.summary.response_id, found.summary.end_marker) == ("m1", True)
    assert rows(decode("cohere", data(whole())))[-1] == ("finish", "tool_calls")
    assert rows(decode("cohere", json.dumps(whole(message={})).encode()))[-1] == ("finish", "tool_calls")


@pytest.mark.parametrize(
    ("payload", "name", "is_marked"),
    [
        ({"type": "content-delta", "delta": {"message": {}}}, None, True),
        ({"delta": {"finish_reason": "COMPLETE"}}, "message-end", True),
        ({"type": "content_delta", "delta": {"message": {}}}, None, False),
        ({"type": "content-delta", "delta": {}}, None, False),
        ({"type": "content-end"}, None, False),
        ({"delta": {"message": {}}}, None, False),
    ],
)
def test_marks(payload: dict[str, Any], name: str | None, *, is_marked: bool) -> None:
    assert find_protocol("cohere").marks(payload, name) is is_marked


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
BLOCKS = st.lists(st.tuples(st.sampled_from(["text", "thinking", "call"]), st.lists(WORDS, max_size=3)), max_size=5)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.booleans(), st.lists(st.integers(0, 4000), max_size=8))
def test_what_was_generated_comes_out(blocks: list[tuple[str, list[str]]], named: Any, places: list[int]) -> None:
    parts: list[bytes] = [START]
    inputs: list[Any] = []
    for index, (kind, words) in enumerate(blocks):
        if kind == "call":
            text, number = json.dumps(words), len(inputs)
            inputs.append((f"c{number}", "f", words))
            parts.append(piece(number, f"c{number}", "f", ""))
            parts += [piece(number, arguments=text[start:end]) for start, end in pairwise([0, 3, len(text)])]
        else:
            parts += [part("content-delta", index, content={kind: word}) for word in words]
    body = b"".join([*parts, message_end("TOOL_CALL"), DONE])
    if not named:
        body = b"\n".join(line for line in body.split(b"\n") if not line.startswith(b"event: "))
    reads = cut(body, [min(place, len(body)) for place in places])
    found = outcome(lambda: tokwire.StreamDecoder("cohere", include_reasoning=True), reads)
    assert found.text == "".join(word for kind, words in blocks if kind == "text" for word in words)
    assert found.reasoning == "".join(word for kind, words in blocks if kind == "thinking" for word in words)
    assert (found.calls, found.finish) == (inputs, tokwire.FinishReason.TOOL_CALLS)
