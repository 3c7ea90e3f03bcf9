"""One tool call while it is being collected (P1 to P4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .arguments import Arguments, fragment_text, parse_arguments, says_nothing
from .text import encodable, word

LEGACY_PLACE = -0.5  # P1: the legacy call sorts before index 0


@dataclass(eq=False)
class Call:
    """An open call. `arrival` counts everything that happened in the stream, so it orders calls and content."""

    index: int | None
    arrival: int
    id: str | None = None
    name: str | None = None
    fragments: list[tuple[int, str]] = field(default_factory=list)
    start_input: str = ""

    @property
    def place(self) -> tuple[float, int]:
        """The order of the drain: index, then arrival."""
        return (LEGACY_PLACE if self.index is None else self.index, self.arrival)

    def merge(self, new_id: str | None, new_name: object) -> None:
        """P2: the first id wins; a repeated name is ignored, another fragment of it is appended."""
        self.id = self.id or new_id
        fragment = word(new_name)
        if fragment is not None and fragment != self.name:
            self.name = (self.name or "") + fragment

    def append(self, arrival: int, arguments: object) -> None:
        """Add one argument fragment, unless it is empty."""
        text = fragment_text(arguments)
        if text:
            self.fragments.append((arrival, text))

    def texts(self) -> list[str]:
        """The fragments in order of arrival; what stood at the start of the block only if none followed (P12)."""
        texts = [text for _, text in sorted(self.fragments)]
        return texts or [self.start_input] * bool(self.start_input)

    @property
    def raw(self) -> str:
        """The arguments as they were written."""
        return encodable("".join(self.texts()))

    @property
    def is_bare(self) -> bool:
        """Whether the call has no arguments at all."""
        return says_nothing(self.raw)

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of this call ever came."""
        return self.id is None and self.name is None and not self.raw

    def parse(self, reason: str | None) -> Arguments:
        """P4 for this call."""
        return parse_arguments(self.texts(), reason=reason)


@dataclass(frozen=True)
class Delivered:
    """A call that was drained earlier or is about to be: what later calls are compared with."""

    wire_id: str | None
    final_id: str
    name: str
    arguments: Arguments
