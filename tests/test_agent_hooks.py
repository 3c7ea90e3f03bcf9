"""Hooks and their decisions: what can be said, where, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import tokwire
from tokwire import Decision, Hooks, Message, PostToolUse, PreToolUse, ToolResultBlock, UserPromptSubmit
from tokwire.agent._hooks import ALLOWED, KINDS, check_decision

HISTORY = (Message.user("How deep is the harbour?"),)
EVENTS: dict[str, Any] = {
    "user_prompt_submit": UserPromptSubmit("And at low tide?", HISTORY),
    "pre_tool_use": PreToolUse("depth", {"at": "pier 4"}, "call_1", HISTORY),
    "post_tool_use": PostToolUse("depth", {"at": "pier 4"}, "call_1", ToolResultBlock("call_1", "9 m"), HISTORY),
}
DECISIONS = {
    "proceed": Decision.proceed(),
    "block": Decision.block("closed"),
    "modify_input": Decision.modify_input({"at": "pier 5"}),
    "modify_prompt": Decision.modify_prompt("At high tide?"),
    "replace_result": Decision.replace_result("8 m"),
}
POSSIBLE = {
    "user_prompt_submit": {"proceed", "block", "modify_prompt"},
    "pre_tool_use": {"proceed", "block", "modify_input"},
    "post_tool_use": {"proceed", "block", "replace_result"},
}


async def undecided(event: UserPromptSubmit) -> None:
    """A hook that is a coroutine function."""


def refuse(event: PreToolUse) -> Decision:
    return Decision.block(f"{event.tool_name} is closed")


def test_a_decision_proceeds_unless_it_says_otherwise() -> None:
    assert Decision() == Decision.proceed()
    assert (Decision().kind, Decision().reason, Decision().value, Decision().is_error) == ("proceed", "", None, False)


def test_each_kind_of_decision_has_its_constructor() -> None:
    assert {name: decision.kind for name, decision in DECISIONS.items()} == {kind: kind for kind in KINDS}
    assert Decision.block("closed").reason == "closed"
    assert Decision.block().reason == ""
    assert DECISIONS["modify_input"].value == {"at": "pier 5"}
    assert DECISIONS["modify_prompt"].value == "At high tide?"
    assert DECISIONS["replace_result"] == Decision("replace_result", value="8 m")
    assert Decision.replace_result("silted up", is_error=True).is_error
    assert Decision.replace_result(None).value is None


def test_every_decision_but_to_proceed_may_have_a_reason() -> None:
    assert Decision.modify_input({}, "safer").reason == Decision.modify_input({}, reason="safer").reason == "safer"
    assert Decision.modify_prompt("Hm?", "shorter") == Decision("modify_prompt", "shorter", "Hm?")
    assert Decision.replace_result("8 m", reason="tide") == Decision("replace_result", "tide", "8 m")
    assert Decision.replace_result("8 m", True, "tide") == Decision("replace_result", "tide", "8 m", is_error=True)  # noqa: FBT003


def test_new_arguments_are_a_copy() -> None:
    arguments = {"piers": [4, 5]}
    decision = Decision.modify_input(arguments)
    arguments["piers"].append(6)
    assert decision.value == {"piers": [4, 5]}


@pytest.mark.parametrize("value", [None, "{}", [1], 4, {"at": object()}])
def test_new_arguments_are_a_json_object(value: Any) -> None:
    with pytest.raises(TypeError, match="modify_input"):
        Decision.modify_input(value)


def test_new_arguments_that_contain_themselves_are_refused() -> None:
    arguments: dict[str, Any] = {}
    arguments["self"] = arguments
    with pytest.raises(TypeError, match="contains itself"):
        Decision.modify_input(arguments)


@pytest.mark.parametrize(("value", "error"), [("", ValueError), (None, TypeError), (b"text", TypeError)])
def test_a_new_prompt_is_a_text_that_is_not_empty(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="modify_prompt"):
        Decision.modify_prompt(value)


@pytest.mark.parametrize(
    ("parts", "error", "match"),
    [
        ({"kind": "allow"}, ValueError, "'allow'; expected one of proceed, block"),
        ({"kind": "block", "reason": 5}, TypeError, "reason is a int"),
        ({"kind": "replace_result", "is_error": "yes"}, TypeError, "is_error is a str"),
        ({"kind": "block", "is_error": True}, ValueError, "replace_result only"),
        ({"kind": "proceed", "value": "x"}, ValueError, "proceed takes no value"),
        ({"kind": "block", "value": "x"}, ValueError, "block takes no value"),
    ],
)
def test_decisions_that_make_no_sense_are_refused(parts: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Decision(**parts)


@pytest.mark.parametrize("hook", EVENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_event_carries_some_decisions_and_refuses_the_others(hook: str, kind: str) -> None:
    decision = DECISIONS[kind]
    if kind in POSSIBLE[hook]:
        assert check_decision(EVENTS[hook], decision) is decision
        return
    with pytest.raises(tokwire.LocalProtocolError, match=f"a {hook} hook decided {kind}; expected None or") as caught:
        check_decision(EVENTS[hook], decision)
    assert all(possible in str(caught.value) for possible in POSSIBLE[hook])


@pytest.mark.parametrize("hook", EVENTS)
@pytest.mark.parametrize("answer", [True, False, "block", {"kind": "block"}, None])
def test_what_is_no_decision_is_refused(hook: str, answer: object) -> None:
    with pytest.raises(TypeError, match=f"a {hook} hook returned a {type(answer).__name__}; expected None or a"):
        check_decision(EVENTS[hook], answer)


def test_every_event_has_its_hook() -> None:
    assert [hook for hook, _ in ALLOWED.values()] == list(Hooks.__struct_fields__) == list(EVENTS)
    assert [type(event) for event in EVENTS.values()] == list(ALLOWED)


def test_hooks_keep_their_handlers_in_order() -> None:
    hooks = Hooks(user_prompt_submit=(undecided,), pre_tool_use=(refuse, print))
    assert hooks.user_prompt_submit == (undecided,)
    assert hooks.pre_tool_use == (refuse, print)
    assert hooks.post_tool_use == ()
    assert hooks == Hooks(user_prompt_submit=(undecided,), pre_tool_use=(refuse, print))


def test_a_list_of_handlers_is_kept_as_a_tuple() -> None:
    handlers: Any = [refuse]
    hooks = Hooks(pre_tool_use=handlers)
    handlers.append(print)
    assert hooks.pre_tool_use == (refuse,)


@pytest.mark.parametrize("handlers", [refuse, None, "refuse", {refuse}])
def test_handlers_stand_in_a_tuple_or_list(handlers: Any) -> None:
    with pytest.raises(TypeError, match=r"Hooks: pre_tool_use is a .*; expected a tuple of handlers"):
        Hooks(pre_tool_use=handlers)


def test_handlers_are_callables() -> None:
    handlers: Any = (refuse, Decision.block("closed"))
    with pytest.raises(TypeError, match="post_tool_use holds a Decision; expected callables"):
        Hooks(post_tool_use=handlers)


def test_hooks_decisions_and_events_do_not_change() -> None:
    for value in (Hooks(), Decision(), *EVENTS.values()):
        with pytest.raises(AttributeError):
            setattr(value, value.__struct_fields__[0], None)
