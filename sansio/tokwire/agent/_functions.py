"""What a Python function says about itself: its name, its documentation, the types of its parameters."""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any

__all__: list[str] = []

Function = Callable[..., Any]


def layers(function: Function) -> Iterator[Function]:
    """A callable and what it wraps, down to the function with the code.

    Partials, decorators that tell what they wrap, and objects with `__call__` are seen through.
    """
    yield function
    if isinstance(function, functools.partial):
        yield from layers(function.func)
    elif hasattr(function, "__wrapped__"):
        yield from layers(function.__wrapped__)
    elif not inspect.isroutine(function):
        yield type(function).__call__


def preset_names(function: Function) -> set[str]:
    """The parameters that partials have set by name."""
    return {name for layer in layers(function) if isinstance(layer, functools.partial) for name in layer.keywords}


def function_name(function: Function) -> str:
    """The name of the function, or of the class of an object with `__call__`."""
    return getattr(_named(function), "__name__", None) or type(_named(function)).__name__


def documentation(function: Function) -> str:
    """The docstring without its indentation; of an object with `__call__`, that of the method or of the class."""
    *_, innermost = layers(function)
    return inspect.cleandoc(innermost.__doc__ or _named(function).__doc__ or "")


def parameter_types(function: Function, signature: inspect.Signature) -> dict[str, Any]:
    """The types of the annotated parameters. The return type plays no part: it may be out of reach.

    Raises:
        NameError: A type is written as text, and is not found where the function stands.
    """

    def holder() -> None: ...

    holder.__annotations__ = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation is not parameter.empty
    }
    *_, innermost = layers(function)
    names = getattr(innermost, "__globals__", {})
    return typing.get_type_hints(holder, globalns=names, include_extras=True)


_SECTION = re.compile(r"(\s*)(?:Args|Arguments|Parameters):\s*")
_ENTRY = re.compile(r"(\s*)(\w+)\s*(?:\(.*?\))?:\s*(.*)")


def summary(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip() or _SECTION.fullmatch(line):
            break
        lines.append(line.strip())
    return " ".join(lines)


def parameter_texts(text: str) -> dict[str, str]:
    """What the section `Args:` of a docstring says of each parameter."""
    texts: dict[str, str] = {}
    name, margin = "", None
    for line in _section(text):
        entry = _ENTRY.fullmatch(line)
        if entry and margin in (None, entry[1]):
            name, margin = entry[2], entry[1]
            texts[name] = entry[3].strip()
        elif name:
            texts[name] = f"{texts[name]} {line.strip()}".strip()
    return texts


def _section(text: str) -> Iterator[str]:
    """The lines of the section `Args:`, up to the first that is indented no deeper than its title."""
    lines = iter(text.splitlines())
    title = next((match for match in map(_SECTION.fullmatch, lines) if match), None)
    for line in lines:
        if title and line.strip() and len(line) - len(line.lstrip()) <= len(title[1]):
            return
        yield line


def _named(function: Function) -> Function:
    return next(layer for layer in layers(function) if not isinstance(layer, functools.partial))
