"""The lines of a person, from a terminal or from a pipe."""

from __future__ import annotations

import sys
from contextlib import suppress

from ._input import open_stdin

__all__ = ["LineReader"]

PROMPT = "> "


class LineReader:
    """Reads standard input line by line. On a terminal there is a prompt, and where Python has `readline` also editing.

    Attributes:
        is_terminal: Whether a person types.

    Raises:
        OSError: There is no standard input.
    """

    def __init__(self) -> None:
        self._stdin = open_stdin()
        self.is_terminal = sys.stdin.isatty()
        if self.is_terminal and sys.stdout.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401, PLC0415 - `input` edits lines with it once it is imported

    def next_line(self) -> str | None:
        """The next line without its end, or None where the input is over.

        Raises:
            UnicodeDecodeError: It is no text in UTF-8.
            KeyboardInterrupt: Ctrl-C.
        """
        if self.is_terminal and sys.stdout.isatty():
            try:
                return input(PROMPT)
            except EOFError:
                return None
        if self.is_terminal and sys.stderr is not None:
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        try:
            line = self._stdin.readline()
        except OSError as error:
            error.filename = "standard input"
            raise
        return line.decode().rstrip("\r\n") if line else None
