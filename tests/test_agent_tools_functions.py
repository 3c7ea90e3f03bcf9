"""`tool`: tools made of functions, how they are called, and which are coroutine functions."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from tests.agent_bodies import add

import tokwire
from tokwire import Tool, ToolInputError, tool
from tokwire.agent._tools import FunctionTool

ADD_SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "description": "The first."},
        "b": {"type": "integer", "default": 1, "minimum": 0},
    },
    "required": ["a"],
}


@tool(name="fetch-page", description="Get a page.")
async def fetch(url: str) -> str:
    return f"<{url}>"


async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


class Parcel(Struct):
    weight: float


class Scale:
    """Weighs parcels."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def weigh(self, parcel: Parcel) -> str:
        """Weigh a parcel."""
        return f"{parcel.weight} {self.unit}"

    async def __call__(self, parcel: Parcel) -> str:
        return self.weigh(parcel)

    @tool
    @staticmethod
    def tare(weight: float) -> float:
        """Set to zero."""
        return -weight


def complaint(subject: Tool, arguments: object) -> str:
    """What a model is told of arguments that do not fit."""
    with pytest.raises(ToolInputError) as caught:
        subject.prepare(arguments)
    return str(caught.value)


def test_a_coroutine_function_gives_an_awaitable() -> None:
    async def run() -> list[Any]:
        outcomes: list[Any] = [
            Tool("echo", "", {}, handle).invoke({"text": "a"}),
            fetch.invoke(fetch.prepare({"url": "u"})),
        ]
        return [await outcome for outcome in outcomes]

    assert asyncio.run(run()) == [{"text": "a"}, "<u>"]


@pytest.mark.parametrize(
    ("handler", "is_async"),
    [
        (handle, True),
        (print, False),
        (functools.partial(handle), True),
        (functools.partial(functools.partial(Scale("kg"))), True),
        (functools.partial(print), False),
        (Scale("kg"), True),
        (Scale("kg").weigh, False),
        (Scale("kg").__call__, True),
        (add, False),
        (fetch, True),
        (functools.partial(fetch, url="u"), True),
        (Scale, False),
    ],
)
def test_coroutine_functions_are_known_in_every_dress(handler: Callable[..., Any], is_async: bool) -> None:  # noqa: FBT001
    assert Tool("any", "", {}, handler).is_async is is_async


def test_a_decorated_function_is_a_tool() -> None:
    assert isinstance(add, Tool)
    assert (add.name, add.description, add.is_async) == ("add", "Add two numbers.", False)
    assert add.input_schema == ADD_SCHEMA
    assert add.to_openai_format()["function"]["parameters"] == ADD_SCHEMA
    assert (fetch.name, fetch.description, fetch.is_async) == ("fetch-page", "Get a page.", True)


def test_a_decorated_function_can_be_called_as_before() -> None:
    assert add(3, b=4) == 7
    assert asyncio.run(fetch("u")) == "<u>"
    assert str(inspect.signature(add)).startswith("(a: 'int', b: ")
    assert (add.__doc__ or "").startswith("Add two\n")
    assert inspect.unwrap(add) is add.function
    assert (add.__name__, fetch.__name__, add.__module__) == ("add", "fetch", "tests.agent_bodies")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "`a`: required, and missing"),
        ({"a": "three"}, '`a`: Expected `int`, got `str` (found "three")'),
        ({"a": 1, "b": -1}, "`b`: Expected `int` >= 0 (found -1)"),
        ({"a": 1, "c": 1}, "no parameter is called 'c'; there are a, b"),
    ],
)
def test_arguments_that_do_not_fit_are_answered_for_the_model_to_read(arguments: dict[str, Any], text: str) -> None:
    assert complaint(add, arguments) == f"invalid arguments for add: {text}"


def test_an_error_about_arguments_is_a_value_error_without_a_chain() -> None:
    with pytest.raises(ValueError, match="invalid arguments") as caught:
        add.prepare({"a": "three"})
    assert type(caught.value) is tokwire.ToolInputError
    assert caught.value.__cause__ is None


def test_the_handler_takes_a_dict_as_that_of_any_tool() -> None:
    for subject in (add, tool(functools.partial(add, b=1), name="increment"), tool(Scale("kg").weigh)):
        arguments = {"parcel": Parcel(2.0)} if subject.name == "weigh" else {"a": 3}
        assert subject.handler(arguments) == subject.invoke(arguments) == ("2.0 kg" if "parcel" in arguments else 4)
        assert not inspect.iscoroutinefunction(subject.handler)


