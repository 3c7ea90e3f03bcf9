"""`Turn`: the turn loop as an explicit machine, from the prompt to the one `Finish`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from .._blocks import ToolResultBlock
from .._errors import LocalProtocolError, PromptBlocked, TokwireError, TurnInterrupted
from .._events import Finish, StreamEvent
from .._finish import FinishReason
from .._http import HTTPRequest, ResponseHead
from .._messages import Message
from ._actions import Action, CallTools, CloseResponse, Done, ReadResponse, SendRequest, ToolCall, Wait
from ._attempts import Attempts
from ._batch import Batch
from ._exchange import Exchange
from ._hooks import Decision
from ._ledger import Ledger
from ._options import AgentOptions
from ._phase import Phase
from ._prompt import PromptHooks
from ._redaction import redact
from ._requests import build_request
from ._results import CANCELLED, NOT_EXECUTED

__all__: list[str] = []


class Turn:
    """One turn: the prompt, then rounds of request, response and tool calls, until the model has answered.

    Args:
        options: The options.
        history: What was said before.
        prompt: What the user says now, or None to go on.
        random: Gives numbers from 0 up to 1, for the delays between attempts.
        is_unclosed: Whether the turn before left a response open, which is to be closed first.

    Attributes:
        ledger: What was said.
        attempts: The requests, and what they cost.
        finish_reason: Why the last response ended, or what stopped the loop.
        error: What ended the turn, or None.
    """

    def __init__(
        self,
        options: AgentOptions,
        history: tuple[Message, ...],
        prompt: Message | None,
        random: Callable[[], float],
        *,
        is_unclosed: bool,
    ) -> None:
        self.ledger = Ledger(options, history)
        self.attempts = Attempts(options, random)
        self.finish_reason: FinishReason | None = None
        self.error: Exception | None = None
        self._options = options
        self._hooks: PromptHooks | Batch = PromptHooks(options, history, prompt)
        self._is_clearing = is_unclosed
        self._phase = Phase.CLOSE if is_unclosed else Phase.HOOK
        self._calls = CallTools(())
        self._request: HTTPRequest | None = None
        self._ready: deque[StreamEvent] = deque()
        self._action: Action | None = None
        self._is_dry = True
        self._is_asked_to_close = self._is_asked_to_send = False
        self._rounds = self._times_raised = 0
        self._advance()

    @property
    def is_open(self) -> bool:
        """Whether the turn goes on: `Finish` was not handed out, and nothing has ended it."""
        return self.error is None and self._phase is not Phase.OVER

    @property
    def leaves_response(self) -> bool:
        """Whether a response is open that the driver was not asked to close."""
        return self._phase is Phase.CLOSE and not self._is_asked_to_close

    @property
    def exchange(self) -> Exchange:
        """The last request and its response."""
        return self.attempts.exchange

    def events(self) -> Iterator[StreamEvent]:
        """All that is ready, lazily: state and history move as each event is handed out."""
        if self._is_asked_to_close:
            self._is_asked_to_close = self._is_dry = False
            self._response_closed()
        while self._ready or self._phase is Phase.RESPONSE:
            if self._ready:
                event = self._ready.popleft()
                if isinstance(event, Finish):
                    self._phase = Phase.OVER
                yield event
            else:
                yield from self._read()
                if self._phase is Phase.RESPONSE:
                    break
        self._is_dry = True

    def next_action(self) -> Action:
        """What the driver has to do now; raises what ended the turn, or that events were not taken."""
        self._check_dry()
        if self._phase is Phase.OVER and self.error is not None:
            self._times_raised += 1
            raise self.error if self._times_raised == 1 else self.error.with_traceback(None)
        self._is_asked_to_close = self._phase is Phase.CLOSE
        self._is_asked_to_send |= self._phase is Phase.REQUEST
        action = self._wanted()
        if self._action is None or action != self._action:
            self._action = action
        return self._action

    def _check_dry(self) -> None:
        event = None if self._is_dry else next(self.events(), None)
        if event is not None:
            self._ready.appendleft(event)
            self._phase = Phase.END if isinstance(event, Finish) else self._phase
            raise LocalProtocolError("events are ready: take them all with events() before you ask for the next action")

    def _wanted(self) -> Action:
        action: Action | None = None
        match self._phase:
            case Phase.HOOK:
                action = self._hooks.next_question()
            case Phase.REQUEST if self._request:
                action = SendRequest(self._request)
            case Phase.RESPONSE:
                action = ReadResponse()
            case Phase.CLOSE:
                action = CloseResponse(reuse=self.exchange.is_reusable and not self._is_clearing)
            case Phase.TOOLS:
                action = self._calls
            case Phase.PAUSE if retrying := self.attempts.retrying:
                action = Wait(retrying.delay)
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
        self._is_asked_to_send = False
        self.exchange.decoder.receive_head(head)
        self._phase = Phase.RESPONSE

    def response_came_late(self) -> None:
        """The turn is over, and the response to its last request is there all the same: it is to be closed."""
        if self._is_asked_to_send:
            self._is_asked_to_send = False
            self._phase = Phase.CLOSE

    def request_failed(self, error: Exception) -> None:
        """No response came, or its source failed."""
        self._is_asked_to_send = False
        if self.exchange.has_response:
            self.exchange.fail(error)
        else:
            self._fail(error)

    def hook_decided(self, decision: Decision | None) -> None:
        """Take the answer of the hook that was asked. One that it cannot give ends the turn."""
        try:
            self._hooks.decided(decision)
        except (LocalProtocolError, PromptBlocked, TypeError, ValueError) as error:
            self.end(error)
        self._advance()

    def tool_finished(self, call: ToolCall, outcome: object) -> None:
        """Take the outcome of a call, where calls run."""
        if self._phase is Phase.TOOLS and self.ledger.batch is not None:
            self._is_dry = False
            self.ledger.batch.finished(call, outcome)
            self._advance()

    def waited(self) -> None:
        """The pause is over: the same request once more."""
        self.attempts.again()
        self._phase = Phase.REQUEST

    def add_result(self, result: ToolResultBlock) -> None:
        """Take a result of the caller for a call that was handed out."""
        self.ledger.add_result(result, self.exchange.answer())

    def interrupt(self) -> None:
        """End the turn. An answer that is complete stays, with an error for each call that has no result."""
        if not self.is_open:
            return
        if self._phase is Phase.CLOSE and self.exchange.finish is not None:
            self.ledger.take(self.exchange.answer())
        if self.ledger.batch is not None:
            self.ledger.batch.refuse(CANCELLED)
        if self.ledger.answer is not None:
            self.ledger.commit()
        self.end(TurnInterrupted("the turn was interrupted"))

    def end(self, error: Exception) -> None:
        """End the turn with an error, once its response is closed."""
        self.error = error
        self.finish_reason = None
        self._ready.clear()
        self._is_dry = True
        self._phase = Phase.CLOSE if self._phase in (Phase.RESPONSE, Phase.CLOSE) else Phase.OVER

    def _advance(self) -> None:
        """Go on as long as nobody has to be asked for anything."""
        batch = self.ledger.batch
        if self._phase is Phase.TOOLS and batch is not None and not batch.is_running:
            batch.review()
            self._phase = Phase.HOOK
        if self._phase is not Phase.HOOK or self._hooks.next_question() is not None:
            return
        if isinstance(self._hooks, PromptHooks):
            self.ledger.prompt = self._hooks.message
            self._ask()
        elif self._hooks.is_reviewed:
            self._ready.extend(self.ledger.commit())
            self._ask()
        else:
            self._calls = CallTools(self._hooks.start())
            self._phase = Phase.TOOLS
            self._advance()

    def _ask(self) -> None:
        """Send what was said so far to the model."""
        try:
            self._request = build_request(self._options, self.ledger.said())
        except (LocalProtocolError, TypeError, ValueError) as error:
            self.end(error)
            return
        self.attempts.begin()
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
        """The request failed: it is sent again, or the turn ends."""
        redact(error, self._options)
        if not self.attempts.failed(error):
            self.end(error)
        elif self._phase is Phase.RESPONSE:
            self._phase = Phase.CLOSE
        else:
            self._response_closed()

    def _response_closed(self) -> None:
        if self.error is not None:
            self._phase = Phase.OVER
        elif self._is_clearing:
            self._is_clearing = False
            self._phase = Phase.HOOK
            self._advance()
        elif self.attempts.retrying is not None:
            self._ready.append(self.attempts.retrying)
            self._phase = Phase.PAUSE
        else:
            self.finish_reason = self.exchange.finish
            self.ledger.take(self.exchange.answer())
            self._go_on()

    def _go_on(self) -> None:
        """With the tools, as long as there are calls and rounds left; else to the end of the turn."""
        batch = self.ledger.batch
        if batch is not None and self._rounds < self._options.max_tool_iterations:
            self._rounds += 1
            self._hooks = batch
            self._phase = Phase.HOOK
            self._advance()
            return
        finish = self.finish_reason or FinishReason.UNSPECIFIED
        if batch is not None:
            batch.refuse(NOT_EXECUTED)
            self.finish_reason = FinishReason.MAX_TOOL_ITERATIONS
        self._ready.extend((*self.ledger.commit(), Finish(finish)))
        self._phase = Phase.END
