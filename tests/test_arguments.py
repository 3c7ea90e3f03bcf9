"""What the arguments of a tool call mean: blank text, double encoding, arguments sent again whole, and repairs."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tokwire import FinishReason
from tokwire._arguments import Repair, read_fragments, read_text
from tokwire._json import JSONError

TOOL_CALLS, STOP, LENGTH = FinishReason.TOOL_CALLS, FinishReason.STOP, FinishReason.LENGTH

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(names, values, min_size=1, max_size=4)


def typed(value: Any) -> str:
    """A text that tells 1, 1.0 and true apart."""
    return json.dumps(value, sort_keys=True)


def read(
    *fragments: str, reason: FinishReason | None = TOOL_CALLS, repair: Repair | None = None, depth: int | None = 512
) -> Any:
    """The value of fragments, or the error as an object."""
    try:
        return read_fragments(fragments, reason, depth, repair)
    except JSONError as error:
        return error


def is_invalid(*fragments: str, reason: FinishReason | None = TOOL_CALLS) -> bool:
    """Whether fragments have no value."""
    return isinstance(read(*fragments, reason=reason), JSONError)


@pytest.mark.parametrize("text", ["", " ", "\t\r\n ", "null", " null\n"])
def test_blank_text_and_null_are_an_empty_object(text: str) -> None:
    assert read_text(text, 512) == {}
    assert read(text) == {}


def test_no_fragment_at_all_is_an_empty_object() -> None:
    assert read() == {}
    assert read(reason=None) == {}


@pytest.mark.parametrize("text", ["\u00a0", "\x0b", "\ufeff", "\u2003", "nul", "NULL", "None", "undefined"])
def test_blank_means_json_white_space_and_null_is_spelled_so(text: str) -> None:
    assert is_invalid(text)


@pytest.mark.parametrize("value", [{"a": 1}, [], [1, "x"], "text", 0, 1.5, True, False, {"a": {"b": [None]}}, 2**90])
def test_valid_json_of_any_type_is_delivered(value: Any) -> None:
    assert typed(read(json.dumps(value))) == typed(value)


@given(values)
def test_any_valid_json_is_read_as_the_standard_library_does(value: Any) -> None:
    assume(value is not None and not isinstance(value, str))
    assert typed(read(json.dumps(value))) == typed(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"{\\"a\\": 1}"', {"a": 1}),
        (' "{}" ', {}),
        ('"{\\"a\\": \\"{}\\"}"', {"a": "{}"}),
        ('"[1]"', "[1]"),
        ('"1"', "1"),
        ('"null"', "null"),
        ('"true"', "true"),
        ('""', ""),
        ('" "', " "),
        ('"hello"', "hello"),
        ('"{\\"a\\": "', '{"a": '),
        ('"{} {}"', "{} {}"),
        ('"\\"{}\\""', '"{}"'),
    ],
)
def test_an_object_encoded_twice_is_decoded_twice_and_nothing_else_is(text: str, value: Any) -> None:
    assert typed(read(text)) == typed(value)


@given(objects)
def test_any_object_encoded_twice_is_unwrapped_once(value: dict[str, Any]) -> None:
    assert typed(read(json.dumps(json.dumps(value)))) == typed(value)
    thrice = json.dumps(json.dumps(json.dumps(value)))
    assert read(thrice) == json.loads(thrice)


@given(objects, st.lists(st.integers(0, 60), max_size=5))
def test_fragments_cut_anywhere_have_one_value(value: dict[str, Any], cuts: list[int]) -> None:
    text = json.dumps(value)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    fragments = [text[start:end] for start, end in pairwise(places)]
    for reason in (TOOL_CALLS, LENGTH, None):
        assert typed(read(*fragments, reason=reason)) == typed(value)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": {"b": 1}, "a": 2}'])
def test_of_a_repeated_key_the_last_wins(text: str) -> None:
    assert read(text) == {"a": 2}


@pytest.mark.parametrize(
    "text",
    [
        *('{"a": 1', '{"a": ', "{", '{"a": "unfin', "[1, 2", '"text', "tru", "-"),
        *("{}{}", '{"a": 1} {"a": 1}', "{} x", "{},", "nullnull", "]"),
        *('{"n": NaN}', '{"n": 1e999}', '{"n": -Infinity}', '{"n": ' + "9" * 4301 + "}"),
        *("hello", "{'a': 1}", "{a: 1}", '{"a": 01}', '{"a": 1,}', "<tool>"),
    ],
)
def test_anything_else_is_invalid(text: str) -> None:
    assert is_invalid(text)
    assert is_invalid(text, reason=LENGTH)
    assert is_invalid(text, reason=None)


@pytest.mark.parametrize(("depth", "valid"), [(9, True), (10, True), (11, False)])
def test_depth_is_judged_one_under_at_and_over_the_limit(depth: int, valid: bool) -> None:  # noqa: FBT001 - a column
    text = "[" * depth + "]" * depth
    assert isinstance(read(text, depth=10), JSONError) is not valid
    assert read(text, depth=None) == json.loads(text)


# Arguments that a server sent again whole.

AGAIN = [
    ('{"a": ', '{"a": 1}'),
    ('{"a"', ": ", '{"a": 1}'),
    ('{"a": 1}', '{"a": 1}'),
    ('{"a', '": 1}', '{"a": 1}'),
    ("{", '{"a"', '{"a": ', '{"a": 1}'),
    ('{"a": 1}', '{"a": 1}', '{"a": 1}'),
]


@pytest.mark.parametrize("fragments", AGAIN)
def test_arguments_sent_again_whole_replace_the_fragments_before(fragments: tuple[str, ...]) -> None:
    assert read(*fragments) == {"a": 1}
    assert read(*fragments, reason=STOP) == {"a": 1}
    assert read(*fragments, reason=FinishReason.other("eos")) == {"a": 1}


@pytest.mark.parametrize("fragments", AGAIN)
@pytest.mark.parametrize("reason", [LENGTH, None])
def test_nothing_is_taken_for_sent_again_where_it_may_have_been_cut(
    fragments: tuple[str, ...], reason: FinishReason | None
) -> None:
    assert is_invalid(*fragments, reason=reason)


def test_a_double_encoded_object_can_be_sent_again_too() -> None:
    whole = json.dumps('{"a": 1}')
    assert read(whole[:5], whole) == {"a": 1}
    assert read(whole, whole) == {"a": 1}


@pytest.mark.parametrize(
    "fragments",
    [
        ('{"a": 1}', '{"b": 2}'),
        ('{"a": 1}', '{"a": 2}'),
        ("{}", '{"a": 1}'),
        ('{"b": ', '{"a": 1}'),
        ('{"a": 1}', '{"a": '),
        ("[1", "[1]"),
        ("[1]", "[1]"),
        ('"te', '"text"'),
        ('"a"', '"a"'),
        ("1", "1x"),
        ('{"a": 1}{"a": 1}',),
        ('{"a": 1}', '{"a": 1}', '{"b": 1}'),
        ('{"a": 1} ', '{"a": 1}'),
    ],
)
def test_only_an_object_that_begins_with_all_before_it_was_sent_again(fragments: tuple[str, ...]) -> None:
    assert is_invalid(*fragments)


def test_valid_joined_text_is_never_taken_for_sent_again() -> None:
    assert read("[", "[]", "]") == [[]]
    assert read("{", '"a": {', "}}") == {"a": {}}
    assert read('{"a": ', '{"a": 1}', "}") == {"a": {"a": 1}}


@given(objects, st.lists(st.integers(0, 40), min_size=1, max_size=4))
def test_whole_arguments_after_any_prefix_or_growing_prefixes_give_the_same_call(
    value: dict[str, Any], cuts: list[int]
) -> None:
    text = json.dumps(value)
    prefixes = sorted({text[: 1 + cut % len(text)] for cut in cuts}, key=len)
    assert typed(read(prefixes[-1], text)) == typed(value)
    assert typed(read(*prefixes, text)) == typed(value)


# Repairs.


def test_a_repair_gets_the_raw_text_and_its_object_is_used() -> None:
    seen: list[str] = []

    def repair(text: str) -> Any:
        seen.append(text)
        return {"fixed": True}

    assert read('{"a": ', "1", repair=repair) == {"fixed": True}
    assert seen == ['{"a": 1']


def test_a_repair_is_not_asked_where_the_arguments_have_a_value() -> None:
    def repair(text: str) -> Any:
        pytest.fail(f"was asked to repair {text!r}")

    for fragments in ((), ("",), ("{}",), ("null",), ('"x"',), ("[1]",), ('{"a": ', '{"a": 1}')):
        assert not isinstance(read(*fragments, repair=repair), JSONError)


@pytest.mark.parametrize("answer", [None, [], [{}], "{}", 1, True, ({},)])
def test_what_a_repair_returns_is_used_only_where_it_is_an_object(answer: object) -> None:
    assert isinstance(read("{", repair=lambda _: answer), JSONError)


def test_an_empty_object_is_a_repair() -> None:
    assert read("{", repair=lambda _: {}) == {}


@pytest.mark.parametrize("kind", [ValueError, KeyError, RecursionError, MemoryError, StopIteration, AssertionError])
def test_whatever_a_repair_raises_means_no(kind: type[Exception]) -> None:
    def repair(text: str) -> Any:
        raise kind(text)

    error = read('{"a": ', repair=repair)
    assert isinstance(error, JSONError)
    assert str(error) == str(read('{"a": '))


def test_an_interrupt_is_no_answer_of_a_repair() -> None:
    def repair(text: str) -> Any:
        raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt):
        read("{", repair=repair)


@pytest.mark.parametrize("reason", [LENGTH, None, TOOL_CALLS])
def test_a_repair_is_asked_for_whatever_reason(reason: FinishReason | None) -> None:
    assert read("{", reason=reason, repair=lambda _: {"a": 1}) == {"a": 1}


def test_what_a_repair_returns_can_always_be_encoded() -> None:
    assert read("{", repair=lambda _: {"\ud800": ["\udc00x"]}) == {"\ufffd": ["\ufffdx"]}
