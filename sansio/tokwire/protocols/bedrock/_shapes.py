"""The ordinary shapes of a `contentBlockDelta`, as types, and the readers of messages that fit one.

Whatever else means anything is typed so that only its absence fits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from zlib import crc32

from msgspec import Struct

from ..._blocks import TextBlock
from ..._events import Block, Reasoning, StreamEvent
from ..._json import refuse, typed_decoder
from ..._limits import comparable
from ..._state import DecodeState
from ...framing._quick_frames import without_event
from ...framing._quick_messages import lead_of
from .._readers import as_dict

__all__: list[str] = []

HEADERS = (
    b"\x0b:event-type\x07\x00\x11contentBlockDelta"
    b"\x0d:content-type\x07\x00\x10application/json"
    b"\x0d:message-type\x07\x00\x05event"
)
"""The headers of a delta, as the service sends them."""

LARGEST_MESSAGE = (1 << 32) - 1
"""The longest message that its prelude has a number for."""

from_bytes = int.from_bytes

Nothing = Literal["", None]


class TextDelta(Struct, gc=False, rename="camel"):
    """Text."""

    text: str
    tool_use: None = None
    reasoning_content: None = None


class Thought(Struct, gc=False, rename="camel"):
    """Reasoning that is neither signed nor encrypted."""

    text: str
    signature: Nothing = None
    redacted_content: Nothing = None


class ThinkingDelta(Struct, gc=False, rename="camel"):
    """Reasoning."""

    reasoning_content: Thought
    text: Nothing = None
    tool_use: None = None


class TextEvent(Struct, gc=False, rename="camel"):
    """An event with text."""

    content_block_index: int
    delta: TextDelta
    error: None = None
    object: None = None
    type: None = None


class ThinkingEvent(Struct, gc=False, rename="camel"):
    """An event with reasoning."""

    content_block_index: int
    delta: ThinkingDelta
    error: None = None
    object: None = None
    type: None = None


_decode_text = typed_decoder(TextEvent)
_decode_thinking = typed_decoder(ThinkingEvent)
_lead = lead_of(HEADERS)

Read = Callable[[bytes], StreamEvent | None]


def reader(
    decode: Callable[[bytes], Any], event_of: Callable[[Any], StreamEvent | None], opened: set[int], longest: int
) -> Read:
    """A reader of messages of one shape for a block that is open; `event_of` makes the event of what was decoded."""

    def read(message: bytes) -> StreamEvent | None:
        size = len(message)
        if size > longest:
            raise ValueError
        start, checksum = _lead(size)
        rest = message.removeprefix(start)
        payload = rest[:-4]
        if rest is message or crc32(payload, checksum) != from_bytes(rest[-4:]):
            raise ValueError
        delta = decode(payload)
        if delta.content_block_index not in opened:
            raise ValueError
        return event_of(delta)

    return read


def text_of(event: TextEvent) -> StreamEvent | None:
    """Text, if there is any."""
    return Block(TextBlock(text)) if (text := event.delta.text) else None


def thought_of(event: ThinkingEvent) -> StreamEvent | None:
    """Reasoning, if there is any."""
    return Reasoning(text) if (text := event.delta.reasoning_content.text) else None


def choose_reader(state: DecodeState, opened: set[int], payload: dict[str, Any]) -> None:
    """After an event that was read in full: the reader of the next one, if any is safe to expect."""
    state.hot_decode = refuse
    delta = as_dict(payload.get("delta"))
    if state.options.include_raw or state.buffers().has_half:
        return
    longest = min(comparable(state.limits.max_frame_bytes), LARGEST_MESSAGE)
    text, reasoning = delta.get("text"), as_dict(delta.get("reasoningContent")).get("text")
    if isinstance(text, str) and text:
        state.hot_decode = reader(_decode_text, text_of, opened, longest)
    elif isinstance(reasoning, str) and reasoning and not state.options.keep_thinking:
        read = reader(_decode_thinking, thought_of, opened, longest)
        state.hot_decode = read if state.with_reasoning else without_event(read)
