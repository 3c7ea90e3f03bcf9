"""Reads the events of Anthropic Messages, from Anthropic and from the servers and gateways that imitate it.

Deltas are routed by their own tag, never by the kind of block they arrive on: that reasoning stays out of the text
must not depend on a start event that a gateway may have lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._finish import FinishReason
from ..._json import value_text
from ..._partial_call import PartialToolCall
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_id, as_index, as_list, as_text, as_word
from ._shapes import choose_shape

__all__: list[str] = []

STREAM_TYPES = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)

FINISH_WORDS: Mapping[str, FinishReason] = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.CONTENT_FILTER,
}

ERROR_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}

USAGE: CountPaths = {
    "input_tokens": (("input_tokens",),),
    "output_tokens": (("output_tokens",),),
    "cached_tokens": (("cache_read_input_tokens",),),
    "cache_write_tokens": (("cache_creation_input_tokens",),),
    "reasoning_tokens": (("output_tokens_details", "thinking_tokens"),),
}


class Blocks:
    """What must be remembered of the content blocks of one message.

    Attributes:
        last: Index of the block opened last, or None before the first.
        highest: Highest index that was opened, or -1.
        has_begun: Whether a message_start came.
        has_content: Whether any block or delta came.
        others: Indexes of blocks that are neither tool calls nor text nor thinking: their input is not for the caller.
        inputs: Tool inputs that came whole with the start of their block, used where no fragment follows.
    """

    __slots__ = ("_starts", "has_begun", "has_content", "highest", "inputs", "last", "others")

    def __init__(self) -> None:
        self.last: int | None = None
        self.highest = -1
        self._starts: dict[int | None, int] = {}
        self.has_begun = False
        self.has_content = False
        self.others: set[int] = set()
        self.inputs: dict[int, tuple[PartialToolCall, str]] = {}

    def open(self, index: int) -> bool:
        """Note that a block began under an index, perhaps in the place of another one. Returns whether it is new."""
        self.last = index
        self.highest = max(self.highest, index)
        self.has_content = True
        self.others.discard(index)
        self._starts[index] = self._starts.get(index, 0) + 1
        return self._starts[index] == 1

    def key(self, index: int | None) -> tuple[int | None, int]:
        """What tells the block under an index from others that were under it before."""
        return index, self._starts.get(index, 0)


def kind_of(payload: Mapping[str, Any], sse_name: str | None) -> str | None:
    """The type of an event; its SSE name where the payload has none."""
    kind = payload.get("type")
    if isinstance(kind, str) and kind:
        return kind
    return None if sse_name == "message" else sse_name


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be an event of this protocol, loosely."""
    return kind_of(payload, sse_name) in STREAM_TYPES or is_whole_message(payload)


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    return recognises(payload, sse_name)


