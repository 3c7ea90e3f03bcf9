"""Reads output items: when they are announced, when they are done, and in the snapshot at the end."""

from __future__ import annotations

from typing import Any

from ..._partial_call import PartialToolCall
from ..._state import DecodeState
from .._readers import as_dict, as_id, as_text, as_word
from ._items import CALL_TYPES, Item, Items, is_call, parts_of

__all__: list[str] = []

PART_CHANNELS = {
    "output_text": "output_text",
    "text": "output_text",
    "refusal": "refusal",
    "summary_text": "summary_text",
    "reasoning_text": "reasoning_text",
}
"""Type of a part to the channel that its text belongs to."""

EMPTY_OBJECT = "{}"
"""What some servers announce a call with before its arguments come."""

Part = tuple[str, int, str]
"""Channel, position and text of a part."""


def texts_of(item: dict[str, Any]) -> list[Part]:
    """The parts of an item that hold text, in wire order."""
    found: list[Part] = []
    for name in [name for name in item if name in ("summary", "content")]:
        for position, part in parts_of(item, name):
            channel = PART_CHANNELS.get(as_word(part.get("type")) or "")
            if channel is not None:
                found.append((channel, position, as_text(part.get("text")) or as_text(part.get("refusal"))))
    return found


def add_part(state: DecodeState, items: Items, item: Item, part: Part, *, is_delta: bool) -> None:
    """Text of one part. What a `.done` repeats is used only for a part that had no delta."""
    channel, position, text = part
    if not text or (not is_delta and (channel, position) in item.parts):
        return
    if channel in ("summary_text", "reasoning_text"):
        if item.channel not in (None, channel):
            return  # the same reasoning in another spelling
        item.channel = channel
        items.has_reasoning = True
        state.reasoning(text)
    elif channel == "refusal":
        items.has_refusal = True
        state.refusal(text)
    else:
        items.has_text = True
        state.text(text)
    if (channel, position) not in item.parts:
        state.record.budget.add_label()
        item.parts.add((channel, position))


def open_item(state: DecodeState, items: Items, entry: Item, item: dict[str, Any]) -> None:
    """Read an item that is announced."""
    if entry.kind is None:
        state.buffers().end_last_call()
    entry.kind = as_word(item.get("type")) or entry.kind
    if is_call(item):
        open_call(state, items, entry, item)
        given = _input_of(item)
        if isinstance(given, str) and given != EMPTY_OBJECT:
            entry.announced = given


def open_call(state: DecodeState, items: Items, entry: Item, item: dict[str, Any]) -> None:
    """Open the tool call of an item that the client runs."""
    kind = as_word(item.get("type"))
    name = as_word(item.get("name")) if kind in ("function_call", "custom_tool_call") else kind
    if entry.call is None:
        buffers = state.buffers()
        entry.call = buffers.start_tool_call(buffers.table.next_index() if entry.index is None else entry.index)
        entry.call.takes_text = kind == "custom_tool_call"
        items.calls.append(entry)
    state.buffers().table.identify(entry.call, as_id(item.get("call_id")), name)
    state.show_delta(entry.call, "", 0)


def finish_item(state: DecodeState, items: Items, entry: Item, item: dict[str, Any]) -> None:
    """Read an item that is done: it fills what no event before it said, and its arguments are the final ones."""
    is_new = entry.kind is None
    entry.kind = as_word(item.get("type")) or entry.kind
    if is_call(item):
        finish_call(state, items, entry, item)
        return
    if is_new:
        state.buffers().end_last_call()
    parts = texts_of(item)
    for part in parts:
        same_kind = sum(known[0] == part[0] for known in parts)
        if same_kind > sum(channel == part[0] for channel, _ in entry.parts):  # positions need not be content indexes
            add_part(state, items, entry, part, is_delta=False)
    if entry.kind == "image_generation_call" and not entry.is_done:
        items.has_image = True
        state.note().count_media("image")
    entry.is_done = True
    _keep_signature(state, items, entry.index, item)


def _keep_signature(state: DecodeState, items: Items, index: int | None, item: dict[str, Any]) -> None:
    data = as_text(item.get("encrypted_content"))
    if data:
        items.has_signature = True
        state.note().sign("encrypted_content", data, block_index=index, item_id=as_word(item.get("id")))


def _input_of(item: dict[str, Any]) -> Any:
    """The input of a call, in whatever form."""
    return item.get(CALL_TYPES[as_text(item.get("type"))] or "")


def finish_call(state: DecodeState, items: Items, entry: Item, item: dict[str, Any]) -> None:
    """Read a call that is done."""
    entry.is_done = True
    if entry.call is None or entry.call.id is None or entry.call.name is None:
        open_call(state, items, entry, item)
    call = entry.call
    assert call is not None
    replace_arguments(state, call, _input_of(item))
    status = item.get("status")
    call.is_whole = status == "completed"
    if status == "incomplete" and not call.fragments():
        call.cut = "the server says that the call is incomplete, and sent no arguments"
    entry.has_final_arguments = True


def replace_arguments(state: DecodeState, call: PartialToolCall, final: object) -> None:
    """Put the final arguments, as text or as a value, in the place of the fragments; empty text says nothing."""
    if isinstance(final, dict | list):
        call.replace("")
        state.extend_tool_call(call, final)
    elif isinstance(final, str) and final:
        call.replace(final)


def settle_calls(state: DecodeState, items: Items) -> None:
    """Before the drain: calls get what only their announcement said."""
    items.end()
    for entry in items:
        call = entry.call
        if call is None:
            continue
        if call.id is None:
            state.buffers().table.identify(call, entry.item_id, None)
        if entry.announced and not entry.has_final_arguments and not call.fragments() and not call.cut:
            state.extend_tool_call(call, entry.announced)


def read_snapshot(state: DecodeState, items: Items, output: list[Any]) -> None:
    """Read the whole answer that the last event repeats: only what nothing before it said."""
    wanted = {
        "output_text": not items.has_text,
        "refusal": not items.has_refusal,
        "summary_text": not items.has_reasoning,
        "reasoning_text": not items.has_reasoning,
    }
    wants_image, wants_signature = not items.has_image, not items.has_signature
    for member in output:
        item = as_dict(member)
        if is_call(item):
            _read_call_of_snapshot(state, items, item)
            continue
        entry = Item(None)
        for part in texts_of(item):
            if wanted[part[0]]:
                add_part(state, items, entry, part, is_delta=False)
        if wants_image and item.get("type") == "image_generation_call":
            state.note().count_media("image")
        if wants_signature:
            _keep_signature(state, items, None, item)


def _read_call_of_snapshot(state: DecodeState, items: Items, item: dict[str, Any]) -> None:
    call_id = as_id(item.get("call_id")) or as_id(item.get("id"))
    known = next((entry for entry in items.calls if call_id is not None and call_id in entry.ids), None)
    if known is None:
        entry = items.of_snapshot(item)
        open_item(state, items, entry, item)
        finish_item(state, items, entry, item)
        return
    assert known.call is not None
    if not known.has_final_arguments and not known.call.fragments():
        finish_call(state, items, known, item)  # nothing but the snapshot says what the arguments are
    elif item.get("status") == "completed":
        known.call.is_whole = True
