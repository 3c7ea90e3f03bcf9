"""`Batch`: the tool calls of one response, from the hooks before them to the hooks behind them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from .._blocks import ToolResultBlock, ToolUseBlock
from .._messages import Message
from ._actions import AskHook, ToolCall
from ._history import calls_of, copied
from ._hooks import Decision, HookHandler, PostToolUse, PreToolUse, check_decision
from ._options import AgentOptions
from ._results import error_result, tool_result
from ._schema import json_copy
from ._tools import ToolInputError

__all__: list[str] = []


class Batch:
    """Takes each call through its hooks and gathers the results, keyed by position.

    Args:
        options: Tools and hooks.
        history: What was said up to and with the answer that holds the calls.

    Attributes:
        is_reviewed: Whether the questions are those of the hooks behind the calls.
    """

    def __init__(self, options: AgentOptions, history: tuple[Message, ...]) -> None:
        self._options = options
        self._history = history
        self._calls = calls_of(history[-1])
        self._inputs: list[Any] = [call.input for call in self._calls]
        self._results: dict[int, ToolResultBlock] = {}
        self._running: dict[int, ToolCall] = {}
        self._handlers = self._for_each_call(options.hooks.pre_tool_use)
        self.is_reviewed = False
        self._question: AskHook | None = None

    def next_question(self) -> AskHook | None:
        """The hook to ask now, or None where all of this stage were asked."""
        if self._question is None and self._handlers:
            position, handler = self._handlers[0]
            self._question = AskHook(self._event(position), handler)
        return self._question

    def decided(self, decision: Decision | None) -> None:
        """Take the answer to the question; None lets the next handler be asked, any decision ends the chain.

        Raises:
            LocalProtocolError: The decision is none that this hook can make.
            TypeError: It is no decision.
        """
        assert self._question is not None
        position, _ = self._handlers.popleft()
        event, self._question = self._question.event, None
        if decision is not None:
            self._apply(position, check_decision(event, decision))
            while self._handlers and self._handlers[0][0] == position:
                self._handlers.popleft()

    def start(self) -> tuple[ToolCall, ...]:
        """The calls that can be run; the others have an error as their result."""
        for position, call in enumerate(self._calls):
            if position not in self._results:
                self._prepare(position, call)
        return tuple(self._running.values())

    def finished(self, call: ToolCall, outcome: object) -> None:
        """Take what a tool gave: a value, or the exception that it raised. What comes too late is ignored."""
        if self._running.get(call.position) != call:
            return
        del self._running[call.position]
        self._results[call.position] = tool_result(self._calls[call.position], outcome)

    @property
    def is_running(self) -> bool:
        """Whether a call has no outcome yet."""
        return bool(self._running)

    def review(self) -> None:
        """All calls have an outcome: from now on the questions are those of the hooks behind them."""
        self.is_reviewed = True
        self._handlers = self._for_each_call(self._options.hooks.post_tool_use)

    def refuse(self, error: str) -> None:
        """Answer every call that has no outcome with an error."""
        for position, call in enumerate(self._calls):
            self._results.setdefault(position, error_result(call, error))

    def results(self) -> tuple[ToolResultBlock, ...]:
        """The results, in the order of the calls."""
        return tuple(result for _, result in sorted(self._results.items()))

    def _prepare(self, position: int, call: ToolUseBlock) -> None:
        tool = self._options.tool(call.name)
        if tool is None:
            self._results[position] = error_result(call, f"there is no tool named {call.name!r}")
            return
        try:
            prepared = tool.prepare(self._inputs[position])
        except ToolInputError as error:
            self._results[position] = error_result(call, str(error))
        else:
            self._running[position] = ToolCall(position, call.id, call.name, prepared, tool)

    def _for_each_call(self, handlers: Sequence[HookHandler]) -> deque[tuple[int, HookHandler]]:
        return deque((position, handler) for position in range(len(self._calls)) for handler in handlers)

    def _event(self, position: int) -> PreToolUse | PostToolUse:
        """What a hook is told about a call; it may change what it gets."""
        call, history = self._calls[position], copied(self._history)
        tool_input = json_copy(self._inputs[position])
        if not self.is_reviewed:
            return PreToolUse(call.name, tool_input, call.id, history)
        history += (Message("user", self.results()),)
        return PostToolUse(call.name, tool_input, call.id, self._results[position], history)

    def _apply(self, position: int, decision: Decision) -> None:
        call = self._calls[position]
        if decision.kind == "modify_input":
            self._inputs[position] = decision.value
        elif decision.kind == "replace_result":
            self._results[position] = ToolResultBlock(call.id, decision.value, is_error=decision.is_error)
        elif decision.kind == "block":
            error = (
                "a hook refused to run the tool" if not self.is_reviewed else "a hook withheld the result of the tool"
            )
            self._results[position] = error_result(call, error, decision.reason)
