"""Gemini: the whole way from bytes to events."""

from __future__ import annotations

from fuzz._invariants import check
from fuzz._plan import plan_of


def one_input(data: bytes) -> None:
    """Decode one input in many ways."""
    check(plan_of(data, "gemini"))
