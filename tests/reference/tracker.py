"""P1: which call of a choice a fragment belongs to, where calls are told apart by index, id and name."""

from __future__ import annotations

from dataclasses import dataclass

from .arguments import fragment_text
from .call import Call, Delivered
from .text import call_id, fields, whole_number, word


@dataclass(frozen=True)
class Waiting:
    """A fragment with neither id nor name on an index that is not open."""

    index: int
    arrival: int
    text: str
    fallback: Call


class CallTracker:
    """The calls of one choice: those that are open now, and what was drained before."""

    def __init__(self) -> None:
        self.open: list[Call] = []
        self.waiting: list[Waiting] = []
        self.legacy: Call | None = None
        self.history: list[Delivered] = []

    # ---- finding a call -------------------------------------------------------------------------------------------

    def by_index(self, index: int) -> Call | None:
        """The call opened last on this index."""
        return next((call for call in reversed(self.open) if call.index == index), None)

    def by_id(self, wire_id: str | None) -> Call | None:
        """The open call with this id."""
        if wire_id is None:
            return None
        return next((call for call in reversed(self.open) if call.id == wire_id), None)

    def start(self, index: int | None, arrival: int) -> Call:
        """Open a call; without an index it comes after the highest one."""
        if index is None:
            index = max([call.index or 0 for call in self.open] + [w.index for w in self.waiting], default=-1) + 1
        call = Call(index, arrival)
        self.open.append(call)
        return call

    # ---- OpenAI shape ---------------------------------------------------------------------------------------------

    def fragment(self, arrival: int, entry: dict[str, object]) -> None:
        """One member of `tool_calls`."""
        function = fields(entry.get("function"))
        index = whole_number(entry.get("index"))
        new_id = call_id(entry.get("id"))
        name = word(function.get("name"))
        arguments = function.get("arguments")
        if index is None:
            call: Call | None = self._without_index(arrival, new_id, name)
        else:
            call = self._with_index(arrival, index, new_id, name)
        if call is None:
            text = fragment_text(arguments)
            if text and index is not None:
                self.waiting.append(Waiting(index, arrival, text, self.open[-1]))
            return
        if index is not None and (new_id is not None or name is not None):
            self._claim_waiting(index, call)
        call.merge(new_id, name)
        call.append(arrival, arguments)

    def _with_index(self, arrival: int, index: int, new_id: str | None, name: str | None) -> Call | None:
        """Rules 1 and 2; None for a fragment that has to wait."""
        known = self.by_id(new_id)
        if name is None and known is not None:
            return known
        current = self.by_index(index)
        if current is not None:
            is_another = new_id is not None and name is not None and current.id not in (None, new_id)
            return self.start(index, arrival) if is_another else current
        if new_id is not None or name is not None or not self.open:
            return self.start(index, arrival)
        return None

    def _without_index(self, arrival: int, new_id: str | None, name: str | None) -> Call:
        """Rule 3."""
        known = self.by_id(new_id)
        if known is not None:
            return known
        if new_id is not None or not self.open:
            return self.start(None, arrival)
        return self.open[-1]

    def _claim_waiting(self, index: int, call: Call) -> None:
        """An id or a name came on this index: what waited there belongs to that call."""
        for waiting in self.waiting:
            if waiting.index == index:
                call.append(waiting.arrival, waiting.text)
        self.waiting = [waiting for waiting in self.waiting if waiting.index != index]

    def legacy_fragment(self, arrival: int, function: dict[str, object]) -> None:
        """P3: the legacy `function_call`, a call without an id in a slot of its own."""
        name = word(function.get("name"))
        arguments = function.get("arguments")
        if name is None and not fragment_text(arguments):
            return
        if self.legacy is None:
            self.legacy = Call(None, arrival)
        self.legacy.merge(None, name)
        self.legacy.append(arrival, arguments)

    # ---- the drain ------------------------------------------------------------------------------------------------

    def take_all(self) -> list[Call]:
        """Every open call in the order of the drain; what still waits goes to the call that was the last opened."""
        for waiting in self.waiting:
            waiting.fallback.append(waiting.arrival, waiting.text)
        calls = self.open + ([] if self.legacy is None else [self.legacy])
        self.open = []
        self.waiting = []
        self.legacy = None
        return sorted(calls, key=lambda call: call.place)
