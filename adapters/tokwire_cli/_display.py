"""Displays: where the events, the error and the summary of a stream go, as JSON lines or as text for a person."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO, Protocol

import msgspec

import tokwire

from ._escape import escape_json
from ._problems import report_error, report_no_end
from ._records import error_record, event_record, summary_record
from ._screen import open_screen
from ._text import TextDisplay

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Display", "JsonDisplay", "open_display"]


class Display(Protocol):
    """Shows one stream. Every method writes through, so that a reader sees each event when it happens."""

    def event(self, event: tokwire.StreamEvent) -> None:
        """Show one event."""

    def error(self, error: tokwire.TokwireError) -> None:
        """Show the error in which the stream ended."""

    def interrupted(self) -> None:
        """Say that the person who looks on stopped the answer."""

    def no_end(self) -> None:
        """Say that the stream stopped without any sign that it was over."""

    def history(self, messages: Sequence[tokwire.Message]) -> None:
        """Show what was said so far, as JSON."""

    def summary(self, summary: tokwire.StreamSummary) -> None:
        """Show the facts about the whole stream."""

    def close(self) -> None:
        """Leave the output as the next program expects it. Call it once, after the stream."""


class JsonDisplay:
    """One JSON object a line. On a terminal control characters are escaped; the values stay the same."""

    def __init__(self, stream: BinaryIO, *, for_terminal: bool) -> None:
        self._stream = stream
        self._for_terminal = for_terminal

    def event(self, event: tokwire.StreamEvent) -> None:
        """Write an event, tagged by `type`."""
        self._write(event_record(event))

    def error(self, error: tokwire.TokwireError) -> None:
        """Write an error, with `"type": "error"`, and tell the person on stderr too."""
        self._write(error_record(error))
        report_error(error)

    def interrupted(self) -> None:
        """Write it as an error; the person knows."""
        self._write(error_record(tokwire.TurnInterrupted("the turn was interrupted")))

    def no_end(self) -> None:
        """Tell the person on stderr; a program sees it in the finish event, whose reason is `unspecified`."""
        report_no_end()

    def history(self, messages: Sequence[tokwire.Message]) -> None:
        """Write the messages, with `"type": "history"`."""
        self._write({"type": "history", "messages": messages})

    def summary(self, summary: tokwire.StreamSummary) -> None:
        """Write the summary, with `"type": "summary"`."""
        self._write(summary_record(summary))

    def close(self) -> None:
        """Nothing is pending: every line was written through."""

    def _write(self, value: object) -> None:
        line = msgspec.json.encode(value)
        if self._for_terminal:
            line = escape_json(line.decode()).encode()
        self._stream.write(line + b"\n")
        self._stream.flush()


def open_display(*, json: bool | None) -> Display:
    """The display for stdout: what was asked for, else text on a terminal and JSON lines everywhere else."""
    for_terminal = sys.stdout.isatty()
    wants_json = not for_terminal if json is None else json
    if wants_json:
        return JsonDisplay(sys.stdout.buffer, for_terminal=for_terminal)
    return TextDisplay(open_screen(sys.stdout))
