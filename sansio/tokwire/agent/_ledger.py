"""`Ledger`: what was said in a turn, committed to the history round by round."""

from __future__ import annotations

from .._blocks import ToolResultBlock
from .._errors import LocalProtocolError
from .._events import Block
from .._messages import Message
from ._batch import Batch
from ._history import calls_of, with_result
from ._options import AgentOptions

__all__: list[str] = []


class Ledger:
    """The history, and the round that is not part of it yet: an answer with the results of its calls.

    Args:
        options: Whether tools run by themselves, and which.
        history: What was said before.

    Attributes:
        history: What is committed.
        prompt: What the user says now, or None where that is committed, or there is nothing.
        answer: What the model answered, once that is complete.
        batch: The calls of the answer, where they run by themselves.
    """

    def __init__(self, options: AgentOptions, history: tuple[Message, ...]) -> None:
        self.history = history
        self.prompt: Message | None = None
        self.answer: Message | None = None
        self.batch: Batch | None = None
        self._options = options
        self._early_results: list[ToolResultBlock] = []

    def said(self) -> tuple[Message, ...]:
        """The history, and the prompt behind it."""
        return self.history if self.prompt is None else (*self.history, self.prompt)

    def take(self, answer: Message) -> None:
        """Keep a complete answer."""
        self.answer = answer
        if self._options.auto_execute_tools and calls_of(answer):
            self.batch = Batch(self._options, (*self.said(), answer))

    def add_result(self, result: ToolResultBlock, answer: Message) -> None:
        """Keep a result that the caller has before the answer is complete; both are committed together.

        Args:
            result: The result.
            answer: The answer so far.

        Raises:
            LocalProtocolError: Tools run by themselves, or no call waits for that result.
        """
        if self._options.auto_execute_tools:
            raise LocalProtocolError("add_tool_result was called while tools run by themselves; leave it to the turn")
        with_results((answer,), (*self._early_results, result))
        self._early_results.append(result)

    def commit(self) -> tuple[Block, ...]:
        """Let the round enter the history as a whole. Returns the events of results of its tools."""
        results = () if self.batch is None else self.batch.results()
        answer = self.answer if self.answer is not None and self.answer.content else None
        behind = Message("user", results) if results else None
        said = tuple(message for message in (self.prompt, answer, behind) if message is not None)
        history = with_results(self.history + said, tuple(self._early_results))
        # In one step, so that a Ctrl-C leaves the round either committed or not.
        self.history, self.prompt, self.answer, self.batch, self._early_results = history, None, None, None, []
        return tuple(map(Block, results))


def with_results(history: tuple[Message, ...], results: tuple[ToolResultBlock, ...]) -> tuple[Message, ...]:
    """The history with several more results."""
    for result in results:
        history = with_result(history, result)
    return history
