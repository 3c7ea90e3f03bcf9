"""`BaseTurn` and `BaseClient`: what the blocking and the asynchronous client have in common. Nothing here waits."""

from __future__ import annotations

import random
import warnings
import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import tokwire

from ._agent import last_answer, timeouts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    HookEvent = tokwire.UserPromptSubmit | tokwire.PreToolUse | tokwire.PostToolUse

__all__ = ["BaseClient", "BaseTurn"]

NOTHING: Iterator[tokwire.StreamEvent] = iter(())


class Ending(NamedTuple):
    """What is kept of a turn that is over, as its conversation goes on without it."""

    head: tokwire.ResponseHead | None
    summary: tokwire.StreamSummary | None
    reason: tokwire.FinishReason | None
    messages: tuple[tokwire.Message, ...]
    error: Exception | None


def interrupted() -> tokwire.TurnInterrupted:
    """The error of a turn that was interrupted."""
    return tokwire.TurnInterrupted("the turn was interrupted")


def awaited(method: str) -> tokwire.LocalProtocolError:
    """The error of a method that is not for the middle of an iteration."""
    return tokwire.LocalProtocolError(f"{method} was called while somebody waits for an event; interrupt the turn")


class BaseTurn(ABC):
    """The state of one turn of a conversation, as its driver sees it.

    Args:
        conversation: The conversation, which `send` was called of.
    """

    def __init__(self, conversation: tokwire.Conversation) -> None:
        self._conversation = conversation
        self._messages_before = len(conversation.history)
        self._ready = conversation.events()
        self._ending: Ending | None = None
        self._inside: dict[object, None] = {}

    @property
    def head(self) -> tokwire.ResponseHead | None:
        """Status and headers of the last response, with the request id and the rate limits; None before it came."""
        return self._conversation.head if self._ending is None else self._ending.head

    @property
    def summary(self) -> tokwire.StreamSummary | None:
        """What is known of the last response beside its events, as of now."""
        return self._conversation.summary if self._ending is None else self._ending.summary

    @abstractmethod
    def interrupt(self) -> None:
        """End the turn: whoever iterates gets `TurnInterrupted`."""

    @property
    def _is_awaited(self) -> bool:
        """Whether somebody waits for an event of it."""
        return bool(self._inside)

    @property
    @abstractmethod
    def _is_interrupted(self) -> bool:
        """Whether `interrupt` was called."""

    def _failed(self, error: Exception) -> None:
        """Tell the conversation that a request failed, or its response."""
        if self._is_interrupted:  # then that is why, and what is told after it is ignored
            self._conversation.interrupt()
        self._conversation.request_failed(error)

    def _decided(self, decision: tokwire.Decision | None) -> None:
        """Tell the conversation what a hook decided, unless the turn was interrupted by then."""
        if self._is_interrupted:
            self._conversation.interrupt()
        self._conversation.hook_decided(decision)

    @abstractmethod
    def _stop(self, error: BaseException | None) -> None:
        """End the turn without waiting: whoever iterates afterwards gets the error, or no more events."""

    def _give_up(self) -> bool:
        """End the turn from outside, without waiting. False where somebody waits for an event of it."""
        closer = object()
        try:
            if self._ending is None:
                if not self._enter(closer):
                    return False
                self._stop(interrupted() if self._is_interrupted else None)
            return True
        finally:
            self._inside.pop(closer, None)

    def __repr__(self) -> str:
        options = self._conversation.options
        state = "open" if self._ending is None else "over"
        return f"<{type(self).__name__} {options.protocol} {options.model!r} {state}>"

    def _enter(self, reader: object) -> bool:
        """Whether a reader is the only one inside. Either way `_inside.pop(reader, None)` lets it out.

        No lock, and no method to let it out: Ctrl-C strikes behind calls and where functions begin, and would leave the
        turn locked for ever.
        """
        self._inside[reader] = None
        return list(self._inside)[0] is reader  # noqa: RUF015 - the other way is not done in one step

    def _finish(self, error: BaseException | None) -> None:
        """Keep what is known of the turn, which is over."""
        if self._ending is None:
            said = self._conversation
            messages = said.history[self._messages_before :]
            self._ready = NOTHING
            again = error if error is None or isinstance(error, Exception) else interrupted()
            self._ending = Ending(said.head, said.summary, said.finish_reason, messages, again)

    def _warn_unclosed(self) -> None:
        """Tell that the turn is dropped before its end."""
        if self._ending is None and self._conversation.is_open:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=3)

    def _raise_again(self) -> None:
        """Raise the error in which the turn ended, where it did."""
        if self._ending is not None and self._ending.error is not None:
            raise self._ending.error.with_traceback(None)

    def _answer(self) -> tokwire.Message:
        """What the model said, once the turn was read to its end.

        Raises:
            TurnInterrupted: It was closed before.
        """
        if self._ending is None or self._ending.reason is None:
            raise tokwire.TurnInterrupted("the turn was closed before its end")
        return last_answer(self._ending.messages)


