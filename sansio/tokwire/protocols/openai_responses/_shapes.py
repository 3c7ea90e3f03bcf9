"""The ordinary shape of a text delta, as a type: an event that fits it holds text of the part that is being written."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..._json import typed_decoder
from ..._state import DecodeState
from ...framing._envelope import NO_SHAPE, TEXT, Shape, expect
from .._readers import as_index
from ._items import Items

__all__: list[str] = []

TEXT_DELTA = "response.output_text.delta"
MAX_SHAPES = 64

_shapes: dict[int, Shape] = {}


def shape_for(index: int) -> Shape:
    """The shape of text deltas of the first part of an item. The first ones are kept: an answer has few items.

    Members stand in the order of the wire: the decoder looks for the next one first.
    """
    shape = _shapes.get(index)
    if shape is None:
        kind = msgspec.defstruct(
            f"TextEventOfItem{index}",
            [
                ("output_index", Literal[index]),
                ("content_index", Literal[0], 0),
                ("delta", str),
                ("error", None, None),
                ("object", None, None),
                ("response", None, None),
            ],
            tag_field="type",
            tag=TEXT_DELTA,
            gc=False,
            kw_only=True,
        )
        shape = _shapes[index] = Shape(TEXT, typed_decoder(kind), lambda event: event.delta)
    return shape


def choose_shape(state: DecodeState, items: Items, payload: dict[str, Any], kind: str) -> None:
    """After an event that was read in full: whether the next one is probably text of the same part."""
    index = as_index(payload.get("output_index"))
    is_text = kind == TEXT_DELTA and payload.get("content_index", 0) == 0
    if not is_text or index is None or state.options.include_raw or state.buffers().has_half or not items.has_text:
        expect(state, NO_SHAPE)
    elif 0 <= index < MAX_SHAPES and items.failed is None:
        expect(state, shape_for(index))
