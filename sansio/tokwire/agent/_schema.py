"""JSON schemas of tools: from a shorthand, and from Python types.

A tool's schema is a JSON Schema of an object. It is taken as it is if it has `"type": "object"`, a `properties` whose
values are schemas, a list under `anyOf`, `oneOf` or `allOf`, or a key that begins with `$`. Any other object is
shorthand, in which each key is a parameter and each value tells its type:

- a word, such as `"str"` or `"integer"`: required;
- a Python type, such as `int` or `list[str]`: required;
- a JSON Schema: required, unless it has a `default`, `"optional": true` or `"required": false`; `"required": true`
  wins. The flags are no part of the schema;
- any other JSON value says nothing about a parameter, and is left out.

So a parameter called `type` needs a value other than `"object"`: write `{"type": {"type": "object"}}`.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__: list[str] = []

WORDS = {
    "string": ("str", "string", "date", "datetime", "time"),
    "integer": ("int", "integer", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"),
    "number": ("float", "number", "double", "f32", "f64"),
    "boolean": ("bool", "boolean"),
    "array": ("list", "array", "vec"),
    "object": ("dict", "object", "map"),
}
"""The types of JSON, with the words for each in shorthand. Case does not matter."""

TYPES = {word: kind for kind, words in WORDS.items() for word in words}

REFERENCE = "tokwire:{name}"
"""How msgspec refers to a named type, before it is replaced: nothing that a schema of the caller would hold."""


def json_copy(value: object) -> Any:
    """A deep copy of a JSON value; objects that msgspec can write become what it would write.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return msgspec.to_builtins(value, str_keys=True)
    except RecursionError:
        raise ValueError("it is nested too deeply, or contains itself") from None
    except (TypeError, ValueError) as error:
        raise ValueError(str(error)) from None


def tool_schema(schema: object) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, from itself or from shorthand; always a copy.

    A JSON value that is no object stands for no parameters, as an empty object does.

    Raises:
        ValueError: The schema is not JSON, does not describe an object, or a word for a type is unknown.
        TypeError: It is nothing of JSON at all, or a part of it has the wrong type.
    """
    if schema is None or isinstance(schema, str | int | float | list):
        schema = {}
    if not isinstance(schema, dict):
        raise TypeError(f"the schema is a {type(schema).__name__}; expected a dict")
    for key in schema:
        if not isinstance(key, str):
            raise TypeError(f"the schema has the key {key!r}; expected texts")
    return _whole(schema) if _is_json_schema(schema) else _from_shorthand(schema)


def type_schema(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a Python type, complete in itself: without references.

    Raises:
        TypeError: Something in the type has no JSON schema, or refers to itself.
    """
    try:
        (schema,), components = msgspec.json.schema_components([kind], ref_template=REFERENCE)
    except NameError as error:
        raise TypeError(f"a type in {_type_name(kind)} cannot be resolved: {error}") from None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{_type_name(kind)} has no JSON schema: {str(error).splitlines()[-1]}") from None
    named = {REFERENCE.format(name=name): component for name, component in components.items()}
    inlined: dict[str, Any] = _inlined(schema, named, ())
    return inlined


def object_schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """The schema of an object with these properties."""
    return {"type": "object", "properties": properties, "required": required}


def _is_json_schema(schema: dict[str, Any]) -> bool:
    if schema.get("type") == "object" or any(key.startswith("$") for key in schema):
        return True
    if any(isinstance(schema.get(key), list) for key in ("anyOf", "oneOf", "allOf")):
        return True
    properties = schema.get("properties")
    return isinstance(properties, dict) and all(isinstance(value, dict | bool) for value in properties.values())


def _whole(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy with what both APIs want to see: that it is an object, and its properties."""
    whole: dict[str, Any] = json_copy(schema)
    kind = whole.setdefault("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise ValueError(f"the schema describes {kind!r}; the arguments of a tool are an object")
    if not isinstance(whole.setdefault("properties", {}), dict):
        raise TypeError("the schema has `properties` that are no object")
    return whole


def _from_shorthand(shorthand: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, value in shorthand.items():
        if value is None or isinstance(value, int | float | list):
            continue
        try:
            properties[name], is_required = _parameter(value)
        except (ValueError, TypeError) as error:
            raise type(error)(f"parameter {name!r}: {error}") from None
        if is_required:
            required.append(name)
    return object_schema(properties, required)


def _parameter(value: object) -> tuple[dict[str, Any], bool]:
    """The schema of one parameter of the shorthand, and whether it is required."""
    if isinstance(value, str):
        if value.lower() not in TYPES:
            raise ValueError(f"{value!r} is no type; expected one of {', '.join(TYPES)}, a Python type or a schema")
        return {"type": TYPES[value.lower()]}, True
    if not isinstance(value, dict):
        return type_schema(value), True
    schema = json_copy(value)
    flags = {name: schema.pop(name) for name in ("required", "optional") if isinstance(schema.get(name), bool)}
    is_optional = flags.get("optional", False) or "default" in schema
    return schema, flags.get("required", not is_optional)


def _inlined(schema: Any, named: dict[str, Any], inside: tuple[str, ...]) -> Any:
    """The schema with each reference replaced by what it names."""
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if reference in inside:
        name = reference.partition(":")[2]
        raise TypeError(f"the type {name} refers to itself; a tool's schema cannot, give a dict in its place")
    if reference in named:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_inlined(named[reference], named, (*inside, reference)), **rest}
    # A discriminator repeats the references; JSON Schema does not know it.
    return {key: _inlined_part(key, schema[key], named, inside) for key in schema if key != "discriminator"}


def _inlined_part(key: str, part: Any, named: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if key == "properties":
        return {name: _inlined(value, named, inside) for name, value in part.items()}
    if key in ("anyOf", "prefixItems"):
        return [_inlined(value, named, inside) for value in part]
    if key in ("items", "additionalProperties", "propertyNames"):
        return _inlined(part, named, inside)
    return part


def _type_name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)
