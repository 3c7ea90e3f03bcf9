"""`Tool`: a function of the caller that the model may call, and `tool`, which makes one of a Python function."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from msgspec import Struct
from msgspec.structs import force_setattr

from ._functions import documentation, function_name, summary
from ._parameters import Parameters, convert_arguments, parameters_schema, read_parameters
from ._schema import json_copy, tool_schema

__all__ = ["Tool", "ToolInputError", "tool"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names that both APIs accept."""

_PARTS: tuple[tuple[str, Callable[[object], bool], str], ...] = (
    ("name", lambda value: isinstance(value, str), "text"),
    ("description", lambda value: isinstance(value, str), "text"),
    ("handler", callable, "callable"),
)

P = ParamSpec("P")
R = TypeVar("R")


class ToolInputError(ValueError):
    """The model's arguments do not fit the tool; the message says which and why, for the model to read."""


class Tool(Struct, frozen=True, eq=False):
    """A tool that the model may call. Two tools are equal only if they are the same object.

    Attributes:
        name: 1 to 64 characters of `A-Z a-z 0-9 _ -`, which both APIs accept.
        description: What it does and when to use it, for the model.
        input_schema: The JSON Schema of the arguments, or shorthand: `{"city": "str", "days": "int"}` means two
            required parameters, `{"days": {"type": "integer", "default": 1}}` an optional one. Kept as a JSON Schema
            of its own; do not change it.
        handler: Called with the arguments as a dict, which nothing has compared with the schema. It returns a text,
            blocks, or a value that JSON can hold. It may be a coroutine function.

    Raises:
        ValueError: The name or the schema breaks the rules.
        TypeError: A part has the wrong type.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    handler: Callable[..., Any]

    def __post_init__(self) -> None:
        for part, is_right, expected in _PARTS:
            if not is_right(getattr(self, part)):
                raise TypeError(f"Tool: {part} is a {type(getattr(self, part)).__name__}; expected a {expected}")
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"Tool: the name is {self.name!r}; expected 1 to 64 characters of A-Z a-z 0-9 _ -")
        try:
            force_setattr(self, "input_schema", tool_schema(self.input_schema))
        except (ValueError, TypeError) as error:
            raise type(error)(f"Tool {self.name!r}: {error}") from None

    @property
    def is_async(self) -> bool:
        """Whether the handler is a coroutine function, also inside a partial, a method or an object."""
        return is_coroutine_function(self.handler)

    def prepare(self, input: object) -> object:  # noqa: A002  # the word of the two APIs
        """A copy of a model's arguments, to be given to `invoke`.

        Raises:
            ToolInputError: They are no JSON object, or do not fit the tool. Answer the call with the message.
        """
        if not isinstance(input, dict):
            found = "null" if input is None else f"a {type(input).__name__}"
            raise ToolInputError(f"invalid arguments for {self.name}: expected a JSON object, found {found}")
        try:
            return json_copy(input)
        except ValueError as error:
            raise ToolInputError(f"invalid arguments for {self.name}: {error}") from None

    def invoke(self, prepared: object) -> object:
        """Call the handler with what `prepare` gave: returns its result, or an awaitable of it."""
        return self.handler(prepared)

    def to_openai_format(self) -> dict[str, Any]:
        """The tool as an entry of `tools` in a request of openai-chat."""
        return {"type": "function", "function": self._described("parameters")}

    def to_anthropic_format(self) -> dict[str, Any]:
        """The tool as an entry of `tools` in a request of Anthropic."""
        return self._described("input_schema")

    def _described(self, schema: str) -> dict[str, Any]:
        description = {"description": self.description} if self.description else {}
        return {"name": self.name, **description, schema: json_copy(self.input_schema)}

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


class FunctionTool(Tool, Generic[P, R], frozen=True, eq=False, dict=True):
    """A tool that `tool` made. It can be called as the function that it was made of, which is its `__wrapped__`.

    It is pickled by name, as functions are: where it stands in its module under the name of its function.

    Attributes:
        handler: Called with the dict that `prepare` gave, it calls the function with keywords.
        function: The function.
        parameters: Its parameters, as far as the model fills them.
    """

    function: Callable[P, R]
    parameters: Parameters

    def __post_init__(self) -> None:
        super().__post_init__()
        # As functools.wraps does: help, doctest, pickle and inspect.signature take it for the function.
        for name in ("__module__", "__qualname__", "__doc__"):
            if hasattr(self.function, name):
                self.__dict__[name] = getattr(self.function, name)
        self.__dict__["__wrapped__"] = self.function

    @property
    def __name__(self) -> str:
        return function_name(self.function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, as if it were no tool."""
        return self.function(*args, **kwargs)

    def prepare(self, input: object) -> object:  # noqa: A002  # the word of the two APIs
        """The keywords for the function, of a model's arguments: converted to the types of its annotations.

        Raises:
            ToolInputError: They are no JSON object, or do not fit the parameters. Answer the call with the message.
        """
        arguments = cast("dict[str, Any]", super().prepare(input))
        try:
            return convert_arguments(self.parameters, arguments)
        except ValueError as error:
            raise ToolInputError(f"invalid arguments for {self.name}: {error}") from None

    def __reduce__(self) -> str:
        return str(self.__dict__.get("__qualname__", self.__name__))


