"""Reads output items: when they are announced, when they are done, and in the snapshot at the end."""

from __future__ import annotations

from typing import Any

from ..._state import DecodeState
from .._readers import as_dict, as_text, as_word
from ._items import CALL_TYPES, Item, Items, ids_of, is_call, parts_of

__all__: list[str] = []

PART_CHANNELS = {
    "output_text": "output_text",
    "text": "output_text",
    "refusal": "refusal",
    "summary_text": "summary_text",
    "reasoning_text": "reasoning_text",
}
"""Type of a part to the channel that its text belongs to."""


Part = tuple[str, int, str]
"""Channel, position and text of a part."""


def texts_of(item: dict[str, Any]) -> list[Part]:
    """The parts of an item that hold text."""
    found: list[Part] = []
    for name in ("summary", "content"):
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
    item.parts.add((channel, position))


def open_item(state: DecodeState, entry: Item, item: dict[str, Any]) -> None:
    """Read an item that is announced."""
    entry.kind = as_word(item.get("type"))
    state.buffers().end_last_call()
    if is_call(item):
        open_call(state, entry, item)


def open_call(state: DecodeState, entry: Item, item: dict[str, Any]) -> None:
    """Open the tool call of an item that the client runs."""
    kind = as_word(item.get("type"))
    name = as_word(item.get("name")) if kind in ("function_call", "custom_tool_call") else kind
    if entry.call is None:
        buffers = state.buffers()
        entry.call = buffers.start_tool_call(buffers.table.next_index() if entry.index is None else entry.index)
        entry.call.takes_text = kind == "custom_tool_call"
    state.buffers().table.identify(entry.call, as_word(item.get("call_id")) or as_word(item.get("id")), name)
    state.show_delta(entry.call, "", 0)


def finish_item(state: DecodeState, items: Items, entry: Item, item: dict[str, Any]) -> None:
    """Read an item that is done: it fills what no event before it said, and its arguments are the final ones."""
    entry.kind = as_word(item.get("type")) or entry.kind
    entry.is_done = True
    if is_call(item):
        finish_call(state, entry, item)
        return
    state.buffers().end_last_call()
    parts = texts_of(item)
    for channel in sorted({channel for channel, _, _ in parts}):
        own = [part for part in parts if part[0] == channel]
        if len(own) > sum(known == channel for known, _ in entry.parts):  # positions need not be content indexes
            for part in own:
                add_part(state, items, entry, part, is_delta=False)
    if entry.kind == "image_generation_call":
        state.note().count_media("image")
    if as_text(item.get("encrypted_content")):
        item_id = as_word(item.get("id"))
        state.note().sign("encrypted_content", item["encrypted_content"], block_index=entry.index, item_id=item_id)


def finish_call(state: DecodeState, entry: Item, item: dict[str, Any]) -> None:
    """Read a call that is done."""
    if entry.call is None or entry.call.id is None or entry.call.name is None:
        open_call(state, entry, item)
    call = entry.call
    assert call is not None
    given = item.get(CALL_TYPES[as_text(item.get("type"))] or "")
    if isinstance(given, dict | list):
        call.replace("")
        state.extend_tool_call(call, given)
    elif isinstance(given, str) and given:
        call.replace(given)
    status = item.get("status")
    call.is_whole = status == "completed"
    if status == "incomplete" and not call.fragments():
        call.cut = "the server says that the call is incomplete, and sent no arguments"
    entry.has_final_arguments = True


def read_snapshot(state: DecodeState, items: Items, output: list[Any]) -> None:
    """Read the whole answer that the last event repeats: only what nothing before it said."""
    wanted = {
        "output_text": not items.has_text,
        "refusal": not items.has_refusal,
        "summary_text": not items.has_reasoning,
        "reasoning_text": not items.has_reasoning,
    }
    for member in output:
        item = as_dict(member)
        if is_call(item):
            _read_call_of_snapshot(state, items, item)
            continue
        entry = Item(None)
        for part in texts_of(item):
            if wanted[part[0]]:
                add_part(state, items, entry, part, is_delta=False)


def _read_call_of_snapshot(state: DecodeState, items: Items, item: dict[str, Any]) -> None:
    call_id = as_word(item.get("call_id")) or as_word(item.get("id"))
    known = next((entry for entry in items.calls if call_id is not None and call_id in entry.ids), None)
    if known is None:
        entry = items.of_item({}, item, is_done=False) if ids_of(item) else items.of_item({}, item, is_done=True)
        open_item(state, entry, item)
        finish_item(state, items, entry, item)
    elif known.call is not None and item.get("status") == "completed":
        known.call.is_whole = True
