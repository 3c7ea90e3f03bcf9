"""Lines: what the splitter gives, for every cut, against a splitter that sees the whole body."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fuzz._check import demand, same
from fuzz._plan import Plan, derived_cuts, plan_of, single_bytes
from tokwire.framing._lines import Line, LineSplitter

if TYPE_CHECKING:
    from collections.abc import Sequence

MANY = 23
"""With more reads than this, the splitter is looked at after every so many of them, since each look is at all lines."""

LINE_END = re.compile(rb"\r\n|\r|\n")


def one_input(data: bytes) -> None:
    """Split one input in many ways."""
    plan = plan_of(data)
    expected = in_one_look(plan.body, plan.limits.max_line_bytes)
    for reads in ([plan.body], single_bytes(plan.body), *derived_cuts(plan.body, plan.seed)):
        same(expected, fed(plan, reads), "the same lines, rest and verdict for every cut", reads)


def in_one_look(body: bytes, limit: int | None) -> tuple[list[Line], bytes, int | None]:
    """The lines, the rest behind the last line end, and the offset of the first line that is too long."""
    lines: list[Line] = []
    start = 0
    for end in LINE_END.finditer(body):
        line = body[start : end.start()]
        if limit is not None and len(line) > limit:
            return lines, b"", start
        lines.append((start, line))
        start = end.end()
    if limit is not None and len(body) - start > limit:
        return lines, b"", start
    return lines, body[start:], None


def fed(plan: Plan, reads: Sequence[bytes]) -> tuple[list[Line], bytes, int | None]:
    """The same from the splitter that is tested."""
    limit = plan.limits.max_line_bytes
    splitter = LineSplitter(limit)
    lines: list[Line] = []
    position = 0
    for read in reads:
        lines += splitter.feed(read)
        position += len(read)
        if len(reads) > MANY and (position + plan.seed) % MANY:
            continue
        known, rest, overflow = in_one_look(plan.body[:position], limit)
        same(known, lines, "a line comes with the byte that ends it", position, reads)
        demand((splitter.overflow is None) == (overflow is None), "a line is refused at once", position, reads)
        demand(splitter.held == len(rest), "what is held is the unfinished line", splitter.held, rest)
        if overflow is None:
            demand(splitter.position == position, "the position is that of the next byte", splitter.position, position)
            between = not rest and not plan.body[:position].endswith(b"\r")
            demand(splitter.is_between_lines == between, "it is known whether a line begins", position, reads)
            demand(not rest or splitter.tail_offset == position - len(rest), "the unfinished line has its place", rest)
    error = splitter.overflow
    if error is not None:
        demand((error.limit, error.value) == ("max_line_bytes", limit), "the error tells the limit", error)
        demand(splitter.feed(b"x\n") == [], "nothing is taken behind a line that is too long", lines)
    return lines, splitter.finish(), None if error is None else error.offset
