"""`FinishReason`: why the model stopped, told apart from not being told."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

__all__ = ["FinishReason"]


class FinishReason(Enum):
    """Why the model stopped generating.

    The set is open: a word that tokwire does not know is kept verbatim by `other`, so compare with the constants and
    expect anything else. `UNSPECIFIED` means that the server never said; it is neither an error nor `STOP`.
    `MAX_TOOL_ITERATIONS` comes from the client's own tool loop and never from a server.
    """

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"
    MAX_TOOL_ITERATIONS = "max_tool_iterations"
    UNSPECIFIED = "unspecified"

    @classmethod
    def other(cls, raw: str) -> FinishReason:
        """A reason outside the known set, `raw` kept exactly as the server sent it, casing included."""
        reason = object.__new__(cls)
        # An enum member encodes as its value; an unknown word is a value of its own that no constant equals.
        reason._value_ = "other"
        reason._name_ = "OTHER"
        reason.__dict__["_raw"] = raw
        return reason

    @classmethod
    def from_wire(cls, raw: str) -> FinishReason:
        """The reason for one of the OpenAI words `stop`, `length`, `tool_calls`, `content_filter`, in any ASCII case.

        Any other word becomes `other(raw)`, also `unspecified` and `max_tool_iterations`, which no server can claim.
        """
        return reason_for(raw, OPENAI_WORDS)

    def as_str(self) -> str:
        """The wire word; for an unknown reason the server's own text, for `UNSPECIFIED` the word `unspecified`."""
        raw: str | None = self.__dict__.get("_raw")
        return self.value if raw is None else raw

    @property
    def is_truncated(self) -> bool:
        """True when the token limit cut the answer: retry with a larger budget."""
        return self is FinishReason.LENGTH

    @property
    def is_other(self) -> bool:
        """True when the word is outside the known set; `str()` gives it verbatim."""
        return "_raw" in self.__dict__

    def __str__(self) -> str:
        return self.as_str()

    def __repr__(self) -> str:
        return f"FinishReason.other({self.as_str()!r})" if self.is_other else f"FinishReason.{self.name}"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, FinishReason) and self.is_other and other.is_other and self.as_str() == other.as_str()

    def __hash__(self) -> int:
        return hash((self.is_other, self.as_str()))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return (FinishReason.other, (self.as_str(),)) if self.is_other else (FinishReason, (self.value,))

    def __deepcopy__(self, memo: dict[int, Any]) -> FinishReason:
        return self


OPENAI_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {
        word.value: word
        for word in (FinishReason.STOP, FinishReason.LENGTH, FinishReason.TOOL_CALLS, FinishReason.CONTENT_FILTER)
    }
)


def reason_for(raw: str, words: Mapping[str, FinishReason]) -> FinishReason:
    """Look `raw` up in `words` (lower-case keys) without regard to ASCII case; an unknown word is kept verbatim."""
    known = words.get(raw.lower()) if raw.isascii() else None
    return FinishReason.other(raw) if known is None else known
