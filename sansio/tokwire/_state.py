"""`DecodeState`: what is known of one stream while it is decoded, and all that a protocol module may do to it.

A protocol reads payloads and says here what it found: text, reasoning, a refusal, a fragment of a tool call, a finish
word, usage. Which events that gives, and when, is decided here and in the buffers, once for every protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._arguments import argument_text
from ._buffers import StreamBuffers
from ._drain import StreamRecord
from ._errors import InvalidToolArguments, TokwireError
from ._events import Finish, StreamEvent, ToolCallDelta, Usage
from ._finish import FinishReason, reason_for
from ._json import mend_surrogates, refuse
from ._notes import StreamNotes
from ._options import DecodeOptions
from ._partial_call import PartialToolCall
from ._summary import DroppedToolCall, StreamSummary
from ._token_counts import CountPaths, TokenCounts
from .framing._shape import NO_SHAPE, Expectation

__all__: list[str] = []


class DecodeState(Expectation):
    """One stream, as far as it was decoded.

    Attributes:
        options: What the caller asked for.
        limits: What the peer may send.
        out: Events that the current payload gave, in order.
        notes: Facts for the summary that are no events.
        reason: The reason that `Finish` will carry, or None as long as the server said none.
        end_marker: Whether the protocol's end marker was seen.
        is_ended: Whether the stream is over, so that later bytes mean nothing.
        is_failing: Set while a payload is read that also holds an error: its finish reason must not drain anything.
        hot_decode: Reader of the frames that the protocol expects next, where one string is not all they hold.
        protocol_data: Whatever the protocol remembers of the stream.
        open_calls: Index to the open call of the first choice, for fragments of the expected shape.
    """

    __slots__ = (
        "_buffers",
        "_counts",
        "_finish_words",
        "_last_reason_wins",
        "_reason_choice",
        "_record",
        "_response_id",
        "end_marker",
        "finish_reasons",
        "hot_decode",
        "is_ended",
        "is_failing",
        "limits",
        "model",
        "notes",
        "open_calls",
        "options",
        "out",
        "protocol_data",
        "raw_reason",
        "reason",
        "with_reasoning",
    )

    def __init__(
        self, options: DecodeOptions, finish_words: Mapping[str, FinishReason], *, last_reason_wins: bool = False
    ) -> None:
        super().__init__()
        self.options = options
        self.with_reasoning = options.include_reasoning
        self.limits = options.limits
        self.out: list[StreamEvent] = []
        self.notes: StreamNotes | None = None
        self.reason: FinishReason | None = None
        self.raw_reason: str | None = None
        self.finish_reasons: dict[int, str] | None = None
        self.end_marker = self.is_ended = self.is_failing = False
        self.model: str | None = None
        self.hot_decode: Any = refuse
        self.protocol_data: Any = None
        self.open_calls: dict[int, PartialToolCall] = {}
        self._response_id: str | None = None
        self._finish_words = finish_words
        self._last_reason_wins = last_reason_wins
        self._reason_choice = 0
        self._record: StreamRecord | None = None
        self._buffers: dict[int, StreamBuffers] | None = None
        self._counts: TokenCounts | None = None

    @property
    def response_id(self) -> str | None:
        """The server's id of the response, or None."""
        return self._response_id

    @property
    def record(self) -> StreamRecord:
        """What the buffers of all choices share."""
        if self._record is None:
            options = self.options
            self._record = StreamRecord(
                self.limits, synthesize=options.synthesize_tool_ids, repair=options.repair_arguments
            )
            self._record.response_id = self._response_id
        return self._record

    def buffers(self, choice: int = 0) -> StreamBuffers:
        """The buffers of one choice, made when it is first mentioned."""
        if self._buffers is None:
            self._buffers = {}
        buffers = self._buffers.get(choice)
        if buffers is None:
            if choice:
                self.record.budget.add_label()
            buffers = StreamBuffers(include_reasoning=self.options.include_reasoning, choice=choice, record=self.record)
            self._buffers[choice] = buffers
        return buffers

    @property
    def has_plain_arguments(self) -> bool:
        """Whether fragments of arguments are only to be kept: nobody wants to see them, and none held half a pair."""
        return not self.options.include_tool_deltas and not self.record.budget.has_halves

    def note(self) -> StreamNotes:
        """The facts for the summary, to be added to."""
        if self.notes is None:
            self.notes = StreamNotes(self.limits.max_tool_calls)
        return self.notes

    def text(self, text: str, choice: int = 0) -> None:
        """A fragment of the answer."""
        self._add(self.buffers(choice).push_text(text))

    def reasoning(self, text: str, choice: int = 0) -> None:
        """A fragment of reasoning."""
        self._add(self.buffers(choice).push_reasoning(text))

    def refusal(self, text: str, choice: int = 0) -> None:
        """A fragment of refusal text."""
        self._add(self.buffers(choice).push_refusal(text))

    def identify(self, response_id: object, model: object, *, again: bool = False) -> None:
        """Id and model of the response. The first that are not empty stay, unless the response began again."""
        if isinstance(response_id, str) and response_id and (again or not self._response_id):
            self._response_id = mend_surrogates(response_id)
            if self._record is not None:
                self._record.response_id = self._response_id
        if isinstance(model, str) and model and (again or not self.model):
            self.model = mend_surrogates(model)

    def usage(self, raw: object, paths: CountPaths, *, again: bool = False) -> None:
        """Token counts; of each field the last value that is not null stays. `again` forgets those before."""
        if again:
            self._counts = None
        if isinstance(raw, dict) and raw:
            if self._counts is None:
                self._counts = TokenCounts()
            self._counts.add(raw, paths)

    def usage_event(self) -> Usage | None:
        """The merged counts, or None where the server sent none; names without a value are none."""
        found = None if self._counts is None else self._counts.event()
        return found if found is not None and found.raw else None

    def finish(self, word: object, choice: int = 0) -> None:
        """A finish word as the server sent it. Drains the choice; empty text and null are no word."""
        if isinstance(word, str) and word:
            raw = mend_surrogates(word)
            self.finish_with(reason_for(raw, self._finish_words), raw, choice)

    def finish_with(self, reason: FinishReason, raw: str, choice: int = 0) -> None:
        """A finish reason, with the server's word for it. Drains the choice."""
        if self.is_failing:
            return
        buffers = self.buffers(choice)
        reasons = self.finish_reasons = self.finish_reasons or {}
        if self._last_reason_wins:
            buffers.replace_finish(reason)
            reasons[choice] = raw
        else:
            buffers.record_finish(reason)
            reasons.setdefault(choice, raw)
        if self.reason is None:
            self._reason_choice = choice
        if self.reason is None or (self._last_reason_wins and self._reason_choice == choice):
            self.reason, self.raw_reason = reason, raw
        self.out += buffers.flush()

    def end(self) -> None:
        """The protocol's end marker: the stream is over."""
        if not self.is_failing:
            self.end_marker = self.is_ended = True

    def merge_tool_call(
        self, index: int | None, call_id: str | None, name: str | None, arguments: object, choice: int = 0
    ) -> PartialToolCall:
        """A fragment of a call, where the wire is of the OpenAI shape: it is merged into the call it belongs to."""
        text = argument_text(arguments)
        call, shown = self.buffers(choice).merge_tool_call(index, call_id, name, text)
        if call_id or name or text:
            self.show_delta(call, shown, choice)
        return call

    def merge_legacy_call(self, name: str | None, arguments: object, choice: int = 0) -> bool:
        """A fragment of the `function_call` of old servers. Returns whether there was anything in it."""
        text = argument_text(arguments)
        if not name and not text:
            return False
        call, shown = self.buffers(choice).merge_legacy_call(name, text)
        self.show_delta(call, shown, choice)
        return True

    def take_tool_call(
        self, call_id: str | None, name: str | None, arguments: object, choice: int = 0
    ) -> PartialToolCall:
        """A whole call, where the wire sends those: always a new one, in order of arrival."""
        buffers = self.buffers(choice)
        call = buffers.start_tool_call(buffers.table.next_index())
        buffers.table.identify(call, call_id, name)
        self.show_delta(call, call.append(argument_text(arguments)), choice)
        return call

    def open_tool_call(self, index: int, call_id: str | None, name: str | None, choice: int = 0) -> PartialToolCall:
        """A call that the wire announces under an index; a second one under it with the same id is the same call."""
        buffers = self.buffers(choice)
        call = buffers.open_tool_call(index)
        if call is None or (call_id is not None and call.id is not None and call_id != call.id):
            call = buffers.start_tool_call(index)
        buffers.table.identify(call, call_id, name)
        self.show_delta(call, "", choice)
        return call

    def extend_tool_call(self, call: PartialToolCall, arguments: object, choice: int = 0) -> None:
        """More argument text for a call."""
        text = argument_text(arguments)
        if text:
            self.show_delta(call, call.append(text), choice)

    def drop_fragment(self, index: int | None, arguments: object, reason: str, choice: int = 0) -> None:
        """Record an argument fragment that belongs to no call."""
        text = mend_surrogates(argument_text(arguments))
        if text:
            self.record.drop(DroppedToolCall(choice, index, None, None, text, reason))

    def show_delta(self, call: PartialToolCall, shown: str, choice: int) -> None:
        """The event of a fragment of a call, where the caller wants those."""
        if self.options.include_tool_deltas:
            self.out.append(ToolCallDelta(call.ordinal, call.id, call.name, shown, choice=choice))

    def finalize(self) -> TokwireError | None:
        """Drain what is left and append usage and `Finish` to `out`, or return the error that comes in its place."""
        for _, buffers in sorted((self._buffers or {}).items()):
            if self.reason is not None:
                buffers.record_finish(self.reason)
            self.out += buffers.flush()
        usage = self.usage_event()
        if usage is not None and self.options.include_usage:
            self.out.append(usage)
        reason = self.reason or FinishReason.UNSPECIFIED
        if self._record is not None and self._record.invalid:
            return InvalidToolArguments(tuple(self._record.invalid), reason)
        self.out.append(Finish(reason))
        return None

    def flush_halves(self) -> None:
        """Let go of halves of surrogate pairs that wait: the stream ends with an error, and no text is lost."""
        for _, buffers in sorted((self._buffers or {}).items()):
            self.out += buffers.flush_halves()

    def release(self) -> None:
        """Forget what only decoding needs: the stream is over."""
        self._buffers = self.protocol_data = None
        self.open_calls = {}
        self.expect(NO_SHAPE)

    def summary(self) -> StreamSummary:
        """The facts, as known now."""
        notes = self.notes or StreamNotes(0)
        return StreamSummary(
            finish_reason=self.reason or FinishReason.UNSPECIFIED,
            raw_finish_reason=self.raw_reason,
            end_marker=self.end_marker,
            response_id=self._response_id,
            model=self.model,
            finish_reasons=dict(self.finish_reasons or {}),
            usage=self.usage_event(),
            media=dict(notes.media),
            signatures=notes.signatures(),
            thinking_blocks=notes.thinking_blocks(),
            dropped_tool_calls=() if self._record is None else tuple(self._record.dropped),
        )

    def _add(self, event: StreamEvent | None) -> None:
        if event is not None:
            self.out.append(event)
