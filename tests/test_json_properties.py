"""Properties of the one home of JSON: the same verdicts as slow code written by hand, for arbitrary texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tokwire._json import (
    JSONError,
    canonical,
    encodable,
    is_finite,
    is_json,
    mend_surrogates,
    nesting_exceeds,
    parse_arguments,
    parse_payload,
    value_text,
)

HIGH, LOW, PAIR, LOST = "\ud83d", "\ude00", "\U0001f600", "\ufffd"

pieces = st.sampled_from(["[", "]", "{", "}", '"', "\\", "\\\\", '\\"', "a", "[[", "{[", ":", ",", '"[{"', "1"])
halves = st.text(st.sampled_from([HIGH, LOW, "\ud800", "\udfff", "a", "\u00e9", PAIR]), max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | halves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | halves, inner, max_size=3),
    max_leaves=10,
)


def naive_depth(text: str) -> int:
    """The deepest nesting, counted character by character."""
    depth = deepest = place = 0
    in_string = False
    while place < len(text):
        letter = text[place]
        if in_string and letter == "\\":
            place += 1
        elif letter == '"':
            in_string = not in_string
        elif not in_string and letter in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif not in_string and letter in "]}":
            depth -= 1
        place += 1
    return deepest


def naively_mended(text: str) -> str:
    """Halves side by side joined, all others replaced, character by character."""
    mended = ""
    place = 0
    while place < len(text):
        letter, after = text[place], text[place + 1 : place + 2]
        if "\ud800" <= letter <= "\udbff" and "\udc00" <= after <= "\udfff":
            mended += chr(0x10000 + ((ord(letter) - 0xD800) << 10) + ord(after) - 0xDC00)
            place += 1
        else:
            mended += LOST if "\ud800" <= letter <= "\udfff" else letter
        place += 1
    return mended


def everywhere_mended(value: Any) -> Any:
    """The same JSON value, all its texts mended."""
    if isinstance(value, str):
        return naively_mended(value)
    if isinstance(value, list):
        return [everywhere_mended(member) for member in value]
    if isinstance(value, dict):
        return {naively_mended(name): everywhere_mended(member) for name, member in value.items()}
    return value


def typed(value: Any) -> str:
    """A text that tells 1, 1.0 and true apart."""
    return json.dumps(value, sort_keys=True)


@given(st.lists(pieces, max_size=40).map("".join), st.integers(1, 6))
def test_nesting_is_counted_like_by_hand(text: str, limit: int) -> None:
    text += " " * max(0, 2 * limit - len(text))
    assert nesting_exceeds(text.encode(), limit) == (naive_depth(text) > limit)


@given(values, st.integers(1, 4))
def test_nesting_of_any_json_is_counted_like_by_hand(value: Any, limit: int) -> None:
    text = json.dumps(value)
    assert nesting_exceeds(text.encode(), limit) == (naive_depth(text) > limit)


@given(st.text() | halves)
def test_mended_text_always_encodes_and_loses_nothing_else(text: str) -> None:
    mended = mend_surrogates(text)
    assert mended == naively_mended(text)
    assert mended.encode().decode() == mended


@given(values)
def test_valid_json_means_what_the_standard_library_says(value: Any) -> None:
    expected = typed(everywhere_mended(value))
    assert typed(parse_arguments(json.dumps(value), 512)) == expected
    assert typed(parse_arguments(json.dumps(everywhere_mended(value), ensure_ascii=False), 512)) == expected
    assert typed(parse_payload(json.dumps(everywhere_mended(value)).encode(), 512)) == expected


@given(st.text(st.sampled_from('[]{}",:0123456789.eE+- \ttrufalsn\\\x01\u00e9'), max_size=12))
@example("NaN")
@example("-Infinity")
@example("\u00a0{}")
@example("\ufeff{}")
@example('{"a":1,"a":2}')
def test_any_text_is_valid_exactly_when_the_standard_library_can_read_it(text: str) -> None:
    try:
        expected = json.loads(text, strict=False)
    except ValueError:
        expected = None
        assert not is_json(text.encode())
    try:
        value = parse_arguments(text, 512)
    except JSONError:
        assert expected is None or not is_finite(expected)
    else:
        assert typed(value) == typed(expected)


@given(values)
def test_what_is_made_encodable_is_the_same_with_lone_halves_replaced(value: Any) -> None:
    made = encodable(value)
    json.dumps(made, ensure_ascii=False).encode()
    assert typed(made) == typed(everywhere_mended(value))


@given(values, values)
def test_canonical_text_is_equal_exactly_for_equal_typed_values(one: Any, other: Any) -> None:
    one, other = encodable(one), encodable(other)
    assert (canonical(one) == canonical(other)) == (typed(one) == typed(other))


@given(values)
def test_the_text_of_a_value_reads_back(value: Any) -> None:
    assert typed(json.loads(value_text(value))) == typed(everywhere_mended(value))
