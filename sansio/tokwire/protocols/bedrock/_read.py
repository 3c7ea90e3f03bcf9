"""Reads the events of `ConverseStream`, and opens the chunks of `InvokeModelWithResponseStream`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..._errors import LimitExceeded
from ..._finish import OPENAI_WORDS, FinishReason
from ..._json import JSONError, NestingError, parse_payload, refuse
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import RECOGNISED, UNKNOWN, Verdict
from .._readers import as_dict, as_id, as_index, as_text, as_word
from ._families import FamilyMemory, read_family, read_metrics, settle_family
from ._shapes import choose_reader

__all__: list[str] = []

EVENTS = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    }
)
FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {
        **OPENAI_WORDS,
        "end_turn": FinishReason.STOP,
        "stop_sequence": FinishReason.STOP,
        "finish": FinishReason.STOP,
        "finished": FinishReason.STOP,
        "complete": FinishReason.STOP,
        "max_tokens": FinishReason.LENGTH,
        "model_context_window_exceeded": FinishReason.LENGTH,
        "tool_use": FinishReason.TOOL_CALLS,
        "refusal": FinishReason.CONTENT_FILTER,
        "guardrail_intervened": FinishReason.CONTENT_FILTER,
        "content_filtered": FinishReason.CONTENT_FILTER,
    }
)
EXCEPTION_STATUSES = {
    "internalServerException": 500,
    "validationException": 400,
    "throttlingException": 429,
    "serviceUnavailableException": 503,
    "modelTimeoutException": 408,
    "modelStreamErrorException": 424,
}
ERROR_STATUSES: Mapping[str, int] = MappingProxyType(
    EXCEPTION_STATUSES | {name[0].upper() + name[1:]: status for name, status in EXCEPTION_STATUSES.items()}
)
USAGE: CountPaths = {
    "input_tokens": (("inputTokens",),),
    "output_tokens": (("outputTokens",),),
    "total_tokens": (("totalTokens",),),
    "cached_tokens": (("cacheReadInputTokens",),),
    "cache_write_tokens": (("cacheWriteInputTokens",),),
}


class BedrockData:
    """What must be remembered of one response.

    Attributes:
        last: Index of the block opened last, or None.
        opened: Indexes of all blocks that were opened.
        others: Indexes of blocks whose input is not for the caller.
        is_stopped: Whether `messageStop` came.
        family: What the reader of an InvokeModel family remembers.
    """

    __slots__ = ("family", "is_stopped", "last", "opened", "others")

    def __init__(self) -> None:
        self.last: int | None = None
        self.opened: set[int] = set()
        self.others: set[int] = set()
        self.is_stopped = False
        self.family = FamilyMemory()

    def open(self, index: int) -> None:
        """Note that a block began."""
        self.last = index
        self.opened.add(index)


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be this protocol's, by the name of its event."""
    return sse_name in EVENTS or (sse_name == "chunk" and "bytes" in payload)


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Never: this protocol is told by its frames, not by its payloads."""
    return False


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one event."""
    if state.protocol_data is None:
        state.protocol_data = BedrockData()
    data: BedrockData = state.protocol_data
    if sse_name == "chunk" and "bytes" in payload:
        state.hot_decode = refuse
        return _open_chunk(state, data, payload)
    if sse_name not in EVENTS:
        return UNKNOWN
    read_event(state, data, sse_name, payload)
    choose_reader(state, data.opened, payload)
    return RECOGNISED


def on_eof(state: DecodeState) -> None:
    """Let the reader of an InvokeModel family finish."""
    if state.protocol_data is not None:
        settle_family(state, state.protocol_data.family)


def read_event(state: DecodeState, data: BedrockData, name: str | None, payload: dict[str, Any]) -> None:
    """Read one event of ConverseStream; Nova sends the same ones inside chunks."""
    match name:
        case "contentBlockDelta":
            _read_delta(state, data, _index(data, payload), as_dict(payload.get("delta")))
        case "contentBlockStart":
            index = as_index(payload.get("contentBlockIndex"))
            _read_start(state, data, index, as_dict(payload.get("start")))
        case "messageStop":
            data.is_stopped = True
            state.finish(payload.get("stopReason"))
            state.end_marker = state.end_marker or not state.is_failing
        case "metadata":
            state.usage(payload.get("usage"), USAGE)
            if data.is_stopped and as_dict(payload.get("usage")):
                state.end()


def _index(data: BedrockData, payload: dict[str, Any]) -> int:
    """The block of a delta; a missing index means the one opened last."""
    index = as_index(payload.get("contentBlockIndex"))
    return (data.last or 0) if index is None else index


def _read_start(state: DecodeState, data: BedrockData, index: int | None, start: dict[str, Any]) -> None:
    if index is None:
        index = max(data.opened, default=-1) + 1
    data.open(index)
    data.others.discard(index)
    tool = as_dict(start.get("toolUse"))
    if tool and tool.get("type") in (None, "", "tool_use"):
        state.open_tool_call(index, as_id(tool.get("toolUseId")), as_word(tool.get("name")))
        return
    state.buffers().close_index(index)
    if start:
        data.others.add(index)


def _read_delta(state: DecodeState, data: BedrockData, index: int, delta: dict[str, Any]) -> None:
    if index not in data.opened and "toolUse" not in delta:  # text and reasoning open their block by the first delta
        data.open(index)
        state.buffers().end_last_call()
    reasoning = as_dict(delta.get("reasoningContent"))
    if reasoning:
        _read_reasoning(state, index, reasoning)
    state.text(as_text(delta.get("text")))
    if isinstance(delta.get("toolUse"), dict):
        fragment = delta["toolUse"].get("input")
        call = state.buffers().open_tool_call(index)
        if call is not None:
            state.extend_tool_call(call, fragment)
        elif index not in data.others:
            state.drop_fragment(index, fragment, "no block with its index was opened as a tool call")


def _read_reasoning(state: DecodeState, index: int, reasoning: dict[str, Any]) -> None:
    text, signature = as_text(reasoning.get("text")), as_text(reasoning.get("signature"))
    redacted = as_text(reasoning.get("redactedContent"))
    state.reasoning(text)
    notes = state.note()
    notes.sign("signature", signature, block_index=index)
    notes.sign("redacted_thinking", redacted, block_index=index)
    if state.options.keep_thinking:
        if text or signature:
            notes.think(index, text=text, signature=signature)
        if redacted:
            notes.redact(index, redacted)


def _open_chunk(state: DecodeState, data: BedrockData, payload: dict[str, Any]) -> Verdict:
    limit = state.limits.max_json_depth
    try:
        inner = parse_payload(base64.b64decode(as_text(payload["bytes"]), validate=True), limit)
    except NestingError as error:
        if limit is None:
            raise ValueError(f"a chunk holds JSON that is {error}") from None
        raise LimitExceeded("max_json_depth", limit) from None
    except JSONError as error:
        raise ValueError(f"a chunk does not hold JSON ({error})") from None
    except ValueError:
        raise ValueError("a chunk does not hold base64") from None
    if not isinstance(inner, dict):
        return UNKNOWN
    name = next((name for name in inner if name in EVENTS), None)
    if name is not None:
        read_event(state, data, name, as_dict(inner[name]))
        read_metrics(state, inner)
        return RECOGNISED
    return read_family(state, data.family, inner)
