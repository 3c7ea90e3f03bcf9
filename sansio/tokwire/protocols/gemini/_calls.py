"""The function calls of Gemini, which come whole or in fragments with the paths where they belong."""

from __future__ import annotations

from typing import Any

from ..._arguments import argument_text
from ..._json import value_text
from ..._partial_call import PartialToolCall
from ..._state import DecodeState
from .._gemini_arguments import ArgumentTree, PathError
from .._readers import as_dict, as_id, as_list, as_word

__all__: list[str] = []

STILL_CONTINUING = "the server said that its arguments would continue, and they did not"


class HeldCall:
    """A call that is not drained yet.

    Attributes:
        call: The call.
        choice: The choice it belongs to.
        arguments: Its last arguments that came whole, or None.
        tree: Its arguments that came in fragments, or None.
        counted: Characters of the tree that count against the limit and are not in the call yet.
    """

    __slots__ = ("arguments", "call", "choice", "counted", "tree")

    def __init__(self, call: PartialToolCall, choice: int) -> None:
        self.call = call
        self.choice = choice
        self.arguments: dict[str, Any] | None = None
        self.tree: ArgumentTree | None = None
        self.counted = 0


class GeminiCalls:
    """The function calls of one stream that are not drained yet.

    Attributes:
        has_candidates: Whether any candidate came.
    """

    __slots__ = ("_by_id", "_continuing", "_state", "has_candidates")

    def __init__(self, state: DecodeState) -> None:
        self.has_candidates = False
        self._state = state
        self._by_id: dict[int, dict[str, HeldCall]] = {}
        self._continuing: dict[int, dict[HeldCall, None]] = {}

    def take(self, part: dict[str, Any], choice: int) -> PartialToolCall | None:
        """Read one function call, or one fragment of it. Returns the call; None where nothing was said of it."""
        call_id, name = as_id(part.get("id")), as_word(part.get("name"))
        held = self._find(call_id, name, choice)
        if held is None:
            if call_id is None and name is None and not part.get("args") and not part.get("partialArgs"):
                return None
            held = HeldCall(self._state.take_tool_call(call_id, name, None, choice), choice)
            if call_id is not None:
                self._by_id.setdefault(choice, {})[call_id] = held
        elif name is not None:
            held.call.identify(None, name)
        self._fill(held, part)
        self._note_continuing(held, is_continuing=part.get("willContinue") is True)
        return held.call

    def settle(self, choice: int | None) -> None:
        """Before a drain: a call that was to continue is cut, and no later fragment belongs to a drained call."""
        for number in list(self._continuing) if choice is None else [choice]:
            for held in self._continuing.pop(number, {}):
                self._write(held)
                held.call.cut = held.call.cut or STILL_CONTINUING
            self._by_id.pop(number, None)

    def _find(self, call_id: str | None, name: str | None, choice: int) -> HeldCall | None:
        if call_id is not None:
            return self._by_id.get(choice, {}).get(call_id)
        continuing = self._continuing.get(choice)
        return next(reversed(continuing)) if name is None and continuing else None

    def _fill(self, held: HeldCall, part: dict[str, Any]) -> None:
        args = part.get("args")
        if isinstance(args, dict | list | str) and not (held.tree is not None and not args):
            self._forget_tree(held)
            held.arguments = args if isinstance(args, dict) else None
            held.call.replace(argument_text(args))
        entries = as_list(part.get("partialArgs"))
        if entries and held.tree is None:
            held.tree = ArgumentTree(self._state.limits.max_json_depth, held.arguments or {})
        for entry in entries:
            self._put(held, as_dict(entry))

    def _put(self, held: HeldCall, entry: dict[str, Any]) -> None:
        assert held.tree is not None
        before = held.tree.characters
        try:
            held.tree.put(entry)
        except PathError as error:
            held.call.cut = held.call.cut or str(error)
        grown = held.tree.characters - before
        held.counted += grown
        self._state.record.budget.add_characters(grown)

    def _forget_tree(self, held: HeldCall) -> None:
        held.tree = None
        self._state.record.budget.characters -= held.counted
        held.counted = 0

    def _write(self, held: HeldCall) -> None:
        """Put the arguments that came in fragments into the call."""
        if held.tree is not None:
            self._state.record.budget.characters -= held.counted
            held.counted = 0
            held.call.replace(value_text(held.tree.value()))

    def _note_continuing(self, held: HeldCall, *, is_continuing: bool) -> None:
        continuing = self._continuing.setdefault(held.choice, {})
        continuing.pop(held, None)
        if is_continuing:
            continuing[held] = None
        else:
            self._write(held)
