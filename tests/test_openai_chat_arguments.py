"""Chat Completions: what the arguments of a call mean, and when a call is cut, sent again, or an echo of another."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from tests.support import DONE, chunk, data
from tests.wire import ABSENT, Row, dropped, ended, entry, openai, piece, rows

import tokwire

TOOLS = ("finish", "tool_calls")
INVALID = ("error", "InvalidToolArguments")
DOUBLED = json.dumps('{"k":1}')


def delivered(*fragments: object, finish: str | None = "tool_calls", **options: Any) -> str | None:
    """The input that one call with these fragments is delivered with, as JSON; None where it cannot run."""
    first, *rest = fragments
    body = piece(0, "a", "f", first) + b"".join(piece(0, arguments=each) for each in rest) + ended(finish)
    found = rows(openai(body, **options))
    if found[-1] == INVALID:
        assert found == [INVALID]
        return None
    assert [each[:3] for each in found[:-1]] == [("call", "a", "f")]
    text: str = found[0][3]
    return text


@pytest.mark.parametrize("nothing", [ABSENT, None, "", " \t\r\n", "null", " null\n"])
def test_no_arguments_are_an_empty_object(nothing: object) -> None:
    assert delivered(nothing) == "{}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1,2]", "[1,2]"),
        ("7", "7"),
        ("1.0", "1.0"),
        ("true", "true"),
        ('"x"', '"x"'),
        (DOUBLED, '{"k":1}'),
        (json.dumps(DOUBLED), json.dumps(DOUBLED)),
        ('"[1]"', '"[1]"'),
        ('{"k":1,"k":2}', '{"k":2}'),
        ('{"n":12345678901234567890123}', '{"n":12345678901234567890123}'),
        ('{"k":"a\nb\x01"}', '{"k":"a\\nb\\u0001"}'),
        ('{"k":"\\ud83d"}', '{"k":"\ufffd"}'),
        ('{"k":"\\ud83d\\ude00"}', '{"k":"\U0001f600"}'),
    ],
)
def test_json_of_any_type_is_delivered(text: str, value: str) -> None:
    assert delivered(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"k":1} x',
        "{}{}",
        '{"k":',
        "{'k':1}",
        '{"k":NaN}',
        '{"k":-Infinity}',
        "1e999",
        "[" + "9" * 4301 + "]",
        "\u00a0{}",
    ],
)
def test_anything_else_is_invalid(text: str) -> None:
    assert delivered(text) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"k": 1}, '{"k":1}'),
        ({}, "{}"),
        ({"k": 2**70}, '{"k":1180591620717411303424}'),
        ({"k": "\ud800"}, '{"k":"\ufffd"}'),
    ],
)
def test_an_object_in_place_of_the_text(value: object, text: str) -> None:
    assert delivered(value) == text


@pytest.mark.parametrize("value", [{"k": float("nan")}, {"k": float("inf")}])
def test_an_object_with_a_number_that_is_none(value: object) -> None:
    assert delivered(value) is None


def test_half_a_surrogate_pair_waits_for_its_other_half() -> None:
    assert delivered('{"k":"\ud83d', '\ude00"}') == '{"k":"\U0001f600"}'
    assert delivered('{"k":"\ud83d', '"}') == '{"k":"\ufffd"}'


@pytest.mark.parametrize(("depth", "value"), [(512, "[" * 512 + "]" * 512), (513, None)])
def test_depth_is_counted(depth: int, value: str | None) -> None:
    assert delivered("[" * depth + "]" * depth) == value


@pytest.mark.parametrize(
    "fragments",
    [
        ('{"k":{"m":1}}', '{"k":{"m":1}}'),
        ('{"k":', '{"m":1}}', '{"k":{"m":1}}'),
        ('{"k":', '{"k":{"m":1}}'),
        ("{", '{"k":', '{"k":{"m":1', '{"k":{"m":1}}'),
        ("", '{"k":{"m":1}}', '{"k":{"m":1}}', '{"k":{"m":1}}'),
    ],
)
def test_arguments_that_are_sent_again_whole(fragments: tuple[str, ...]) -> None:
    assert delivered(*fragments) == '{"k":{"m":1}}'
    assert delivered(*fragments, finish="stop") == '{"k":{"m":1}}'
    assert delivered(*fragments, finish="length") is None
    assert delivered(*fragments, finish=None) is None


@pytest.mark.parametrize(
    "fragments",
    [('{"k":1}', '{"k":2}'), ("{}", '{"k":1}'), ("[1]", "[1]"), ('{"k":1}', " ", '{"k":1}'), ('{"k":1}', DOUBLED)],
)
def test_near_misses_of_arguments_sent_again(fragments: tuple[str, ...]) -> None:
    assert delivered(*fragments) is None


def test_a_repair_gets_the_raw_text() -> None:
    asked: list[str] = []

    def repair(text: str) -> object:
        asked.append(text)
        return {"text": text}

    assert delivered('{"k":', "oops", repair_arguments=repair) == '{"text":"{\\"k\\":oops"}'
    assert set(asked) == {'{"k":oops'}
    assert delivered("oops", repair_arguments=lambda _: [1]) is None
    assert delivered("oops", repair_arguments=lambda _: 1 // 0) is None


# ---- cut by the token limit ----------------------------------------------------------------------------------

BARE = piece(0, "a", "f", "1") + piece(1, "b", "g")


@pytest.mark.parametrize(
    "nothing",
    [b"", piece(1, arguments=""), piece(1, arguments=None), chunk({"content": ""}), piece(0, arguments=" ")],
)
def test_the_last_call_without_a_fragment_is_cut_by_the_limit(nothing: bytes) -> None:
    body = BARE + nothing
    assert rows(openai(body + ended("length"))) == [("call", "a", "f", "1"), INVALID]
    assert rows(openai(body + ended("stop")))[-2:] == [("call", "b", "g", "{}"), ("finish", "stop")]


@pytest.mark.parametrize(
    "something",
    [
        chunk({"content": "x"}),
        chunk({"reasoning": "x"}),
        chunk({"refusal": "x"}),
        piece(2, "c", "h", "{}"),
        piece(1, arguments=" "),
        piece(9, arguments=" "),
    ],
)
def test_it_is_not_cut_where_anything_came_after_it(something: bytes) -> None:
    for asked in (True, False):
        found = rows(openai(BARE + something + ended("length"), include_reasoning=asked))
        assert ("call", "b", "g", "{}") in found
        assert found[-1] == ("finish", "length")


def test_a_reason_before_it_keeps_it() -> None:
    found = rows(openai(chunk({}, "stop") + BARE + ended("length")))
    assert found == [("call", "a", "f", "1"), ("call", "b", "g", "{}"), ("finish", "stop")]


def test_each_choice_is_judged_by_its_own_reason() -> None:
    call = {"tool_calls": [entry(0, "a", "f")]}
    body = chunk(call) + chunk(call, choice=1) + chunk({}, "stop") + chunk({}, "length", choice=1) + DONE
    assert rows(openai(body)) == [("call", "a", "f", "{}"), INVALID]


# ---- echoes and made ids -------------------------------------------------------------------------------------

TWICE = [("1", "1.0"), ("1", "true"), ("[1]", "[1.0]"), ("12345678901234567890123", "12345678901234567890124")]
ALIKE = [('{"k":1,"m":2}', '{"m":2, "k":1}'), ("1e2", "100.0"), ('"\\u0041"', '"A"'), ("{}", " { }"), ("[1]", "[1]")]


@pytest.mark.parametrize("is_drained", [True, False])
@pytest.mark.parametrize(("first", "second", "count"), [(*two, 2) for two in TWICE] + [(*two, 1) for two in ALIKE])
def test_an_echo_has_equal_arguments(first: str, second: str, count: int, is_drained: bool) -> None:  # noqa: FBT001
    between = chunk({}, "tool_calls") if is_drained else b""
    found = openai(piece(0, "a", "f", first) + between + piece(1, "a", "f", second) + ended())
    calls = rows(found)[:-1]
    assert [each[1] for each in calls] == ["a", "call_r1_0"][:count]
    assert dropped(found) == ([(1, "a", "f", second)] if count == 1 else [])


@pytest.mark.parametrize(
    ("pieces", "kept", "lost"),
    [
        ([(0, ""), (1, "7")], "7", [(0, "a", "f", "")]),
        ([(0, "7"), (1, "")], "7", [(1, "a", "f", "")]),
        ([(0, ""), (1, "7"), (2, " ")], "7", [(0, "a", "f", ""), (2, "a", "f", " ")]),
        ([(0, ""), (1, "")], "{}", [(1, "a", "f", "")]),
    ],
)
def test_of_two_the_bare_one_is_the_echo(pieces: list[tuple[int, str]], kept: str, lost: list[Row]) -> None:
    found = openai(b"".join(piece(index, "a", "f", text) for index, text in pieces) + ended())
    assert rows(found) == [("call", "a", "f", kept), TOOLS]
    assert dropped(found) == lost


def test_a_bare_call_that_was_delivered_stays_so() -> None:
    found = openai(piece(0, "a", "f") + chunk({}, "stop") + piece(0, "a", "f", "7") + piece(1, "a", "f") + DONE)
    assert rows(found)[:2] == [("call", "a", "f", "{}"), ("call", "call_r1_0", "f", "7")]
    assert dropped(found) == [(1, "a", "f", "")]


def test_another_name_is_no_echo() -> None:
    found = openai(piece(0, "a", "f", "{}") + piece(1, "a", "g", "{}") + ended())
    assert (rows(found)[:-1], dropped(found)) == ([("call", "a", "f", "{}"), ("call", "call_r1_0", "g", "{}")], [])


def test_every_further_use_gets_an_id_of_its_own() -> None:
    found = openai(b"".join(piece(index, "a", "f", str(index % 3)) for index in range(5)) + ended())
    assert [each[1:] for each in rows(found)[:-1]] == [
        ("a", "f", "0"),
        ("call_r1_0", "f", "1"),
        ("call_r1_1", "f", "2"),
    ]
    assert [each[0] for each in dropped(found)] == [3, 4]


def test_an_id_of_the_server_that_looks_like_ours_is_not_taken_twice() -> None:
    body = piece(0, "call_r1_0", "f", "1") + piece(1, ABSENT, "g", "2") + ended()
    assert [each[1] for each in rows(openai(body, synthesize_tool_ids=True))[:-1]] == ["call_r1_0", "call_r1_1"]


def test_ids_are_made_from_the_call_where_the_response_has_none() -> None:
    def nameless(index: int, name: str, arguments: object) -> bytes:
        delta = {"tool_calls": [entry(index, ABSENT, name, arguments)]}
        return data({"choices": [{"delta": delta}]})

    body = nameless(0, "f", "[ 1]") + nameless(1, "g", {"k": 2}) + data({"id": "", "choices": []}) + DONE
    digests = [hashlib.sha256(seed).hexdigest()[:12] for seed in (b"f\0[ 1]\x000", b'g\0{"k":2}\x001')]
    found = openai(body, synthesize_tool_ids=True)
    assert [each[1] for each in rows(found)[:-1]] == [f"call_{digests[0]}_0", f"call_{digests[1]}_1"]


# ---- the drain -----------------------------------------------------------------------------------------------


def test_what_comes_behind_a_reason_is_drained_at_the_end() -> None:
    late = piece(0, "b", "g", "[") + chunk({"content": "x"}) + piece(0, arguments="]")
    found = openai(piece(0, "a", "f", "{}") + chunk({}, "tool_calls") + late + DONE)
    assert rows(found) == [("call", "a", "f", "{}"), ("text", "x"), ("call", "b", "g", "[]"), TOOLS]


def test_a_fragment_of_a_drained_call_is_recorded() -> None:
    found = openai(piece(0, "a", "f", "{}") + chunk({}, "tool_calls") + piece(0, arguments="{}") + DONE)
    assert (rows(found), dropped(found)) == ([("call", "a", "f", "{}"), TOOLS], [(0, None, None, "{}")])


def test_valid_calls_text_and_usage_come_before_the_error_of_an_invalid_one() -> None:
    body = piece(0, "a", "f", "{") + piece(1, "b", "g", "{}") + chunk({}, "tool_calls") + chunk({"content": "x"})
    body += chunk({}, usage={"prompt_tokens": 3}) + DONE
    expected = [("call", "b", "g", "{}"), ("text", "x"), ("usage", {"input_tokens": 3}), INVALID]
    assert rows(openai(body)) == expected
    with pytest.raises(tokwire.InvalidToolArguments) as caught:
        tokwire.decode(body, "openai-chat")
    (bad,) = caught.value.calls
    assert (bad.index, bad.id, bad.name, bad.arguments) == (0, "a", "f", "{")
    assert (caught.value.finish_reason, bad.detail != "") == (tokwire.FinishReason.TOOL_CALLS, True)
