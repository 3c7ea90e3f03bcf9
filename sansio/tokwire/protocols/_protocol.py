"""`ApiProtocol`: all that differs between one streaming API and the next.

A protocol is a value of this type: its names, its framing, its words, and the functions that read its payloads. To
decode an API that tokwire does not know, make one and pass it to `StreamDecoder`, or register it to use it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from .._events import StreamEvent
from .._finish import OPENAI_WORDS, FinishReason
from .._intake import Intake
from .._limits import Limits
from .._state import DecodeState
from ..framing._frames import Framing
from ..framing._sse_body import SSEBody

__all__ = ["ApiProtocol", "Verdict"]


class Verdict(Enum):
    """What a protocol says of a payload.

    `RECOGNISED` is its own, `UNKNOWN` is not, and `HEARTBEAT` is neither: it proves nothing.
    """

    RECOGNISED = "recognised"
    UNKNOWN = "unknown"
    HEARTBEAT = "heartbeat"


RECOGNISED, UNKNOWN = Verdict.RECOGNISED, Verdict.UNKNOWN
"""By themselves: looking up a member of an enum costs more than the test of it."""

HEARTBEATS = frozenset({"ping", "keepalive"})


def is_heartbeat(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload only says that the connection lives, by its type or, without one, by its SSE name."""
    kind = payload.get("type")
    return (kind if isinstance(kind, str) else sse_name) in HEARTBEATS


OnPayload = Callable[[DecodeState, dict[str, Any], str | None], Verdict]


def never(payload: object, sse_name: str | None) -> bool:
    """The marks of a protocol that cannot be detected."""
    return False


def nothing_left(state: DecodeState) -> None:
    """What most protocols do at the end of the body: nothing."""


class ApiProtocol(Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """One streaming API.

    Attributes:
        name: Its name, for `StreamDecoder` and `--protocol`.
        aliases: Other names for it.
        on_payload: Reads one payload into the state: `(state, payload, sse_name) -> Verdict`. Never called with
            anything but a JSON object. Raise `ValueError` for a payload that breaks the protocol; the message says how.
        recognises: Whether a payload can be this protocol's, loosely: `(payload, sse_name) -> bool`. Pure.
        marks: Whether a payload proves this protocol, strictly, for detection: `(payload, sse_name) -> bool`. Pure.
        framing: Makes the framing of one body.
        on_body: Reads a body that is one JSON answer in place of a stream; `on_payload` where it is None.
        on_eof: Called before the last drain.
        finish_words: Finish words in lower case, with their meaning; any other word is kept verbatim.
        error_statuses: Words for kinds of error, with the HTTP status that the API documents for each.
        done_ends: Whether `[DONE]` ends the stream at once.
        makes_ids: Whether calls often have no id on the wire, so that one is always made.
        last_reason_wins: Whether a later finish word replaces an earlier one.
        events: The generator behind `StreamDecoder.events`, where a protocol has a quicker one than the default.
    """

    name: str
    aliases: tuple[str, ...] = ()
    on_payload: OnPayload
    recognises: Callable[[Mapping[str, Any], str | None], bool]
    marks: Callable[[Mapping[str, Any], str | None], bool] = never
    framing: Callable[[Limits], Framing] = SSEBody
    on_body: OnPayload | None = None
    on_eof: Callable[[DecodeState], None] = nothing_left
    finish_words: Mapping[str, FinishReason] = OPENAI_WORDS
    error_statuses: Mapping[str, int] = {}
    done_ends: bool = False
    makes_ids: bool = False
    last_reason_wins: bool = False
    events: Callable[[Intake], Iterator[StreamEvent]] | None = None

    def __post_init__(self) -> None:
        for name in (self.name, *self.aliases):
            if not name or not name.isascii() or name != name.strip():
                raise ValueError(f"{name!r} cannot name a protocol: expected ASCII text without blanks around it")
