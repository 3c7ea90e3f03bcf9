"""Both drivers and the bare machine play the same scripts, and see the same: no rule stands in a driver."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent_players import Controls, Play, agreed
from tests.agent_scripts import Answer, answer
from tests.machine import called, options, said
from tests.support import PROTOCOLS, cut, data

import tokwire
from tokwire import Decision, Hooks, RetryConfig

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE = RetryConfig(max_attempts=3, initial_delay=0)
BUSY = answer(b'{"error": {"message": "busy"}}', head=tokwire.ResponseHead(503))
PROTOCOL = st.sampled_from(PROTOCOLS)


def weigh(given: dict[str, Any]) -> object:
    """A tool that works."""
    return {"weight": given.get("crates", 1) * 7}


async def tide(given: dict[str, Any]) -> object:
    """One that is awaited."""
    await asyncio.sleep(0)
    return f"high at {given.get('port', 'noon')}"


def sink(given: dict[str, Any]) -> object:
    """One that fails."""
    raise RuntimeError(f"it sank with {len(given)} crates")


def odd(_: dict[str, Any]) -> object:
    """One that gives what is no JSON."""
    return object()


TOOLS = tuple(tokwire.Tool(each.__name__, "", {}, each) for each in (weigh, tide, sink, odd))
CALLS = ("weigh", "tide", "sink", "odd", "unheard_of")


def talk(protocol: str, *answers: Answer | bytes, **more: Any) -> Play:
    """A play with tools that run by themselves."""
    fields = {name: more.pop(name) for name in ("prompts", "controls", "leave_after") if name in more}
    asked = options(protocol, tools=TOOLS, auto_execute_tools=True, include_usage=True, include_reasoning=True, **more)
    return Play(asked, answers, **fields)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_text(protocol: str) -> None:
    seen = agreed(lambda: talk(protocol, said(protocol, "Calm seas", tokens=4)))
    assert seen.errors == [None]
    assert tokwire.collect(seen.events[0]).text == "Calm seas"
    assert seen.closed == [True]
    assert seen.heads == [200]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_three_rounds_of_tools_in_two_turns(protocol: str) -> None:
    weighing = called("weigh", '{"crates": 2}', "c1")
    seen = agreed(
        lambda: talk(
            protocol,
            said(protocol, "Well", weighing, called("tide", '{"port": "Ayr"}', "c2"), tokens=4),
            said(protocol, "", called("sink", "{}", "c3"), called("odd", "{}", "c4"), called("gone", "{}", "c5")),
            said(protocol, "It sank", tokens=9),
            said(protocol, "Indeed"),
            prompts=("What of the ferry?", "Really?"),
        )
    )
    assert seen.errors == [None, None]
    assert len(seen.requests) == 4
    assert seen.closed == [True] * 4
    assert seen.ends[0][0] is tokwire.FinishReason.STOP
    assert seen.ends[0][1].input_tokens == 13
    assert len(seen.history[1]) == 8


def test_calls_that_are_for_the_caller() -> None:
    asked = options(tools=TOOLS)
    seen = agreed(lambda: Play(asked, (said("openai-chat", "", called("weigh")),)))
    assert seen.history[0][-1].content == (tokwire.ToolUseBlock("c1", "weigh", {}),)


def test_the_cap() -> None:
    seen = agreed(lambda: talk("openai-chat", *[said("openai-chat", "", called("weigh"))] * 2, max_tool_iterations=1))
    assert seen.ends[0][0] is tokwire.FinishReason.MAX_TOOL_ITERATIONS
    assert len(seen.requests) == 2


@pytest.mark.parametrize(
    "ending",
    [
        answer(b'{"error": {"message": "no"}}', head=tokwire.ResponseHead(401)),
        answer(data({"error": {"message": "overloaded"}})),
        answer(said("openai-chat", "abc")[:-40]),
        answer(said("openai-chat", "abc")[:90], OSError("reset")),
        answer(said("openai-chat", "abc")[:90], tokwire.TransportTimeout("slow", phase="idle")),
        answer(refused=tokwire.ConnectError("nobody is there")),
        answer(refused=tokwire.LocalProtocolError("the transport is closed")),
        answer(said("openai-chat", "", called("weigh", "{"))),
    ],
)
@pytest.mark.parametrize("retry", [None, AT_ONCE])
def test_failures(ending: Answer, retry: RetryConfig | None) -> None:
    round_one = said("openai-chat", "Wait", called("weigh"))
    seen = agreed(lambda: talk("openai-chat", round_one, *[ending] * 3, retry=retry))
    assert seen.errors != [None]
    assert len(seen.history[0]) == 3


def test_a_request_that_is_sent_again() -> None:
    seen = agreed(
        lambda: talk(
            "openai-chat",
            answer(refused=tokwire.NoResponse("closed")),
            BUSY,
            said("openai-chat", "At last"),
            retry=AT_ONCE,
        )
    )
    assert seen.errors == [None]
    assert [type(event) for event in seen.events[0][:2]] == [tokwire.Retrying, tokwire.Retrying]
    assert seen.requests[0] == seen.requests[2]


@pytest.mark.parametrize("place", range(12))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_interrupt_behind_each_event(protocol: str, place: int) -> None:
    answers = (
        said(protocol, "Well", called("weigh", "{}", "c1"), called("tide", "{}", "c2"), tokens=1),
        said(protocol, "Low", tokens=1),
        said(protocol, "Next"),
    )
    agreed(lambda: talk(protocol, *answers, prompts=("One", "Two"), leave_after=place))


def interrupting(play: Callable[[Controls], Play]) -> Play:
    """A play whose parts can interrupt it."""
    controls = Controls()
    return play(controls)._replace(controls=controls)


@pytest.mark.parametrize("place", range(3))
def test_an_interrupt_in_the_middle_of_a_read(place: int) -> None:
    whole = said("openai-chat", "Calm")

    def play(controls: Controls) -> Play:
        steps: list[Any] = cut(whole, [len(whole) // 2])
        steps.insert(place, controls.interrupt_now)
        return talk("openai-chat", said("openai-chat", "Wait", called("weigh")), answer(*steps), said("openai-chat"))

    seen = agreed(lambda: interrupting(play))
    assert len(seen.requests) == 2
    assert len(seen.history[0]) == 3 or seen.errors == [None]


def test_an_interrupt_from_a_tool() -> None:
    def play(controls: Controls) -> Play:
        async def stop(_: object) -> str:
            controls.interrupt()
            return "stopped"

        asked = options(tools=[tokwire.Tool("stop", "", {}, stop)], auto_execute_tools=True)
        return Play(asked, (said("openai-chat", "", called("stop")),))

    seen = agreed(lambda: interrupting(play))
    assert seen.errors == [("TurnInterrupted", "the turn was interrupted")]
    result = seen.history[0][-1].content[0]
    assert isinstance(result, tokwire.ToolResultBlock)
    assert "cancelled" in str(result.content)


@pytest.mark.parametrize("hook", ["user_prompt_submit", "pre_tool_use", "post_tool_use"])
@pytest.mark.parametrize("does", ["interrupt", "fail", "block", "wrong"])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_hook_does(hook: str, does: str, *, is_async: bool) -> None:
    def play(controls: Controls) -> Play:
        def handle(_: object) -> Decision | None:
            if does == "interrupt":
                controls.interrupt()
            elif does == "fail":
                raise ZeroDivisionError("by zero")
            elif does == "block":
                return Decision.block("not today")
            else:
                return Decision.modify_prompt("x") if hook != "user_prompt_submit" else Decision.replace_result("x")
            return None

        async def handle_later(event: object) -> Decision | None:
            await asyncio.sleep(0)
            return handle(event)

        hooks = Hooks(**{hook: [handle_later if is_async else handle]})
        answers = (said("openai-chat", "", called("weigh")), said("openai-chat", "Fine"))
        return talk("openai-chat", *answers, hooks=hooks)

    seen = agreed(lambda: interrupting(play))
    assert (seen.errors == [None]) == (does == "block" and hook != "user_prompt_submit")


ANSWERS = st.lists(
    st.one_of(
        st.tuples(st.just("said"), st.text("ab", max_size=3), st.lists(st.sampled_from(CALLS), max_size=3)),
        st.tuples(st.just("refused"), st.sampled_from([tokwire.ConnectError, tokwire.NoResponse, tokwire.APIError])),
        st.tuples(st.just("broken"), st.sampled_from([OSError, tokwire.StreamTruncated]), st.integers(0, 300)),
        st.tuples(st.just("busy")),
    ),
    min_size=1,
    max_size=6,
)
DECISIONS = st.sampled_from(
    [None, None, "proceed", "block", "modify_input", "modify_prompt", "replace_result", "fail", "interrupt"]
)


def made_answer(protocol: str, kind: str, *rest: Any) -> Answer:
    """An answer as it was drawn."""
    if kind == "busy":
        return BUSY
    if kind == "refused":
        return answer(refused=rest[0]("no"))
    text, calls, places = "ab", [called("weigh")], []
    if kind == "said":
        text, names = rest
        calls = [called(name, "{}", f"c{at}") for at, name in enumerate(names)]
    whole = said(protocol, text, *calls, tokens=3)
    if kind == "broken":
        return answer(whole[: rest[1]], rest[0]("cut"))
    places = [len(whole) // 3, len(whole) // 2]
    return answer(*cut(whole, places))


def decided(decision: str | None, controls: Controls) -> Decision | None:
    """What a hook does, as it was drawn."""
    if decision == "fail":
        raise ValueError("the hook failed")
    if decision == "interrupt":
        controls.interrupt()
    makers: dict[str | None, Callable[[], Decision]] = {
        "proceed": Decision.proceed,
        "block": Decision.block,
        "modify_input": lambda: Decision.modify_input({"port": "Oban"}),
        "modify_prompt": lambda: Decision.modify_prompt("Louder"),
        "replace_result": lambda: Decision.replace_result("instead"),
    }
    return makers[decision]() if decision in makers else None


DRAWN = st.fixed_dictionaries(
    {
        "protocol": PROTOCOL,
        "answers": ANSWERS,
        "decisions": st.lists(DECISIONS, min_size=1, max_size=5),
        "leave_after": st.none() | st.integers(1, 12),
        "prompts": st.integers(1, 3),
        "max_tool_iterations": st.integers(0, 3),
        "retry": st.sampled_from([None, AT_ONCE]),
        "auto_execute_tools": st.booleans(),
    }
)


@given(DRAWN)
@settings(max_examples=100)
def test_anything(drawn: dict[str, Any]) -> None:
    protocol, prompts = drawn["protocol"], drawn["prompts"]

    def play(controls: Controls) -> Play:
        decisions = itertools.cycle(drawn["decisions"])

        def handle(_: object) -> Decision | None:
            return decided(next(decisions), controls)

        asked = options(
            protocol,
            tools=TOOLS,
            hooks=Hooks(user_prompt_submit=[handle], pre_tool_use=[handle], post_tool_use=[handle]),
            **{name: drawn[name] for name in ("auto_execute_tools", "max_tool_iterations", "retry")},
        )
        answers: list[Answer | bytes] = [made_answer(protocol, *each) for each in drawn["answers"]]
        answers += [said(protocol, "That is all")] * (prompts * 4)
        return Play(asked, tuple(answers), ("Hello",) * prompts, leave_after=drawn["leave_after"])

    agreed(lambda: interrupting(play))
