"""Chat Completions: finish words, choices, usage, whole JSON bodies, odd shapes, and what is recognised at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support import DONE, chunk, data
from tests.wire import ABSENT, Row, choices, ended, entry, openai, piece, present, row, rows

import tokwire
from tokwire.protocols import find_protocol

PROTOCOL = find_protocol("openai-chat")
HELLO = chunk({"content": "x"})
TEXT = ("text", "x")
STOPPED, UNSPECIFIED = ("finish", "stop"), ("finish", "unspecified")
FOREIGN = ("error", "RemoteProtocolError")

# ---- finish words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", ("stop",)),
        ("LENGTH", ("length",)),
        ("Tool_Calls", ("tool_calls",)),
        ("content_filter", ("content_filter",)),
        ("function_call", ("function_call", "other")),
        ("EOS", ("EOS", "other")),
        ("unspecified", ("unspecified", "other")),
        ("max_tool_iterations", ("max_tool_iterations", "other")),
        (" ", (" ", "other")),
        ("\ud83d", ("\ufffd", "other")),
    ],
)
def test_words(word: str, reason: Row) -> None:
    found = openai(HELLO + ended(word))
    assert rows(found) == [TEXT, ("finish", *reason)]
    raw = word.replace("\ud83d", "\ufffd")
    assert (found.summary.raw_finish_reason, found.summary.finish_reasons) == (raw, {0: raw})
    assert str(found.summary.finish_reason) == reason[0]


@pytest.mark.parametrize("word", ["", None, ABSENT, 0, False, [], {}])
def test_what_is_no_word(word: object) -> None:
    found = openai(HELLO + choices(present(index=0, delta={}, finish_reason=word)) + DONE)
    assert (rows(found), found.summary.raw_finish_reason) == ([TEXT, UNSPECIFIED], None)
    assert (found.summary.end_marker, found.summary.finish_reasons) == (True, {})


def test_the_first_word_stays_and_text_behind_it_is_delivered() -> None:
    body = chunk({"content": "x"}, "length") + chunk({"content": "y"}, "stop") + chunk({}, "weird", choice=1) + DONE
    found = openai(body)
    assert rows(found) == [TEXT, ("text", "y"), ("finish", "length")]
    assert (found.summary.raw_finish_reason, found.summary.finish_reasons) == ("length", {0: "length", 1: "weird"})


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "length"])
def test_a_word_beside_the_last_fragment(finish: str) -> None:
    body = piece(0, "a", "f", "[") + chunk({"tool_calls": [entry(0, arguments="]")], "content": "x"}, finish)
    assert rows(openai(body + DONE)) == [TEXT, ("call", "a", "f", "[]"), ("finish", finish)]


# ---- choices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "choice"),
    [(0, ()), (None, ()), (ABSENT, ()), ("0", ()), ("2", (2,)), (3.0, (3,)), (True, ()), (-1, (-1,))],
)
def test_the_number_of_a_choice(index: object, choice: Row) -> None:
    body = choices(present(index=index, delta={"content": "x", "reasoning": "T", "refusal": "R"}))
    assert rows(openai(body + DONE))[:-1] == [
        ("reasoning", "T", *choice),
        ("text", "x", *choice),
        ("refusal", "R", *choice),
    ]


def test_choices_without_numbers_go_by_their_place() -> None:
    body = choices({"delta": {"content": "x"}}, {"delta": {"content": "y"}})
    assert rows(openai(body + DONE)) == [TEXT, ("text", "y", 1), UNSPECIFIED]


@pytest.mark.parametrize("members", [[], None, ABSENT, 5, "x", [None, 5, "x"]])
def test_chunks_without_choices(members: object) -> None:
    body = data(present(id="r1", object="chat.completion.chunk", model="m1", choices=members))
    assert rows(openai(body + HELLO + body + ended("stop"))) == [TEXT, STOPPED]


def test_one_choice_without_its_list() -> None:
    assert (
        rows(openai(data({"object": "chat.completion.chunk", "choices": {"delta": {"content": "x"}}}) + DONE))[0]
        == TEXT
    )


# ---- usage ---------------------------------------------------------------------------------------------------

USAGE = {"prompt_tokens": 3, "completion_tokens": 4}
COUNTS = {"input_tokens": 3, "output_tokens": 4}


@pytest.mark.parametrize(
    "body",
    [
        HELLO + chunk({}, "stop") + choices(usage=USAGE),
        HELLO + chunk({}, "stop", usage=USAGE),
        HELLO + chunk({}, "stop") + data({"usage": USAGE}),
        chunk({"content": "x"}, usage={"prompt_tokens": 1}) + chunk({}, "stop", usage=USAGE) + chunk({}, usage=None),
        HELLO + chunk({}, "stop", usage={**USAGE, "total_tokens": None}) + choices(usage={}),
        HELLO + chunk({}, "stop") + choices({"delta": {}, "usage": USAGE}),
        HELLO + chunk({}, "stop") + choices({"delta": {}, "usage": {"prompt_tokens": 99}}, usage=USAGE),
        HELLO + chunk({}, "stop", x_groq={"id": "q", "usage": USAGE}),
        choices(usage={"prompt_tokens": 3}) + HELLO + chunk({}, "stop", usage={"completion_tokens": 4}),
        HELLO + chunk({}, "stop", usage={"prompt_tokens": 3.0, "completion_tokens": "4"}) + choices(usage=USAGE),
    ],
)
def test_usage_stands_anywhere_and_comes_once(body: bytes) -> None:
    found = openai(body + DONE)
    assert rows(found) == [TEXT, ("usage", COUNTS), STOPPED]
    assert rows(openai(body + DONE, include_usage=False)) == [TEXT, STOPPED]
    assert found.summary.usage == found.events[-2]


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"total_tokens": 9}, {"total_tokens": 9}),
        (
            {"prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 6}},
            {"cached_tokens": 5, "cache_write_tokens": 6},
        ),
        ({"prompt_tokens_details": {"cached_tokens": 5}, "cached_tokens": 7}, {"cached_tokens": 5}),
        ({"prompt_tokens_details": None, "cached_tokens": 7}, {"cached_tokens": 7}),
        (
            {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 8},
            {"cached_tokens": 7, "cache_write_tokens": 8},
        ),
        ({"prompt_cache_hit_tokens": 7}, {"cached_tokens": 7}),
        ({"completion_tokens_details": {"reasoning_tokens": 2}}, {"reasoning_tokens": 2}),
        ({"reasoning_tokens": 2, "prompt_tokens": True}, {"reasoning_tokens": 2}),
    ],
)
def test_the_fields_of_usage(usage: dict[str, Any], counts: dict[str, int]) -> None:
    found = openai(HELLO + chunk({}, "stop", usage=usage) + DONE)
    assert row(found.events[-2]) == ("usage", counts)
    assert isinstance(found.events[-2], tokwire.Usage)
    assert found.events[-2].raw == {name: value for name, value in usage.items() if value is not None}


def test_no_usage_event_where_the_server_sent_none() -> None:
    assert rows(openai(HELLO + chunk({}, "stop", usage=None) + choices(usage={}) + DONE)) == [TEXT, STOPPED]


# ---- the response --------------------------------------------------------------------------------------------


def test_the_first_id_and_model_that_are_not_empty_stay() -> None:
    members: list[dict[str, object]] = [
        {"id": "", "model": ""},
        {"id": 5, "model": None},
        {"id": "r", "model": "m"},
        {"id": "s"},
    ]
    body = b"".join(data({"object": "chat.completion.chunk", **each}) for each in members)
    summary = openai(body + HELLO + ended("stop")).summary
    assert (summary.response_id, summary.model) == ("r", "m")


def test_a_whole_answer_in_one_json_body() -> None:
    message = {
        "content": "x",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    answer = {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": USAGE,
    }
    expected = [TEXT, ("call", "a", "f", "{}"), ("usage", COUNTS), ("finish", "tool_calls")]
    for indent in (None, 1):
        body = json.dumps(answer, indent=indent).encode()
        for rest in (b"", b"\n", b"\n\n" + DONE):
            found = openai(body + rest)
            assert (rows(found), found.summary.end_marker, found.summary.response_id) == (expected, True, "r")
    assert rows(openai(json.dumps({"error": {"message": "no"}}).encode())) == [("error", "APIError")]


# ---- recognition ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "is_recognised", "is_marked"),
    [
        ({"object": "chat.completion.chunk"}, True, True),
        ({"object": "chat.completion", "choices": 5}, True, True),
        ({"choices": [{"delta": {}}]}, True, True),
        ({"choices": [{"message": {}}]}, True, True),
        ({"choices": [{"delta": None}]}, True, False),
        ({"choices": []}, True, False),
        ({"choices": [{"delta": {}}, {"text": "x"}]}, False, True),
        ({"choices": [{"text": "x"}]}, False, False),
        ({"choices": [5]}, False, False),
        ({"usage": {}}, True, False),
        ({"usage": {}, "type": "message_delta"}, False, False),
        ({"usage": {}, "object": "response"}, False, False),
        ({"usage": 5}, False, False),
        ({"object": "response", "choices": [{"delta": {}}]}, True, False),
        ({}, False, False),
    ],
)
def test_what_is_recognised_and_what_is_proof(payload: dict[str, Any], is_recognised: bool, is_marked: bool) -> None:  # noqa: FBT001
    assert PROTOCOL.recognises(payload, None) is is_recognised
    assert PROTOCOL.marks(payload, None) is is_marked


@pytest.mark.parametrize("kind", ["ping", "keepalive"])
def test_heartbeats_are_no_payloads(kind: str) -> None:
    beat = data({"type": kind, "cost": "0"})
    assert rows(openai(beat + HELLO + beat + ended("stop"))) == [TEXT, STOPPED]
    assert rows(openai(beat + DONE)) == [UNSPECIFIED]


@pytest.mark.parametrize("payload", [{"type": [1]}, {"type": {}}, {"type": 5, "x": 1}, [1], 5, "x", {"foo": 1}])
def test_payloads_of_others_are_skipped_beside_ours(payload: object) -> None:
    assert rows(openai(data(payload) + HELLO + ended("stop"))) == [TEXT, STOPPED]
    assert rows(openai(data(payload) + DONE)) == [FOREIGN]


@pytest.mark.parametrize("kind", [[], {}, 5, "x", None])
def test_a_chunk_with_a_type_is_a_chunk(kind: object) -> None:
    assert rows(openai(HELLO + chunk({"content": "y"}, type=kind) + ended("stop"))) == [TEXT, ("text", "y"), STOPPED]
