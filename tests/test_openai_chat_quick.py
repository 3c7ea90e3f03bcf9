"""Chat Completions: the quick path. Ordinary chunks run through it; whatever is not ordinary leaves it unharmed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.quick import read_in_full, without_blanks
from tests.support import DONE, chunk, cut, data, decoded
from tests.wire import Row, choices, dropped, ended, entry, openai, piece, row, rows

import tokwire

STOPPED = ("finish", "stop")
HELLO = chunk({"content": "x"})


def texts(*fragments: str) -> bytes:
    return b"".join(chunk({"content": fragment}) for fragment in fragments)


def thoughts(*fragments: str) -> bytes:
    return b"".join(chunk({"reasoning_content": fragment}) for fragment in fragments)


def test_shapes_alternate() -> None:
    body = texts("a", "b") + thoughts("R", "S") + chunk({"reasoning": "T"}) + texts("c", "", "d")
    body += piece(0, "t", "f", "[") + piece(0, arguments="1") + piece(0, arguments="") + piece(0, arguments="]")
    body += texts("e", "f") + thoughts("U") + ended("stop")
    expected: list[Row] = [("text", "a"), ("text", "b")]
    expected += [
        ("reasoning", "R"),
        ("reasoning", "S"),
        ("reasoning", "T"),
        ("text", "c"),
        ("text", "d"),
        ("text", "e"),
    ]
    expected += [("text", "f"), ("reasoning", "U"), ("call", "t", "f", "[1]"), STOPPED]
    assert rows(openai(body)) == expected
    without = [found for found in expected if found[0] != "reasoning"]
    assert rows(openai(body, include_reasoning=False)) == without


ODD: list[tuple[bytes, list[Row]]] = [
    (chunk({"content": "y", "reasoning": "R"}), [("reasoning", "R"), ("text", "y")]),
    (chunk({"content": "y", "reasoning_text": "R"}), [("reasoning", "R"), ("text", "y")]),
    (chunk({"content": "y", "thinking": "R"}), [("reasoning", "R"), ("text", "y")]),
    (chunk({"content": "y", "reasoning_details": [{"text": "R"}]}), [("reasoning", "R"), ("text", "y")]),
    (chunk({"content": "y", "refusal": "N"}), [("text", "y"), ("refusal", "N")]),
    (chunk({"content": ["y", "z"]}), [("text", "y"), ("text", "z")]),
    (chunk({"content": "y", "unknown": {"a": [1]}}), [("text", "y")]),
    (chunk({"content": "y"}, unknown={"a": [1]}), [("text", "y")]),
    (chunk({"content": "y"}, usage=None, error=None), [("text", "y")]),
    (chunk({"content": "y"}, error="", type=None), [("text", "y")]),
    (chunk({"content": "y"}, choice=1), [("text", "y", 1)]),
    (
        choices({"index": 0, "delta": {"content": "y"}}, {"index": 1, "delta": {"content": "z"}}),
        [("text", "y"), ("text", "z", 1)],
    ),
    (choices({"delta": {"content": "y"}, "finish_reason": ""}), [("text", "y")]),
    (choices({"index": "0", "delta": {"content": "y"}, "logprobs": None}), [("text", "y")]),
    (choices({"delta": {}, "message": {"content": "y"}}), []),
    (chunk({"content": None, "role": "assistant"}), []),
    (chunk({"content": "y", "role": "assistant", "tool_calls": None, "function_call": None}), [("text", "y")]),
    (chunk({"content": "y", "tool_calls": [], "refusal": None, "reasoning": None}), [("text", "y")]),
    (data(b'{"choices":[{"delta":{"content":"y"}}],"n":NaN,"big":1e999}'), [("text", "y")]),
    (data(b'{"choices":[{"delta":{"content":"a\tb\xff"}}]}'), [("text", "a\tb\ufffd")]),
    (data(b'{"choices":[{"delta":{"content":"a","content":"y"}}]}'), [("text", "y")]),
    (b'data:{"choices":[{"delta":{"content":"y"}}]}\n\n', [("text", "y")]),
    (b'data: {"choices":[{"delta":\ndata: {"content":"y"}}]}\n\n', [("text", "y")]),
    (b'event: message\ndata: {"choices":[{"delta":{"content":"y"}}]}\nid: 7\n\n', [("text", "y")]),
    (b": comment\n\n" + chunk({"content": "y"}), [("text", "y")]),
    (chunk({"content": "y"}).replace(b"\n", b"\r\n"), [("text", "y")]),
    (b"data:\n\nevent: x\n\n\n\n", []),
]


@pytest.mark.parametrize(("odd", "events"), ODD)
def test_an_odd_chunk_among_ordinary_ones(odd: bytes, events: list[Row]) -> None:
    assert rows(openai(texts("a", "b") + odd + texts("c", "d") + ended("stop"))) == [
        ("text", "a"),
        ("text", "b"),
        *events,
        ("text", "c"),
        ("text", "d"),
        STOPPED,
    ]


@pytest.mark.parametrize(
    "members",
    [
        {"token_id": 7, "role": "assistant", "name": "assistant"},
        {"reasoning": None, "reasoning_details": [], "annotations": [], "images": None, "audio": None},
        {"unheard": {"of": [1]}},
    ],
)
def test_members_that_mean_nothing_do_not_stop_the_quick_path(members: dict[str, Any]) -> None:
    chunks = [chunk({"content": letter, **members}) for letter in "abcdef"]
    assert read_in_full("openai-chat", chunks) == 1
    assert rows(openai(b"".join(chunks) + ended("stop"))) == [*(("text", letter) for letter in "abcdef"), STOPPED]


@pytest.mark.parametrize("name", ["text", "summary"])
def test_reasoning_that_is_told_twice_is_read_quickly(name: str) -> None:
    def told(text: str, **members: Any) -> bytes:
        return chunk({"content": "", **members, "reasoning_details": [{"type": "reasoning.text", name: text}]})

    chunks = [told(letter, reasoning=letter) for letter in "abc"] + [told("d"), told("", reasoning="e"), told("")]
    assert read_in_full("openai-chat", chunks, include_reasoning=True) == 1
    found = rows(openai(b"".join(chunks) + ended("stop")))
    assert found == [*(("reasoning", letter) for letter in "abcde"), STOPPED]
    signed = chunk({"reasoning": "x", "reasoning_details": [{"text": "x", "signature": "S"}]})
    assert len(openai(b"".join(chunks) + signed + ended("stop")).summary.signatures) == 1


@pytest.mark.parametrize("first", [b": comment\n\n", b"retry: 3000\n\n", b""])
def test_what_a_stream_begins_with_does_not_stop_the_quick_path(first: bytes) -> None:
    body = first + texts(*"abcdef")
    assert read_in_full("openai-chat", [body]) == 1
    assert rows(openai(body + ended("stop"))) == [*(("text", letter) for letter in "abcdef"), STOPPED]


def test_data_without_a_blank_is_read_quickly() -> None:
    chunks = [without_blanks(chunk({"content": letter})) for letter in "abcdef"]
    assert read_in_full("openai-chat", chunks) == 1
    assert read_in_full("openai-chat", cut(b"".join(chunks), [30, len(chunks[0]) + 9])) == 1
    assert rows(openai(b"".join(chunks) + ended("stop"))) == [*(("text", letter) for letter in "abcdef"), STOPPED]


@pytest.mark.parametrize("lead", [b"", texts("a", "b")])
@pytest.mark.parametrize(
    "bad",
    [
        chunk({"content": "x"}, error={"code": 503}),
        chunk({"content": "x"}, object="error"),
        chunk({"content": "x"}, type="error"),
    ],
)
def test_an_error_in_an_otherwise_ordinary_chunk(lead: bytes, bad: bytes) -> None:
    found = rows(openai(lead + bad + texts("lost")))
    assert found == [("text", letter) for letter in ("ab" if lead else "")] + [("text", "x"), ("error", "APIError")]


def test_chunks_without_id_and_model_are_read_as_well() -> None:
    body = b"".join(data({"choices": [{"delta": {"content": text}}]}) for text in "abc")
    assert rows(openai(body + DONE)) == [("text", "a"), ("text", "b"), ("text", "c"), ("finish", "unspecified")]


def test_fragments_of_calls_between_fragments_of_calls() -> None:
    body = piece(0, "a", "f", "[") + piece(1, "b", "g", "{") + piece(0, arguments="1") + piece(1, arguments='"k":')
    body += piece(0, arguments=",") + piece(4, arguments="2") + piece(0, arguments="3") + piece(1, arguments="}")
    body += chunk({"tool_calls": [entry(0, arguments=","), entry(0, arguments="4")]}) + piece(0, arguments="]")
    found = openai(body + ended())
    assert rows(found)[:2] == [("call", "a", "f", "[1,3,4]"), ("call", "b", "g", '{"k":2}')]


@pytest.mark.parametrize(
    "odd",
    [
        piece(0, "a", arguments=","),
        piece(0, "", "", ","),
        piece(0, None, None, ","),
        piece("0", arguments=","),
        piece(arguments=","),
        chunk({"tool_calls": [entry(0, arguments=",")], "content": ""}),
        choices(
            {
                "index": 0,
                "delta": {"tool_calls": [entry(0, arguments=",") | {"extra_content": None, "type": "function"}]},
            }
        ),
    ],
)
def test_an_odd_fragment_of_a_call_among_ordinary_ones(odd: bytes) -> None:
    body = piece(0, "a", "f", "[1") + piece(0, arguments="") + odd + piece(0, arguments="2") + piece(0, arguments="]")
    assert rows(openai(body + ended())) == [("call", "a", "f", "[1,2]"), ("finish", "tool_calls")]


def test_fragments_behind_a_drain_leave_the_quick_path() -> None:
    body = piece(0, "a", "f", "[") + piece(0, arguments="]") + chunk({}, "tool_calls") + piece(0, arguments="7") + DONE
    found = openai(body)
    assert rows(found) == [("call", "a", "f", "[]"), ("finish", "tool_calls")]
    assert dropped(found) == [(0, None, None, "7")]


def test_arguments_with_halves_of_pairs_among_ordinary_fragments() -> None:
    body = (
        piece(0, "a", "f", '["')
        + piece(0, arguments="\ud83d")
        + piece(0, arguments="\ude00")
        + piece(0, arguments='"]')
    )
    assert rows(openai(body + ended()))[0] == ("call", "a", "f", '["\U0001f600"]')


@pytest.mark.parametrize("size", [6, 7])
def test_the_limit_for_arguments_holds_on_the_quick_path(size: int) -> None:
    limits = tokwire.Limits(max_tool_arguments_bytes=6)
    body = piece(0, "a", "f", "[1") + piece(0, arguments=",2") + piece(0, arguments=" " * (size - 5) + "]") + ended()
    found = openai(body, limits=limits)
    expected = ("call", "a", "f", "[1,2]") if size == 6 else ("error", "LimitExceeded")
    assert rows(found)[0] == expected


@pytest.mark.parametrize("spare", [0, 1])
def test_the_limit_for_a_line_holds_on_the_quick_path(spare: int) -> None:
    long = chunk({"content": "y" * 300})
    limits = tokwire.Limits(max_line_bytes=len(long) - 2 - spare)
    found = rows(openai(texts("a", "b") + long + ended("stop"), limits=limits))
    assert found[2:] == ([("error", "LimitExceeded")] if spare else [("text", "y" * 300), STOPPED])


# ---- what the caller asked for -------------------------------------------------------------------------------


def test_raw_payloads_come_before_what_they_give() -> None:
    body = texts("a", "b") + data({"type": "ping"}) + b"data:\n\n" + chunk({}, "stop")
    found = decoded("openai-chat", body, include_raw=True)
    payloads = [part.removeprefix(b"data: ") for part in body.split(b"\n\n")[:-1]]
    expected: list[Row] = [("raw", None, payloads[0]), ("text", "a"), ("raw", None, payloads[1]), ("text", "b")]
    expected += [("raw", None, payloads[2]), ("raw", None, b""), ("raw", None, payloads[4])]
    assert rows(found) == [*expected, STOPPED]


def test_a_raw_payload_has_the_name_of_its_event() -> None:
    named = data({"choices": [{"delta": {"content": "x"}}]}, name="chunk")
    assert rows(decoded("openai-chat", named + DONE, include_raw=True))[0] == ("raw", "chunk", named[19:-2])


def test_a_whole_body_is_one_raw_payload() -> None:
    body = b'{"object":"chat.completion","choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'
    assert rows(decoded("openai-chat", body, include_raw=True)) == [("raw", None, body), ("text", "x"), STOPPED]


def test_deltas_of_calls_come_one_for_each_fragment() -> None:
    body = piece(0, "a", "f") + piece(0, arguments="[") + piece(0, arguments="") + piece(0, arguments="]") + ended()
    found = rows(openai(body, include_tool_deltas=True))
    assert found[:3] == [("delta", 0, "a", "f", text) for text in ("", "[", "]")]
    assert found[3:] == [("call", "a", "f", "[]"), ("finish", "tool_calls")]


def told_one_by_one(decoder: tokwire.StreamDecoder) -> list[Any]:
    """Everything that is ready, each event from a generator of its own."""
    return [
        row(found) for found in iter(decoder.next_event, tokwire.NEED_DATA) if isinstance(found, tokwire.StreamEvent)
    ]


def test_generators_that_are_dropped_lose_nothing() -> None:
    body = texts("a", "b", "c") + piece(0, "t", "f", "[") + piece(0, arguments="]") + texts("d") + chunk({}, "stop")
    decoder = tokwire.StreamDecoder("openai-chat")
    found = []
    for read in cut(body, [len(HELLO) * 3, len(HELLO) * 3 + 5]):
        decoder.receive_data(read)
        found += told_one_by_one(decoder)
    assert found == [("text", "a"), ("text", "b"), ("text", "c"), ("text", "d"), ("call", "t", "f", "[]")]


def test_data_may_come_while_events_are_taken() -> None:
    decoder = tokwire.StreamDecoder("openai-chat")
    rest = [texts("c"), piece(0, "t", "f", "{}"), ended("stop")]
    decoder.receive_data(texts("a", "b"))
    found = []
    for each in decoder.events():
        found.append(row(each))
        if rest:
            decoder.receive_data(rest.pop(0))
    assert found == [("text", "a"), ("text", "b"), ("text", "c"), ("call", "t", "f", "{}"), STOPPED]
