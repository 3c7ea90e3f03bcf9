"""`Conversation`: a history and the turn loop, for drivers that bring the connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .._blocks import ContentBlock, ToolResultBlock
from .._errors import LocalProtocolError
from .._events import StreamEvent, Usage
from .._finish import FinishReason
from .._http import ResponseHead
from .._messages import Message
from .._summary import StreamSummary
from ._actions import Action, ToolCall
from ._history import check_answered, copied, with_result
from ._hooks import Decision
from ._options import AgentOptions
from ._phase import Phase
from ._prompt import prompt_message
from ._turn import Turn

__all__ = ["Conversation"]

NOTHING: Iterator[StreamEvent] = iter(())


class Conversation:
    """A conversation with a model, without any I/O: the driver does what `next_action` says and tells the outcome.

    After `send`, take all that is ready from `events`, then do the next action and answer it; go on until the action
    is `Done`, or `next_action` raises what ended the turn. The drivers of `tokwire_threads` and `tokwire_asyncio` are
    such loops. It belongs to one thread or task at a time.

    A turn commits by rounds: an answer and the results of its calls enter `history` together. A round that failed, or
    was interrupted before its answer was complete, leaves no trace.

    Args:
        options: Where to ask, what, and with which tools.
        history: What was said before.
        random: Gives numbers from 0 up to 1, for the delays between attempts.

    Raises:
        TypeError: The options or the history are none.
    """

    def __init__(self, options: AgentOptions, history: Sequence[Message] = (), *, random: Callable[[], float]) -> None:
        if not isinstance(options, AgentOptions):
            raise TypeError(f"Conversation: options must be AgentOptions, not {type(options).__name__}")
        self._options = options
        self._random = random
        self._turn: Turn | None = None
        if not callable(random):
            raise TypeError(f"Conversation: random must be a function, such as random.random, not {random!r}")
        self._history = copied(checked_history(history))

    @property
    def options(self) -> AgentOptions:
        """The options."""
        return self._options

    @property
    def history(self) -> tuple[Message, ...]:
        """What was said, as far as it is committed. It may be replaced between turns, for example by a shorter one.

        Raises:
            LocalProtocolError: It was assigned while a turn is open.
            TypeError: What was assigned holds what is no message.
        """
        return self._history if self._turn is None else self._turn.ledger.history

    @history.setter
    def history(self, history: Sequence[Message]) -> None:
        self._check_idle("history was assigned")
        self._replace(copied(checked_history(history)))

    @property
    def is_open(self) -> bool:
        """Whether a turn goes on: `Finish` was not handed out yet, and nothing has ended it."""
        return self._turn is not None and self._turn.is_open

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the last response ended; `MAX_TOOL_ITERATIONS` where the loop was stopped; None without a whole one."""
        return None if self._turn is None else self._turn.finish_reason

    @property
    def usage(self) -> Usage | None:
        """The tokens of all responses of this turn, added up, as far as the server said them; also after a failure."""
        return None if self._turn is None else self._turn.attempts.usage

    @property
    def reasoning(self) -> str | None:
        """The reasoning of this turn, joined over its rounds; None where there was none, or it is not included."""
        return None if self._turn is None else self._turn.attempts.reasoning

    @property
    def head(self) -> ResponseHead | None:
        """Status and headers of the last response, with the request id and the rate limits."""
        return None if self._turn is None else self._turn.exchange.decoder.head

    @property
    def summary(self) -> StreamSummary | None:
        """What is known of the last response beside its events, as of now."""
        return None if self._turn is None else self._turn.exchange.decoder.summary

    def send(self, prompt: str | Sequence[ContentBlock] | Message | None = None) -> None:
        """Begin a turn. Nothing is sent before the driver does what `next_action` says.

        Args:
            prompt: What the user says: a text, blocks of text and images, or a message of the user. None lets the model
                go on with the history as it is, for example after `add_tool_result`.

        Raises:
            ValueError: The prompt is empty, or is not the user's.
            TypeError: It holds what is neither text nor image.
            LocalProtocolError: A turn is open, calls in the history wait for their results, or there is neither prompt
                nor history.
        """
        self._check_idle("send was called")
        message = None if prompt is None else prompt_message(prompt)
        history = self.history
        if message is None and not history:
            raise LocalProtocolError("send(None) goes on with a history, and this one is empty; pass a prompt")
        check_answered(history)
        is_unclosed = self._turn is not None and self._turn.leaves_response
        self._turn = Turn(self._options, history, message, self._random, is_unclosed=is_unclosed)

    def events(self) -> Iterator[StreamEvent]:
        """All that is ready, in order: text, calls and results as they come, and at the end of the turn one `Finish`.

        It is lazy and may be dropped: history and state move as each event is handed out.
        """
        return NOTHING if self._turn is None else self._turn.events()

    def next_action(self) -> Action:
        """What to do now, once `events` is dry; the same until it is answered.

        Raises:
            TokwireError: What ended the turn: `APIError`, `StreamTruncated`, `TurnInterrupted`, `PromptBlocked` and so
                on. Every later call raises it again, until the next `send`.
            Exception: What a hook raised.
            LocalProtocolError: No turn was begun, or events are ready that were not taken.
        """
        if self._turn is None:
            raise LocalProtocolError("no turn was begun; call send first")
        return self._turn.next_action()

    def response_started(self, head: ResponseHead) -> None:
        """Answer `SendRequest`: the head of the response has come.

        Raises:
            LocalProtocolError: It is an interim one (1xx), behind which the response is yet to come.
        """
        if not isinstance(head, ResponseHead):
            raise TypeError(f"response_started: the head is a {type(head).__name__}; expected a ResponseHead")
        if 100 <= head.status < 200:
            raise LocalProtocolError(f"a head with status {head.status} is interim; wait for that of the response")
        turn = self._taking("response_started", Phase.REQUEST)
        if turn is not None:
            turn.response_started(head)
        elif self._turn is not None:
            self._turn.response_came_late()

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Answer `ReadResponse`: a chunk of the body has come."""
        turn = self._taking("receive_data", Phase.RESPONSE)
        if turn is not None:
            turn.exchange.decoder.receive_data(data)

    def receive_eof(self, *, complete: bool = True) -> None:
        """Answer `ReadResponse`: the body is over.

        Args:
            complete: False when the body was cut: a reset, a missing terminator, fewer bytes than announced.
        """
        turn = self._taking("receive_eof", Phase.RESPONSE)
        if turn is not None:
            turn.exchange.end(complete=complete)

    def request_failed(self, error: Exception) -> None:
        """Answer `SendRequest` or `ReadResponse`: the transport failed.

        Args:
            error: A `TransportError`, or whatever the client raised. What becomes of the failure of a response that had
                begun stands at `ResponseDecoder.receive_failure`.
        """
        if not isinstance(error, Exception):
            raise TypeError(f"request_failed: the error is a {type(error).__name__}; expected an exception")
        turn = self._taking("request_failed", Phase.REQUEST, Phase.RESPONSE)
        if turn is not None:
            turn.request_failed(error)

    def hook_decided(self, decision: Decision | None) -> None:
        """Answer `AskHook`: None lets the next handler be asked, any decision ends the chain."""
        turn = self._taking("hook_decided", Phase.HOOK)
        if turn is not None:
            turn.hook_decided(decision)

    def hook_failed(self, error: Exception) -> None:
        """Answer `AskHook`: the handler raised, which ends the turn with that error."""
        turn = self._taking("hook_failed", Phase.HOOK)
        if turn is not None:
            turn.end(error)

    def tool_finished(self, call: ToolCall, outcome: object) -> None:
        """Answer `CallTools`, once for each call, in any order. What comes twice or too late is ignored.

        Args:
            call: The call.
            outcome: What the tool returned, or the exception that it raised: the model reads either.
        """
        if not isinstance(call, ToolCall):
            raise TypeError(f"tool_finished: the call is a {type(call).__name__}; expected one of those in CallTools")
        if self._turn is None:
            raise LocalProtocolError("tool_finished was called before send")
        self._turn.tool_finished(call, outcome)

    def waited(self) -> None:
        """Answer `Wait`: the time is over."""
        turn = self._taking("waited", Phase.PAUSE)
        if turn is not None:
            turn.waited()

    def interrupt(self) -> None:
        """End the turn, in any state; without one, nothing happens. Answers that come later are ignored.

        The next action is to close the response where there is one; then `next_action` raises `TurnInterrupted`.
        """
        if self._turn is not None:
            self._turn.interrupt()

    def add_tool_result(self, tool_use_id: str, content: object, *, is_error: bool = False) -> None:
        """Answer a call that the caller ran: the first one with that id that has no result.

        While the turn of the call goes on, the result waits for the answer to be complete; both are lost if that fails.

        Args:
            tool_use_id: The id of the call.
            content: A text, text and image blocks, or anything that JSON can hold.
            is_error: Whether the tool failed, and the content says why.

        Raises:
            LocalProtocolError: No call with that id waits for a result, or a turn is open that runs tools by itself.
            TypeError: The content is nothing that JSON can hold.
            ValueError: It cannot be written as JSON.
        """
        result = ToolResultBlock(tool_use_id, content, is_error)  # type: ignore[arg-type]  # as above
        if self._turn is not None and self._turn.is_open:
            self._turn.add_result(result)
        else:
            self._replace(with_result(self.history, result))

    def clear_history(self) -> None:
        """Forget what was said.

        Raises:
            LocalProtocolError: A turn is open.
        """
        self._check_idle("clear_history was called")
        self._replace(())

    def __repr__(self) -> str:
        state = "in a turn" if self.is_open else "idle"
        return f"<Conversation {self._options.protocol} {self._options.model!r} {len(self.history)} messages, {state}>"

    def _replace(self, history: tuple[Message, ...]) -> None:
        self._history = history
        if self._turn is not None:
            self._turn.ledger.history = history

    def _check_idle(self, what: str) -> None:
        if self.is_open:
            raise LocalProtocolError(f"{what} while a turn is open; take its events to the end, or interrupt it")

    def _taking(self, method: str, *phases: Phase) -> Turn | None:
        """The turn that an input is for, or None where it comes too late to matter."""
        if self._turn is None:
            raise LocalProtocolError(f"{method} was called before send")
        return self._turn if self._turn.takes(method, *phases) else None


def checked_history(history: Sequence[Message]) -> tuple[Message, ...]:
    """A history as a tuple.

    Raises:
        TypeError: It holds what is no message.
    """
    messages = tuple(history)
    for message in messages:
        if not isinstance(message, Message):
            raise TypeError(f"the history holds a {type(message).__name__}; expected Message objects")
    return messages
