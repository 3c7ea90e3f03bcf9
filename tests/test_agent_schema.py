"""Schemas of tools: from themselves and from shorthand."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent_bodies import BERTH, Berth

from tokwire.agent._schema import WORDS, object_schema, tool_schema

EMPTY = {"type": "object", "properties": {}, "required": []}

shorthands = st.dictionaries(
    st.text(min_size=1).filter(lambda name: name[0] != "$" and name not in ("type", "properties")),
    st.sampled_from([word for words in WORDS.values() for word in words])
    | st.fixed_dictionaries({"type": st.just("integer")}, optional={"required": st.booleans(), "default": st.just(1)}),
    max_size=5,
).filter(lambda shorthand: not {"anyOf", "oneOf", "allOf"} & shorthand.keys())


class Unschooled:
    pass


def one(value: object) -> tuple[dict[str, Any], bool]:
    """What shorthand makes of a single parameter: its schema, and whether it is required."""
    schema = tool_schema({"pier": value})
    assert schema.keys() == {"type", "properties", "required"}
    return schema["properties"]["pier"], "pier" in schema["required"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("str string String datetime date time", "string"),
        ("int integer i32 i64 u32 u64 INT", "integer"),
        ("float number f32 f64", "number"),
        ("bool boolean", "boolean"),
        ("list vec array", "array"),
        ("dict map object", "object"),
    ],
)
def test_words_for_types(words: str, kind: str) -> None:
    assert [one(word) for word in words.split()] == [({"type": kind}, True)] * len(words.split())


def test_an_unknown_word_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match="parameter 'pier': 'strnig' is no type; expected one of str, string"
    ) as caught:
        tool_schema({"pier": "strnig"})
    assert all(word in str(caught.value) for words in WORDS.values() for word in words)


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list, {"type": "array"}),
        (dict, {"type": "object"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Literal["north", "south"], {"enum": ["north", "south"]}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Berth, BERTH),
        (Any, {}),
    ],
)
def test_python_types_are_taken_in_shorthand(kind: Any, schema: dict[str, Any]) -> None:
    assert one(kind) == (schema, True)


@pytest.mark.parametrize("kind", [Unschooled, Unschooled(), print, (1, 2), 1j])
def test_what_is_no_type_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"^parameter 'pier': .* has no JSON schema"):
        tool_schema({"pier": kind})


@pytest.mark.parametrize(
    ("flags", "is_required"),
    [
        ({}, True),
        ({"optional": True}, False),
        ({"optional": False}, True),
        ({"required": False}, False),
        ({"required": True}, True),
        ({"required": True, "optional": True}, True),
        ({"required": False, "optional": False}, False),
    ],
)
@pytest.mark.parametrize("default", [{}, {"default": 1}, {"default": None}])
def test_flags_and_defaults_say_whether_a_parameter_is_required(
    flags: dict[str, bool],
    is_required: bool,  # noqa: FBT001
    default: dict[str, Any],
) -> None:
    schema, found = one({"type": "integer", **flags, **default})
    assert schema == {"type": "integer", **default}
    assert found == (is_required if "required" in flags else is_required and not default)


def test_a_nested_schema_keeps_its_own_required_parameters() -> None:
    nested = {"type": "object", "properties": {"optional": {"type": "string"}}, "required": ["optional"]}
    assert one(nested) == (nested, True)


@pytest.mark.parametrize("value", [3, 0.5, True, None, ["string"]])
def test_a_json_value_that_tells_no_type_is_left_out(value: object) -> None:
    assert tool_schema({"pier": value, "flag": "str"}) == {
        "type": "object",
        "properties": {"flag": {"type": "string"}},
        "required": ["flag"],
    }


@pytest.mark.parametrize("value", [{}, None, "string", 5, 0.5, True, []])
def test_an_empty_schema_and_one_that_is_no_object_mean_no_parameters(value: object) -> None:
    assert tool_schema(value) == EMPTY


@pytest.mark.parametrize("value", [print, b"{}", (), {"a"}, Berth])
def test_a_schema_that_is_nothing_of_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="expected a dict"):
        tool_schema(value)


def test_names_of_parameters_are_texts() -> None:
    with pytest.raises(TypeError, match="has the key 1; expected texts"):
        tool_schema({1: "str"})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"pier": {"type": "integer"}}, "required": ["pier"]},
        {"type": "object", "properties": {"pier": {}}},
        {"type": "object", "properties": {"pier": {}}, "additionalProperties": False},
        {"type": ["object", "null"], "properties": {"pier": True}},
    ],
)
def test_a_json_schema_stays_as_it_is(schema: dict[str, Any]) -> None:
    copied = tool_schema(schema)
    assert copied == schema
    assert copied["properties"] is not schema["properties"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"properties": {}},
        {"properties": {"pier": {"type": "integer"}}, "required": ["pier"]},
        {"$ref": "#/$defs/Berth", "$defs": {"Berth": BERTH}},
        {"anyOf": [{"required": ["pier"]}, {"required": ["flag"]}]},
        {"oneOf": []},
        {"allOf": []},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "description": "str"},
    ],
)
def test_a_json_schema_is_told_that_it_is_an_object_with_properties(schema: dict[str, Any]) -> None:
    assert tool_schema(schema) == {"type": "object", "properties": {}} | schema


@pytest.mark.parametrize(
    ("shorthand", "names"),
    [
        ({"type": "string"}, ["type"]),
        ({"type": {"type": "object"}}, ["type"]),
        ({"type": dict, "pier": "int"}, ["type", "pier"]),
        ({"properties": {"type": "array"}}, ["properties"]),
        ({"properties": "list", "type": "str"}, ["properties", "type"]),
        ({"anyOf": "str", "required": "bool"}, ["anyOf", "required"]),
    ],
)
def test_parameters_may_be_called_as_words_of_json_schema(shorthand: dict[str, Any], names: list[str]) -> None:
    schema = tool_schema(shorthand)
    assert list(schema["properties"]) == schema["required"] == names


def test_a_schema_of_anything_but_an_object_is_refused() -> None:
    with pytest.raises(ValueError, match="describes 'array'; the arguments of a tool are an object"):
        tool_schema({"type": "array", "properties": {}})
    with pytest.raises(TypeError, match="`properties` that are no object"):
        tool_schema({"type": "object", "properties": ["pier"]})


@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "properties": {"pier": {"type": int}}}, {"pier": {"type": int}}, {"pier": {"a": {1j}}}],
)
def test_a_schema_that_is_not_json_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unsupported"):
        tool_schema(schema)


@settings(deadline=None)
@given(shorthands)
def test_shorthand_becomes_a_schema_that_stays_as_it_is(shorthand: dict[str, Any]) -> None:
    before = json.dumps(shorthand)
    schema = tool_schema(shorthand)
    assert schema["properties"].keys() == shorthand.keys() >= set(schema["required"])
    assert tool_schema(schema) == schema
    assert json.dumps(shorthand) == before


def test_the_schema_of_an_object() -> None:
    assert object_schema({"pier": {}}, ["pier"]) == {"type": "object", "properties": {"pier": {}}, "required": ["pier"]}
