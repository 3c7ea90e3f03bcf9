"""Parameters of functions: what becomes of the arguments that a model gives, and what it is told of unfit ones."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from tests.agent_bodies import Spot, Unit, sound

from tokwire.agent._parameters import convert_arguments, read_parameters


class Picky(Struct):
    size: int

    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("13 is unlucky")
        if self.size == 14:
            raise KeyError


cached = functools.cache(read_parameters)


def converted(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The keywords that a function gets, its input untouched."""
    before = repr(arguments)
    keywords = convert_arguments(cached(function), arguments)
    assert repr(arguments) == before
    return keywords


def complaint(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """What a model is told of arguments that do not fit."""
    with pytest.raises(ValueError, match=r".") as caught:
        converted(function, arguments)
    return str(caught.value)


def typed(
    *,
    whole: int = 0,
    part: float = 0.0,
    flag: bool = False,
    text: str = "",
    day: datetime.date | None = None,
    amount: Decimal = Decimal(0),
    unit: Unit = Unit.METRE,
    side: Literal["port", "starboard"] = "port",
    spots: tuple[Spot, ...] = (),
    counts: dict[int, int] | None = None,
    anything: Any = None,
) -> None: ...


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("whole", 5, 5),
        ("part", 5, 5.0),
        ("flag", True, True),
        ("text", "5", "5"),
        ("text", "null", "null"),
        ("day", "2024-02-29", datetime.date(2024, 2, 29)),
        ("day", None, None),
        ("amount", "1.10", Decimal("1.10")),
        ("unit", "f", Unit.FATHOM),
        ("side", "starboard", "starboard"),
        ("spots", [{"north": 1}, {"north": 2, "unit": "f"}], (Spot(1.0), Spot(2.0, Unit.FATHOM))),
        ("counts", {"1": 2}, {1: 2}),
        ("anything", "[1]", "[1]"),
        ("anything", 5.0, 5.0),
    ],
)
def test_arguments_are_converted_to_the_types_of_the_parameters(name: str, value: Any, expected: Any) -> None:
    found = converted(typed, {name: value})
    assert found == {name: expected}
    assert type(found[name]) is type(expected)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("whole", "5", 5),
        ("whole", " 5.0 ", 5),
        ("whole", 5.0, 5),
        ("part", "0.5", 0.5),
        ("flag", "true", True),
        ("side", '"port"', "port"),
        ("spots", '[{"north": 1}]', (Spot(1.0),)),
        ("counts", '{"1": 2}', {1: 2}),
        ("counts", {"1": 2.0}, {1: 2}),
        ("counts", "null", None),
    ],
)
def test_what_weak_models_write_is_read_a_second_time(name: str, value: Any, expected: Any) -> None:
    found = converted(typed, {name: value})
    assert found == {name: expected}
    assert type(found[name]) is type(expected)


@pytest.mark.parametrize("value", ["2020", 2020, 2020.0, "5"])
def test_a_number_is_no_date(value: Any) -> None:
    assert "`day`: " in complaint(typed, {"day": value})


@pytest.mark.parametrize("null", [None, "null"])
def test_null_for_a_parameter_with_a_default_counts_as_left_out(null: str | None) -> None:
    assert converted(typed, {"whole": null, "side": null}) == {}
    assert complaint(sound, {"spot": None}) == "`spot`: Expected `object`, got `null` (found null)"


def test_a_parameter_that_is_left_out_keeps_the_default_of_the_function() -> None:
    assert converted(sound, {"spot": {"north": 1}}) == {"spot": Spot(1.0)}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "`spot`: required, and missing"),
        ({"spot": {"north": "far"}}, '`spot`: Expected `float`, got `str` at `spot.north` (found {"north":"far"})'),
        ({"spot": {}}, "`spot`: Object missing required field `north` (found {})"),
        (
            {"spot": {"north": 1}, "times": "often"},
            '`times`: Expected `int`, got `str` (found "often")',
        ),
        ({"spot": {"north": 1}, "tide": 1}, "no parameter is called 'tide'; there are spot, times"),
        (
            {"times": [], "tide": 1, "": 2},
            "`spot`: required, and missing; `times`: Expected `int`, got `array` (found []); "
            "no parameter is called 'tide', ''; there are spot, times",
        ),
    ],
)
def test_a_model_is_told_all_that_does_not_fit(arguments: dict[str, Any], text: str) -> None:
    assert complaint(sound, arguments) == text


def test_a_model_is_told_of_a_function_without_parameters() -> None:
    with pytest.raises(ValueError, match=r"^no parameter is called 'tide'; there are none$"):
        convert_arguments((), {"tide": 1})


def test_a_model_is_told_which_values_there_are() -> None:
    text = complaint(typed, {"side": "aft"})
    assert text == (
        '`side`: Invalid enum value \'aft\', expected {"enum":["port","starboard"],"default":"port"} (found "aft")'
    )
    assert '"format":"date"' in complaint(typed, {"day": "tomorrow"})


def test_a_model_is_told_what_the_type_itself_says() -> None:
    def function(picky: Picky) -> None: ...

    assert complaint(function, {"picky": {"size": 13}}) == '`picky`: 13 is unlucky (found {"size":13})'
    assert complaint(function, {"picky": {"size": 14}}) == '`picky`: KeyError (found {"size":14})'


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, {"x": ["y" * 100_000]}, "\ud800", [2**70], [10**5000], [[[[]]]] * 1000],
    ids=["text", "object", "surrogate", "large", "huge", "long"],
)
def test_what_a_model_is_told_is_short(value: Any) -> None:
    for name in ("whole", "side", "day"):
        assert len(complaint(typed, {name: value})) < 700
    assert len(complaint(typed, {"x" * 100_000: value})) < 700


def test_an_argument_that_is_nested_too_deeply_does_not_fit() -> None:
    text = "[" * 100_000
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert "Expected `int`, got `str`" in complaint(typed, {"whole": text})
    with pytest.raises(ValueError, match=r"^`whole`: Expected `int`, got `array` \(found a list\)$"):
        convert_arguments(read_parameters(typed), {"whole": value})


@settings(deadline=None)
@given(st.lists(st.integers()) | st.dictionaries(st.text(), st.integers() | st.none()) | st.integers() | st.booleans())
def test_a_text_of_json_is_as_good_as_the_value(value: Any) -> None:
    def function(argument: list[int] | dict[str, int | None] | int | bool) -> None: ...  # noqa: FBT001

    assert converted(function, {"argument": value}) == {"argument": value}
    assert converted(function, {"argument": json.dumps(value)}) == {"argument": value}


@settings(deadline=None)
@given(
    st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)
def test_whatever_a_model_sends_fits_or_is_answered(value: Any) -> None:
    for name in typed.__annotations__.keys() - {"return"}:
        try:
            keywords = converted(typed, {name: value})
        except ValueError as error:
            answer = str(error)
            keywords = {}
        else:
            answer = f"`{name}`: it fits"
        assert answer.startswith(f"`{name}`: ")
        assert keywords.keys() <= {name}
