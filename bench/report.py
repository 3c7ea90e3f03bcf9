"""What a run found, and how it is shown: as text for a terminal, as Markdown for the page, as JSON."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from .adapters import BOUND, Cost
from .contestants import FLOOR, TOKWIRE
from .growth import Growth
from .memory import Held, Memory
from .speed import Row
from .ways import ALONE
from .weight import Weight

COMMAND = "python -m bench --markdown docs/performance.md README.md"
START = f"<!-- results: written by {COMMAND} -->"
SHORT_START = f"<!-- results in short: written by {COMMAND} -->"
END = "<!-- end of results -->"
SHORT_READS = ("event", "16 KiB")


class Results(Struct):
    """One run. What was not asked for is empty.

    Attributes:
        facts: Where and how it ran.
        contestants: The names of all that were measured, in the order of the columns.
        skipped: A line for each peer that was not.
        speed: The lines of the speed table.
        growth: The comparisons of small with large.
        adapters: What an event costs over each adapter.
        open_streams: What streams hold that wait.
        memory: What decoders hold.
        weight: Imports and sizes.
    """

    facts: dict[str, str]
    contestants: list[str] = []
    skipped: list[str] = []
    speed: list[Row] = []
    growth: list[Growth] = []
    adapters: list[Cost] = []
    open_streams: list[Held] = []
    memory: Memory | None = None
    weight: list[Weight] = []


class Table(Struct):
    """A table with a title. The first `left` columns are words, the others numbers."""

    title: str
    head: list[str]
    body: list[list[str]]
    left: int = 1
    notes: list[str] = []


def number(value: float) -> str:
    """A number with about three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value: float | None) -> str:
    """A ratio; nothing where there is none."""
    return "" if value is None else f"{number(value)}x"


def speed_table(results: Results) -> Table:
    """Streams and read sizes down, contestants across, ratios first."""
    peers = [name for name in results.contestants if name not in {TOKWIRE.name, FLOOR.name}]
    head = ["stream", "reads", "tokwire / floor", *(f"{name} / tokwire" for name in peers)]
    body, notes = [], []
    for row in results.speed:
        own, floor = row.microseconds[TOKWIRE.name], row.microseconds[FLOOR.name]
        cells = [times(row.microseconds[name] / own) if name in row.microseconds else "" for name in peers]
        cells = ["failed" if name in row.failures else cell for name, cell in zip(peers, cells, strict=True)]
        body.append([row.stream, row.reads, times(own / floor), *cells, number(own), number(floor)])
        notes += [f"{row.stream}, {row.reads} reads: {name} failed: {why}" for name, why in row.failures.items()]
    return Table("Speed", [*head, "tokwire, us/event", "floor, us/event"], body, 2, notes)


def growth_table(results: Results) -> Table:
    """What should grow no faster than its input."""
    body = [
        [row.what, times(row.ratio), times(row.bound), f"{number(row.large)} us", f"{number(row.small)} us", row.unit]
        for row in results.growth
    ]
    return Table("Growth", ["tokwire with", "ratio", "meant to stay under", "first", "second", "per"], body)


def adapters_table(results: Results) -> Table:
    """The ways of an event, beside the decoder alone, and beside the same client without the adapter."""
    head = ["way", "events a chunk", f"way / {ALONE}", "way / the same without the adapter", "meant to stay under"]
    body = [
        [
            *(row.way, str(row.size), times(row.ratio), times(row.ratio_beside)),
            *("" if row.beside is None else times(BOUND), f"{number(row.microseconds)}"),
        ]
        for row in results.adapters
    ]
    return Table("Adapters", [*head, "us/event"], body)


def open_streams_table(results: Results) -> Table:
    """What an open stream holds."""
    body = [[f"{row.what} (mean of {row.count:,})", f"{number(row.bytes)} B"] for row in results.open_streams]
    return Table("Open streams", ["one that waits in the middle of a response", ""], body)


