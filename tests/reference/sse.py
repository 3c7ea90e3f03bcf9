"""P9: lines of an event stream, and the plain WHATWG framing on top of them."""

from __future__ import annotations

import re
from typing import Final

BOM: Final = b"\xef\xbb\xbf"
FIELD_NAMES: Final = frozenset({"data", "event", "id", "retry", "error"})

SSEEvent = tuple[str, str, str, int | None]

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class ReferenceTruncated(Exception):
    """The transport said that the body was cut; `events` are those before the cut."""

    def __init__(self, events: list[SSEEvent]) -> None:
        super().__init__("the body was cut")
        self.events = events


def split_lines(body: bytes) -> tuple[list[str], str]:
    """The finished lines of a body, and the text after the last line end."""
    *lines, rest = _LINE_END.split(body.removeprefix(BOM))
    return [line.decode("utf-8", "replace") for line in lines], rest.decode("utf-8", "replace")


def split_field(line: str) -> tuple[str, str]:
    """Name and value of a line; without a colon the line is all name."""
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")


def _milliseconds(value: str) -> int | None:
    """The number of a retry line, if it is nothing but (a sane number of) ASCII digits."""
    return int(value) if re.fullmatch("[0-9]{1,4300}", value) else None


class _Framing:
    """The event being collected, and the events that are done."""

    def __init__(self) -> None:
        self.events: list[SSEEvent] = []
        self.last_id = ""
        self.clear()

    def clear(self) -> None:
        self.name = ""
        self.data: list[str] = []
        self.retry: int | None = None

    def field(self, name: str, value: str) -> None:
        if name == "data":
            self.data.append(value)
        elif name == "event":
            self.name = value
        elif name == "id":
            if "\0" not in value:
                self.last_id = value
        elif name == "retry":
            number = _milliseconds(value)
            self.retry = self.retry if number is None else number

    def dispatch(self) -> None:
        if self.data:
            self.events.append((self.name or "message", "\n".join(self.data), self.last_id, self.retry))
        self.clear()

    def line(self, line: str) -> None:
        if line == "":
            self.dispatch()
        elif not line.startswith(":"):
            self.field(*split_field(line))


def decode_sse(body: bytes, complete: bool = True) -> list[SSEEvent]:  # noqa: FBT001, FBT002 - as agreed
    """All events as (event, data, id, retry); at a clean end the pending one is dispatched too."""
    lines, rest = split_lines(body)
    framing = _Framing()
    for line in lines:
        framing.line(line)
    if not complete:
        raise ReferenceTruncated(framing.events)
    if rest:
        framing.line(rest)
    framing.dispatch()
    return framing.events
