"""Tool calls under construction, and which of them a fragment belongs to.

Servers disagree about how a fragment names its call: by index, by id, by both, by neither, by an index that is wrong.
`ToolCallTable` holds the calls of one choice that are not drained yet and settles each fragment by one set of rules.
"""

from __future__ import annotations

from ._budget import CallBudget
from ._json import has_surrogate
from ._partial_call import LooseFragment, PartialToolCall

__all__: list[str] = []


class ToolCallTable:
    """The calls of one choice that wait for the drain.

    Attributes:
        calls: The calls, in the order in which they opened.
        by_index: Index to the call that its fragments continue.
        legacy: The call in the slot of the legacy `function_call`, or None.
    """

    __slots__ = (
        "_budget",
        "_by_id",
        "_highest",
        "_last_numbered",
        "_ordinal",
        "_waiting",
        "by_index",
        "calls",
        "legacy",
    )

    def __init__(self, budget: CallBudget) -> None:
        self._budget = budget
        self.calls: list[PartialToolCall] = []
        self.legacy: PartialToolCall | None = None
        self.by_index: dict[int, PartialToolCall] = {}
        self._by_id: dict[str, PartialToolCall] = {}
        self._highest: int | None = None
        self._last_numbered: PartialToolCall | None = None
        self._waiting: dict[int, list[LooseFragment]] = {}
        self._ordinal = 0

    def at(self, index: int) -> PartialToolCall | None:
        """The open call that fragments with this index continue, or None."""
        return self.by_index.get(index)

    def open(self, index: int | None) -> PartialToolCall:
        """Open a call under a label; an older one under the same label stays, but gets no more fragments.

        Raises:
            LimitExceeded: The stream has too many calls.
        """
        waiting = [] if index is None else self._waiting.pop(index, [])
        if not waiting:  # an index that waits was counted when it began to wait
            self._budget.add_call()
        call = PartialToolCall(index, self._ordinal, self._budget)
        self._ordinal += 1
        self.calls.append(call)
        if index is None:
            self.legacy = call
        else:
            self._last_numbered = call
            self.by_index[index] = call
            self._highest = index if self._highest is None else max(index, self._highest)
        for fragment in waiting:
            call.pieces.append(fragment.text)
            fragment.text = ""
        return call

    def merge(self, index: int | None, call_id: str | None, name: str | None) -> PartialToolCall | None:
        """The call that a fragment of an OpenAI-shaped protocol belongs to, opened if need be, its id and name merged.

        None: it has neither id nor name, its index has no call, and others are open. `wait` takes such a fragment.

        Raises:
            LimitExceeded: The stream has too many calls.
        """
        call = self._find(index, call_id, name)
        if call is not None:
            self.identify(call, call_id, name)
        return call

    def identify(self, call: PartialToolCall, call_id: str | None, name: str | None) -> None:
        """Give a call of this table its id and name, or a further piece of its name."""
        call.identify(call_id, name)
        if call.id is not None:
            self._by_id[call.id] = call
            self._budget.ids.add(call.id)

    def _find(self, index: int | None, call_id: str | None, name: str | None) -> PartialToolCall | None:
        call = None if index is None else self.by_index.get(index)
        if call is not None and (call_id is None or call_id == call.id):
            return call
        if call_id is not None and (name is None or index is None):
            known = self._by_id.get(call_id)
            if known is not None:
                return known
        if index is None:
            return self._without_index(call_id)
        if call is not None:
            return self.open(index) if name is not None and call.id is not None else call
        if call_id is not None or name is not None or not self.by_index:
            return self.open(index)
        return None

    def _without_index(self, call_id: str | None) -> PartialToolCall:
        if call_id is not None or self._last_numbered is None:
            return self.open(self.next_index())
        return self._last_numbered

    def wait(self, index: int, text: str) -> PartialToolCall:
        """Keep a fragment under an index without a call. Returns the call that it continues for the time being."""
        fragments = self._waiting.get(index)
        if fragments is None:
            self._budget.add_call()
            fragments = self._waiting[index] = []
            self._highest = index if self._highest is None else max(index, self._highest)
        self._budget.add_characters(len(text))
        fragment = LooseFragment(text)
        self._budget.has_halves |= has_surrogate(text)
        fragments.append(fragment)
        last = self.calls[-1]
        last.hold_place(fragment)
        return last

    def legacy_call(self) -> PartialToolCall:
        """The slot of the `function_call` of old servers, which has neither index nor id."""
        return self.open(None) if self.legacy is None else self.legacy

    def take(self) -> list[PartialToolCall]:
        """Hand over all calls, in the order of opening, and forget them."""
        calls = self.calls
        if calls:
            self.calls = []
            self.by_index.clear()
            self._by_id.clear()
            self._waiting.clear()
            self.legacy = self._highest = self._last_numbered = None
            self._budget.characters -= sum(call.size for call in calls)
        return calls

    def next_index(self) -> int:
        """The label of a call that the server gave none."""
        return 0 if self._highest is None else self._highest + 1
