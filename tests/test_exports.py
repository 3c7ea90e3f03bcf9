"""The public names: what `tokwire` exports is what its modules export, and each name says what it is for."""

from __future__ import annotations

import ast
import importlib
import inspect
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tokwire

if TYPE_CHECKING:
    from types import ModuleType

CORE = Path(__file__).resolve().parent.parent / "sansio" / "tokwire"


def module_names() -> list[str]:
    """Every module of the core but the package itself and the command."""
    names = [".".join(path.relative_to(CORE).with_suffix("").parts) for path in sorted(CORE.rglob("*.py"))]
    return [f"tokwire.{name.removesuffix('.__init__')}" for name in names if name not in {"__init__", "__main__"}]


def exported_by(module: ModuleType) -> list[str]:
    """The `__all__` of a module, empty where it has none."""
    return list(getattr(module, "__all__", []))


def documented_constants() -> set[str]:
    """Names assigned at the top of a module with a string under the assignment."""
    found = set()
    for path in CORE.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in pairwise(body):
            if (
                isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def sorting_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, each in alphabetical order: as ruff sorts an `__all__`."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_the_list_is_sorted_and_has_no_repeats() -> None:
    assert list(tokwire.__all__) == sorted(set(tokwire.__all__), key=sorting_key)


def test_the_list_is_what_the_modules_export() -> None:
    modules = [importlib.import_module(name) for name in module_names()]
    exported = [name for module in modules for name in exported_by(module)]
    assert set(tokwire.__all__) - {"__version__"} == set(exported)


@pytest.mark.parametrize("name", module_names())
def test_each_module_lists_what_it_has(name: str) -> None:
    module = importlib.import_module(name)
    exported = exported_by(module)
    assert exported == sorted(exported, key=sorting_key)
    for public in exported:
        assert getattr(tokwire, public) is getattr(module, public)


@pytest.mark.parametrize("name", [name for name in tokwire.__all__ if name != "__version__"])
def test_every_name_is_documented(name: str) -> None:
    value = getattr(tokwire, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        own = value.__doc__ if inspect.isfunction(value) else value.__dict__.get("__doc__")
        assert own
        assert len(own.strip()) > 20
    else:
        assert name in documented_constants()


@pytest.mark.parametrize("name", [name for name in tokwire.__all__ if inspect.isclass(getattr(tokwire, name))])
def test_every_method_is_documented(name: str) -> None:
    for attribute, value in vars(getattr(tokwire, name)).items():
        function = value.fget if isinstance(value, property) else value
        if not attribute.startswith("_") and inspect.isfunction(function):
            assert function.__doc__, f"{name}.{attribute}"


def test_nothing_else_is_public() -> None:
    public = {name for name, value in vars(tokwire).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"Any", "TYPE_CHECKING"} <= set(tokwire.__all__)
