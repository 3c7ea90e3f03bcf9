"""`Conversation` under random scripts: whatever happens, its history can be sent to both servers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.agent_histories import unfit_for_anthropic, unfit_for_openai
from tests.machine import OK, PROTOCOLS, adder, options, outcome_of, said, unfit

import tokwire
from tokwire import Decision, Hooks, Message, RetryConfig, ToolUseBlock

if TYPE_CHECKING:
    from tokwire import Action, StreamEvent

CALL = st.tuples(
    st.sampled_from(["add", "sail", "fail"]),
    st.sampled_from(["{}", '{"a":1}', "[1]"]),
    st.sampled_from(["x", "y", "z"]),
)
CALLS = st.lists(CALL, max_size=3, unique_by=lambda call: call[2])
TEXTS = st.sampled_from(["", "noon", "a b", "\n", "grüße"])
DECISIONS: dict[type, list[Decision | None]] = {
    tokwire.UserPromptSubmit: [None, Decision(), Decision.block("no"), Decision.modify_prompt("other")],
    tokwire.PreToolUse: [None, Decision(), Decision.block("no"), Decision.modify_input({"a": 2})],
    tokwire.PostToolUse: [None, Decision.block("no"), Decision.replace_result("other"), Decision.replace_result([1])],
}


def failing(_: object) -> None:
    """A tool that fails."""
    raise ValueError("no wind")


def nothing(_: object) -> None:
    """A hook; the test answers in its place."""


class Talk(RuleBasedStateMachine):
    """A driver that does at random what a driver may do, with a server that answers at random."""

    @initialize(
        protocol=st.sampled_from(PROTOCOLS),
        automatic=st.booleans(),
        cap=st.integers(0, 2),
        retry=st.sampled_from([None, RetryConfig(max_attempts=2)]),
        hooked=st.booleans(),
    )
    def begin(self, protocol: str, automatic: bool, cap: int, retry: RetryConfig | None, hooked: bool) -> None:  # noqa: FBT001
        """Make the conversation."""
        hooks = Hooks(user_prompt_submit=[nothing], pre_tool_use=[nothing], post_tool_use=[nothing, nothing])
        self.protocol = protocol
        self.given = options(
            protocol,
            tools=[adder(), tokwire.Tool("fail", "", {}, failing)],
            auto_execute_tools=automatic,
            max_tool_iterations=cap,
            retry=retry,
            hooks=hooks if hooked else Hooks(),
        )
        self.talk = tokwire.Conversation(self.given, random=lambda: 0.5)
        self.events: list[StreamEvent] = []
        self.body = b""
        self.open_requests = 0
        self.before: tuple[Message, ...] = ()
        self.error: Exception | None = None

    @precondition(lambda self: not self.talk.is_open)
    @rule(prompt=st.sampled_from(["Hello", "When?", None]))
    def send(self, prompt: str | None) -> None:
        """Begin a turn, or see that the history is not ready for one."""
        history = self.talk.history
        try:
            self.talk.send(prompt)
        except tokwire.LocalProtocolError:
            assert unfit(history) or (prompt is None and not history)
            self.answer_open_calls()
            return
        assert unfit(history) == []
        self.before, self.events, self.open_requests, self.error = history, [], 0, None

    def answer_open_calls(self) -> None:
        """Answer what the caller has to answer."""
        calls = [block for message in self.talk.history[-1:] for block in message.content]
        for call in calls:
            if isinstance(call, ToolUseBlock):
                self.talk.add_tool_result(call.id, {"by": "hand"})

    @precondition(lambda self: self.talk.is_open)
    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        """Take the events, and do the next action."""
        for event in self.talk.events():
            assert not any(isinstance(earlier, tokwire.Finish) for earlier in self.events)
            self.events.append(event)
        try:
            action = self.talk.next_action()
        except Exception as error:  # noqa: BLE001 - it ends the turn
            self.ended(error)
            return
        self.do(action, data)

    def do(self, action: Action, data: st.DataObject) -> None:
        """Do one action, well or badly."""
        match action:
            case tokwire.SendRequest(request):
                assert self.open_requests == 0
                self.check_request(json.loads(request.body))
                self.ask(data)
            case tokwire.ReadResponse():
                self.read(data)
            case tokwire.CloseResponse():
                assert self.open_requests == 1
                self.open_requests = 0
            case tokwire.CallTools(calls):
                for call in data.draw(st.permutations(calls)):
                    self.talk.tool_finished(call, outcome_of(call))
            case tokwire.AskHook(event):
                if data.draw(st.integers(0, 15)) == 0:
                    self.talk.hook_failed(ValueError("in the hook"))
                else:
                    self.talk.hook_decided(data.draw(st.sampled_from(DECISIONS[type(event)])))
            case tokwire.Wait(seconds):
                assert seconds > 0
                self.talk.waited()
            case tokwire.Done(reason):
                assert reason == self.talk.finish_reason
                assert isinstance(self.events[-1], tokwire.Finish)

    def check_request(self, body: dict[str, Any]) -> None:
        """The server accepts what is said."""
        unfitness = {"openai-chat": unfit_for_openai, "anthropic": unfit_for_anthropic}
        assert unfitness[self.protocol](body["messages"]) == []

    def ask(self, data: st.DataObject) -> None:
        """Answer the request, mostly with a response."""
        kind = data.draw(st.sampled_from(["answer", "answer", "answer", "busy", "no", "refused"]))
        if kind == "refused":
            self.talk.request_failed(tokwire.ConnectError("no route"))
            return
        self.open_requests = 1
        if kind != "answer":
            self.body = b"{}"
            self.talk.response_started(tokwire.ResponseHead(529 if kind == "busy" else 400))
            return
        self.body = said(self.protocol, data.draw(TEXTS), *data.draw(CALLS))
        self.talk.response_started(OK)

    def read(self, data: st.DataObject) -> None:
        """Give a part of the body, or let it break."""
        kind = data.draw(st.sampled_from(["data", "data", "data", "data", "cut", "broken"]))
        if kind == "cut":
            self.talk.receive_eof(complete=not self.body)
        elif kind == "broken":
            self.talk.request_failed(OSError("reset"))
        elif self.body:
            size = data.draw(st.integers(1, len(self.body)))
            self.talk.receive_data(self.body[:size])
            self.body = self.body[size:]
        else:
            self.talk.receive_eof()

    @precondition(lambda self: self.talk.is_open)
    @rule()
    def interrupt(self) -> None:
        """Stop, wherever the turn is."""
        self.talk.interrupt()
        self.close()

    def close(self) -> None:
        """Do what an ended turn still asks for."""
        assert list(self.talk.events()) == []
        try:
            action = self.talk.next_action()
        except tokwire.TurnInterrupted:
            self.open_requests = 0
            return
        assert action == tokwire.CloseResponse(reuse=action.reuse)  # type: ignore[union-attr]  # any other is a failure
        assert self.open_requests == 1
        self.open_requests = 0
        assert list(self.talk.events()) == []

    def ended(self, error: Exception) -> None:
        """The turn has failed: nothing comes after it."""
        self.error = error
        self.open_requests = 0
        assert not any(isinstance(event, tokwire.Finish) for event in self.events)
        assert list(self.talk.events()) == []
        assert not self.talk.is_open

    @invariant()
    def the_history_only_grows_by_whole_rounds(self) -> None:
        """A committed round is never changed, and the next request could be sent."""
        if not hasattr(self, "talk"):
            return
        history = self.talk.history
        if self.talk.is_open:
            assert history[: len(self.before)] == self.before
        if self.given.auto_execute_tools:
            assert unfit(history) == []
        assert all(message.content for message in history)


Talk.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestTalk = Talk.TestCase
