"""`Turn`: the turn loop as an explicit machine, from the prompt to the one `Finish`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from .._errors import LocalProtocolError, PromptBlocked, TokwireError, TurnInterrupted
from .._events import Block, Finish, Retrying, StreamEvent, Usage
from .._finish import FinishReason
from .._http import HTTPRequest, ResponseHead
from .._messages import Message
from ._actions import Action, CallTools, CloseResponse, Done, ReadResponse, SendRequest, ToolCall, Wait
from ._batch import Batch
from ._exchange import Exchange
from ._history import calls_of
from ._hooks import Decision
from ._options import AgentOptions
from ._phase import Phase
from ._prompt import PromptHooks
from ._requests import build_request
from ._results import CANCELLED, NOT_EXECUTED
from ._retry import next_retry_delay
from ._usage import sum_of_usage

__all__: list[str] = []


class Turn:
    """One turn: the prompt, then rounds of request, response and tool calls, until the model has answered.

    A round is an answer with the results of its calls. It enters `history` as a whole, before its results go out.

    Args:
        options: The options.
        history: What was said before.
        prompt: What the user says now, or None to go on.
        random: Gives numbers from 0 up to 1, for the delays between attempts.

    Attributes:
        history: What was said, as far as it is committed.
        exchange: The last request and its response.
        finish_reason: Why the last response ended, or what stopped the loop.
        error: What ended the turn, or None.
    """

    def __init__(
        self, options: AgentOptions, history: tuple[Message, ...], prompt: Message | None, random: Callable[[], float]
    ) -> None:
        self.history = history
        self.exchange = Exchange(options)
        self.finish_reason: FinishReason | None = None
        self.error: Exception | None = None
        self._options = options
        self._random = random
        self._phase = Phase.HOOK
        self._hooks: PromptHooks | Batch = PromptHooks(options, history, prompt)
        self._prompt: Message | None = None
        self._answer: Message | None = None
        self._batch: Batch | None = None
        self._calls: tuple[ToolCall, ...] = ()
        self._request: HTTPRequest | None = None
        self._ready: deque[StreamEvent] = deque()
        self._is_dry = self._close_was_asked = False
        self._rounds = self._failed_attempts = self._times_raised = 0
        self._retrying: Retrying | None = None
        self._past_usage: Usage | None = None
        self._past_reasoning: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether the turn goes on: `Finish` was not handed out, and nothing has ended it."""
        return self.error is None and self._phase is not Phase.OVER

    @property
    def reasoning(self) -> str | None:
        """The reasoning of all responses, joined; None where there was none."""
        return "".join((*self._past_reasoning, *self.exchange.reasoning)) or None

    @property
    def usage(self) -> Usage | None:
        """The tokens of all responses, as far as the server said them."""
        return sum_of_usage(self._past_usage, self.exchange.decoder.summary.usage)

    def events(self) -> Iterator[StreamEvent]:
        """All that is ready, lazily: state and history move as each event is handed out."""
        if self._close_was_asked:
            self._close_was_asked = False
            self._response_closed()
        while self._ready or self._phase is Phase.RESPONSE or self._move():
            if self._ready:
                event = self._ready.popleft()
                if isinstance(event, Finish):
                    self._phase = Phase.OVER
                yield event
            elif self._phase is Phase.RESPONSE:
                yield from self._read()
                if self._phase is Phase.RESPONSE:
                    break
        self._is_dry = True

    def next_action(self) -> Action:
        """What the driver has to do now; raises what ended the turn, or that events were not taken."""
        if not self._is_dry:
            raise LocalProtocolError("events are ready: take them all with events() before you ask for the next action")
        if self._phase is Phase.OVER and self.error is not None:
            self._times_raised += 1
            raise self.error if self._times_raised == 1 else self.error.with_traceback(None)
        if self._phase is Phase.CLOSE:
            self._close_was_asked = True
        return self._action()

    def _action(self) -> Action:
        action: Action | None = None
        match self._phase:
            case Phase.HOOK:
                action = self._hooks.next_question()
            case Phase.REQUEST if self._request:
                action = SendRequest(self._request)
            case Phase.RESPONSE:
                action = ReadResponse()
            case Phase.CLOSE:
                action = CloseResponse(reuse=self.exchange.finish is not None)
            case Phase.TOOLS:
                action = CallTools(self._calls)
            case Phase.PAUSE if self._retrying:
                action = Wait(self._retrying.delay)
            case Phase.OVER if self.finish_reason:
                action = Done(self.finish_reason)
        assert action is not None, self._phase
        return action

    def takes(self, method: str, *phases: Phase) -> bool:
        """Whether an input is to be taken now: refuses what was not asked for, and ignores what comes too late."""
        if not self.is_open:
            return False
        if self._phase not in phases:
            raise LocalProtocolError(f"{method} was called while the turn waits for {self._phase.value}")
        self._is_dry = False
        return True

    def response_started(self, head: ResponseHead) -> None:
        """Take the head of the response."""
        self.exchange.decoder.receive_head(head)
        self._phase = Phase.RESPONSE

    def request_failed(self, error: Exception) -> None:
        """No response came, or its source failed."""
        if self.exchange.has_response:
            self.exchange.decoder.receive_failure(error)
        else:
            self._fail(error)

    def hook_decided(self, decision: Decision | None) -> None:
        """Take the answer of the hook that was asked. One that it cannot give ends the turn."""
        try:
            self._hooks.decided(decision)
        except (LocalProtocolError, PromptBlocked, TypeError, ValueError) as error:
            self.end(error)

    def tool_finished(self, call: ToolCall, outcome: object) -> None:
        """Take the outcome of a call."""
        if self._batch is not None:
            self._batch.finished(call, outcome)

    def waited(self) -> None:
        """The pause is over: the same request once more."""
        self._retrying = None
        self._expect_response()

    def interrupt(self) -> None:
        """End the turn. An answer that is complete stays, with an error for each call that has no result."""
        if not self.is_open:
            return
        if self._phase is Phase.CLOSE and self.exchange.finish is not None:
            self._take_answer()
        if self._batch is not None:
            self._batch.refuse(CANCELLED)
        if self._answer is not None:
            self._commit()
        self.end(TurnInterrupted("the turn was interrupted"))

    def end(self, error: Exception) -> None:
        """End the turn with an error, once its response is closed."""
        self.error = error
        self.finish_reason = None
        self._ready.clear()
        self._is_dry = True
        self._phase = Phase.CLOSE if self._phase in (Phase.RESPONSE, Phase.CLOSE) else Phase.OVER

    def _move(self) -> bool:
        """Go on where nobody has to be asked for anything; False where somebody has to."""
        if self._phase is Phase.TOOLS and self._batch is not None and not self._batch.is_running:
            self._batch.review()
            self._phase = Phase.HOOK
        elif self._phase is not Phase.HOOK or self._hooks.next_question() is not None:
            return False
        elif isinstance(self._hooks, PromptHooks):
            self._prompt = self._hooks.message
            self._ask()
        elif self._hooks.is_reviewed:
            self._commit()
            self._ask()
        else:
            self._calls = self._hooks.start()
            self._phase = Phase.TOOLS
        return True

    def _ask(self) -> None:
        """Send what was said so far to the model."""
        self._failed_attempts = 0
        try:
            self._request = build_request(self._options, self._said())
        except (LocalProtocolError, TypeError, ValueError) as error:
            self.end(error)
        else:
            self._expect_response()

    def _said(self) -> tuple[Message, ...]:
        return self.history if self._prompt is None else (*self.history, self._prompt)

    def _expect_response(self) -> None:
        self._past_usage = self.usage
        self._past_reasoning += self.exchange.reasoning
        self.exchange = Exchange(self._options)
        self.finish_reason = None
        self._phase = Phase.REQUEST

    def _read(self) -> Iterator[StreamEvent]:
        """The events of the response, until more of it is needed or it is over."""
        try:
            for event in self.exchange.events():
                yield event
                if self._phase is not Phase.RESPONSE:
                    return
        except TokwireError as error:
            self._fail(error)
        else:
            if self.exchange.finish is not None:
                self._phase = Phase.CLOSE

    def _fail(self, error: Exception) -> None:
        """The request failed: try it once more where that is allowed and nobody has seen any of its response."""
        delay = None
        if self._options.retry is not None and not self.exchange.has_given:
            delay = next_retry_delay(self._options.retry, self._failed_attempts + 1, error, self._random)
        if delay is None or not isinstance(error, TokwireError):
            self.end(error)
            return
        self._failed_attempts += 1
        self._retrying = Retrying(self._failed_attempts, delay, error)
        if self._phase is Phase.RESPONSE:
            self._phase = Phase.CLOSE
        else:
            self._response_closed()

    def _response_closed(self) -> None:
        if self.error is not None:
            self._phase = Phase.OVER
        elif self._retrying is not None:
            self._ready.append(self._retrying)
            self._phase = Phase.PAUSE
        else:
            self._take_answer()
            self._go_on()

    def _take_answer(self) -> None:
        self.finish_reason = self.exchange.finish
        self._answer = self.exchange.answer()
        if self._options.auto_execute_tools and calls_of(self._answer):
            self._batch = Batch(self._options, (*self._said(), self._answer))

    def _go_on(self) -> None:
        """With the tools, as long as there are calls and rounds left; else to the end of the turn."""
        if self._batch is not None and self._rounds < self._options.max_tool_iterations:
            self._rounds += 1
            self._hooks = self._batch
            self._phase = Phase.HOOK
            return
        finish = self.finish_reason or FinishReason.UNSPECIFIED
        if self._batch is not None:
            self._batch.refuse(NOT_EXECUTED)
            self.finish_reason = FinishReason.MAX_TOOL_ITERATIONS
        self._commit()
        self._ready.append(Finish(finish))
        self._phase = Phase.END

    def _commit(self) -> None:
        """Let the round enter the history as a whole, and its results go out."""
        results = () if self._batch is None else self._batch.results()
        answer = self._answer if self._answer is not None and self._answer.content else None
        behind = Message("user", results) if results else None
        said = tuple(message for message in (self._prompt, answer, behind) if message is not None)
        self._ready.extend(Block(result) for result in results)
        # In one step, so that a Ctrl-C leaves the round either committed or not.
        self.history, self._prompt, self._answer, self._batch = self.history + said, None, None, None
