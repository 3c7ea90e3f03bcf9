"""Hooks in the turn loop: who is asked when, what they see, and what their decisions do."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from tests.machine import PROTOCOLS, Driver, adder, called, options, said, told, unfit

import tokwire
from tokwire import Decision, Hooks, Message, PostToolUse, PreToolUse, TextBlock, ToolResultBlock, UserPromptSubmit


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def with_tools(protocol: str, tools: list[tokwire.Tool] | None = None, **hooks: Any) -> tokwire.AgentOptions:
    """Options with hooks, and with the tool that adds."""
    return options(protocol, tools=tools or [adder()], auto_execute_tools=True, hooks=Hooks(**hooks))


def test_prompt_hooks_are_asked_in_order_until_one_decides(protocol: str) -> None:
    asked: list[str] = []

    def hook(name: str, decision: Decision | None) -> tokwire.HookHandler:
        def handler(event: UserPromptSubmit) -> Decision | None:
            asked.append(f"{name}: {event.prompt}")
            return decision

        return handler

    hooks = [hook("a", None), hook("b", Decision.modify_prompt("HI")), hook("c", Decision.block("no"))]
    driver = Driver(options(protocol, hooks=Hooks(user_prompt_submit=hooks)), [said(protocol, "Yes?")])
    driver.send("Hi")
    assert asked == ["a: Hi", "b: Hi"]
    assert driver.said[0] == ("user", "HI")
    assert driver.kinds[:2] == ["AskHook", "AskHook"]


def test_a_hook_that_proceeds_ends_the_chain(protocol: str) -> None:
    hooks = [lambda _: Decision(), lambda _: Decision.block("never asked")]
    driver = Driver(options(protocol, hooks=Hooks(user_prompt_submit=hooks)), [said(protocol, "Yes?")])
    driver.send("Hi")
    assert driver.text == "Yes?"


@pytest.mark.parametrize(("reason", "shown"), [("too rude", "too rude"), ("", "no reason was given")])
def test_a_blocked_prompt_sends_nothing(protocol: str, reason: str, shown: str) -> None:
    driver = Driver(options(protocol, hooks=Hooks(user_prompt_submit=[lambda _: Decision.block(reason)])))
    with pytest.raises(tokwire.PromptBlocked, match=shown):
        driver.send("Hi")
    assert driver.requests == []
    assert driver.conversation.history == ()
    assert not driver.conversation.is_open


def test_a_changed_prompt_keeps_its_images(protocol: str) -> None:
    picture = tokwire.ImageBlock.from_url("https://quay.example/a.png")
    hooks = Hooks(user_prompt_submit=[lambda event: Decision.modify_prompt(event.prompt.upper())])
    driver = Driver(options(protocol, hooks=hooks), [said(protocol, "A quay.")])
    driver.send([picture, TextBlock("what "), TextBlock("is it?")])
    assert driver.conversation.history[0] == Message("user", (picture, TextBlock("WHAT IS IT?")))


def test_a_prompt_of_images_alone_is_asked_about_too(protocol: str) -> None:
    picture = tokwire.ImageBlock.from_url("https://quay.example/a.png")
    seen: list[str] = []

    def hook(event: UserPromptSubmit) -> Decision:
        seen.append(event.prompt)
        return Decision.modify_prompt("Describe it.")

    driver = Driver(options(protocol, hooks=Hooks(user_prompt_submit=[hook])), [said(protocol, "A quay.")])
    driver.send([picture])
    assert seen == [""]
    assert driver.conversation.history[0] == Message("user", (TextBlock("Describe it."), picture))


def test_prompt_hooks_see_the_history_and_are_not_asked_when_the_loop_goes_on(protocol: str) -> None:
    seen: list[UserPromptSubmit] = []
    given = with_tools(protocol, user_prompt_submit=[seen.append])
    before = (Message.user("Hi"), Message.assistant("Hello"))
    driver = Driver(
        given, [said(protocol, "", called("add")), said(protocol, "0"), said(protocol, "!")], history=before
    )
    driver.send("Go")
    driver.send(None)
    assert [(event.prompt, event.history) for event in seen] == [("Go", before)]


def test_a_blocked_call_does_not_run_and_the_model_reads_why(protocol: str) -> None:
    seen: list[object] = []
    given = with_tools(protocol, [adder(seen)], pre_tool_use=[lambda _: Decision.block("not today")])
    driver = Driver(given, [said(protocol, "", called("add")), said(protocol, "Pity.")])
    driver.send("Go")
    assert seen == []
    assert "CallTools" not in driver.kinds
    assert told(driver.results[0]) == {
        "error": "a hook refused to run the tool",
        "tool": "add",
        "id": "c1",
        "reason": "not today",
    }


def test_a_block_without_a_reason_says_so(protocol: str) -> None:
    given = with_tools(protocol, pre_tool_use=[lambda _: Decision.block()])
    driver = Driver(given, [said(protocol, "", called("add")), said(protocol, "Pity.")])
    driver.send("Go")
    assert told(driver.results[0])["reason"] == "no reason was given"


def test_changed_arguments_reach_the_tool_and_not_the_history(protocol: str) -> None:
    seen: list[object] = []
    behind: list[PostToolUse] = []
    given = with_tools(
        protocol,
        [adder(seen)],
        pre_tool_use=[lambda _: Decision.modify_input({"a": 9})],
        post_tool_use=[behind.append],
    )
    driver = Driver(given, [said(protocol, "", called("add", '{"a":1}')), said(protocol, "9")])
    driver.send("Go")
    assert seen == [{"a": 9}]
    assert behind[0].tool_input == {"a": 9}
    call = driver.conversation.history[1].content[0]
    assert isinstance(call, tokwire.ToolUseBlock)
    assert call.input == {"a": 1}


def test_all_hooks_before_are_asked_before_the_batch_and_all_behind_after_it(protocol: str) -> None:
    order: list[str] = []
    tool = tokwire.Tool("add", "", {}, lambda given: order.append(f"run {given['a']}"))

    def before(event: PreToolUse) -> None:
        order.append(f"before {event.tool_use_id}")

    def behind(event: PostToolUse) -> None:
        order.append(f"behind {event.tool_use_id}")

    given = with_tools(protocol, [tool], pre_tool_use=[before], post_tool_use=[behind, behind])
    calls = [called("add", '{"a":1}', "x"), called("add", '{"a":2}', "y")]
    driver = Driver(given, [said(protocol, "", *calls), said(protocol, "Done.")])
    driver.send("Go")
    assert order == ["before x", "before y", "run 1", "run 2", "behind x", "behind x", "behind y", "behind y"]


def test_the_first_decision_about_a_call_is_the_last_and_concerns_that_call_alone(protocol: str) -> None:
    asked: list[str] = []

    def first(event: PreToolUse) -> Decision | None:
        asked.append(f"1 {event.tool_use_id}")
        return Decision.block("no") if event.tool_use_id == "x" else None

    def second(event: PreToolUse) -> Decision | None:
        asked.append(f"2 {event.tool_use_id}")
        return None

    given = with_tools(protocol, pre_tool_use=[first, second])
    calls = [called("add", "{}", "x"), called("add", "{}", "y")]
    driver = Driver(given, [said(protocol, "", *calls), said(protocol, "Done.")])
    driver.send("Go")
    assert asked == ["1 x", "1 y", "2 y"]
    assert [result.is_error for result in driver.results] == [True, False]


def test_a_result_can_be_replaced_or_withheld(protocol: str) -> None:
    def behind(event: PostToolUse) -> Decision | None:
        choice = {
            "x": Decision.replace_result({"sum": 7}),
            "y": Decision.block("secret"),
            "z": Decision.replace_result("broken", is_error=True),
        }
        return choice.get(event.tool_use_id)

    given = with_tools(protocol, post_tool_use=[behind])
    calls = [called("add", "{}", call_id) for call_id in ("w", "x", "y", "z")]
    driver = Driver(given, [said(protocol, "", *calls), said(protocol, "Done.")])
    driver.send("Go")
    kept, replaced, withheld, failed = driver.results
    assert kept == ToolResultBlock("w", "0")
    assert replaced == ToolResultBlock("x", '{"sum":7}')
    assert told(withheld) == {
        "error": "a hook withheld the result of the tool",
        "tool": "add",
        "id": "y",
        "reason": "secret",
    }
    assert failed == ToolResultBlock("z", "broken", is_error=True)


def test_hooks_behind_see_calls_that_never_ran(protocol: str) -> None:
    seen: list[PostToolUse] = []
    given = with_tools(protocol, pre_tool_use=[lambda _: Decision.block("no")], post_tool_use=[seen.append])
    driver = Driver(given, [said(protocol, "", called("sail")), said(protocol, "Done.")])
    driver.send("Go")
    assert seen[0].tool_name == "sail"
    assert seen[0].tool_result.is_error


def test_hooks_see_the_call_in_the_history_and_behind_it_the_result(protocol: str) -> None:
    before: list[PreToolUse] = []
    behind: list[PostToolUse] = []
    given = with_tools(protocol, pre_tool_use=[before.append], post_tool_use=[behind.append])
    driver = Driver(given, [said(protocol, "Hm.", called("add", '{"a":1}')), said(protocol, "1")])
    driver.send("Go")
    assert [message.role for message in before[0].history] == ["user", "assistant"]
    assert before[0].history[-1].content[-1] == tokwire.ToolUseBlock("c1", "add", {"a": 1})
    assert behind[0].history[-1] == Message("user", (ToolResultBlock("c1", "1"),))
    assert behind[0].tool_result == ToolResultBlock("c1", "1")


def test_what_hooks_and_tools_change_changes_nothing_else(protocol: str) -> None:
    def spoil(event: Any) -> None:
        event.tool_input["a"] = 99
        event.history[1].content[0].input["a"] = 98

    def run(given: dict[str, Any]) -> int:
        given["a"] += 1
        return int(given["a"])

    tool = tokwire.Tool("add", "", {}, run)
    given = with_tools(protocol, [tool], pre_tool_use=[spoil], post_tool_use=[spoil])
    driver = Driver(given, [said(protocol, "", called("add", '{"a":1}')), said(protocol, "2")])
    events = driver.send("Go")
    assert driver.results == [ToolResultBlock("c1", "2")]
    call = events[0].as_block()
    assert isinstance(call, tokwire.ToolUseBlock)
    assert call.input == {"a": 1}
    call.input["a"] = 97
    assert driver.conversation.history[1].content == (tokwire.ToolUseBlock("c1", "add", {"a": 1}),)


def test_the_error_of_a_hook_tells_its_place() -> None:
    def hook(_: object) -> None:
        raise ZeroDivisionError("in the hook")

    driver = Driver(options(hooks=Hooks(user_prompt_submit=[hook])))
    with pytest.raises(ZeroDivisionError) as caught:
        driver.send("Go")
    assert "hook" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    with pytest.raises(ZeroDivisionError) as again:
        driver.conversation.next_action()
    assert "hook" not in [frame.name for frame in traceback.extract_tb(again.value.__traceback__)]


def test_a_hook_that_raises_ends_the_turn(protocol: str) -> None:
    def hook(_: object) -> None:
        raise ZeroDivisionError("in the hook")

    for name in ("user_prompt_submit", "pre_tool_use", "post_tool_use"):
        hooks: dict[str, Any] = {name: [hook]}
        driver = Driver(with_tools(protocol, **hooks), [said(protocol, "", called("add"))])
        with pytest.raises(ZeroDivisionError, match="in the hook"):
            driver.send("Go")
        assert driver.conversation.history == ()
        assert not driver.conversation.is_open


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("user_prompt_submit", Decision.modify_input({})),
        ("pre_tool_use", Decision.modify_prompt("x")),
        ("pre_tool_use", Decision.replace_result("x")),
        ("post_tool_use", Decision.modify_input({})),
    ],
)
def test_a_decision_that_does_not_fit_ends_the_turn(protocol: str, name: str, decision: Decision) -> None:
    hooks: dict[str, Any] = {name: [lambda _: decision]}
    driver = Driver(with_tools(protocol, **hooks), [said(protocol, "", called("add"))])
    with pytest.raises(tokwire.LocalProtocolError, match=decision.kind):
        driver.send("Go")
    assert not driver.conversation.is_open


def test_what_is_no_decision_ends_the_turn(protocol: str) -> None:
    hooks = Hooks(user_prompt_submit=[lambda _: False])  # type: ignore[list-item,return-value]  # the mistake under test
    driver = Driver(options(protocol, hooks=hooks))
    with pytest.raises(TypeError, match="bool"):
        driver.send("Go")


def test_a_result_that_is_no_json_ends_the_turn(protocol: str) -> None:
    given = with_tools(protocol, post_tool_use=[lambda _: Decision.replace_result(object())])
    driver = Driver(given, [said(protocol, "", called("add"))])
    with pytest.raises((TypeError, ValueError)):
        driver.send("Go")
    assert unfit(driver.conversation.history) == []
