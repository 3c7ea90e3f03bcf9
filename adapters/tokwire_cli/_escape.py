"""Escapes for text that a stranger wrote and a terminal will show.

A terminal obeys the control characters it is sent, so a model, or whoever wrote what the model repeats, could move
the cursor, rename the window or hide what is on the screen. Bidirectional overrides make text read differently from
what it says (CVE-2021-42574). Both are shown as the escapes that Python writes for them.
"""

from __future__ import annotations

__all__ = ["escape", "escape_json", "escape_line"]

C0 = [*range(0x20)]
DEL_AND_C1 = [*range(0x7F, 0xA0)]
BIDI_OVERRIDES = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]


def _as_python_writes_it(code: int) -> str:
    return chr(code).encode("unicode_escape").decode("ascii")


LINE = {code: _as_python_writes_it(code) for code in [*C0, *DEL_AND_C1, *BIDI_OVERRIDES]}
TEXT = {code: shown for code, shown in LINE.items() if chr(code) not in "\n\t"}
# JSON text has escaped C0 already, and holds the others inside strings only, where this is the same value.
JSON = {code: f"\\u{code:04x}" for code in [*DEL_AND_C1, *BIDI_OVERRIDES]}


def escape(text: str) -> str:
    """Text of several lines: everything but newline and tab that a terminal would obey is shown as an escape."""
    return text.translate(TEXT)


def escape_line(text: str) -> str:
    """Text that has to stay on one line, such as a name: newline and tab are escaped too."""
    return text.translate(LINE)


def escape_json(text: str) -> str:
    r"""JSON text for a terminal: the same value, with the remaining control characters as `\uXXXX`."""
    return text.translate(JSON)
