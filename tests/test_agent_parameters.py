"""Parameters of functions: the schema that a model sees, and which functions have none."""

from __future__ import annotations

import datetime
import enum
import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta
from tests.agent_bodies import Spot, Unit, sound

from tokwire.agent._parameters import convert_arguments, parameters_schema, read_parameters


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The properties that a model is shown."""
    properties: dict[str, Any] = parameters_schema(read_parameters(function))["properties"]
    return properties


def test_the_schema_of_a_function() -> None:
    spot = {
        "title": "Spot",
        "description": "Where.",
        "type": "object",
        "properties": {
            "north": {"type": "number"},
            "unit": {"title": "Unit", "enum": ["f", "m"], "default": "m"},
        },
        "required": ["north"],
    }
    assert parameters_schema(read_parameters(sound)) == {
        "type": "object",
        "properties": {"spot": spot, "times": {"type": "integer", "description": "How often.", "default": 1}},
        "required": ["spot"],
    }


def test_an_object_is_any_json_value_as_is_a_parameter_without_annotation() -> None:
    def function(
        a: object,
        b: dict[str, object],
        c: list[object] | None = None,
        d: Annotated[object, Meta(description="A note")] = 1,
        e: Literal["object"] = "object",
    ) -> None: ...

    assert schema_of(function) == {
        "a": {},
        "b": {"type": "object"},
        "c": {"anyOf": [{"type": "array"}, {"type": "null"}], "default": None},
        "d": {"description": "A note", "default": 1},
        "e": {"enum": ["object"], "default": "object"},
    }
    arguments = {"a": [1, {"b": "2"}], "b": {"c": 1.5}, "c": ["1", None]}
    assert convert_arguments(read_parameters(function), arguments) == arguments


def test_a_function_without_parameters() -> None:
    assert read_parameters(lambda: None) == ()
    assert parameters_schema(()) == {"type": "object", "properties": {}, "required": []}
    assert convert_arguments((), {}) == {}


def test_descriptions_in_annotations_win_over_the_docstring() -> None:
    def function(
        a: Annotated[int, Meta(description="From the annotation", ge=0)],
        b: Annotated[int, Meta(ge=0)],
        c: Annotated[int, "a note for somebody else"],
    ) -> None:
        """Do it.

        Args:
            a: From the docstring.
            b: From the docstring.
            c: From the docstring.
        """

    assert schema_of(function) == {
        "a": {"type": "integer", "description": "From the annotation", "minimum": 0},
        "b": {"type": "integer", "description": "From the docstring.", "minimum": 0},
        "c": {"type": "integer", "description": "From the docstring."},
    }


@pytest.mark.parametrize(
    ("default", "kind", "shown"),
    [
        (3, int, {"default": 3}),
        (None, int | None, {"default": None}),
        (None, int, {}),
        ([], list, {"default": []}),
        (Unit.FATHOM, Unit, {"default": "f"}),
        (Spot(5.0), Spot, {"default": {"north": 5.0, "unit": "m"}}),
        (datetime.date(2024, 2, 29), datetime.date, {"default": "2024-02-29"}),
        (math.inf, float, {}),
        (print, Any, {}),
        ("three", int, {}),
    ],
)
def test_defaults_are_shown_where_they_are_json_and_fit(default: Any, kind: Any, shown: dict[str, Any]) -> None:
    def function(depth=default) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001

    function.__annotations__["depth"] = kind
    (parameter,) = read_parameters(function)
    assert {key: value for key, value in parameter.schema.items() if key == "default"} == shown
    assert not parameter.is_required


def test_a_parameter_without_annotation_takes_any_json() -> None:
    def function(what, how=1): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202

    assert schema_of(function) == {"what": {}, "how": {"default": 1}}
    value = {"deep": [1, None, {"er": 0.5}]}
    assert convert_arguments(read_parameters(function), {"what": value}) == {"what": value}


def variadic(*depths: int) -> None: ...


def open_ended(**depths: int) -> None: ...


def positional(depth: int, /) -> None: ...


def homeless(depth: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # the point of the test


def spoken(depth: "how deep it is") -> None: ...  # type: ignore[valid-type]  # noqa: F722  # the point of the test


def attributed(depth: enum.Nothing) -> None: ...  # type: ignore[name-defined]  # the point of the test


def unschooled(depth: list[complex]) -> None: ...


class Boat:
    def sound(self, depth: int) -> None: ...
    @classmethod
    def build(cls, size: int) -> None: ...
    def __call__(self, depth: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (variadic, r"parameter \*depths: .*int.* takes any number of arguments"),
        (open_ended, r"parameter \*\*depths: .*int.* takes any names"),
        (positional, r"parameter depth: .*int.* is positional-only"),
        (homeless, "name 'Nowhere' is not defined; with `from __future__ import annotations`"),
        (spoken, "the annotations cannot be resolved"),
        (attributed, "the annotations cannot be resolved"),
        (unschooled, r"parameter depth: list\[complex\] has no JSON schema"),
        (Boat.sound, r"parameter self is not bound; make the tool of the bound method: tool\(instance.method\)"),
        (int, "no signature that can be read"),
    ],
)
def test_functions_that_a_model_cannot_call_are_refused(function: Callable[..., Any], match: str) -> None:
    with pytest.raises(TypeError, match=match):
        read_parameters(function)


def test_bound_methods_objects_and_partials_show_what_is_left_to_fill() -> None:
    assert list(schema_of(Boat().sound)) == ["depth"]
    assert list(schema_of(Boat.build)) == ["size"]
    assert list(schema_of(Boat())) == ["depth"]
    assert list(schema_of(functools.partial(sound, Spot(1.0)))) == ["times"]
    assert list(schema_of(functools.partial(sound, times=2))) == ["spot"]


def test_self_with_an_annotation_is_a_parameter() -> None:
    def function(self: int) -> None: ...

    assert list(schema_of(function)) == ["self"]
