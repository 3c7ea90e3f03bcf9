"""Gemini: candidates and their reasons, whole calls with and without ids, errors in both forms, media, and usage."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.bodies import api_error, array, call, candidate, cut_off, decode, events, invalid_calls
from tests.wire import ABSENT, Row, dropped, rows

STOPPED = ("finish", "stop")
CUT = ("error", "StreamTruncated")


def text(fragment: str, **members: object) -> dict[str, Any]:
    """A part with text."""
    return {"text": fragment, **members}


def error(code: object = 429, status: str = "RESOURCE_EXHAUSTED") -> dict[str, Any]:
    """An error body."""
    return {"error": {"code": code, "message": "Later.", "status": status}}


def both(*payloads: object, **options: Any) -> list[Row]:
    """The rows of the payloads, the same in both forms; only the array has an end marker."""
    as_array = decode("gemini", array(*payloads), **options)
    as_events = decode("gemini", events(*payloads), **options)
    assert rows(as_array) == rows(as_events)
    assert (as_array.summary.end_marker, as_events.summary.end_marker) == (True, False)
    return rows(as_array)


# ---- content -------------------------------------------------------------------------------------------------


def test_text_and_thoughts() -> None:
    payloads = [
        candidate(text("hm", thought=True), text("a"), text("b", thought=False)),
        candidate(text(""), {}, {"executableCode": {"code": "x"}}, {"text": 5}),
        candidate(text("c"), reason="STOP"),
    ]
    assert both(*payloads) == [("reasoning", "hm"), ("text", "a"), ("text", "b"), ("text", "c"), STOPPED]
    assert both(*payloads, include_reasoning=False)[0] == ("text", "a")


@pytest.mark.parametrize(
    "odd",
    [
        {"candidates": [{"index": 0}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": None}}, None]},
        {"candidates": []},
        {"candidates": [{"content": {"parts": ["x", None, {"functionCall": None}, {"inlineData": None}]}}]},
        {"usageMetadata": {"trafficType": "ON_DEMAND"}},
        {"promptFeedback": {}},
    ],
)
def test_payloads_without_content(odd: dict[str, Any]) -> None:
    assert both(odd, candidate(text("a"), reason="STOP"), include_usage=False) == [("text", "a"), STOPPED]


def test_one_part_in_place_of_a_list() -> None:
    assert both({"candidates": {"content": {"parts": text("a")}}}, candidate(reason="STOP"))[-1] == STOPPED


def test_media_and_signatures() -> None:
    parts = [{"inlineData": {"mimeType": kind, "data": "AA"}} for kind in ("image/png", "image/webp", "audio/wav", "")]
    signed = [text("", thoughtSignature="s1"), call("f", {}, "c") | {"thoughtSignature": "s2"}]
    found = decode("gemini", events(candidate(*parts, *signed, text("x", thoughtSignature=""), reason="STOP")))
    assert found.summary.media == {"image": 2, "audio": 1, "data": 1}
    signatures = [(each.kind, each.data, each.tool_use_id) for each in found.summary.signatures]
    assert signatures == [("thought_signature", "s1", None), ("thought_signature", "s2", "c")]


def test_usage_is_merged_and_nothing_is_added_up() -> None:
    first = {"promptTokenCount": 5, "candidatesTokenCount": 1, "cachedContentTokenCount": 2, "totalTokenCount": 6}
    second = {"candidatesTokenCount": 7, "thoughtsTokenCount": 3, "totalTokenCount": None}
    found = both(candidate(text("a"), usageMetadata=first), candidate(reason="STOP", usageMetadata=second))
    counts = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 6, "cached_tokens": 2, "reasoning_tokens": 3}
    assert found[1:] == [("usage", counts), STOPPED]


def test_id_and_model() -> None:
    summary = decode("gemini", events(candidate(text("a"), responseId="r1", modelVersion="m1"))).summary
    assert (summary.response_id, summary.model) == ("r1", "m1")


# ---- reasons -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("STOP", STOPPED),
        ("MAX_TOKENS", ("finish", "length")),
        *[
            (word, ("finish", "content_filter"))
            for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "safety")
        ],
        *[(word, ("finish", word, "other")) for word in ("OTHER", "LANGUAGE", "MALFORMED_FUNCTION_CALL", "Later")],
        *[(word, ("finish", "unspecified")) for word in ("FINISH_REASON_UNSPECIFIED", "", None, 5)],
    ],
)
def test_finish_words(word: object, row: Row) -> None:
    assert both(candidate(text("a"), reason=word))[-1] == row


def test_the_last_word_counts_since_some_servers_say_stop_on_every_chunk() -> None:
    payloads = [candidate(text(each), reason="STOP") for each in "ab"]
    assert both(*payloads, candidate(text("c"), reason="MAX_TOKENS"))[-2:] == [("text", "c"), ("finish", "length")]
    assert both(*payloads, candidate(text("c"), reason="FINISH_REASON_UNSPECIFIED"))[-1] == STOPPED


def test_of_several_candidates_the_one_that_reported_first_decides() -> None:
    payloads = [
        candidate(text("a"), index=0),
        candidate(text("b"), index=1, reason="STOP"),
        candidate(index=0, reason="MAX_TOKENS"),
        candidate(index=1, reason="SAFETY"),
    ]
    found = decode("gemini", events(*payloads))
    assert rows(found) == [("text", "a"), ("text", "b", 1), ("finish", "content_filter")]
    assert found.summary.finish_reasons == {1: "SAFETY", 0: "MAX_TOKENS"}


def test_candidates_without_an_index_go_by_their_place() -> None:
    payload = {"candidates": [{"content": {"parts": [text(each)]}} for each in "ab"]}
    assert both(payload) == [("text", "a"), ("text", "b", 1), ("finish", "unspecified")]


def test_a_blocked_prompt() -> None:
    blocked: dict[str, Any] = {"promptFeedback": {"blockReason": "OTHER"}}
    found = decode("gemini", events(blocked))
    assert rows(found) == [("finish", "content_filter")]
    assert found.summary.raw_finish_reason == "OTHER"
    assert both(blocked | {"candidates": []}) == [("finish", "content_filter")]
    assert cut_off("gemini", events(blocked)) == [("finish", "content_filter")]
    answered = candidate(text("a"), **blocked)
    assert both(answered, blocked) == [("text", "a"), ("finish", "unspecified")]


# ---- whole calls ---------------------------------------------------------------------------------------------


def test_calls_with_and_without_ids() -> None:
    payloads = [candidate(call("f", {"k": 1}, "c1"), call("g", {"k": 2})), candidate(call("f"), responseId="r1")]
    *calls, end = both(*payloads, candidate(reason="STOP"))
    assert calls[:2] == [("call", "c1", "f", '{"k":1}'), ("call", "call_r1_0", "g", '{"k":2}')]
    assert (calls[2], end) == (("call", "call_r1_1", "f", "{}"), STOPPED)


@pytest.mark.parametrize(
    ("args", "value"),
    [({}, "{}"), (None, "{}"), ([1], "[1]"), ('{"k":1}', '{"k":1}'), (5, "{}"), ({"k": 1.0}, '{"k":1.0}')],
)
def test_arguments_of_any_form(args: object, value: str) -> None:
    assert both(candidate(call("f", args, "c"), reason="STOP")) == [("call", "c", "f", value), STOPPED]


def test_one_id_twice_before_the_drain_is_one_call() -> None:
    payloads = [candidate(call("f", {"k": 1}, "c")), candidate(call("f", {"k": 2}, "c")), candidate(call(call_id="c"))]
    assert both(*payloads, candidate(reason="STOP")) == [("call", "c", "f", '{"k":2}'), STOPPED]


def test_one_id_again_after_the_drain() -> None:
    first = candidate(call("f", {"k": 1}, "c"), reason="STOP", responseId="r1")
    echo = decode("gemini", events(first, first))
    assert rows(echo) == [("call", "c", "f", '{"k":1}'), STOPPED]
    assert dropped(echo) == [(0, "c", "f", '{"k":1}')]
    other = candidate(call("f", {"k": 2}, "c"), reason="STOP")
    assert both(first, other)[1] == ("call", "call_r1_0", "f", '{"k":2}')


def test_a_name_in_two_parts_of_one_call() -> None:
    payloads = [candidate(call(ABSENT, {"k": 1}, "c")), candidate(call("f", ABSENT, "c"), reason="STOP")]
    assert both(*payloads) == [("call", "c", "f", '{"k":1}'), STOPPED]


def test_the_token_limit_before_the_arguments() -> None:
    last = call("f", ABSENT, "c")
    assert invalid_calls("gemini", events(candidate(last, reason="MAX_TOKENS"))) == [("c", "f", "")]
    for payload in (
        candidate(call("f", {}, "c"), reason="MAX_TOKENS"),
        candidate(last, text("a"), reason="MAX_TOKENS"),
    ):
        assert ("call", "c", "f", "{}") in rows(decode("gemini", events(payload)))


# ---- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        events(candidate(text("a")), error()),
        array(candidate(text("a")), error()),
        array(candidate(text("a")), error(), end=""),
        events(candidate(text("a"))) + json.dumps(error(), indent=1).replace("\n", "\r\n").encode(),
        events(candidate(text("a"), reason="STOP")) + json.dumps(error()).encode() + b"\r\n",
        events(candidate(text("a"), **error())),
    ],
)
def test_errors_in_the_stream(body: bytes) -> None:
    assert rows(decode("gemini", body))[0] == ("text", "a")
    found = api_error("gemini", body)
    assert (found.status_code, found.type, found.message) == (429, "RESOURCE_EXHAUSTED", "Later.")
    assert found.body == error()["error"]


@pytest.mark.parametrize(
    "body", [json.dumps(error(), indent=1).encode(), array(error()), b"\n" + array(error(), end="")]
)
def test_errors_in_place_of_the_stream(body: bytes) -> None:
    assert api_error("gemini", body).status_code == 429


def test_a_status_that_is_no_number_is_the_type() -> None:
    found = api_error("gemini", events(error(code=None, status="UNAVAILABLE")))
    assert (found.status_code, found.type) == (None, "UNAVAILABLE")
