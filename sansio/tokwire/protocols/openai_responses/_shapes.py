"""The ordinary shape of a delta, as a type: an event that fits it continues what is being written at its place."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._shape import NO_SHAPE, REASONING, TEXT, TOOL_CALL, Shape, leads_of
from .._readers import as_index
from ._items import ARGUMENT_EVENTS, DELTA_CHANNELS, Items, position_of

__all__: list[str] = []

MAX_INDEX = 64
MAX_SHAPES = 512
KINDS = {"output_text": TEXT, "summary_text": REASONING, "reasoning_text": REASONING}

_shapes: dict[tuple[str, int, int], Shape] = {}


def shape_for(event: str, index: int, position: int) -> Shape:
    """The shape of deltas of one type for one part of one item. The first ones are kept: an answer has few items."""
    key = event, index, position
    shape = _shapes.get(key, NO_SHAPE)
    if shape is NO_SHAPE and len(_shapes) < MAX_SHAPES:
        channel = DELTA_CHANNELS.get(event.removesuffix(".delta"))
        place = (Literal[position], 0) if position == 0 else (Literal[position],)
        is_summary = channel == "summary_text"
        kind = msgspec.defstruct(
            "Delta",
            [
                ("type", Literal[event]),
                ("output_index", Literal[index]),
                *([("content_index", None, None)] if is_summary else [("content_index", *place)]),
                ("delta", str),
                *([("summary_index", *place)] if is_summary else [("summary_index", None, None)]),
                ("error", None, None),
                ("object", None, None),
                ("response", None, None),
            ],
            gc=False,
            kw_only=True,
        )
        shape = _shapes[key] = Shape(
            leads_of(event),
            TOOL_CALL if channel is None else KINDS[channel],
            typed_decoder(kind),
            lambda message: message.delta,
            lambda message: message.output_index,
        )
    return shape


def choose_shape(state: DecodeState, items: Items, payload: dict[str, Any], event: str) -> None:
    """After an event that was read in full: what the next one probably holds, if anything is safe to expect."""
    state.expect(_next_shape(state, items, payload, event))


def _next_shape(state: DecodeState, items: Items, payload: dict[str, Any], event: str) -> Shape:
    stem, _, ending = event.rpartition(".")
    index, position = as_index(payload.get("output_index")), position_of(payload)
    if ending != "delta" or index is None or not 0 <= index < MAX_INDEX or not 0 <= position < MAX_INDEX:
        return NO_SHAPE
    if state.options.include_raw or items.failed is not None or state.buffers().has_half:
        return NO_SHAPE
    item = items.of_event(payload)
    if stem in ARGUMENT_EVENTS:
        if item.call is None or not state.has_plain_arguments or state.buffers().channel != "tool_call":
            return NO_SHAPE
        state.open_calls = {index: item.call}
        return shape_for(event, index, position)
    channel = DELTA_CHANNELS.get(stem, "")
    is_known = (channel, position) in item.parts and channel in KINDS
    return shape_for(event, index, position) if is_known else NO_SHAPE
