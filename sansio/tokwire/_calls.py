"""Tool calls under construction, and which of them a fragment belongs to.

Servers disagree about how a fragment names its call: by index, by id, by both, by neither, by an index that is wrong.
`ToolCallTable` holds the calls of one choice that are not drained yet and settles each fragment by one set of rules.
"""

from __future__ import annotations

from ._budget import CallBudget
from ._json import has_surrogate, mend_surrogates

__all__ = ["PartialToolCall"]

LEGACY_INDEX = -0.5
"""Where the `function_call` of old servers sorts: before index 0, in a slot that no index can name."""


class LooseFragment:
    """An argument fragment under an index that has no call yet, at its place among another call's fragments."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class PartialToolCall:
    """A tool call that is being assembled.

    Attributes:
        id: The id to answer with, or None as long as it has not come.
        index: The label under which the server sends it; None for the slot of the legacy `function_call`.
        ordinal: Place in the order of opening in its choice, from 0.
        takes_text: Whether the arguments are text for the tool itself and not JSON.
        is_whole: Whether the server said that the call is complete, so that it may have no arguments.
        cut: Why the server says that the arguments are not all there; empty where it does not say so.
    """

    __slots__ = (
        "_budget",
        "_half",
        "_loose",
        "_name",
        "cut",
        "id",
        "index",
        "is_whole",
        "ordinal",
        "pieces",
        "takes_text",
    )

    def __init__(self, index: int | None = None, ordinal: int = 0, budget: CallBudget | None = None) -> None:
        self.id: str | None = None
        self._name: str | None = None
        self.index = index
        self.ordinal = ordinal
        self.cut = ""
        self.takes_text = False
        self.is_whole = False
        self.pieces: list[str] = []
        self._loose: dict[int, LooseFragment] | None = None
        self._half = ""
        self._budget = budget

    @property
    def name(self) -> str | None:
        """The tool's name, or None as long as it has not come."""
        return None if self._name is None else mend_surrogates(self._name)

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name

    @property
    def sort_key(self) -> float:
        """Where the call comes in a drain; calls of one index keep the order of their arrival."""
        return LEGACY_INDEX if self.index is None else self.index

    @property
    def arguments(self) -> str:
        """The argument text so far."""
        return "".join(self.fragments())

    def fragments(self) -> list[str]:
        """The argument text in the pieces in which it came, empty ones left out."""
        loose = self._loose or {}
        texts = [loose[place].text if place in loose else piece for place, piece in enumerate(self.pieces)]
        if self._half:
            texts.append(self._half)
        may_have_halves = self._half or (self._budget is not None and self._budget.has_halves)
        if may_have_halves and any(map(has_surrogate, texts)):
            return [mend_surrogates("".join(texts))]
        return [text for text in texts if text]

    @property
    def size(self) -> int:
        """Characters of argument text that the call holds."""
        loose = self._loose.values() if self._loose else ()
        return sum(map(len, self.pieces)) + sum(len(fragment.text) for fragment in loose)

    def append(self, text: str) -> str:
        """Add a fragment of argument text. Returns what of it can be shown: half a surrogate pair waits.

        Raises:
            LimitExceeded: The stream holds too many argument characters.
        """
        if self._half or has_surrogate(text):
            if self._budget is not None:
                self._budget.has_halves = True
            text = self._half + text
            self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
            text = mend_surrogates(text[:-1] if self._half else text)
        if self._budget is not None:
            self._budget.add_characters(len(text))
        self.pieces.append(text)
        return text

    def append_quick(self, text: str) -> None:
        """Add a fragment of text that came whole, without half a surrogate pair.

        Raises:
            ValueError: It is too much; `append` says so properly.
        """
        budget = self._budget
        assert budget is not None
        characters = budget.characters + len(text)
        if characters > budget.max_characters:
            raise ValueError
        budget.characters = characters
        if text:
            self.pieces.append(text)

    def replace(self, text: str) -> None:
        """Put `text` in the place of all fragments so far."""
        if self._budget is not None:
            self._budget.characters -= self.size
        self.pieces.clear()
        self._loose, self._half = None, ""
        self.append(text)

    def identify(self, call_id: str | None, name: str | None) -> None:
        """Merge an id and a name: the first id stays; a name that differs from the one there is its next piece."""
        if self.id is None:
            self.id = call_id
        if name and name != self._name:
            self._name = (self._name or "") + name

    def hold_place(self, fragment: LooseFragment) -> None:
        """Keep a place for a fragment that is this call's unless its index turns out to be another call."""
        if self._loose is None:
            self._loose = {}
        if self._half:
            self.pieces.append(self._half)
            if self._budget is not None:
                self._budget.add_characters(len(self._half))
            self._half = ""
        self._loose[len(self.pieces)] = fragment
        self.pieces.append("")


class ToolCallTable:
    """The calls of one choice that wait for the drain.

    Attributes:
        calls: The calls, in the order in which they opened.
        by_index: Index to the call that its fragments continue.
        legacy: The call in the slot of the legacy `function_call`, or None.
    """

    __slots__ = ("_budget", "_by_id", "_highest", "_ordinal", "_waiting", "by_index", "calls", "legacy")

    def __init__(self, budget: CallBudget) -> None:
        self._budget = budget
        self.calls: list[PartialToolCall] = []
        self.legacy: PartialToolCall | None = None
        self.by_index: dict[int, PartialToolCall] = {}
        self._by_id: dict[str, PartialToolCall] = {}
        self._highest: int | None = None
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
        numbered = [call for call in self.calls if call.index is not None] if self.legacy else self.calls
        if call_id is not None or not numbered:
            return self.open(self.next_index())
        return numbered[-1]

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
            self.legacy = self._highest = None
            self._budget.characters -= sum(call.size for call in calls)
        return calls

    def next_index(self) -> int:
        """The label of a call that the server gave none."""
        return 0 if self._highest is None else self._highest + 1
