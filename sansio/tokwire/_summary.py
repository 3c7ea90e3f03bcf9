"""What a decoder knows about a stream beside its events: `StreamSummary` and the records in it."""

from __future__ import annotations

from msgspec import Struct

from ._blocks import RedactedThinkingBlock, ThinkingBlock
from ._events import Usage
from ._finish import FinishReason

__all__ = ["DroppedToolCall", "Signature", "StreamSummary"]


class DroppedToolCall(Struct, frozen=True, gc=False):
    """A tool call, or a fragment of one, that the policy did not deliver.

    Attributes:
        choice: The choice it belongs to.
        index: The label under which the server sent it, or None.
        id: Its id, or None where that never came.
        name: The tool's name, or None where that never came.
        arguments: The argument text as it came.
        reason: Why it was dropped.
    """

    choice: int
    index: int | None
    id: str | None
    name: str | None
    arguments: str
    reason: str


class Signature(Struct, frozen=True, gc=False):
    """Opaque data that a provider wants back with the next request.

    Attributes:
        choice: The choice it belongs to.
        kind: The provider's word for it, for example `signature`, `redacted_thinking`, `reasoning.encrypted`.
        block_index: Index of the content block or item that it signs, where the wire has one.
        item_id: Id of the item that it signs, where the wire has one.
        tool_use_id: Id of the tool call that it belongs to, or None.
        data: The data itself, unread.
    """

    choice: int
    kind: str
    block_index: int | None
    item_id: str | None
    tool_use_id: str | None
    data: str


class StreamSummary(Struct, frozen=True, kw_only=True):
    """Facts about a stream, as known at the moment of asking. Whether a missing marker is a failure is for the caller.

    Attributes:
        finish_reason: The reason that `Finish` carries; `UNSPECIFIED` as long as the server said none.
        raw_finish_reason: The server's own word for it, or None.
        end_marker: True once the protocol's own end marker was seen.
        response_id: The server's id of the response, or None.
        model: The model that the server says it used, or None.
        finish_reasons: Choice to the server's word.
        usage: Token counts, merged over the stream, or None. Kept also without `include_usage`.
        media: Kind to the number of images, audio answers and other media that came; they give no event.
        signatures: Data to send back, in wire order.
        thinking_blocks: Thinking to send back, in wire order; only with `keep_thinking`.
        dropped_tool_calls: Every tool call or fragment that was not delivered.
    """

    finish_reason: FinishReason
    raw_finish_reason: str | None
    end_marker: bool
    response_id: str | None
    model: str | None
    finish_reasons: dict[int, str]
    usage: Usage | None
    media: dict[str, int]
    signatures: tuple[Signature, ...]
    thinking_blocks: tuple[ThinkingBlock | RedactedThinkingBlock, ...]
    dropped_tool_calls: tuple[DroppedToolCall, ...]
