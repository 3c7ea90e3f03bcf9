"""`Tool`: what a tool is made of, and what it makes of arguments."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent_bodies import add

from tokwire import Tool, ToolInputError


async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def made(**parts: Any) -> Tool:
    """A tool with some of its parts replaced."""
    usual: dict[str, Any] = {"name": "echo", "description": "Say it.", "input_schema": {"text": "str"}}
    return Tool(**usual | {"handler": handle} | parts)


def complaint(subject: Tool, arguments: object) -> str:
    """What a model is told of arguments that do not fit."""
    with pytest.raises(ToolInputError) as caught:
        subject.prepare(arguments)
    return str(caught.value)


def test_a_tool_has_its_parts() -> None:
    subject = Tool("echo", "Say it.", {"text": "str"}, handle)
    assert (subject.name, subject.description, subject.handler) == ("echo", "Say it.", handle)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert subject.input_schema == schema


def test_a_schema_is_kept_as_a_copy() -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    subject = made(input_schema=schema)
    schema["properties"] = {}
    assert subject.input_schema["properties"] == {"text": {"type": "string"}}


def test_the_formats_of_the_two_apis_are_copies() -> None:
    subject = made()
    for _ in range(2):
        function = subject.to_openai_format()
        anthropic = subject.to_anthropic_format()
        parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        assert function == {
            "type": "function",
            "function": {"name": "echo", "description": "Say it.", "parameters": parameters},
        }
        assert anthropic == {"name": "echo", "description": "Say it.", "input_schema": parameters}
        function["function"]["parameters"]["properties"].clear()
        anthropic["input_schema"]["properties"].clear()


def test_an_empty_description_is_not_sent() -> None:
    subject = made(description="")
    assert "description" not in subject.to_anthropic_format()
    assert "description" not in subject.to_openai_format()["function"]


@pytest.mark.parametrize("name", ["a", "get_Weather-2", "_", "-", "x" * 64])
def test_names_that_both_apis_accept(name: str) -> None:
    assert made(name=name).name == name


@pytest.mark.parametrize("name", ["", "x" * 65, "get weather", "a.b", "größe", "a\n", "<lambda>"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 64 characters of A-Z a-z 0-9 _ -") as caught:
        made(name=name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("part", "value", "match"),
    [
        ("name", None, "name is a NoneType; expected a text"),
        ("description", b"", "description is a bytes; expected a text"),
        ("handler", "echo", "handler is a str; expected a callable"),
        ("input_schema", print, "Tool 'echo': the schema is a .*; expected a dict"),
        ("input_schema", {"text": set()}, "Tool 'echo': parameter 'text': .* has no JSON schema"),
    ],
)
def test_parts_of_the_wrong_type_are_refused(part: str, value: object, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        made(**{part: value})


def test_a_wrong_schema_names_the_tool() -> None:
    with pytest.raises(ValueError, match="Tool 'echo': parameter 'text': 'txt' is no type"):
        made(input_schema={"text": "txt"})


@pytest.mark.parametrize("subject", [made(), add])
def test_a_tool_does_not_change_and_is_equal_to_itself_alone(subject: Tool) -> None:
    with pytest.raises(AttributeError):
        subject.name = "other"  # type: ignore[misc]  # the point of the test
    twin = msgspec.structs.replace(subject)
    assert twin.to_openai_format() == subject.to_openai_format()
    assert twin != subject
    assert len({subject, twin, subject}) == 2


def test_the_repr_shows_the_name_alone() -> None:
    assert repr(made()) == "<Tool echo>"
    assert repr(add) == "<Tool add>"


def test_the_arguments_of_a_plain_tool_are_a_copy() -> None:
    arguments = {"text": ["a"], "more": {"b": 1}}
    prepared: Any = made().prepare(arguments)
    assert prepared == arguments
    prepared["text"].append("c")
    assert arguments["text"] == ["a"]


@pytest.mark.parametrize(
    ("arguments", "found"), [(None, "null"), ("{}", "a str"), ([], "a list"), (5, "a int"), (True, "a bool")]
)
@pytest.mark.parametrize("subject", [made(), add])
def test_arguments_are_an_object(subject: Tool, arguments: object, found: str) -> None:
    expected = f"invalid arguments for {subject.name}: expected a JSON object, found {found}"
    assert complaint(subject, arguments) == expected


def test_arguments_that_contain_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    assert "nested too deeply" in complaint(made(), endless)
    assert "nested too deeply" in complaint(add, endless)


def test_a_handler_gets_a_dict_and_a_function_gets_keywords() -> None:
    plain = made(handler=lambda arguments: arguments)
    assert plain.invoke(plain.prepare({"text": "a"})) == {"text": "a"}
    assert add.invoke(add.prepare({"b": "4", "a": 3})) == 7
    assert add.invoke(add.prepare({"a": 3})) == 4


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers())))
def test_a_plain_tool_takes_any_object_and_changes_nothing(arguments: dict[str, Any]) -> None:
    before = repr(arguments)
    assert made().prepare(arguments) == arguments
    assert repr(arguments) == before
