"""The output items of one response, and which of them an event belongs to.

`output_index` is the key. Servers that leave it out are told apart by ids, and where those are missing or rotate, by
age: the rules stand here, once for every kind of event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._budget import CallBudget
from ..._partial_call import PartialToolCall
from .._readers import as_dict, as_id, as_index, as_word

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

ARGUMENT_EVENTS = ("response.function_call_arguments", "response.custom_tool_call_input")
DELTA_CHANNELS = {
    "response.output_text": "output_text",
    "response.refusal": "refusal",
    "response.reasoning_summary_text": "summary_text",
    "response.reasoning_summary": "summary_text",
    "response.reasoning_text": "reasoning_text",
    "response.reasoning": "reasoning_text",
}
"""Types of events, without their last word, to the channel that the text of a part belongs to."""


class Item:
    """One output item.

    Attributes:
        index: Its `output_index`, or None where the server sends none.
        item_id: Its own id, which is not the one to answer with, or None.
        ids: Its id and call id.
        kind: Its type, or None before it was announced.
        is_done: Whether its own `.done` came.
        call: The tool call, where the client runs the item.
        has_final_arguments: Whether a `.done` of its arguments came.
        has_loose_fragments: Whether fragments came that named neither index nor id.
        channel: The spelling of its reasoning that came first.
        announced: Argument text that came with its announcement, used only where nothing follows.
        parts: Parts that had text, by kind and position.
    """

    __slots__ = (
        "announced",
        "call",
        "channel",
        "has_final_arguments",
        "has_loose_fragments",
        "ids",
        "index",
        "is_done",
        "item_id",
        "kind",
        "parts",
    )

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.item_id: str | None = None
        self.ids: set[str] = set()
        self.kind: str | None = None
        self.is_done = False
        self.call: PartialToolCall | None = None
        self.has_final_arguments = False
        self.has_loose_fragments = False
        self.channel: str | None = None
        self.announced = ""
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
        calls: The items that the client runs, in the order in which their calls opened.
        failed: The response of a `response.failed` without an error, which an `error` event may still explain.
        has_text: Whether any text came.
        has_refusal: Whether any refusal came.
        has_reasoning: Whether any reasoning came.
        has_image: Whether a finished image came.
        has_signature: Whether encrypted content came.
    """

    __slots__ = (
        "_budget",
        "_by_id",
        "_by_index",
        "_items",
        "_settled",
        "_settled_by_age",
        "calls",
        "failed",
        "has_image",
        "has_reasoning",
        "has_refusal",
        "has_signature",
        "has_text",
    )

    def __init__(self, budget: CallBudget) -> None:
        self._budget = budget
        self.failed: dict[str, Any] | None = None
        self.has_text = self.has_refusal = self.has_reasoning = False
        self.has_image = self.has_signature = False
        self._items: list[Item] = []
        self._by_index: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._settled_by_age = False
        self._settled = 0  # calls from the oldest on that have their final arguments
        self.calls: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def of_event(self, event: dict[str, Any]) -> Item:
        """The item that an event belongs to: by index, by id, or else the last one."""
        index = as_index(event.get("output_index"))
        known = self._by_id.get(as_id(event.get("item_id")) or "")
        if index is not None:
            return self._at(index, known) or self._add(index)
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
            while self._settled < len(self.calls) and self.calls[self._settled].has_final_arguments:
                self._settled += 1
            if self._settled < len(self.calls):
                self._settled_by_age = True
                return self.calls[self._settled]
        return self.of_event(event)

    def of_item(self, event: dict[str, Any], item: dict[str, Any], *, is_done: bool) -> Item:
        """The entry of an item that is announced or completed, made where there is none."""
        index = as_index(event.get("output_index"))
        found = self._by_ids(item)
        if index is not None:
            found = self._at(index, found)
            if found is not None and _is_another(found, item, is_done=is_done):
                found = None
        elif found is None and is_done and self._items:
            last = self._items[-1]
            found = last if last.kind == item.get("type") and not last.is_done else None
        return self._identify(found or self._add(index), item)

    def of_snapshot(self, item: dict[str, Any]) -> Item:
        """The entry of a call that only the snapshot has: where it has no id, perhaps one announced without."""
        return self._identify(self._add(None), item) if ids_of(item) else self.of_item({}, item, is_done=True)

    def end(self) -> None:
        """Before the last drain: calls that were settled by age and may have got the fragments of another are cut."""
        if self._settled_by_age:
            for item in self.calls:
                if item.call is not None and item.has_loose_fragments and not item.has_final_arguments:
                    item.call.cut = item.call.cut or "its fragments named no item, and its final arguments never came"

    def _at(self, index: int, known: Item | None) -> Item | None:
        """The item under an index; one that was announced without an index gets the first that names it."""
        found = self._by_index.get(index)
        if found is None and known is not None and known.index is None:
            known.index = index
            found = self._by_index[index] = known
        return found

    def _by_ids(self, item: dict[str, Any]) -> Item | None:
        """The item with the same call id, or else the same id and no other call id."""
        found = next((self._by_id[name] for name in ids_of(item) if name in self._by_id), None)
        return None if found is not None and _is_another_call(found, item) else found

    def _identify(self, entry: Item, item: dict[str, Any]) -> Item:
        entry.item_id = entry.item_id or as_id(item.get("id"))
        for name in ids_of(item):
            if name not in self._by_id:
                self._budget.add_label()
            entry.ids.add(name)
            self._by_id[name] = entry
        return entry

    def _add(self, index: int | None) -> Item:
        self._budget.add_label()
        item = Item(index)
        self._items.append(item)
        if index is not None:
            self._by_index[index] = item
        return item


def _is_another(entry: Item, item: dict[str, Any], *, is_done: bool) -> bool:
    """Whether an item is not the one that came before under its index."""
    if _is_another_call(entry, item):
        return entry.is_done or not is_done
    return not is_done and entry.kind is not None and entry.ids.isdisjoint(ids_of(item))


def _is_another_call(entry: Item, item: dict[str, Any]) -> bool:
    """Whether both are calls, with ids to answer with that differ."""
    call_id = as_id(item.get("call_id"))
    known = None if entry.call is None else entry.call.id
    return known is not None and call_id is not None and known != call_id


def position_of(event: dict[str, Any]) -> int:
    """The position of the part of an item that an event belongs to."""
    index = as_index(event.get("content_index"))
    return (as_index(event.get("summary_index")) or 0) if index is None else index


def is_loose(event: dict[str, Any]) -> bool:
    """Whether an event names neither an index nor an id."""
    return as_index(event.get("output_index")) is None and as_id(event.get("item_id")) is None


def ids_of(item: dict[str, Any]) -> list[str]:
    """The ids by which other events may name an item, the one to answer with first."""
    return [word for word in (as_id(item.get("call_id")), as_id(item.get("id"))) if word is not None]


def parts_of(item: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The parts of an item, with their positions."""
    parts = item.get(name)
    for position, part in enumerate(parts if isinstance(parts, list) else []):
        yield position, as_dict(part)
