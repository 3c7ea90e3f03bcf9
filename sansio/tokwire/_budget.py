"""What all tool calls of one stream share."""

from __future__ import annotations

from ._errors import LimitExceeded
from ._limits import Limits, comparable

__all__: list[str] = []


class CallBudget:
    """What the calls of one stream share: their number, the characters of pending arguments, and the ids in use."""

    __slots__ = ("calls", "characters", "has_halves", "ids", "labels", "max_calls", "max_characters", "name_characters")

    def __init__(self, limits: Limits) -> None:
        self.max_calls = limits.max_tool_calls
        self.max_characters = comparable(limits.max_tool_arguments_bytes)
        self.has_halves = False
        self.ids: set[str] = set()
        self.calls = 0
        self.labels = 0
        self.name_characters = 0
        self.characters = 0

    def add_call(self) -> None:
        """Count one call, or one index that waits for its call.

        Raises:
            LimitExceeded: It is one too many.
        """
        self.calls += 1
        if self.max_calls is not None and self.calls > self.max_calls:
            raise LimitExceeded("max_tool_calls", self.max_calls)

    def add_name(self, count: int) -> None:
        """Count characters of names, which may come in pieces too. They have the bound of arguments, for themselves.

        Raises:
            LimitExceeded: They are too many.
        """
        self.name_characters += count
        if self.name_characters > self.max_characters:
            raise LimitExceeded("max_tool_arguments_bytes", self.max_characters)

    def add_label(self) -> None:
        """Count a choice, a content block or an output item: each has state of its own, whether or not it is a call.

        Raises:
            LimitExceeded: It is one too many.
        """
        self.labels += 1
        if self.max_calls is not None and self.labels > self.max_calls:
            raise LimitExceeded("max_tool_calls", self.max_calls)

    def add_characters(self, count: int) -> None:
        """Count argument characters.

        Raises:
            LimitExceeded: They are too many.
        """
        self.characters += count
        if self.characters > self.max_characters:
            raise LimitExceeded("max_tool_arguments_bytes", self.max_characters)
