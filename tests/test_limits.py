"""`Limits`: the defaults, what is accepted, and that the object is a value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tokwire import Limits

KIB, MIB = 1024, 1024 * 1024

DEFAULTS = {
    "max_line_bytes": 32 * MIB,
    "max_event_bytes": 32 * MIB,
    "max_tool_arguments_bytes": 32 * MIB,
    "max_tool_calls": 4096,
    "max_frame_bytes": 25 * MIB,
    "max_json_depth": 512,
    "max_head_bytes": 64 * KIB,
    "max_error_body_bytes": MIB,
}


def limits(**fields: Any) -> Limits:
    """Limits made of fields whose types are not checked beforehand."""
    return Limits(**fields)


def test_the_defaults_are_finite_and_as_documented() -> None:
    assert {name: getattr(Limits(), name) for name in Limits.__struct_fields__} == DEFAULTS


def test_a_line_of_an_image_model_fits() -> None:
    assert (Limits().max_line_bytes or 0) > 29_700_000


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("value", [None, 1, 2, 10**30])
def test_every_limit_can_be_set_or_switched_off(name: str, value: int | None) -> None:
    changed = limits(**{name: value})
    assert {field: getattr(changed, field) for field in DEFAULTS} == DEFAULTS | {name: value}


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("value", [0, -1, True, False, 1.0, 1e9, "4096", b"1", [1], float("inf")])
def test_what_is_no_whole_number_of_at_least_one_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name) as caught:
        limits(**{name: value})
    assert repr(value) in str(caught.value)
    assert "None" in str(caught.value)


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(TypeError, match="max_lines"):
        limits(max_lines=4)


def test_limits_are_given_by_name_only() -> None:
    make: Any = Limits
    with pytest.raises(TypeError):
        make(4096)


def test_limits_cannot_be_changed() -> None:
    frozen: Any = Limits()
    with pytest.raises(AttributeError):
        frozen.max_tool_calls = 1
    assert frozen.max_tool_calls == 4096


def test_equal_limits_are_equal_and_hash_alike() -> None:
    assert Limits(max_tool_calls=3) == Limits(max_tool_calls=3)
    assert hash(Limits(max_tool_calls=3)) == hash(Limits(max_tool_calls=3))
    assert Limits(max_tool_calls=3) != Limits(max_tool_calls=4)
    assert Limits(max_tool_calls=None) != Limits()


def test_limits_survive_pickling_and_copying() -> None:
    changed = Limits(max_json_depth=9, max_head_bytes=None)
    assert pickle.loads(pickle.dumps(changed)) == changed
    assert copy.deepcopy(changed) == changed


def test_the_repr_tells_every_limit() -> None:
    shown = repr(Limits(max_json_depth=77, max_head_bytes=None))
    assert "max_json_depth=77" in shown
    assert "max_head_bytes=None" in shown