TurnType = TypeVar("TurnType", bound=BaseTurn)


class BaseClient(Generic[TurnType]):
    """A conversation and its present turn. The turn belongs to the caller: the client only knows it."""

    def __init__(self, options: tokwire.AgentOptions, history: Sequence[tokwire.Message]) -> None:
        self._conversation = tokwire.Conversation(options, history, random=random.random)
        self._timeouts = timeouts_of(options)
        self._turn: weakref.ref[TurnType] | None = None
        self._is_closed = False

    @property
    def options(self) -> tokwire.AgentOptions:
        """The options."""
        return self._conversation.options

    @property
    def history(self) -> tuple[tokwire.Message, ...]:
        """What was said, as far as it is committed. It may be replaced between turns, for example by a shorter one.

        Raises:
            LocalProtocolError: It was assigned while a turn is open.
            TypeError: What was assigned holds what is no message.
        """
        return self._conversation.history

    @history.setter
    def history(self, history: Sequence[tokwire.Message]) -> None:
        self._settled().history = tuple(history)

    @property
    def finish_reason(self) -> tokwire.FinishReason | None:
        """Why the last response ended; `MAX_TOOL_ITERATIONS` where the loop was stopped; None without a whole one."""
        return self._conversation.finish_reason

    @property
    def usage(self) -> tokwire.Usage | None:
        """The tokens of all responses of the last turn, added up, as far as the server said them."""
        return self._conversation.usage

    @property
    def reasoning(self) -> str | None:
        """The reasoning of the last turn; None where there was none, or it is not included."""
        return self._conversation.reasoning

    def clear_history(self) -> None:
        """Forget what was said. A turn that is still open is closed, as by `send`.

        Raises:
            LocalProtocolError: Somebody waits for an event of the turn.
        """
        self._end_turn("clear_history")
        self._settled().clear_history()

    def add_tool_result(self, tool_use_id: str, content: object, *, is_error: bool = False) -> None:
        """Answer a call that the caller ran: the first one with that id that has no result. Then `send(None)` goes on.

        A call of a turn that is still open may be answered too, between two events of it: the result enters the history
        together with the answer, and both are lost if that fails.

        Args:
            tool_use_id: The id of the call.
            content: A text, text and image blocks, or anything that JSON can hold.
            is_error: Whether the tool failed, and the content says why.

        Raises:
            LocalProtocolError: No call with that id waits for a result, somebody waits for an event of the turn, or
                the turn runs tools by itself.
            TypeError: The content is nothing that JSON can hold.
            ValueError: It cannot be written as JSON.
        """
        turn = self._present_turn()
        if turn is not None and turn._is_awaited:
            raise awaited("add_tool_result")
        self._settled().add_tool_result(tool_use_id, content, is_error=is_error)

    def interrupt(self) -> None:
        """Interrupt the present turn, as `interrupt` of the turn does. Without one, nothing happens."""
        turn = self._present_turn()
        if turn is not None:
            turn.interrupt()

    def __repr__(self) -> str:
        options = self.options
        return f"<{type(self).__name__} {options.protocol} {options.model!r} {len(self.history)} messages>"

    def _known(self, turn: TurnType) -> TurnType:
        """Note the present turn; the caller alone keeps it alive."""
        self._turn = weakref.ref(turn)
        return turn

    def _present_turn(self) -> TurnType | None:
        return None if self._turn is None else self._turn()

    def _settled(self) -> tokwire.Conversation:
        """The conversation, without a turn that nobody goes on with: one that was dropped, interrupted, or is over."""
        turn = self._present_turn()
        if turn is None:
            self._conversation.interrupt()
        elif turn._is_interrupted or not self._conversation.is_open:
            turn._give_up()
        return self._conversation

    def _begin(self, prompt: str | Sequence[tokwire.ContentBlock] | tokwire.Message | None) -> TurnType | None:
        """Begin a turn of the conversation, in place of the present one, which is returned."""
        if self._is_closed:
            raise tokwire.LocalProtocolError("send was called after the client was closed; make a new one")
        turn = self._present_turn()
        if turn is not None and self._conversation.is_open:
            # A prompt that is refused must not cost the turn that goes on: another conversation tells beforehand.
            tokwire.Conversation(self.options, self.history, random=random.random).send(prompt)
        self._end_turn("send")
        self._settled().send(prompt)
        return turn

    def _end_turn(self, method: str) -> None:
        """Close the present turn, without waiting."""
        turn = self._present_turn()
        if turn is not None and not turn._give_up():
            raise awaited(method)
