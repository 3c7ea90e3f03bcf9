"""The token counts of Gemini, which stand in every payload: the last ones are all that matters, once somebody asks."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from ..._events import Usage
from ..._json import parse_payload
from ..._state import DecodeState
from ..._token_counts import CountPaths, TokenCounts

__all__: list[str] = []

USAGE: CountPaths = {
    "input_tokens": (("promptTokenCount",),),
    "output_tokens": (("candidatesTokenCount",),),
    "total_tokens": (("totalTokenCount",),),
    "cached_tokens": (("cachedContentTokenCount",),),
    "reasoning_tokens": (("thoughtsTokenCount",),),
}


class LastCounts(TokenCounts):
    """Counts of which the last ones are looked at when somebody asks, or when others come.

    Attributes:
        last: A usage object that says of everything what the ones before it said, or None.
    """

    __slots__ = ("last",)

    def __init__(self) -> None:
        super().__init__()
        self.last: Struct | None = None

    def add(self, raw: dict[str, Any], paths: CountPaths) -> None:
        """Take one usage object of the server."""
        self._settle()
        super().add(raw, paths)

    def event(self) -> Usage:
        """The counts so far."""
        self._settle()
        return super().event()

    def _settle(self) -> None:
        if self.last is not None:
            last, self.last = asdict(self.last), None
            super().add({name: _value(value) for name, value in last.items()}, USAGE)


def _value(member: object) -> object:
    """What a member of a usage object holds; of a list, which a shape does not look into, the parsed entries."""
    return [parse_payload(bytes(entry), None) for entry in member] if isinstance(member, list) else member


def take_counts(state: DecodeState, raw: object) -> LastCounts | None:
    """Take the counts of a payload that is read in full. All counts of the stream; None as long as it sent none."""
    if state._counts is None and isinstance(raw, dict) and raw:
        state._counts = LastCounts()
    state.usage(raw, USAGE)
    counts = state._counts
    assert counts is None or isinstance(counts, LastCounts)
    return counts
