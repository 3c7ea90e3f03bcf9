"""`Screen`: styled text on a stream. Knows colours and line ends, and nothing of what the text means.

A style is a few words, such as `"bold red"`; both the plain screen and rich understand them. Text that is not ours
must have gone through `_escape` before it comes here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Screen", "open_screen", "wants_colour"]

SGR_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


class Screen:
    """Writes to a text stream, each piece at once. This one needs nothing but the standard library."""

    def __init__(self, stream: TextIO, *, colour: bool = False) -> None:
        self._stream = stream
        self._colour = colour
        self._line_is_open = False

    def write(self, text: str, style: str = "") -> None:
        """Write text as it is, styled where the stream shows colours."""
        if text:
            self._line_is_open = not text.endswith("\n")
            self._emit(self._styled(text, style) if self._colour and style else text)

    def end_line(self) -> None:
        """Move to the start of a line, unless the screen is there."""
        if self._line_is_open:
            self.write("\n")

    def rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write a table of names and values."""
        self.end_line()
        width = max((len(name) for name, _ in rows), default=0)
        for name, value in rows:
            self.write(f"  {name:<{width}}", "cyan")
            self.write(f"  {value}\n")

    def _styled(self, text: str, style: str) -> str:
        codes = ";".join(SGR_CODES[word] for word in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"

    def _emit(self, text: str) -> None:
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stream.flush()


def wants_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours, and the user has not asked for none (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def open_screen(stream: TextIO) -> Screen:
    """The best screen for a stream: with rich if it is installed, and without escape sequences if nobody wants them."""
    if not wants_colour(stream):
        return Screen(stream)
    try:
        from ._rich import RichScreen  # noqa: PLC0415 - rich is an optional extra, and slow to import
    except ImportError:
        return Screen(stream, colour=True)
    return RichScreen(stream)
