"""The one home of JSON: what is accepted from a server, what from arguments, depth, numbers and surrogates."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec import Struct

from tokwire._json import (
    FAILURES,
    JSONError,
    NestingError,
    bracket_balance,
    canonical,
    encodable,
    has_surrogate,
    is_finite,
    is_json,
    mend_surrogates,
    nesting_exceeds,
    parse_arguments,
    parse_payload,
    refuse,
    typed_decoder,
    value_text,
)

HIGH, LOW, PAIR, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"
LONE_HIGH, LONE_LOW = "\\uD83D", "\\ude00"


def parsers(text: str, limit: int | None = 512) -> list[Callable[[], Any]]:
    """Both readers of JSON, about to read a text."""
    return [partial(parse_payload, text.encode(), limit), partial(parse_arguments, text, limit)]


def brackets(depth: int) -> str:
    """Arrays nested to a depth, around a number."""
    return "[" * depth + "1" + "]" * depth


@pytest.mark.parametrize("limit", [1, 2, 512])
@pytest.mark.parametrize(("more", "expected"), [(-1, False), (0, False), (1, True)])
def test_a_depth_is_judged_one_under_at_and_over_the_limit(limit: int, more: int, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    text = brackets(limit + more)
    assert nesting_exceeds(text.encode(), limit) is expected
    for parse in parsers(text, limit):
        if expected:
            with pytest.raises(NestingError, match=str(limit)):
                parse()
        else:
            assert parse() == json.loads(text)


def test_brackets_in_strings_do_not_nest() -> None:
    value = {"a": "[[[[" * 50, 'b"{': "\\"}
    for parse in parsers(json.dumps(value), 1):
        assert parse() == value


@pytest.mark.parametrize("depth", [200_000, 400_000])
def test_without_a_limit_the_stack_of_the_program_is_one_and_no_foreign_error_leaves(depth: int) -> None:
    assert not nesting_exceeds(brackets(depth).encode(), None)
    for parse in parsers(brackets(depth), None):
        with pytest.raises(NestingError, match="stack"):
            parse()


@pytest.mark.parametrize(
    ("line", "balance"),
    [(b"", 0), (b"{", 1), (b"}", -1), (b'{"a": [1,', 2), (b'"[": "{"', 0), (b'"\\"[" ]]', -2), (b'  "x": {}', 0)],
)
def test_the_balance_of_a_line_leaves_out_strings(line: bytes, balance: int) -> None:
    assert bracket_balance(line) == balance


@pytest.mark.parametrize(("text", "found"), [("", False), ("a", False), (PAIR, False), (HIGH, True), ("x" + LOW, True)])
def test_half_a_pair_is_found(text: str, found: bool) -> None:  # noqa: FBT001 - a column of the table
    assert has_surrogate(text) is found


@pytest.mark.parametrize("text", ["1e999", "-1e999", '{"a": [1e400]}', "NaN", "[Infinity]", '{"x": -Infinity}'])
def test_numbers_that_are_not_finite_are_invalid_arguments_and_never_fail_a_payload(text: str) -> None:
    with pytest.raises(JSONError):
        parse_arguments(text, 512)
    assert not is_finite(parse_payload(text.encode(), 512))


def test_numbers_beside_a_raw_control_character_are_exact() -> None:
    for parse in parsers('{"text": "\n\x00", "n": -5, "big": 123456789012345678901234567890, "f": 2.5e3}'):
        assert repr(parse()) == repr({"text": "\n\0", "n": -5, "big": 123456789012345678901234567890, "f": 2500.0})


@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_are_exact_up_to_4300_digits(sign: str) -> None:
    for digits in ("9" * 4299, "9" * 4300):
        read = parse_arguments(f'{{"n": {sign}{digits}}}', 512)["n"]
        assert (str(read), type(read)) == (sign + digits, int)
    with pytest.raises(JSONError, match="4300 digits"):
        parse_arguments(f'{{"n": {sign}{"9" * 4301}}}', 512)


@pytest.mark.parametrize("digits", ["9" * 4301, "-" + "9" * 50_000])
def test_a_number_that_nobody_reads_never_fails_a_payload(digits: str) -> None:
    payload = parse_payload(f'{{"n": {digits}, "text": "a"}}'.encode(), 512)
    assert payload["text"] == "a"
    assert math.isinf(payload["n"])


@pytest.mark.parametrize("control", [*range(0x20), 0x7F, 0x2028, 0x85])
def test_a_raw_control_character_in_a_string_is_accepted(control: int) -> None:
    for parse in parsers(f'{{"a": "x{chr(control)}y"}}'):
        assert parse() == {"a": f"x{chr(control)}y"}


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", "{'a': 1}", "{}{}", "[] x", "01", "+1", ".5", '"\\x"', "\x0b1"])
def test_what_is_not_json_is_an_error_that_says_why(text: str) -> None:
    for parse in parsers(text):
        with pytest.raises(JSONError, match="character"):
            parse()
    assert not is_json(text.encode())


def test_invalid_utf8_in_a_payload_becomes_the_replacement_character() -> None:
    assert parse_payload(b'{"a": "\xff\xc3\xa9\xc3"}', 512) == {"a": "\ufffd\u00e9\ufffd"}
    assert is_json(b'"\xff"')
    with pytest.raises(JSONError):
        parse_payload(b"\xff", 512)


def test_half_a_pair_in_a_payload_waits_for_its_other_half() -> None:
    assert parse_payload(f'["{LONE_HIGH}", "{LONE_LOW}", "{LONE_HIGH}{LONE_LOW}"]'.encode(), 512) == [HIGH, LOW, PAIR]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (LONE_HIGH + LONE_LOW, PAIR),
        (LONE_LOW + LONE_HIGH, LOST + LOST),
        (LONE_HIGH + "x" + LONE_LOW, LOST + "x" + LOST),
        ("\\\\ud83d", "\\ud83d"),
        (LONE_HIGH + "\\\\ude00", LOST + "\\ude00"),
        (LONE_HIGH + LONE_HIGH + LONE_LOW, LOST + PAIR),
    ],
)
def test_a_lone_half_written_as_an_escape_in_arguments_is_replaced(inside: str, text: str) -> None:
    assert parse_arguments(f'{{"{inside}": "{inside}"}}', 512) == {text: text}


@pytest.mark.parametrize("value", [{"a": object()}, object()])
def test_what_json_cannot_write_is_left_alone(value: object) -> None:
    assert encodable(value) is value


def test_canonical_text_tells_types_apart_and_forgets_the_order_of_keys() -> None:
    assert len({canonical({"a": value}) for value in (1, 1.0, True, "1", [1], None)}) == 6
    assert canonical({"a": 1, "b": {"d": 2, "c": 3}}) == canonical({"b": {"c": 3, "d": 2}, "a": 1})


def test_the_text_of_a_value_is_compact() -> None:
    assert value_text({"a": [1, 2.5, None], "\u00e9": "x y"}) == '{"a":[1,2.5,null],"\u00e9":"x y"}'


def test_the_text_of_a_value_that_is_not_finite_is_no_valid_argument() -> None:
    with pytest.raises(JSONError):
        parse_arguments(value_text({"a": parse_payload(b"1e999", 512)}), 512)


def test_the_text_of_a_value_that_is_too_deep_is_an_error_of_ours() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    assert encodable(value) is value
    with pytest.raises(NestingError):
        value_text(value)


class Point(Struct):
    """A shape to read."""

    x: int


def test_a_typed_decoder_reads_its_shape_and_fails_with_what_is_listed() -> None:
    decode = typed_decoder(Point)
    assert decode(b'{"x": 1, "y": 2}') == Point(1)
    too_deep = b'{"x": 1, "y": ' + b"[" * 200_000
    for wrong in (b"", b"{}", b'{"x": "1"}', b"[1]", b'{"x": 1}}', b'{"\xff": 1}', too_deep):
        with pytest.raises(FAILURES):
            decode(wrong)


def test_the_decoder_that_refuses_refuses_everything() -> None:
    for payload in (b"{}", b"", b'{"x": 1}'):
        with pytest.raises(JSONError):
            refuse(payload)
    assert issubclass(JSONError, FAILURES)


@pytest.mark.parametrize(
    ("value", "made"),
    [
        (HIGH + LOW, PAIR),
        ({LOW: [HIGH, "a", 1, None]}, {LOST: [LOST, "a", 1, None]}),
        ({"a": 2**100, "b": [1.5, True]}, {"a": 2**100, "b": [1.5, True]}),
        (["\\ud83d"], ["\\ud83d"]),
    ],
)
def test_lone_halves_in_a_value_are_replaced(value: Any, made: Any) -> None:
    assert encodable(value) == made
    assert json.loads(value_text(value)) == made


@pytest.mark.parametrize(
    ("text", "mended"), [("", ""), ("a" + PAIR, "a" + PAIR), (HIGH + LOW, PAIR), (LOW + HIGH, LOST * 2), (HIGH, LOST)]
)
def test_halves_in_a_text_are_joined_or_replaced(text: str, mended: str) -> None:
    assert mend_surrogates(text) == mended


def test_a_lower_limit_of_the_interpreter_gives_an_error_of_ours() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(JSONError, match="640"):
            parse_arguments("9" * 641, 512)
    finally:
        sys.set_int_max_str_digits(before)
