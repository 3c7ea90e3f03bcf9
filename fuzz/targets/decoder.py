"""Every protocol: the first byte of an input says which one decodes it, whatever the body speaks."""

from __future__ import annotations

from fuzz._invariants import check
from fuzz._plan import plan_of


def one_input(data: bytes) -> None:
    """Decode one input in many ways."""
    check(plan_of(data))