@overload
def tool(
    function: Callable[P, R], /, *, name: str | None = None, description: str | None = None
) -> FunctionTool[P, R]: ...


@overload
def tool(
    *, name: str | None = None, description: str | None = None
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, description: str | None = None
) -> FunctionTool[..., Any] | Callable[[Callable[..., Any]], FunctionTool[..., Any]]:
    """Make a `Tool` of a function, as a decorator or by a call.

    The schema comes from the signature. A parameter without an annotation takes any JSON, one with a default is
    optional. `Annotated[int, msgspec.Meta(description="...", ge=0)]` adds a description and limits; a Google-style
    section `Args:` in the docstring describes the parameters that have no such description.

    Arguments of the model are validated and converted before each call. A text is read as JSON where the parameter
    takes no such text; names that are no parameters are refused. The function's own defaults hold.

    Args:
        function: A function, a coroutine function, a bound method, a partial, or an object with `__call__`.
        name: The tool's name, by default that of the function.
        description: What it does, by default the first paragraph of the docstring.

    Raises:
        ValueError: The name breaks the rules of `Tool`.
        TypeError: The function cannot be called with keywords that are known beforehand, or the type of a parameter
            has no JSON schema.
    """
    if function is None:
        return lambda function: _function_tool(function, name, description)
    return _function_tool(function, name, description)


def _function_tool(function: Any, name: str | None, description: str | None) -> FunctionTool[..., Any]:
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"tool() got {function!r}; expected a function")
    plain = function
    if isinstance(function, staticmethod):
        plain = function.__func__
    elif isinstance(function, FunctionTool):
        plain = function.function
    name = function_name(plain) if name is None else name
    try:
        parameters = read_parameters(plain)
    except TypeError as error:
        raise TypeError(f"Tool {name!r}: {error}") from None
    description = summary(documentation(plain)) if description is None else description
    return FunctionTool(name, description, parameters_schema(parameters), taking_dict(plain), plain, parameters)


def taking_dict(function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """A function as the handler of a tool: it gets its keywords as one dict. A coroutine function stays one."""

    def handler(prepared: dict[str, Any]) -> Any:
        return function(**prepared)

    async def async_handler(prepared: dict[str, Any]) -> Any:
        return await function(**prepared)

    return async_handler if is_coroutine_function(function) else handler


def is_coroutine_function(function: Any) -> bool:
    """Whether it is a coroutine function, also inside a partial, a method, an object or a tool."""
    while isinstance(function, functools.partial | FunctionTool):
        function = function.func if isinstance(function, functools.partial) else function.function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
