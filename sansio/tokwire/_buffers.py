"""The buffers that every protocol drains, and the policy for draining them.

Text and reasoning pass straight through: a fragment of either means something by itself. Tool calls cannot, since
their arguments are cut anywhere, so they are all that is held. They come out together, in ascending index order, when
the server reports a finish reason or when the stream ends, and `Finish` comes once, from `finalize` alone.
"""

from __future__ import annotations

from typing import Literal

from ._blocks import TextBlock
from ._calls import ToolCallTable
from ._drain import StreamRecord, ToolCallDrain
from ._errors import InvalidToolArguments, LocalProtocolError
from ._events import Block, Finish, Reasoning, Refusal, StreamEvent
from ._finish import FinishReason
from ._json import has_surrogate, mend_surrogates
from ._limits import Limits
from ._partial_call import PartialToolCall

__all__ = ["StreamBuffers"]

Channel = Literal["text", "reasoning", "refusal", "tool_call"]


class StreamBuffers:
    """What is held of one choice of one response, and the order in which it is let go.

    `push_text` and `push_reasoning` give the event of a fragment at once. Tool calls are opened by `tool_call`,
    filled by `PartialToolCall.append`, and come out of `flush` or `finalize`. A response with several choices needs
    one object for each.

    Args:
        include_reasoning: Whether reasoning gives events; otherwise it is dropped on arrival.
        choice: The choice that the events carry.
        record: What the choices of one stream share; made anew by default.

    Attributes:
        channel: What came last: text, reasoning, refusal, or a fragment of a tool call.
        has_text: Whether any text came.
    """

    __slots__ = (
        "_drain",
        "_finalized",
        "_halves",
        "_last_is_complete",
        "_reason",
        "channel",
        "choice",
        "has_text",
        "include_reasoning",
        "record",
        "table",
    )

    def __init__(self, *, include_reasoning: bool = False, choice: int = 0, record: StreamRecord | None = None) -> None:
        self.include_reasoning = include_reasoning
        self.choice = choice
        self.record = StreamRecord(Limits()) if record is None else record
        self.table = ToolCallTable(self.record.budget)
        self._drain: ToolCallDrain | None = None
        self._reason: FinishReason | None = None
        self._halves: dict[Channel, str] | None = None
        self._last_is_complete = False
        self._finalized = False
        self.channel: Channel | None = None
        self.has_text = False

    @property
    def reason(self) -> FinishReason | None:
        """The first reason that the server reported, or None."""
        return self._reason

    @property
    def has_half(self) -> bool:
        """Whether half of a surrogate pair waits for its other half."""
        return bool(self._halves)

    def push_text(self, text: str) -> StreamEvent | None:
        """The event of a text fragment; None where there is nothing to show, as for an empty fragment."""
        return self._push("text", text)

    def push_reasoning(self, text: str) -> StreamEvent | None:
        """The event of a reasoning fragment; None where it is empty or reasoning was not asked for."""
        if self.include_reasoning:
            return self._push("reasoning", text)
        if text:
            self._note("reasoning")
        return None

    def push_refusal(self, text: str) -> StreamEvent | None:
        """The event of a fragment of refusal text; None where it is empty."""
        return self._push("refusal", text)

    def tool_call(self, index: int) -> PartialToolCall:
        """The tool call under `index`, opened by its first mention.

        Raises:
            LimitExceeded: The stream has too many calls.
        """
        return self.table.at(index) or self.start_tool_call(index)

    def start_tool_call(self, index: int) -> PartialToolCall:
        """Open a tool call under `index`, also where one is open there already; that one stays as it is.

        Raises:
            LimitExceeded: The stream has too many calls.
        """
        self._last_is_complete = False
        return self.table.open(index)

    def open_tool_call(self, index: int) -> PartialToolCall | None:
        """The tool call under `index`, or None where nothing opened one: a fragment for it belongs to no call."""
        return self.table.at(index)

    def end_last_call(self) -> None:
        """Note that something came after the call opened last, so that it is complete even without arguments."""
        self._last_is_complete = True

    def close_index(self, index: int) -> None:
        """Note that something else began under `index`: the call there stays, but gets no more fragments."""
        self._last_is_complete = True
        self.table.by_index.pop(index, None)

    def merge_tool_call(
        self, index: int | None, call_id: str | None, name: str | None, arguments: str
    ) -> tuple[PartialToolCall, str]:
        """Add a fragment of an OpenAI-shaped protocol to the call that it belongs to.

        Returns:
            The call, and what of the fragment can be shown.

        Raises:
            LimitExceeded: The stream has too many calls or argument characters.
        """
        self.channel = "tool_call"
        opened = len(self.table.calls)
        call = self.table.merge(index, call_id, name)
        if call is None:
            assert index is not None
            if not arguments:
                return self.table.calls[-1], ""
            return self.table.wait(index, arguments), mend_surrogates(arguments)
        if len(self.table.calls) > opened:
            self._last_is_complete = False
        return call, call.append(arguments) if arguments else ""

    def merge_legacy_call(self, name: str | None, arguments: str) -> tuple[PartialToolCall, str]:
        """Add a fragment of the `function_call` of old servers, which has a slot of its own and no id.

        Raises:
            LimitExceeded: The stream has too many calls or argument characters.
        """
        if self.table.legacy is None:
            self._last_is_complete = False
        call = self.table.legacy_call()
        call.identify(None, name)
        return call, call.append(arguments) if arguments else ""

    def record_finish(self, reason: FinishReason) -> None:
        """Keep why the server stopped; the first reason stays."""
        if self._reason is None:
            self._reason = reason

    def replace_finish(self, reason: FinishReason) -> None:
        """Keep the last reason instead of the first, for servers that repeat a provisional one."""
        self._reason = reason

    def flush(self) -> list[StreamEvent]:
        """Drain the tool calls in ascending index order. Never raises: calls that cannot run are kept for the end."""
        events = self.flush_halves()
        calls = self.table.take()
        if calls:
            cut = calls[-1] if self._reason is FinishReason.LENGTH and not self._last_is_complete else None
            if self._drain is None:
                self._drain = ToolCallDrain(self.choice, self.record)
            events += [Block(block, choice=self.choice) for block in self._drain.deliver(calls, self._reason, cut)]
        return events

    def flush_halves(self) -> list[StreamEvent]:
        """The events of halves of surrogate pairs whose other half never came."""
        halves, self._halves = self._halves, None
        return [self._event(channel, "\ufffd") for channel in halves or ()]

    def finalize(self) -> list[StreamEvent]:
        """Drain what is left, and end with `Finish`.

        Raises:
            InvalidToolArguments: A call of this stream cannot run; `.events` holds what was left beside it.
            LocalProtocolError: It was called before.
        """
        if self._finalized:
            raise LocalProtocolError("finalize() was called twice; a stream has one end")
        self._finalized = True
        events = self.flush()
        reason = self._reason or FinishReason.UNSPECIFIED
        if self.record.invalid:
            error = InvalidToolArguments(tuple(self.record.invalid), reason)
            error.events = tuple(events)
            raise error
        events.append(Finish(reason))
        return events

    def _push(self, channel: Channel, text: str) -> StreamEvent | None:
        if not text:
            return None
        self._note(channel)
        if self._halves or has_surrogate(text):
            text = self._mended(channel, text)
            if not text:
                return None
        return self._event(channel, text)

    def _note(self, channel: Channel) -> None:
        self.channel = channel
        self._last_is_complete = True
        if channel == "text":
            self.has_text = True

    def _event(self, channel: Channel, text: str) -> StreamEvent:
        if channel == "text":
            return Block(TextBlock(text), choice=self.choice)
        return (Reasoning if channel == "reasoning" else Refusal)(text, choice=self.choice)

    def _mended(self, channel: Channel, text: str) -> str:
        """The text with halves of surrogate pairs joined; a half at its end waits for the next fragment."""
        halves = self._halves = self._halves or {}
        text = halves.pop(channel, "") + text
        if "\ud800" <= text[-1] <= "\udbff":
            halves[channel] = text[-1]
            text = text[:-1]
        return mend_surrogates(text)
