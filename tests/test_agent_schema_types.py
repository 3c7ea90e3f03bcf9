"""Schemas of Python types, and copies of JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta, Struct
from tests.agent_bodies import BERTH, FLAG, Berth, Flag

from tokwire.agent._schema import json_copy, type_schema

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@dataclass
class Port:
    berths: dict[str, Berth]
    main: Berth | None = None


class Pilot(TypedDict, total=False):
    boat: Port


class Position(NamedTuple):
    north: float
    berth: Berth


class Tug(Struct, tag=True):
    pull: float


class Barge(Struct, tag=True):
    discriminator: int


class Chain(Struct):
    links: list[Chain]


class Left(Struct):
    right: Right | None


class Right(Struct):
    left: Left


class Lost(Struct):
    cargo: Missing  # type: ignore[name-defined]  # noqa: F821  # the point of the test


class Unschooled:
    pass


def test_named_types_stand_where_they_are_used() -> None:
    port = {
        "title": "Port",
        "type": "object",
        "properties": {
            "berths": {"type": "object", "additionalProperties": BERTH},
            "main": {"anyOf": [BERTH, {"type": "null"}], "default": None},
        },
        "required": ["berths"],
    }
    assert type_schema(Port) == port
    pilot = type_schema(Pilot)
    assert (pilot["properties"], pilot["required"]) == ({"boat": port}, [])
    assert type_schema(Position)["prefixItems"] == [{"type": "number"}, BERTH]
    assert type_schema(tuple[Flag, int]) == {
        "type": "array",
        "prefixItems": [FLAG, {"type": "integer"}],
        "items": False,
        "minItems": 2,
        "maxItems": 2,
    }
    assert type_schema(dict[Flag, int])["propertyNames"] == FLAG


def test_what_is_said_of_a_parameter_wins_over_what_its_type_says() -> None:
    schema = type_schema(Annotated[Berth, Meta(description="Where to go", examples=[{"pier": 4}])])
    assert schema == BERTH | {"description": "Where to go", "examples": [{"pier": 4}]}


def test_a_union_of_tagged_types_names_no_types() -> None:
    assert type_schema(Tug | Barge) == {
        "anyOf": [
            {
                "title": "Tug",
                "type": "object",
                "properties": {"type": {"enum": ["Tug"]}, "pull": {"type": "number"}},
                "required": ["type", "pull"],
            },
            {
                "title": "Barge",
                "type": "object",
                "properties": {"type": {"enum": ["Barge"]}, "discriminator": {"type": "integer"}},
                "required": ["type", "discriminator"],
            },
        ]
    }


def test_a_value_that_looks_like_a_reference_is_none() -> None:
    default = {"$ref": "tokwire:Berth"}
    kind = Annotated[list[Berth], Meta(extra_json_schema={"default": default})]
    assert type_schema(kind) == {"default": default, "type": "array", "items": BERTH}


@pytest.mark.parametrize(("kind", "name"), [(Chain, "Chain"), (list[Chain], "Chain"), (Left, "Left"), (Right, "Right")])
def test_a_type_that_refers_to_itself_is_refused(kind: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"the type {name} refers to itself"):
        type_schema(kind)


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        (Unschooled, "^Unschooled has no JSON schema"),
        (list[Unschooled], r"^list\[.*Unschooled\] has no JSON schema"),
        (Annotated[str, Meta(ge=1)], "has no JSON schema: Can only set `ge` on a numeric type"),
        (Berth | Port, "has no JSON schema"),
        (Lost, "a type in Lost cannot be resolved: name 'Missing' is not defined"),
    ],
)
def test_types_without_a_schema_are_refused(kind: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        type_schema(kind)


def containers(value: Any) -> set[int]:
    """The identities of all lists and dicts in a value."""
    if isinstance(value, list):
        return {id(value)}.union(*map(containers, value))
    return {id(value)}.union(*map(containers, value.values())) if isinstance(value, dict) else set()


@settings(deadline=None)
@given(json_values)
def test_a_copy_is_equal_and_shares_nothing(value: Any) -> None:
    copied = json_copy(value)
    assert copied == value
    assert not containers(copied) & containers(value)


def test_a_copy_of_what_is_not_json_fails() -> None:
    with pytest.raises(ValueError, match="object is unsupported"):
        json_copy({"at": object()})
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested too deeply, or contains itself"):
        json_copy(endless)


def test_a_copy_is_plain_json() -> None:
    assert json_copy({4: Berth(4, [Flag.ALFA])}) == {"4": {"pier": 4, "flags": ["a"]}}
