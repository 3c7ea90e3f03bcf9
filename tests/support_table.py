"""What each protocol supports, seen in the recordings under `examples`: the table of the README and of the docs.

`python -m tests.support_table` writes it where the two pages mark its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import tokwire

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "protocols.md")
BEGIN, END = "<!-- support table: python -m tests.support_table -->", "<!-- end of the support table -->"


class Decoded(NamedTuple):
    """One recording with everything asked for."""

    events: list[tokwire.StreamEvent]
    error: tokwire.TokwireError | None
    summary: tokwire.StreamSummary

    def has(self, kind: type[object]) -> bool:
        """Whether an event of a kind came out."""
        return any(isinstance(event, kind) for event in self.events)

    def block(self, kind: type[object]) -> int:
        """How many blocks of a kind came out."""
        return sum(isinstance(event, tokwire.Block) and isinstance(event.block, kind) for event in self.events)


FEATURES: dict[str, Callable[[Decoded], bool]] = {
    "text as it arrives": lambda one: one.block(tokwire.TextBlock) > 1,
    "reasoning (`include_reasoning`)": lambda one: one.has(tokwire.Reasoning),
    "whole thinking blocks (`keep_thinking`)": lambda one: bool(one.summary.thinking_blocks),
    "data to send back (`summary.signatures`)": lambda one: bool(one.summary.signatures),
    "refusal text beside the content": lambda one: one.has(tokwire.Refusal),
    "tool calls": lambda one: one.block(tokwire.ToolUseBlock) > 0,
    "several tool calls in one answer": lambda one: one.block(tokwire.ToolUseBlock) > 1,
    "argument fragments (`include_tool_deltas`)": lambda one: one.has(tokwire.ToolCallDelta),
    "several choices": lambda one: any(getattr(event, "choice", 0) > 0 for event in one.events),
    "usage (`include_usage`)": lambda one: one.has(tokwire.Usage),
    "end of the stream told by the server": lambda one: one.summary.end_marker,
    "errors in the stream": lambda one: isinstance(one.error, tokwire.APIError),
    "cut streams told from finished ones": lambda one: isinstance(one.error, tokwire.StreamTruncated),
}


def decode(protocol: str, body: bytes) -> Decoded:
    """One body, with every option that adds events."""
    decoder = tokwire.StreamDecoder(
        protocol, include_reasoning=True, include_usage=True, include_tool_deltas=True, keep_thinking=True
    )
    events: list[tokwire.StreamEvent] = []
    try:
        for read in (body[: len(body) // 2], body[len(body) // 2 :]):
            decoder.receive_data(read)
            events.extend(decoder.events())
        decoder.receive_eof()
        events.extend(decoder.events())
    except tokwire.TokwireError as error:
        return Decoded(events, error, decoder.summary)
    return Decoded(events, None, decoder.summary)


def recordings(protocol: str) -> Iterable[bytes]:
    """The bodies of one protocol."""
    for path in sorted((ROOT / "examples" / "recordings" / protocol).iterdir()):
        if not path.name.endswith(".json"):
            yield path.read_bytes()


def support_table() -> str:
    """The table, in Markdown: a row for each feature, a column for each registered protocol."""
    names = [protocol.name for protocol in tokwire.protocols()]
    decoded = {name: [decode(name, body) for body in recordings(name)] for name in names}
    rows = [["feature", *(f"`{name}`" for name in names)], ["---"] * (len(names) + 1)]
    for feature, shows in FEATURES.items():
        rows.append([feature, *("yes" if any(map(shows, decoded[name])) else "no" for name in names)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_table(page: str, table: str) -> str:
    """A page with the table in its place."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(with_table(path.read_text(encoding="utf-8"), support_table()), encoding="utf-8")
