"""`RichScreen`: a `Screen` with rich, which brings the terminal's own colours and tables that fit its width.

Needs the extra `cli`. Rich only renders here and never writes: its console answers a closed pipe by leaving the
process, and its text layout drops blanks at the end of a fragment and moves tab stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ._screen import Screen

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RichScreen"]


class RichScreen(Screen):
    """A screen on a terminal that shows colours."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream, colour=True)
        self._console = Console(file=stream, force_terminal=True, highlight=False, legacy_windows=False)

    def rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write a table of names and values, long values folded within their column."""
        self.end_line()
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows:
            table.add_row(Text(name), Text(value))
        self._emit(self._rendered(table))

    def _styled(self, text: str, style: str) -> str:
        return self._rendered(Segments([Segment(text, Style.parse(style))]))

    def _rendered(self, renderable: RenderableType) -> str:
        with self._console.capture() as capture:
            self._console.print(renderable, end="", soft_wrap=isinstance(renderable, Segments))
        return capture.get()
