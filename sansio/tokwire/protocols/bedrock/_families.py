"""The payloads of `InvokeModelWithResponseStream`: each family of models sends a shape of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._server_errors import api_error, has_error
from ..._state import DecodeState
from ..._token_counts import CountPaths
from .._protocol import OnPayload, Verdict, is_heartbeat
from .._readers import as_dict, as_list, as_text
from ..anthropic._read import ERROR_STATUSES as ANTHROPIC_STATUSES
from ..anthropic._read import on_eof as anthropic_eof
from ..anthropic._read import on_payload as read_anthropic
from ..anthropic._read import recognises as is_anthropic
from ..openai_chat._read import marks as is_openai
from ..openai_chat._read import on_payload as read_openai

__all__: list[str] = []

METRICS = "amazon-bedrock-invocationMetrics"
USAGE: CountPaths = {
    "input_tokens": (("inputTokenCount",),),
    "output_tokens": (("outputTokenCount",),),
    "cached_tokens": (("cacheReadInputTokenCount",),),
    "cache_write_tokens": (("cacheWriteInputTokenCount",),),
}


TITAN_USAGE: CountPaths = {
    "input_tokens": (("inputTextTokenCount",),),
    "output_tokens": (("totalOutputTextTokenCount",),),
}
LLAMA_USAGE: CountPaths = {
    "input_tokens": (("prompt_token_count",),),
    "output_tokens": (("generation_token_count",),),
}


class FamilyMemory:
    """What the reader of another protocol remembers, while the state is shared with it.

    Attributes:
        data: Its `protocol_data`.
    """

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data: Any = None

    def lend(self, state: DecodeState, read: Callable[[], Verdict | None]) -> Verdict | None:
        """Call a reader of another protocol with its own memory on the state."""
        own, state.protocol_data = state.protocol_data, self.data
        try:
            return read()
        finally:
            self.data, state.protocol_data = state.protocol_data, own


def settle_family(state: DecodeState, memory: FamilyMemory) -> None:
    """At the end of the body: let the reader of the family finish."""
    if memory.data is not None:
        memory.lend(state, lambda: anthropic_eof(state))


def read_family(state: DecodeState, memory: FamilyMemory, payload: dict[str, Any]) -> Verdict:
    """Read the payload of a chunk, by its shape."""
    reader = _reader_of(payload)
    verdict = None
    state.is_failing = has_error(payload, None, is_recognised=reader is not None)
    if reader is not None:
        verdict = memory.lend(state, lambda: reader(state, payload, None))
    if state.is_failing:
        raise api_error(payload, ANTHROPIC_STATUSES)
    read_metrics(state, payload)
    if verdict is None and is_heartbeat(payload, None):
        return Verdict.HEARTBEAT
    return verdict or (Verdict.RECOGNISED if METRICS in payload else Verdict.UNKNOWN)


def read_metrics(state: DecodeState, payload: dict[str, Any]) -> None:
    """The metrics come with the last chunk: they hold the usage and end the stream."""
    if isinstance(payload.get(METRICS), dict):
        state.usage(payload[METRICS], USAGE)
        state.end()


def read_counts(state: DecodeState, payload: dict[str, Any], paths: CountPaths) -> None:
    """Token counts that stand among the members of a payload."""
    names = [place[0] for places in paths.values() for place in places]
    state.usage({name: payload[name] for name in names if payload.get(name) is not None}, paths)


def _reader_of(payload: dict[str, Any]) -> OnPayload | None:
    if is_anthropic(payload, None):
        return read_anthropic
    if is_openai(payload, None):
        return read_openai
    return next((read for name, read in READERS.items() if name in payload), None)


def _read_titan(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    state.text(as_text(payload.get("outputText")))
    read_counts(state, payload, TITAN_USAGE)
    state.finish(payload.get("completionReason"))
    return Verdict.RECOGNISED


def _read_cohere(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    state.text(as_text(payload.get("text")))
    state.finish(payload.get("finish_reason"))
    return Verdict.RECOGNISED


def _read_llama(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    state.text(as_text(payload.get("generation")))
    read_counts(state, payload, LLAMA_USAGE)
    state.finish(payload.get("stop_reason"))
    return Verdict.RECOGNISED


def _read_completion(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    state.text(as_text(payload.get("completion")))
    state.finish(payload.get("stop_reason"))
    return Verdict.RECOGNISED


def _read_mistral(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    for member in as_list(payload.get("outputs")):
        output = as_dict(member)
        state.text(as_text(output.get("text")))
        state.finish(output.get("stop_reason"))
    return Verdict.RECOGNISED


READERS: dict[str, OnPayload] = {
    "outputText": _read_titan,
    "is_finished": _read_cohere,
    "generation": _read_llama,
    "completion": _read_completion,
    "outputs": _read_mistral,
}
"""The member that tells a family, and its reader."""
