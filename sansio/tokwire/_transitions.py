"""The states of a decoder and every move between them, as data.

A decoder is OPEN until it hands out its last event, then DONE, or FAILED once it has raised. `TRANSITIONS` says what
each input does in each phase; the phase CLOSING is OPEN as seen from outside, after `receive_eof`. What the table
does not list cannot happen. The drawing in the docs and the test of the whole product are made from this table.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

from ._errors import LocalProtocolError

__all__ = ["FINISHED", "NEED_DATA", "Need", "StreamState"]


class Need(Enum):
    """What `next_event` answers in place of an event."""

    NEED_DATA = "need data"
    FINISHED = "finished"


NEED_DATA: Final[Literal[Need.NEED_DATA]] = Need.NEED_DATA
"""Nothing is ready: call `receive_data` or `receive_eof`, then ask again."""

FINISHED: Final[Literal[Need.FINISHED]] = Need.FINISHED
"""The stream is over: everything was handed out."""


class StreamState(Enum):
    """Where a decoder stands: OPEN, DONE after its last event, FAILED after its error."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


class Phase(Enum):
    """A state from inside: OPEN is two phases, before and after the end of the body was announced."""

    RECEIVING = "receiving"
    CLOSING = "closing"
    DONE = "done"
    FAILED = "failed"

    __hash__ = object.__hash__  # a member is hashed in C then, and not by its name in Python


RECEIVING, CLOSING, DONE, FAILED = Phase.RECEIVING, Phase.CLOSING, Phase.DONE, Phase.FAILED
"""The phases by themselves: looking up a member of an enum costs more than the rest of the check."""


class Input(Enum):
    """What can happen to a decoder."""

    DATA = "receive_data"
    EOF = "receive_eof"
    EVENT = "event handed out"
    LAST_EVENT = "last event handed out"
    ERROR = "error raised"

    __hash__ = object.__hash__  # as above


EVENT, LAST_EVENT = Input.EVENT, Input.LAST_EVENT
"""By themselves as above."""


TRANSITIONS: dict[tuple[Phase, Input], Phase | type[LocalProtocolError]] = {
    (Phase.RECEIVING, Input.DATA): Phase.RECEIVING,
    (Phase.RECEIVING, Input.EOF): Phase.CLOSING,
    (Phase.RECEIVING, Input.EVENT): Phase.RECEIVING,
    (Phase.RECEIVING, Input.LAST_EVENT): Phase.DONE,
    (Phase.RECEIVING, Input.ERROR): Phase.FAILED,
    (Phase.CLOSING, Input.DATA): LocalProtocolError,
    (Phase.CLOSING, Input.EOF): Phase.CLOSING,
    (Phase.CLOSING, Input.EVENT): Phase.CLOSING,
    (Phase.CLOSING, Input.LAST_EVENT): Phase.DONE,
    (Phase.CLOSING, Input.ERROR): Phase.FAILED,
    (Phase.DONE, Input.DATA): Phase.DONE,
    (Phase.DONE, Input.EOF): Phase.DONE,
    (Phase.FAILED, Input.DATA): Phase.FAILED,
    (Phase.FAILED, Input.EOF): Phase.FAILED,
    (Phase.FAILED, Input.ERROR): Phase.FAILED,
}

STATES: dict[Phase, StreamState] = {
    Phase.RECEIVING: StreamState.OPEN,
    Phase.CLOSING: StreamState.OPEN,
    Phase.DONE: StreamState.DONE,
    Phase.FAILED: StreamState.FAILED,
}


def move(phase: Phase, happened: Input) -> Phase:
    """The phase after an input.

    Raises:
        LocalProtocolError: The caller may not do this in this phase.
    """
    after = TRANSITIONS[phase, happened]
    if isinstance(after, Phase):
        return after
    raise after(f"{happened.value} was called after receive_eof; make a new decoder for the next response")


def checked_bytes(data: object) -> bytes:
    """The data of a read as bytes; what is not `bytes` is copied, since its owner may change it.

    Raises:
        TypeError: It is not a bytes-like object.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError(f"receive_data() takes bytes, bytearray or memoryview, not {type(data).__name__}")
