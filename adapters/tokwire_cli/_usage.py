"""`UsageError`: what was asked for on the command line cannot be done."""

from __future__ import annotations

__all__ = ["UsageError"]


class UsageError(Exception):
    """The arguments contradict each other, or something that they name is not there."""
