"""The Python functions that `--tool` names, imported and made into tools."""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager, suppress
from operator import attrgetter
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

import tokwire

from ._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["loaded_tools"]


@contextmanager
def loaded_tools(names: Sequence[str]) -> Iterator[tuple[tokwire.Tool, ...]]:
    """The tools that are named, as `MODULE:FUNCTION`. While they are in use, modules of this folder can be imported.

    Raises:
        UsageError: One of them is not there, or is no tool.
    """
    if not names:
        yield ()
        return
    here = os.getcwd()
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield tuple(load(name) for name in names)
    finally:
        with suppress(ValueError):  # a module may have taken it away
            sys.path.remove(here)


def load(name: str) -> tokwire.Tool:
    """The tool that a name stands for: a `Tool`, or a function that becomes one.

    Raises:
        UsageError: It is not there, or is none.
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise UsageError(f"--tool {name}: expected MODULE:FUNCTION, such as harbour:tide for tide in harbour.py")
    try:
        found = attrgetter(path)(imported(name, module))
    except AttributeError as error:
        raise UsageError(f"--tool {name}: {error}") from None
    if isinstance(found, tokwire.Tool):
        return found
    if isinstance(found, type) or not callable(found):
        kind = "a class" if isinstance(found, type) else f"an object of type {type(found).__name__}"
        raise UsageError(f"--tool {name}: this is {kind}; expected a function, or what tokwire.tool made of one")
    try:
        return tokwire.tool(found)
    except (TypeError, ValueError) as error:
        raise UsageError(f"--tool {name}: {error}") from None


def imported(name: str, module: str) -> Any:
    """The module of a tool.

    Raises:
        UsageError: It is not there, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module != missing and not module.startswith(f"{missing}."):
            raise UsageError(f"--tool {name}: {module} imports {missing}, which is not installed") from None
        advice = f"; leave out the .py: {module[:-3]}" if module.endswith(".py") else ""
        raise UsageError(f"--tool {name}: there is no module {module}, here or among those installed{advice}") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a module does when it is imported
        where = extract_tb(error.__traceback__)[-1]
        problem = f"{type(error).__name__}: {error} ({where.filename}, line {where.lineno})"
        raise UsageError(f"--tool {name}: {module} cannot be imported: {problem}") from None
