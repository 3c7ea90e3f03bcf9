"""A tool call under construction: its id, its name, and the fragments of its arguments."""

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
        "_name_size",
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
        self._name: list[str] = []
        self._name_size = 0
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
        return mend_surrogates("".join(self._name)) if self._name else None

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = [name] if name else []
        self._name_size = len(name or "")

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
        texts, loose = self.pieces, self._loose
        if loose:
            texts = [loose[place].text if place in loose else piece for place, piece in enumerate(texts)]
        if self._half:
            texts = [*texts, self._half]
        may_have_halves = self._half or (self._budget is not None and self._budget.has_halves)
        if may_have_halves and any(map(has_surrogate, texts)):
            return [mend_surrogates("".join(texts))]
        return list(filter(None, texts))

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
        if name and (len(name) != self._name_size or name != "".join(self._name)):
            if self._budget is not None:
                self._budget.add_name(len(name))
            self._name.append(name)
            self._name_size += len(name)

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