def is_whole_message(payload: Mapping[str, Any]) -> bool:
    """Whether a payload is a whole answer in place of a stream."""
    return payload.get("type") == "message" and isinstance(payload.get("content"), list)


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one event."""
    blocks = state.protocol_data
    if blocks is None:
        blocks = state.protocol_data = Blocks()
    kind = kind_of(payload, sse_name)
    match kind:
        case "content_block_delta":
            _read_delta(state, blocks, payload)
        case "content_block_start":
            _read_start(state, blocks, as_index(payload.get("index")), as_dict(payload.get("content_block")))
        case "message_start":
            _begin(state, blocks, as_dict(payload.get("message")))
        case "message_delta":
            _end_of_content(state, as_dict(payload.get("delta")), payload.get("usage"))
        case "message_stop":
            on_eof(state)
            state.end()
        case "content_block_stop":
            pass
        case _ if is_whole_message(payload):
            _read_message(state, blocks, payload)
        case _:
            return UNKNOWN
    is_delta, index = kind == "content_block_delta", as_index(payload.get("index"))
    is_ignored = is_delta and index in blocks.others and as_dict(payload.get("delta")).get("type") == "input_json_delta"
    choose_shape(state, index, is_delta=is_delta, is_ignored=is_ignored)
    return RECOGNISED


def on_eof(state: DecodeState) -> None:
    """Give the calls that got no fragment the input that came with their start."""
    blocks = state.protocol_data
    if blocks is not None:
        for call, text in blocks.inputs.values():
            state.record.budget.characters -= len(text)
            if not call.fragments():
                state.extend_tool_call(call, text)
        blocks.inputs.clear()


def _begin(state: DecodeState, blocks: Blocks, message: dict[str, Any]) -> None:
    if blocks.has_begun and blocks.has_content:
        raise ValueError("a second message_start after content had begun: two answers were spliced into one stream")
    blocks.has_begun = True
    state.identify(message.get("id"), message.get("model"), again=True)
    state.usage(message.get("usage"), USAGE, again=True)


def _end_of_content(state: DecodeState, delta: dict[str, Any], usage: object) -> None:
    state.usage(usage, USAGE)
    if as_word(delta.get("stop_reason")):
        on_eof(state)
        state.finish(delta["stop_reason"])


def _read_message(state: DecodeState, blocks: Blocks, message: dict[str, Any]) -> None:
    _begin(state, blocks, message)
    for index, block in enumerate(as_list(message.get("content"))):
        _read_start(state, blocks, index, as_dict(block))
    _end_of_content(state, message, message.get("usage"))


def _read_start(state: DecodeState, blocks: Blocks, index: int | None, block: dict[str, Any]) -> None:
    if index is None:
        index = blocks.highest + 1
    if blocks.open(index):
        state.record.budget.add_label()
    kind = block.get("type")
    if kind == "tool_use":
        call = state.open_tool_call(index, as_id(block.get("id")), as_word(block.get("name")))
        if block.get("input") not in (None, {}, ""):
            _keep_input(state, blocks, call, block["input"])
        return
    state.buffers().close_index(index)
    if kind == "text":
        state.text(as_text(block.get("text")))
    elif kind == "thinking":
        _think(state, blocks, index, as_text(block.get("thinking")))
        _sign(state, blocks, index, as_text(block.get("signature")))
    elif kind == "redacted_thinking":
        data = as_text(block.get("data"))
        state.note().sign(kind, data, block_index=index)
        if data and state.options.keep_thinking:
            state.note().redact(blocks.key(index), data)
    else:
        blocks.others.add(index)


def _keep_input(state: DecodeState, blocks: Blocks, call: PartialToolCall, value: Any) -> None:
    if id(call) not in blocks.inputs:
        text = value if isinstance(value, str) else value_text(value)
        state.record.budget.add_characters(len(text))
        blocks.inputs[id(call)] = call, text


def _read_delta(state: DecodeState, blocks: Blocks, payload: dict[str, Any]) -> None:
    delta = as_dict(payload.get("delta"))
    index = as_index(payload.get("index"))
    if index is None:
        index = blocks.last
    blocks.has_content = True
    match delta.get("type"):
        case "text_delta":
            state.text(as_text(delta.get("text")))
        case "thinking_delta":
            _think(state, blocks, index, as_text(delta.get("thinking")))
        case "signature_delta":
            _sign(state, blocks, index, as_text(delta.get("signature")))
        case "input_json_delta":
            _read_input(state, blocks, index, delta.get("partial_json"))


def _read_input(state: DecodeState, blocks: Blocks, index: int | None, fragment: object) -> None:
    call = None if index is None else state.buffers().open_tool_call(index)
    if call is not None:
        state.buffers().channel = "tool_call"
        state.extend_tool_call(call, fragment)
    elif index not in blocks.others:
        state.drop_fragment(index, fragment, "no block with its index was opened as a tool call")


def _think(state: DecodeState, blocks: Blocks, index: int | None, text: str) -> None:
    state.reasoning(text)
    if text and state.options.keep_thinking:
        state.note().think(blocks.key(index), text=text)


def _sign(state: DecodeState, blocks: Blocks, index: int | None, signature: str) -> None:
    if signature:
        state.note().sign("signature", signature, block_index=index)
        if state.options.keep_thinking:
            state.note().think(blocks.key(index), signature=signature)
