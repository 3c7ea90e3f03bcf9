"""The ordinary shape of a payload, and the reader of events that fit it: one candidate, whose one part is text.

A payload also repeats the counts so far. So a shape has the counts of the last payload that was read in full, each with
its type, and no others: those of a payload that fits say everything anew, and the ones before it can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ..._blocks import TextBlock
from ..._events import Block, StreamEvent
from ..._json import nesting_exceeds, refuse, typed_decoder
from ..._state import DecodeState
from .._readers import as_dict
from ._counts import LastCounts

__all__: list[str] = []

LEAD = b"data: "
MAX_SHAPES = 64
COUNTS = {
    "promptTokenCount": int,
    "candidatesTokenCount": int,
    "totalTokenCount": int,
    "cachedContentTokenCount": int,
    "promptTokensDetails": list,
    "thoughtsTokenCount": int,
    "toolUsePromptTokenCount": int,
    "cacheTokensDetails": list,
    "candidatesTokensDetails": list,
    "toolUsePromptTokensDetails": list,
    "trafficType": str,
}
"""The members of a usage object that a shape can have, with the types of their values."""

Nothing = Literal["", None]


class Part(Struct, gc=False, forbid_unknown_fields=True):
    """A part that is nothing but text of the answer."""

    text: str


class Content(Struct, gc=False):
    """Content of one part."""

    parts: tuple[Part]


class Candidate(Struct, gc=False, rename="camel"):
    """The first candidate, which goes on."""

    content: Content
    index: Literal[0] = 0
    finish_reason: Nothing = None


class Chunk(Struct, gc=False):
    """A payload without an error. What it says of the prompt means nothing beside a candidate."""

    candidates: tuple[Candidate]
    error: None = None
    object: None = None
    type: None = None


_decoders: dict[tuple[str, ...], Any] = {}


def decoder_for(counts: tuple[str, ...], absent: tuple[str, ...]) -> Any:
    """The typed decoder for payloads with exactly these counts and without these members. The first ones are kept."""
    key = (*counts, "", *absent)
    decoder = _decoders.get(key, refuse)
    if decoder is refuse and len(_decoders) < MAX_SHAPES:
        usage: Any = (None, None)
        if counts:
            members = [(name, list[Raw] if COUNTS[name] is list else COUNTS[name]) for name in counts]
            usage = (msgspec.defstruct("Counts", members, gc=False, forbid_unknown_fields=True),)
        fields = [("usageMetadata", *usage), *((name, None, None) for name in absent)]
        kind = msgspec.defstruct("TextChunk", fields, bases=(Chunk,), gc=False, kw_only=True)
        decoder = _decoders[key] = typed_decoder(kind)
    return decoder


def text_reader(decode: Callable[[bytes], Any], counts: LastCounts, max_depth: int | None) -> Any:
    """A reader of events with text."""
    shallow = 0 if max_depth is None else max_depth  # shorter payloads cannot be nested deeper

    def read(event: bytes) -> StreamEvent | None:
        payload = event.removeprefix(LEAD)
        if payload is event or 10 in payload or 13 in payload:
            raise ValueError
        if len(payload) > shallow and nesting_exceeds(payload, max_depth):
            raise ValueError
        chunk = decode(payload)
        counts.last = chunk.usageMetadata
        text = chunk.candidates[0].content.parts[0].text
        return Block(TextBlock(text)) if text else None

    return read


def choose_reader(state: DecodeState, payload: dict[str, Any], counts: LastCounts | None) -> None:
    """After a payload that was read in full: the reader of the next event, if any is safe to expect."""
    state.hot_decode = refuse
    usage = as_dict(payload.get("usageMetadata"))
    is_countable = all(COUNTS.get(name) is type(value) for name, value in usage.items())
    if is_countable and holds_text(payload) and not state.options.include_raw and not state.buffers().has_half:
        known = {"responseId": state.response_id, "modelVersion": state.model}
        decode = decoder_for(tuple(usage), tuple(name for name, value in known.items() if not value))
        state.hot_decode = text_reader(decode, counts or LastCounts(), state.limits.max_json_depth)


def holds_text(payload: dict[str, Any]) -> bool:
    """Whether a payload holds one part of the first candidate, and that is text and no call."""
    candidates = payload.get("candidates")
    candidate = as_dict(candidates[0]) if isinstance(candidates, list) and len(candidates) == 1 else {}
    parts = as_dict(candidate.get("content")).get("parts")
    part = as_dict(parts[0]) if isinstance(parts, list) and len(parts) == 1 else {}
    text = part.get("text")
    is_alone = candidate.get("index") in (None, 0) and "functionCall" not in part
    return isinstance(text, str) and bool(text) and is_alone
