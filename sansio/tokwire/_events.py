"""`StreamEvent` and its kinds: what a decoder hands out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from ._blocks import ContentBlock, TextBlock, ToolResultBlock, ToolUseBlock
from ._errors import TokwireError
from ._finish import FinishReason

__all__ = [
    "Block",
    "CollectedResponse",
    "Finish",
    "RawPayload",
    "Reasoning",
    "Refusal",
    "Retrying",
    "StreamEvent",
    "ToolCallDelta",
    "Usage",
    "collect",
    "event_from_json",
]


class StreamEvent(Struct, frozen=True, kw_only=True, gc=False):
    """One item of a decoded stream. The set of kinds is open: match with a `case _`.

    Attributes:
        choice: Which of several parallel answers the event belongs to; 0 where the server gives one.
    """

    choice: int = 0

    def as_block(self) -> ContentBlock | None:
        """The content block of a `Block`, else None."""
        return None

    def into_block(self) -> ContentBlock | None:
        """The same as `as_block`, under the name that the system of the seed documents uses."""
        return self.as_block()

    def as_text(self) -> str | None:
        """The text of a `Block` that holds a `TextBlock`, else None."""
        return None

    def as_reasoning(self) -> str | None:
        """The text of a `Reasoning`, else None."""
        return None

    def finish_reason(self) -> FinishReason | None:
        """The reason of a `Finish`, else None."""
        return None


class Block(StreamEvent, frozen=True, gc=False, tag="block"):
    """Content: a fragment of text as it arrives, or a tool call once it is complete.

    A stream holds `TextBlock` and `ToolUseBlock`; the turn loop of the agent layer adds `ToolResultBlock`.
    """

    block: TextBlock | ToolUseBlock | ToolResultBlock

    def as_block(self) -> ContentBlock:
        """The content block."""
        return self.block

    def as_text(self) -> str | None:
        """The text, where the block is a `TextBlock`."""
        block = self.block
        return block.text if type(block) is TextBlock else None


class Reasoning(StreamEvent, frozen=True, gc=False, tag="reasoning"):
    """A fragment of the model's reasoning; only with `include_reasoning`. Never part of the answer's text."""

    text: str

    def as_reasoning(self) -> str:
        """The fragment."""
        return self.text


class Finish(StreamEvent, frozen=True, gc=False, tag="finish"):
    """The stream is over: exactly one, and the last event.

    Attributes:
        reason: Why the server stopped; `FinishReason.UNSPECIFIED` where it never said.
        raw: The server's own word where `reason` is `other`, else None. Follows from `reason`; no need to pass it.
    """

    reason: FinishReason
    raw: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "raw", self.reason.as_str() if self.reason.is_other else None)

    def finish_reason(self) -> FinishReason:
        """The reason."""
        return self.reason


class Refusal(StreamEvent, frozen=True, gc=False, tag="refusal"):
    """A fragment of the text in which the model declines, where the server sends it beside the content."""

    text: str


class Usage(StreamEvent, frozen=True, gc=True, tag="usage"):
    """Token counts as the server said them, without sums; only with `include_usage`, directly before the end.

    Servers differ: Anthropic's `input_tokens` leaves out what came from the cache, OpenAI's holds it.

    Attributes:
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the answer.
        total_tokens: The server's own total.
        cached_tokens: Prompt tokens read from a cache.
        cache_write_tokens: Prompt tokens written to a cache.
        reasoning_tokens: Tokens spent on reasoning.
        raw: The server's usage object, merged over the stream: the last value of each field that was not null.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    raw: dict[str, Any] = msgspec.field(default_factory=dict)


class ToolCallDelta(StreamEvent, frozen=True, gc=False, tag="tool_call_delta"):
    """A fragment of a tool call while it is assembled; only with `include_tool_deltas`. The whole call still follows.

    Attributes:
        index: Ordinal of the call in its choice, in order of opening, from 0.
        id: The call's id as known so far.
        name: The tool's name as known so far.
        arguments: The new piece of argument text, possibly empty.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


class RawPayload(StreamEvent, frozen=True, gc=False, tag="raw_payload"):
    """A payload as it came, before the events that it gives; only with `include_raw`.

    Attributes:
        name: The name that the framing gave it (the SSE `event:` field), or None.
        data: The payload's bytes.
    """

    name: str | None
    data: bytes


class Retrying(StreamEvent, frozen=True, gc=True, tag="retrying"):
    """The turn loop of the agent layer sends a request again, after a pause. No decoder gives this event.

    As JSON it needs `enc_hook=str`, since it holds an exception.

    Attributes:
        attempt: How many attempts have failed, from 1.
        delay: Seconds until the next one.
        error: Why the last one failed.
    """

    attempt: int
    delay: float
    error: TokwireError


class CollectedResponse(Struct, frozen=True, kw_only=True):
    """What `collect` makes of one choice of a stream.

    Attributes:
        text: All text, joined.
        reasoning: All reasoning, joined.
        refusal: All refusal text, joined.
        tool_calls: The complete tool calls, in order.
        usage: The usage event, or None.
        finish: Why the server stopped, or None where the events hold no `Finish`: the stream was not read to its end.
    """

    text: str
    reasoning: str
    refusal: str
    tool_calls: tuple[ToolUseBlock, ...]
    usage: Usage | None
    finish: FinishReason | None


def collect(events: Iterable[StreamEvent], *, choice: int = 0) -> CollectedResponse:
    """Fold the events of one choice into text, reasoning, refusal, tool calls, usage and finish reason.

    Lazy iterables work too; an error raised by one passes through.
    """
    texts: dict[type[StreamEvent], list[str]] = {Block: [], Reasoning: [], Refusal: []}
    tool_calls: list[ToolUseBlock] = []
    usage: Usage | None = None
    finish: FinishReason | None = None
    for event in events:
        match event:
            case Finish(reason):
                finish = reason
            case Usage():
                usage = event
            case _ if event.choice != choice:
                continue
            case Block(TextBlock(text)) | Reasoning(text) | Refusal(text):
                texts[type(event)].append(text)
            case Block(ToolUseBlock() as call):
                tool_calls.append(call)
    return CollectedResponse(
        text="".join(texts[Block]),
        reasoning="".join(texts[Reasoning]),
        refusal="".join(texts[Refusal]),
        tool_calls=tuple(tool_calls),
        usage=usage,
        finish=finish,
    )


class _BlockOnWire(StreamEvent, frozen=True, gc=True, tag="block"):
    block: TextBlock | ToolUseBlock | ToolResultBlock


class _FinishOnWire(StreamEvent, frozen=True, tag="finish"):
    reason: Literal["stop", "length", "tool_calls", "content_filter", "max_tool_iterations", "unspecified", "other"]
    raw: str | None = None

    def reason_object(self) -> FinishReason:
        return FinishReason.other(self.raw or "") if self.reason == "other" else FinishReason(self.reason)


_EventOnWire = _BlockOnWire | Reasoning | _FinishOnWire | Refusal | Usage | ToolCallDelta | RawPayload
_event_decoder: msgspec.json.Decoder[_EventOnWire] = msgspec.json.Decoder(_EventOnWire)


def event_from_json(data: bytes | str) -> StreamEvent:
    """Read one event that `msgspec.json.encode` wrote.

    Raises:
        ValueError: The text is not JSON, names an unknown type of event, or lacks a field.
    """
    try:
        event = _event_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ValueError(f"not the JSON of a stream event: {error}") from None
    if isinstance(event, _FinishOnWire):
        return Finish(event.reason_object(), choice=event.choice)
    if isinstance(event, _BlockOnWire):
        return Block(event.block, choice=event.choice)
    return event
