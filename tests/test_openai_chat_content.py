"""Chat Completions: text, reasoning under all its spellings, refusals, media, signatures, `message` for `delta`."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import DONE, chunk
from tests.wire import Row, choices, ended, entry, openai, rows

from tokwire import Signature

STOPPED = ("finish", "stop")


def told(*chunks: bytes, **options: Any) -> list[Row]:
    """The rows of a stream of these chunks that ends as it should."""
    found = rows(openai(b"".join(chunks) + ended("stop"), **options))
    assert found[-1] == STOPPED
    return found[:-1]


def thinking(text: object, **more: object) -> dict[str, object]:
    """A thinking part of a content list."""
    return {"type": "thinking", "thinking": text, **more}


# ---- text ----------------------------------------------------------------------------------------------------


def test_fragments_go_out_as_they_came() -> None:
    fragments = ["a", "", " b\n", "b", "b", "\u2028\u0085", "<think>"]
    chunks = [chunk({"content": fragment}) for fragment in fragments]
    assert told(*chunks) == [("text", fragment) for fragment in fragments if fragment]


@pytest.mark.parametrize("nothing", [None, "", [], 7, True, {}, [None, 7, []], [{"type": "x"}], [{"type": ["text"]}]])
def test_content_that_says_nothing(nothing: object) -> None:
    assert told(chunk({"role": "assistant", "content": nothing}), chunk({"content": "x"})) == [("text", "x")]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        [{"type": "output_text", "text": "a"}, "b"],
        ["a", "", {"type": "text", "text": ""}, {"type": "text", "text": {"text": "b"}}],
        [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, {"text": "b"}],
        [{"type": "text", "text": ["a"]}, {"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "b"}],
    ],
)
def test_a_list_of_parts(content: object) -> None:
    assert told(chunk({"content": content})) == [("text", "a"), ("text", "b")]


def test_text_and_lists_alternate() -> None:
    first = chunk({"content": [thinking([{"type": "text", "text": "T"}]), {"type": "text", "text": "a"}]})
    second = chunk({"content": "b"}) + chunk({"content": [{"type": "text", "text": "c"}]}) + chunk({"content": "d"})
    assert told(first, second) == [("reasoning", "T"), ("text", "a"), ("text", "b"), ("text", "c"), ("text", "d")]


@pytest.mark.parametrize(
    ("fragments", "texts"),
    [
        (["a\ud83d", "\ude00b"], ["a", "\U0001f600b"]),
        (["\ud83d", "x"], ["\ufffdx"]),
        (["\ude00"], ["\ufffd"]),
        (["a\ud83d"], ["a", "\ufffd"]),
        (["\ud83d", "\ud83d", "\ude00"], ["\ufffd", "\U0001f600"]),
    ],
)
@pytest.mark.parametrize(("member", "kind"), [("content", "text"), ("reasoning", "reasoning"), ("refusal", "refusal")])
def test_halves_of_surrogate_pairs(fragments: list[str], texts: list[str], member: str, kind: str) -> None:
    chunks = [chunk({member: fragment}) for fragment in fragments]
    assert told(*chunks) == [(kind, text) for text in texts]


def test_a_half_waits_while_other_things_come() -> None:
    chunks = [
        chunk({"content": "x"}),
        chunk({"content": "\ud83d"}),
        chunk({"reasoning": "r"}),
        chunk({"content": "\ude00"}),
    ]
    assert told(*chunks) == [("text", "x"), ("reasoning", "r"), ("text", "\U0001f600")]


# ---- reasoning -----------------------------------------------------------------------------------------------

SPELLINGS: list[dict[str, object]] = [
    {"reasoning_content": "T"},
    {"reasoning": "T"},
    {"reasoning_text": "T"},
    {"thinking": "T"},
    {"thinking": {"text": "T"}},
    {"reasoning": {"text": "T", "x": 1}},
    {"reasoning_details": [{"type": "reasoning.text", "text": "T"}]},
    {"reasoning_details": [{"type": "reasoning.summary", "summary": "T"}, {"type": "reasoning.text", "text": ""}]},
    {"content": [thinking("T")]},
    {"content": [thinking([{"type": "text", "text": "T"}])]},
    {"reasoning_content": "T", "reasoning": "T", "reasoning_details": [{"text": "T"}]},
    {"reasoning_content": "", "reasoning": None, "thinking": {}, "reasoning_details": [{"text": "T"}, None]},
    {"content": [thinking("T")], "reasoning_content": "mirrored"},
    {"reasoning": "T", "reasoning_text": "other"},
]


@pytest.mark.parametrize("delta", SPELLINGS)
def test_one_spelling_counts(delta: dict[str, object]) -> None:
    twice = chunk(delta) + chunk(delta)
    assert told(twice, chunk({"content": "x"})) == [("reasoning", "T"), ("reasoning", "T"), ("text", "x")]
    assert told(twice, chunk({"content": "x"}), include_reasoning=False) == [("text", "x")]


@pytest.mark.parametrize("nothing", [None, "", 5, [], {}, {"text": 5}, [[["T"]]]])
def test_reasoning_that_says_nothing(nothing: object) -> None:
    assert told(chunk({"reasoning_content": nothing, "reasoning_details": nothing, "content": "x"})) == [("text", "x")]


def test_inside_a_delta_reasoning_comes_first() -> None:
    delta = {
        "tool_calls": [entry(0, "a", "f", "{}")],
        "refusal": "R",
        "content": [{"type": "text", "text": "x"}, thinking("T")],
    }
    assert told(chunk(delta)) == [("reasoning", "T"), ("text", "x"), ("refusal", "R"), ("call", "a", "f", "{}")]


# ---- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [{"refusal": "no"}, {"content": [{"type": "refusal", "refusal": "no"}]}])
def test_a_refusal_is_no_text(delta: dict[str, object]) -> None:
    assert told(chunk(delta), chunk({"refusal": "", "content": None})) == [("refusal", "no")]


def test_mirrored_refusals_count_once() -> None:
    content = [{"type": "refusal", "refusal": "other"}]
    assert told(chunk({"refusal": "no", "content": content})) == [("refusal", "no")]


# ---- media and signatures ------------------------------------------------------------------------------------


def test_media_are_counted_and_give_no_event() -> None:
    images = chunk({"images": [{"n": 1}, {"n": 2}]}) + chunk({"images": [{"n": 3}]}) + chunk({"images": []})
    audio = b"".join(chunk({"audio": piece}) for piece in ({"id": "u", "data": "A"}, {"id": "u", "transcript": "hi"}))
    found = openai(chunk({"content": "x"}) + images + audio + chunk({"audio": {"id": "v"}}) + ended("stop"))
    assert rows(found) == [("text", "x"), STOPPED]
    assert found.summary.media == {"image": 3, "audio": 2}


@pytest.mark.parametrize("nothing", [None, "", 5, {}, [], {"data": "A"}])
def test_audio_without_an_id_is_not_counted(nothing: object) -> None:
    found = openai(chunk({"audio": nothing, "content": "x"}) + ended("stop"))
    assert (rows(found)[0], found.summary.media) == (("text", "x"), {})


def test_signatures_are_kept_in_wire_order() -> None:
    details = [
        {"type": "reasoning.encrypted", "data": "E", "id": "d1", "index": 3},
        {"text": "T", "signature": "S"},
        {"type": "reasoning.text", "signature": ""},
    ]
    thought = {"google": {"thought_signature": "G"}}
    body = chunk({"content": [thinking("T", signature="P"), thinking("T", signature=7)]})
    body += chunk({"reasoning_details": details}) + chunk({"reasoning_opaque": "O", "reasoning_encrypted": ["no"]})
    body += chunk({"tool_calls": [entry(0, "a", "f", "{}") | {"extra_content": thought}]})
    body += chunk({"extra_content": thought}, choice=1) + chunk(
        {"extra_content": {"google": {"thought_signature": ""}}}
    )
    assert openai(body + ended("stop")).summary.signatures == (
        Signature(0, "thinking", None, None, None, "P"),
        Signature(0, "reasoning.encrypted", 3, "d1", None, "E"),
        Signature(0, "reasoning_details", None, None, None, "S"),
        Signature(0, "reasoning_opaque", None, None, None, "O"),
        Signature(0, "thought_signature", None, None, "a", "G"),
        Signature(1, "thought_signature", None, None, None, "G"),
    )


# ---- message in place of delta -------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [{}, None, {"role": "assistant"}, {"content": ""}, {"tool_calls": []}, "x", 5])
def test_a_message_counts_where_the_delta_carries_nothing(delta: object) -> None:
    body = choices({"index": 0, "delta": delta, "message": {"role": "assistant", "content": "x"}})
    assert told(body) == [("text", "x")]


def test_a_message_without_a_delta() -> None:
    message = {"content": "x", "reasoning_content": "T", "tool_calls": [entry(0, "a", "f", "{}")]}
    expected = [("reasoning", "T"), ("text", "x"), ("call", "a", "f", "{}"), ("finish", "tool_calls")]
    assert rows(openai(choices({"message": message, "finish_reason": "tool_calls"}) + DONE)) == expected


@pytest.mark.parametrize(
    "delta", [{"content": "d"}, {"reasoning": "d"}, {"refusal": "d"}, {"tool_calls": [entry(0, "a", "f", "{}")]}]
)
def test_a_message_beside_a_delta_that_carries_something(delta: dict[str, object]) -> None:
    assert told(choices({"delta": delta, "message": {"content": "x"}})) == told(choices({"delta": delta}))


@pytest.mark.parametrize("media", [{"images": [{}]}, {"audio": {"id": "u"}}])
def test_a_message_beside_media(media: dict[str, object]) -> None:
    assert told(choices({"delta": media, "message": {"content": "x"}})) == []


def test_a_message_after_text_is_a_repetition() -> None:
    chunks = [
        choices({"delta": {"content": text}, "message": {"content": all_}}) for text, all_ in (("a", "a"), ("b", "ab"))
    ]
    last = choices({"delta": {}, "message": {"content": "ab"}}) + choices({"index": 1, "message": {"content": "c"}})
    assert told(*chunks, last) == [("text", "a"), ("text", "b"), ("text", "c", 1)]
