"""The output items of one response, and which of them an event belongs to.

`output_index` is the key. Servers that leave it out are told apart by ids, and where those are missing or rotate, by
age: the rules stand here, once for every kind of event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._calls import PartialToolCall
from .._readers import as_dict, as_index, as_word

__all__: list[str] = []

CALL_TYPES: dict[str, str | None] = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "computer_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
}
"""Items that the client runs, and the member that holds their input."""


class Item:
    """One output item.

    Attributes:
        index: Its `output_index`, or None where the server sends none.
        ids: Its id and call id.
        kind: Its type, or None before it was announced.
        is_done: Whether its own `.done` came.
        call: The tool call, where the client runs the item.
        has_final_arguments: Whether a `.done` of its arguments came.
        has_loose_fragments: Whether fragments came that named neither index nor id.
        channel: The spelling of its reasoning that came first.
        parts: Parts that had text, by kind and position.
    """

    __slots__ = (
        "call",
        "channel",
        "has_final_arguments",
        "has_loose_fragments",
        "ids",
        "index",
        "is_done",
        "kind",
        "parts",
    )

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.ids: set[str] = set()
        self.kind: str | None = None
        self.is_done = False
        self.call: PartialToolCall | None = None
        self.has_final_arguments = False
        self.has_loose_fragments = False
        self.channel: str | None = None
        self.parts: set[tuple[str, int]] = set()


def is_call(item: dict[str, Any]) -> bool:
    """Whether the client runs an item."""
    kind = as_word(item.get("type"))
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    return kind in CALL_TYPES


class Items:
    """The items of one response.

    Attributes:
        failed: The response of a `response.failed` without an error, which an `error` event may still explain.
        has_text: Whether any text came.
        has_refusal: Whether any refusal came.
        has_reasoning: Whether any reasoning came.
    """

    __slots__ = (
        "_by_id",
        "_by_index",
        "_items",
        "_settled_by_age",
        "failed",
        "has_reasoning",
        "has_refusal",
        "has_text",
    )

    def __init__(self) -> None:
        self.failed: dict[str, Any] | None = None
        self.has_text = self.has_refusal = self.has_reasoning = False
        self._items: list[Item] = []
        self._by_index: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._settled_by_age = False

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    @property
    def calls(self) -> list[Item]:
        """The items that the client runs."""
        return [item for item in self._items if item.call is not None]

    def of_event(self, event: dict[str, Any]) -> Item:
        """The item that an event belongs to: by index, by id, or else the last one."""
        index = as_index(event.get("output_index"))
        if index is not None:
            return self._by_index.get(index) or self._add(index)
        known = self._by_id.get(as_word(event.get("item_id")) or "")
        if known is not None:
            return known
        return self._items[-1] if self._items else self._add(None)

    def of_fragment(self, event: dict[str, Any]) -> Item:
        """The item that a fragment of arguments belongs to."""
        item = self.of_event(event)
        if is_loose(event):
            item.has_loose_fragments = True
        return item

    def of_final_arguments(self, event: dict[str, Any]) -> Item:
        """The item whose arguments an event completes: without index and id the oldest that still waits for them."""
        if is_loose(event):
            waiting = [item for item in self.calls if not item.has_final_arguments]
            if waiting:
                self._settled_by_age = True
                return waiting[0]
        return self.of_event(event)

    def of_item(self, event: dict[str, Any], item: dict[str, Any], *, is_done: bool) -> Item:
        """The entry of an item that is announced or completed, made where there is none."""
        index = as_index(event.get("output_index"))
        ids = ids_of(item)
        if index is not None:
            found = self._by_index.get(index)
            if found is None or (not is_done and found.kind is not None and found.ids.isdisjoint(ids)):
                found = self._add(index)
        else:
            found = next((self._by_id[name] for name in ids if name in self._by_id), None)
            last = self._items[-1] if self._items else None
            if found is None and is_done and last is not None and last.kind == item.get("type") and not last.is_done:
                found = last
            if found is None:
                found = self._add(None)
        found.ids |= ids
        for name in ids:
            self._by_id[name] = found
        return found

    def knows(self, call_id: str) -> bool:
        """Whether an item has this id."""
        return call_id in self._by_id

    def end(self) -> None:
        """Before the last drain: calls that were settled by age and may have got the fragments of another are cut."""
        if self._settled_by_age:
            for item in self.calls:
                if item.call is not None and item.has_loose_fragments and not item.has_final_arguments:
                    item.call.cut = item.call.cut or "its fragments named no item, and its final arguments never came"

    def _add(self, index: int | None) -> Item:
        item = Item(index)
        self._items.append(item)
        if index is not None:
            self._by_index[index] = item
        return item


def is_loose(event: dict[str, Any]) -> bool:
    """Whether an event names neither an index nor an id."""
    return as_index(event.get("output_index")) is None and as_word(event.get("item_id")) is None


def ids_of(item: dict[str, Any]) -> set[str]:
    """The ids by which other events may name an item."""
    return {word for word in (as_word(item.get("id")), as_word(item.get("call_id"))) if word is not None}


def parts_of(item: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The parts of an item, with their positions."""
    parts = item.get(name)
    for position, part in enumerate(parts if isinstance(parts, list) else []):
        yield position, as_dict(part)
