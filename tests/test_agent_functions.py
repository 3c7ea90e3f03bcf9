"""What a function says about itself, in all the ways in which a function can be dressed."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from msgspec import Meta

from tokwire.agent._functions import (
    documentation,
    function_name,
    layers,
    parameter_texts,
    parameter_types,
    preset_names,
    summary,
)


def sail(course: int, wind: Annotated[str, Meta(description="Where it comes from")], crew=None) -> Nowhere:  # type: ignore[no-untyped-def,name-defined]  # noqa: ANN001, F821  # the point of the tests
    """Set sail."""
    return course, wind, crew


class Helm:
    """Steers a ship."""

    def __call__(self, course: int) -> int:
        return course

    def turn(self, degrees: int) -> int:
        """Turn the wheel."""
        return degrees


class Anchor:
    def __call__(self) -> None:
        """Drop it."""


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write them."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def test_a_plain_function_is_its_only_layer() -> None:
    assert list(layers(sail)) == [sail]


def test_partials_decorators_methods_and_objects_are_seen_through() -> None:
    helm = Helm()
    westward = functools.partial(sail, wind="east")
    assert list(layers(logged(westward)))[1:] == [westward, sail]
    assert list(layers(functools.partial(helm, 5)))[1:] == [helm, Helm.__call__]
    assert list(layers(helm.turn)) == [helm.turn]
    assert list(layers(functools.cache(sail)))[-1] is sail


def test_names_set_by_partials_are_found_in_every_layer() -> None:
    assert preset_names(sail) == set()
    assert preset_names(functools.partial(sail, 90, wind="east")) == {"wind"}
    assert preset_names(logged(functools.partial(functools.partial(sail, wind="east"), crew=4))) == {"wind", "crew"}


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (sail, "sail"),
        (functools.partial(sail, 90), "sail"),
        (logged(sail), "sail"),
        (Helm(), "Helm"),
        (Helm().turn, "turn"),
        (functools.partial(Helm()), "Helm"),
        (operator.itemgetter(1), "itemgetter"),
    ],
)
def test_names(function: Callable[..., Any], name: str) -> None:
    assert function_name(function) == name


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (sail, "Set sail."),
        (functools.partial(sail, 90), "Set sail."),
        (logged(sail), "Set sail."),
        (Helm(), "Steers a ship."),
        (Helm().turn, "Turn the wheel."),
        (Anchor(), "Drop it."),
        (lambda: None, ""),
    ],
)
def test_documentation(function: Callable[..., Any], text: str) -> None:
    assert documentation(function) == text


def test_types_written_as_text_are_resolved_where_the_function_stands() -> None:
    types = parameter_types(sail, inspect.signature(sail))
    assert types == {"course": int, "wind": Annotated[str, Meta(description="Where it comes from")]}
    westward = logged(functools.partial(sail, wind="east"))
    assert parameter_types(westward, inspect.signature(westward))["course"] is int
    assert parameter_types(Helm(), inspect.signature(Helm())) == {"course": int}


def test_types_out_of_reach_are_an_error() -> None:
    class Local:
        pass

    def board(passenger: Local) -> None: ...

    with pytest.raises(NameError, match="Local"):
        parameter_types(board, inspect.signature(board))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ""),
        ("Set sail.", "Set sail."),
        ("Set sail\nfor the open sea.\n\nMore of it.", "Set sail for the open sea."),
        ("Set sail.\nArgs:\n    course: Where to.", "Set sail."),
        ("Args:\n    course: Where to.", ""),
        ("Set sail.\n   \nMore.", "Set sail."),
    ],
)
def test_the_summary_is_the_first_paragraph(text: str, first: str) -> None:
    assert summary(text) == first


GOOGLE = """Set sail.

Args:
    course: Where to,
        in degrees: 0 is north.

        Ask the pilot.
    wind (str, optional): Where it
      comes from.
    crew:
        Who sails.
    no entry

Returns:
    log: What happened.
"""


def test_the_arguments_of_a_google_style_docstring() -> None:
    assert parameter_texts(GOOGLE) == {
        "course": "Where to, in degrees: 0 is north. Ask the pilot.",
        "wind": "Where it comes from.",
        "crew": "Who sails. no entry",
    }


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("", {}),
        ("Set sail: now.\n\ncourse: Where to.", {}),
        ("Set sail.\n\nReturns:\n    log: What happened.", {}),
        ("Parameters:\n  course: Where to.", {"course": "Where to."}),
        ("Arguments:\n\n\tcourse: Where to.\nNote: sail.", {"course": "Where to."}),
        ("Args:\n    nothing to see", {}),
        ("Args:", {}),
        ("  Args:\n    a: A.\n  b: B.", {"a": "A."}),
    ],
)
def test_sections_of_docstrings(text: str, texts: dict[str, str]) -> None:
    assert parameter_texts(text) == texts