def memory_table(memory: Memory) -> Table:
    """What decoders hold, and how long they take to make."""
    body = [[f"{row.what} (mean of {row.count:,})", f"{number(row.bytes)} B"] for row in memory.held]
    body += [
        [f"all {row.count:,} of them ({row.what})", f"{number(row.bytes * row.count / 1e6)} MB"]
        for row in memory.held
        if row.what.startswith("idle")
    ]
    for stream, peaks in memory.peaks.items():
        body += [[f"peak while {count} events stream by: {stream}", f"{size:,} B"] for count, size in peaks.items()]
    body += [
        [f"held after {count} events of reasoning that is dropped", f"{size:,} B"]
        for count, size in memory.dropped_reasoning.items()
    ]
    body += [[f"time to make, {name}", f"{number(value)} us"] for name, value in memory.make_microseconds.items()]
    return Table("Memory", ["a decoder", ""], body)


def weight_table(results: Results) -> Table:
    """Imports and installed sizes."""
    alone = results.weight[0].milliseconds
    body = [
        [
            f"{row.package} {row.version}",
            times(row.milliseconds / alone),
            f"{number(row.milliseconds)} ms",
            str(row.distributions),
            f"{number(row.kilobytes / 1024)} MiB",
        ]
        for row in results.weight
    ]
    return Table("Weight", ["package", "import / msgspec", "import", "distributions", "installed"], body)


def tables(results: Results) -> list[Table]:
    """The tables of what was measured."""
    found = []
    if results.speed:
        found.append(speed_table(results))
    if results.growth:
        found.append(growth_table(results))
    if results.adapters:
        found.append(adapters_table(results))
    if results.open_streams:
        found.append(open_streams_table(results))
    if results.memory is not None:
        found.append(memory_table(results.memory))
    if results.weight:
        found.append(weight_table(results))
    return found


def as_text(results: Results) -> str:
    """The tables for a terminal."""
    lines = [f"{name}: {value}" for name, value in results.facts.items()]
    lines += [f"skipped: {line}" for line in results.skipped]
    for table in tables(results):
        lines += ["", table.title, ""]
        rows = [table.head, *table.body]
        widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
        for row in rows:
            cells = [
                cell.ljust(width) if place < table.left else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        lines += table.notes
    return "\n".join(lines) + "\n"


def as_markdown(results: Results) -> str:
    """The tables for the page."""
    lines = [f"- {name}: {value}" for name, value in results.facts.items()]
    lines += [f"- skipped: {line}" for line in results.skipped]
    for table in tables(results):
        lines += ["", f"### {table.title}", "", *markdown_rows(table)]
        if table.notes:
            lines += ["", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def as_short_markdown(results: Results) -> str:
    """The ratios of the streams that others decode too, read event by event and in large reads, with the facts."""
    table = speed_table(results)
    width = len(table.head) - 2  # without the times, which stand last
    body = [row[:width] for row in table.body if row[1] in SHORT_READS and any(row[3:width])]
    facts = "; ".join(f"{name}: {value}" for name, value in results.facts.items())
    return "\n".join([*markdown_rows(Table("", table.head[:width], body, table.left)), "", f"One run. {facts}."]) + "\n"


def markdown_rows(table: Table) -> list[str]:
    """The lines of one table."""
    ruler = ["---" if place < table.left else "---:" for place in range(len(table.head))]
    return ["| " + " | ".join(row) + " |" for row in [table.head, ruler, *table.body]]


def write_into(page: Path, results: Results) -> None:
    """Put the tables between the two markers of a page, in place of what stands there; in short where they say so.

    Raises:
        ValueError: The page lacks a marker.
    """
    text = page.read_text(encoding="utf-8")
    is_short = SHORT_START in text
    before, start, rest = text.partition(SHORT_START if is_short else START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise ValueError(f"{page} lacks a line {START if not start else END}")
    shown = as_short_markdown(results) if is_short else as_markdown(results)
    page.write_text(f"{before}{start}\n\n{shown}\n{end}{after}", encoding="utf-8")
