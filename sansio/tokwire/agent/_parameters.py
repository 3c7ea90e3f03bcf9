"""The parameters of a Python function: their JSON Schema, and the conversion of a model's arguments to them."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, Meta, Struct

from .._json import JSONError, is_finite, parse_arguments
from .._limits import Limits
from ._functions import documentation, parameter_texts, parameter_types, preset_names
from ._schema import json_copy, object_schema, type_schema

__all__: list[str] = []

EXCERPT = 64
LONG_EXCERPT = 240

REFUSED = {
    inspect.Parameter.VAR_POSITIONAL: "takes any number of arguments; a model has to know them by name",
    inspect.Parameter.VAR_KEYWORD: "takes any names; a model has to know them",
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only; tools are called with keywords",
}


class Parameter(Struct, frozen=True, eq=False):
    """One parameter that the model can fill.

    Attributes:
        name: Its name.
        kind: Its type, as `msgspec.convert` takes it.
        schema: Its JSON Schema.
        is_required: Whether it has no default.
    """

    name: str
    kind: Any
    schema: dict[str, Any]
    is_required: bool


Parameters = tuple[Parameter, ...]


class Misfit(ValueError):
    """An argument does not fit its parameter; the message says how, without the parameter's name."""


def read_parameters(function: Callable[..., Any]) -> Parameters:
    """The parameters of a function that a model can fill, in order. Those that a partial has set are left out.

    Raises:
        TypeError: The function cannot be called with keywords that are known beforehand, or a type has no JSON schema.
    """
    try:
        signature = inspect.signature(function)
        kinds = parameter_types(function, signature)
    except (NameError, AttributeError, SyntaxError) as error:
        raise TypeError(
            f"the annotations cannot be resolved: {error}; with `from __future__ import annotations`, "
            "types in them have to be importable or stand at module level"
        ) from None
    except ValueError:
        raise TypeError("it has no signature that can be read; wrap it in a function with annotations") from None
    texts = parameter_texts(documentation(function))
    preset = preset_names(function)
    return tuple(
        _parameter(parameter, _any_for_object(kinds.get(name, Any)), texts.get(name, ""))
        for name, parameter in signature.parameters.items()
        if name not in preset
    )


def parameters_schema(parameters: Parameters) -> dict[str, Any]:
    """The JSON Schema of the arguments as a whole."""
    properties = {parameter.name: parameter.schema for parameter in parameters}
    return object_schema(properties, [parameter.name for parameter in parameters if parameter.is_required])


def convert_arguments(parameters: Parameters, arguments: dict[str, Any]) -> dict[str, Any]:
    """The keywords for a call. What the model left out is left out here, so that the function's defaults hold.

    An argument that does not fit is read a second time, as weak models write: a text as JSON (`"5"` for 5), and 5.0
    as the whole number 5. Null counts as left out for a parameter that has a default and takes no null. A name that
    is no parameter is refused: the model would believe that it had an effect.

    Raises:
        ValueError: Arguments are missing, unknown or do not fit. The message names all of them.
    """
    keywords: dict[str, Any] = {}
    problems: list[str] = []
    for parameter in parameters:
        if parameter.name not in arguments:
            problems += [f"`{parameter.name}`: required, and missing"] if parameter.is_required else []
            continue
        try:
            value = _converted(parameter, arguments[parameter.name])
        except Misfit as misfit:
            problems.append(f"`{parameter.name}`: {misfit}")
        else:
            if value is not UNSET:
                keywords[parameter.name] = value
    known = [parameter.name for parameter in parameters]
    unknown = ", ".join(repr(name) for name in arguments if name not in known)
    if unknown:
        problems.append(f"no parameter is called {shortened(unknown, EXCERPT)}; there are {', '.join(known) or 'none'}")
    if problems:
        raise ValueError("; ".join(problems))
    return keywords


def _converted(parameter: Parameter, value: Any) -> Any:
    """The value in the parameter's type; UNSET where it counts as left out."""
    try:
        return _as_it_is(parameter, value)
    except Misfit:
        read = _second_reading(value)
        with suppress(Misfit):
            return _as_it_is(parameter, read)
        if read is None and not parameter.is_required:
            return UNSET
        raise


def _as_it_is(parameter: Parameter, value: Any) -> Any:
    try:
        return msgspec.convert(value, parameter.kind, str_keys=True)
    except Exception as error:  # types of the caller run code of their own
        raise Misfit(_explained(error, parameter, value)) from error


def _second_reading(value: Any) -> Any:
    """A text as the JSON that it holds, and floats that are whole as integers."""
    try:
        if isinstance(value, str):
            value = parse_arguments(value, Limits().max_json_depth)
        return _with_whole_numbers(value)
    except (JSONError, RecursionError):
        return value


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    return value


def _explained(error: Exception, parameter: Parameter, value: Any) -> str:
    """What is wrong with an argument, in words that tell the model how to do it right."""
    problem, _, path = (str(error) or type(error).__name__).partition(" - at `$")
    problem = shortened(problem, LONG_EXCERPT)
    where = f" at `{parameter.name}{path}" if path else ""
    # msgspec tells what it expected, except where a value is none of a set or has no right form.
    expected = f", expected {excerpt(parameter.schema, LONG_EXCERPT)}" if problem.startswith("Invalid") else ""
    return f"{problem}{where}{expected} (found {excerpt(value)})"


def excerpt(value: Any, size: int = EXCERPT) -> str:
    """The beginning of a value's JSON."""
    try:
        return shortened(msgspec.json.encode(value).decode(), size)
    except (ValueError, OverflowError, RecursionError):
        return f"a {type(value).__name__}"


def shortened(text: str, size: int) -> str:
    """The beginning of a text, with dots where something was cut."""
    return text if len(text) <= size else text[:size] + "..."


def _any_for_object(kind: Any) -> Any:
    """The type with `Any` in place of `object`, which says of a parameter the same: any JSON value will do."""
    if kind is object:
        return Any
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    replaced = parts if origin is typing.Literal else tuple(map(_any_for_object, parts))
    if replaced == parts:
        return kind
    # A union is spelled in two ways, and only one of them can be told its members.
    return (typing.Union if origin is types.UnionType else origin)[replaced]


def _parameter(parameter: inspect.Parameter, kind: Any, text: str) -> Parameter:
    name, default = parameter.name, parameter.default
    if parameter.kind in REFUSED:
        raise TypeError(f"parameter {parameter} {REFUSED[parameter.kind]}")
    if name in ("self", "cls") and parameter.annotation is parameter.empty:
        raise TypeError(f"parameter {name} is not bound; make the tool of the bound method: tool(instance.method)")
    try:
        schema = type_schema(kind)
    except TypeError as error:
        raise TypeError(f"parameter {name}: {error}") from None
    if text and not _says_what_it_is(kind):
        schema["description"] = text
    if default is not parameter.empty:
        schema |= _shown_default(kind, default)
    return Parameter(name, kind, schema, default is parameter.empty)


def _says_what_it_is(kind: Any) -> bool:
    return any(isinstance(item, Meta) and item.description for item in getattr(kind, "__metadata__", ()))


def _shown_default(kind: Any, default: object) -> dict[str, Any]:
    """The default as the schema tells it; nothing where it is no JSON, or none of its own type's."""
    try:
        shown = json_copy(default)
        msgspec.convert(shown, kind, str_keys=True)
        return {"default": shown} if is_finite(shown) else {}
    except (ValueError, TypeError):
        return {}