@pytest.mark.parametrize("subject", [fetch, tool(functools.partial(fetch)), tool(fetch, name="again")])
def test_the_handler_of_a_coroutine_function_is_one(subject: FunctionTool[..., Any]) -> None:
    assert subject.is_async
    assert inspect.iscoroutinefunction(subject.handler)
    assert asyncio.run(subject.handler({"url": "u"})) == "<u>"


def test_a_function_that_returns_an_awaitable_without_being_a_coroutine_function_gives_it_on() -> None:
    subject = tool(lambda url: fetch(f"{url}!"), name="later")
    assert not subject.is_async
    assert asyncio.run(subject.handler({"url": "u"})) == "<u!>"


@pytest.mark.parametrize("subject", [add, fetch, Scale.tare])
def test_a_tool_that_stands_for_its_function_is_pickled_by_name(subject: Tool) -> None:
    assert pickle.loads(pickle.dumps(subject)) is subject
    assert copy.deepcopy(subject) is subject


@pytest.mark.parametrize(
    "subject",
    [tool(add, name="plus"), tool(Scale("kg").weigh), tool(Scale("kg"), name="scale"), tool(lambda: 1, name="one")],
)
def test_any_other_tool_of_a_function_cannot_be_pickled(subject: Tool) -> None:
    with pytest.raises(pickle.PicklingError, match=f"Can't pickle <Tool {subject.name}>"):
        pickle.dumps(subject)


def test_bound_methods_objects_and_partials_become_tools() -> None:
    scale = Scale("kg")
    weigh, call = tool(scale.weigh), tool(scale, name="scale")
    arguments = {"parcel": {"weight": 2}}
    assert (weigh.name, weigh.description) == ("weigh", "Weigh a parcel.")
    assert weigh.invoke(weigh.prepare(arguments)) == "2.0 kg"
    assert (call.name, call.description, call.is_async) == ("scale", "Weighs parcels.", True)
    assert asyncio.run(call(Parcel(1.0))) == "1.0 kg"
    increment = tool(functools.partial(add, b=1), name="increment")
    assert list(increment.input_schema["properties"]) == ["a"]
    assert increment.invoke(increment.prepare({"a": 4})) == 5


def test_a_static_method_becomes_a_tool() -> None:
    assert Scale.tare.description == "Set to zero."
    assert Scale("kg").tare.invoke(Scale.tare.prepare({"weight": 1})) == -1.0


def test_a_tool_can_be_made_again_under_another_name() -> None:
    plus = tool(add, name="plus")
    assert (plus.name, plus.description, plus.function) == ("plus", add.description, add.function)
    assert plus.invoke(plus.prepare({"a": 1})) == 2


@pytest.mark.parametrize("value", [5, None, Scale, Parcel, "add"])
def test_only_functions_become_tools(value: Any) -> None:
    with pytest.raises(TypeError, match=r"tool\(\) got .*; expected a function"):
        tool()(value)


@pytest.mark.parametrize("function", [lambda *depths: depths, Scale.weigh, int])
def test_a_function_that_a_model_cannot_call_is_refused_by_name(function: Callable[..., Any]) -> None:
    wrapped = functools.partial(function)
    with pytest.raises(TypeError, match=r"^Tool 'subject': "):
        tool(wrapped, name="subject")


def test_a_function_without_a_usable_name_needs_one() -> None:
    with pytest.raises(ValueError, match="the name is '<lambda>'"):
        tool(lambda: None)
    assert tool(lambda: None, name="nothing").description == ""


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), st.none() | st.integers() | st.text() | st.lists(st.integers())))
def test_a_function_is_called_with_what_fits_or_not_at_all(arguments: dict[str, Any]) -> None:
    before = repr(arguments)
    try:
        prepared = add.prepare(arguments)
    except ToolInputError:
        fits = False
    else:
        fits = isinstance(add.invoke(prepared), int)
    assert repr(arguments) == before
    if all(type(value) is int for value in arguments.values()):
        assert fits == ("a" in arguments and "c" not in arguments and arguments.get("b", 0) >= 0)


def test_the_type_of_a_tool_made_of_a_function_is_not_public() -> None:
    assert type(add) is FunctionTool
    assert not hasattr(tokwire, "FunctionTool")
