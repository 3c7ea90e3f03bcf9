"""`tokwire check`: the same bytes mean the same, however they were cut into reads.

Every way to cut is decoded twice: as plainly as possible, and with everything that can be asked for. Compared are the
JSON lines that `decode --json --summary` would write, so what counts as equal is what a program would see.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

import tokwire

from ._curl import take_heads
from ._escape import escape_json
from ._exits import ExitCode
from ._input import read_whole
from ._problems import report
from ._progress import with_progress
from ._records import error_record, summary_record
from ._response import Source, settle
from ._screen import open_screen
from ._sniff import settle_protocol
from ._stream import StreamOptions, collect_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ._arguments import Arguments
    from ._stream import Decoder

__all__ = ["run"]

# Fixed, so that a run can be repeated.
SEED = 0
PROFILES = ("with default options", "with all options")


@dataclass(frozen=True, slots=True)
class _Subject:
    """The body under test and how to decode it: with its head, where it has one, and to where its source failed."""

    body: bytes
    head: tokwire.ResponseHead | None
    failure: Exception | None
    protocol: str | tokwire.ApiProtocol
    limits: tokwire.Limits

    @property
    def protocol_name(self) -> str:
        """The name of the protocol, or why there is none: then the verdict is the same in all."""
        if self.head is not None and not 200 <= self.head.status < 300:
            return f"status {self.head.status}"
        if isinstance(self.protocol, str):
            return self.protocol
        return self.protocol.name if self.protocol in tokwire.protocols() else "no protocol"

    def outcomes(self, chunks: Sequence[bytes]) -> tuple[bytes, ...]:
        """What comes of the body when it is read in these chunks, as JSON lines, once for each of `PROFILES`."""
        plain = tokwire.StreamDecoder(self.protocol, limits=self.limits)
        full = tokwire.StreamDecoder(
            self.protocol,
            include_reasoning=True,
            include_usage=True,
            include_tool_deltas=True,
            include_raw=True,
            keep_thinking=True,
            limits=self.limits,
        )
        return self._json_lines(plain, chunks), self._json_lines(full, chunks)

    def _json_lines(self, bare: tokwire.StreamDecoder, chunks: Sequence[bytes]) -> bytes:
        decoder: Decoder = bare
        if self.head is not None:
            decoder = tokwire.ResponseDecoder(bare)
            decoder.receive_head(self.head)
        events, error = collect_events(decoder, chunks, failure=self.failure)
        ending = [] if error is None else [error_record(error)]
        return msgspec.json.Encoder().encode_lines([*events, *ending, summary_record(decoder.summary)])


def run(arguments: Arguments) -> ExitCode:
    """Compare all ways to cut the body that the arguments name.

    Raises:
        OSError: The file cannot be read.
        UnsureError: The protocol has to be named.
    """
    subject = _subject(arguments)
    body = subject.body
    whole = subject.outcomes([body])
    places = _places(len(body), arguments.cuts)
    for name, chunks in _ways(body, places):
        cut = subject.outcomes(chunks)
        if cut != whole:
            _report_difference(name, whole, cut)
            return ExitCode.PROTOCOL_ERROR
    _report_success(subject, len(places), whole[0])
    return ExitCode.COMPLETE


def _subject(arguments: Arguments) -> _Subject:
    """The body that the arguments name, without the heads that `curl -i` printed before it, and without its chunks."""
    limits = arguments.limits()
    head, coded = take_heads(iter([read_whole(arguments.file)]))
    source = Source(coded, None)
    body = b"".join(source)
    options = StreamOptions(limits=limits)
    if head is None:
        protocol, _ = settle_protocol(arguments.protocol, iter([body]), options)
    else:
        protocol, _ = settle(head, arguments.protocol, iter([body]), options)
    return _Subject(body, head, source.failure, protocol, limits)


def _places(size: int, number: int | None) -> Sequence[int]:
    everywhere = range(1, size)
    if number is None or number >= len(everywhere):
        return everywhere
    return sorted(random.Random(SEED).sample(everywhere, number))  # noqa: S311 - a sample, not a secret


def _ways(body: bytes, places: Sequence[int]) -> Iterator[tuple[str, Sequence[bytes]]]:
    """All ways to cut, the smallest place first."""
    for place in with_progress(places, "cuts compared (--cuts random:N is quicker)"):
        yield f"cut in two at byte {place}", (body[:place], body[place:])
    yield "read byte by byte", [body[at : at + 1] for at in range(len(body))]


def _report_difference(way: str, whole: tuple[bytes, ...], cut: tuple[bytes, ...]) -> None:
    profile, one, other = next(row for row in zip(PROFILES, whole, cut, strict=True) if row[1] != row[2])
    lines = zip_longest(one.splitlines(), other.splitlines(), fillvalue=b"nothing")
    number, (expected, found) = next(row for row in enumerate(lines, 1) if row[1][0] != row[1][1])
    report(
        f"{way}, the body means something else ({profile}, line {number})\n"
        f"  whole: {escape_json(expected.decode())}\n"
        f"  cut:   {escape_json(found.decode())}",
        "this is a bug in tokwire: please report it with the recording",
    )


def _report_success(subject: _Subject, cuts: int, plain: bytes) -> None:
    screen = open_screen(sys.stdout)
    screen.write("same:", "bold green")
    ways = f"{cuts:,} cuts in two and one byte per read give what one read gives"
    screen.write(f" {ways} ({len(subject.body):,} bytes, {subject.protocol_name}, {_content(plain)})\n")


def _content(plain: bytes) -> str:
    """What the body holds: the same in all ways, so that the user sees that it is not nothing."""
    kinds = [msgspec.json.decode(line)["type"] for line in plain.splitlines()]
    events = len(kinds) - len({"error", "summary"} & set(kinds))
    return f"{events:,} event{'' if events == 1 else 's'}" + (" and an error" if "error" in kinds else "")
