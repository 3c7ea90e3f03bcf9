"""`Phase`: the states of a turn."""

from __future__ import annotations

from enum import Enum

__all__: list[str] = []


class Phase(Enum):
    """What the turn waits for."""

    HOOK = "the answer of a hook"
    REQUEST = "a response to its request"
    RESPONSE = "more of the response"
    CLOSE = "its response to be closed"
    TOOLS = "the outcome of tool calls"
    PAUSE = "the time to try again"
    END = "its last events to be taken"
    OVER = "nothing: it is over"
