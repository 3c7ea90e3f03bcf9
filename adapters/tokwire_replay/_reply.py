"""`Reply`: one response as it shall be sent, with the faults that shall happen on the way."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["FAULTS", "Fault", "Reply", "guess_content_type"]

Framing = Literal["chunked", "length", "close"]
Coding = Literal["gzip", "deflate"]

FAULTS = {
    "cut": "cut[:N]: close the connection after N bytes of the body, by default after all of it",
    "reset": "reset[:N]: reset the connection after N bytes of the body",
    "stall": "stall[:N]: send nothing more after N bytes of the body, until `release` or the client closes",
    "heartbeat": "heartbeat[:N]: send SSE comments without end after N bytes of the body",
    "garbage": "garbage: send bytes that are no HTTP behind the response",
    "content-type": "content-type[:TYPE]: announce another content type, by default text/html",
    "no-terminator": "no-terminator: leave out the last chunk, or announce a byte too many, and close",
    "slow-head": "slow-head[:SECONDS]: wait in the middle of the head, by default until `release`",
}
"""Each fault, with the form in which it is written."""

AT_A_PLACE = ("cut", "reset", "stall", "heartbeat")
HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
GZIP_WINDOW, ZLIB_WINDOW = 31, 15


class Fault(NamedTuple):
    """Something that goes wrong, or waits, at a place of a response.

    Attributes:
        kind: A name in `FAULTS`.
        place: How many bytes of the body come before it, or None for all.
        value: What was written behind the name.
    """

    kind: str
    place: int | None = None
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read a fault as the command line has it, for example `cut:1000`.

        Raises:
            ValueError: There is no such fault, or its value is of the wrong kind.
        """
        kind, _, value = text.partition(":")
        if kind not in FAULTS:
            raise ValueError(f"unknown fault {kind!r}; known are {', '.join(FAULTS)}")
        if value and kind in AT_A_PLACE:
            if not value.isdecimal():
                raise ValueError(f"fault {text!r}: expected {kind} or {kind}:BYTES")
            return cls(kind, int(value), value)
        if value and kind == "slow-head" and seconds_of(value) is None:
            raise ValueError(f"fault {text!r}: expected slow-head or slow-head:SECONDS")
        if value and kind in ("garbage", "no-terminator"):
            raise ValueError(f"fault {text!r}: {kind} takes no value")
        return cls(kind, None, value)


class Reply(Struct, frozen=True, kw_only=True):
    """One response. Every field has a default, so that a body alone is a reply.

    Attributes:
        body: The body before any coding; a sequence of bytes is sent in these reads.
        status: The status code.
        headers: Headers beside those that framing, coding and type need; one of the same name replaces ours.
        content_type: By default guessed from the body.
        framing: How the end of the body is shown: "chunked", "length" (a content-length), or "close" (the connection).
        coding: Send the body compressed; every read can be inflated by itself.
        reads: Send at most so many bytes of the body at once; None sends whole pieces of the body.
        delay: Seconds between two reads.
        faults: What goes wrong, each as text such as "cut:1000", in the order in which it is to happen at one place.
        answers_early: Answer as soon as the head of the request came, without its body, and close.

    Raises:
        ValueError: A fault is unknown, or a field is out of range.
    """

    body: bytes | Sequence[bytes] = b""
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    content_type: str | None = None
    framing: Framing = "chunked"
    coding: Coding | None = None
    reads: int | None = None
    delay: float = 0.0
    faults: Sequence[str] = ()
    answers_early: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.faults, str):
            raise ValueError(f"Reply: faults must be a sequence of texts, such as ({self.faults!r},)")  # noqa: TRY004
        for fault in self.faults:
            Fault.parse(fault)
        if self.reads is not None and self.reads < 1:
            raise ValueError("Reply: reads must be at least 1, or None")
        if not 200 <= self.status <= 599:
            raise ValueError("Reply: status must be from 200 to 599")
        if self.framing not in ("chunked", "length", "close"):
            raise ValueError("Reply: framing must be chunked, length or close")
        if self.coding not in (None, "gzip", "deflate"):
            raise ValueError("Reply: coding must be gzip or deflate, or None")
        if not 0 <= self.delay < float("inf"):
            raise ValueError("Reply: delay must be seconds of at least 0")
        for name, value in self.headers:
            if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
                raise ValueError(f"Reply: header {name!r} holds characters that HTTP does not allow")
        if self.framing == "length" and self.fault("heartbeat") is not None:
            raise ValueError("Reply: a body of announced length cannot have heartbeats without end")

    def fault(self, kind: str) -> Fault | None:
        """The first fault of a kind, or None."""
        return next((fault for fault in map(Fault.parse, self.faults) if fault.kind == kind), None)

    def whole_body(self) -> bytes:
        """The body in one piece, before any coding."""
        return self.body if isinstance(self.body, bytes) else b"".join(self.body)

    def steps(self) -> Iterator[bytes | Fault]:
        """The reads of the body, uncoded, with the faults between them where they happen."""
        faults = [fault for fault in map(Fault.parse, self.faults) if fault.kind in AT_A_PLACE]
        size = len(self.whole_body())
        places = [size if fault.place is None else min(fault.place, size) for fault in faults]
        position = 0
        for read in self._reads():
            end = position + len(read)
            inside = sorted({place for place in places if position < place < end})
            for start, stop in zip([position, *inside], [*inside, end], strict=True):
                yield from (fault for fault, place in zip(faults, places, strict=True) if place == start)
                yield read[start - position : stop - position]
            position = end
        yield from (fault for fault, place in zip(faults, places, strict=True) if place == size)

    def encoder(self) -> Callable[[bytes], bytes]:
        """A function that codes the reads one after the other; with nothing, it gives the end."""
        if self.coding is None:
            return bytes
        compressor = zlib.compressobj(wbits=GZIP_WINDOW if self.coding == "gzip" else ZLIB_WINDOW)

        def encode(read: bytes) -> bytes:
            return compressor.compress(read) + compressor.flush(zlib.Z_SYNC_FLUSH) if read else compressor.flush()

        return encode

    def head(self) -> list[tuple[str, str]]:
        """The headers that are sent."""
        wrong = self.fault("content-type")
        kind = self.content_type or guess_content_type(self.whole_body())
        headers = [("Content-Type", kind if wrong is None else wrong.value or "text/html")]
        if self.coding is not None:
            headers.append(("Content-Encoding", self.coding))
        if self.framing == "chunked":
            headers.append(("Transfer-Encoding", "chunked"))
        elif self.framing == "length":
            encode = self.encoder()
            size = sum(len(encode(step)) for step in [*self.steps(), b""] if isinstance(step, bytes))
            headers.append(("Content-Length", str(size + (self.fault("no-terminator") is not None))))
        else:
            headers.append(("Connection", "close"))
        given = {name.lower() for name, _ in self.headers}
        return [header for header in headers if header[0].lower() not in given] + list(self.headers)

    def _reads(self) -> Iterator[bytes]:
        for piece in (self.body,) if isinstance(self.body, bytes) else self.body:
            size = self.reads or len(piece) or 1
            yield from (piece[start : start + size] for start in range(0, len(piece), size))


def guess_content_type(body: bytes) -> str:
    """The content type that a server would announce for a recording, from how it begins."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    lines = [line for line in body.split(b"\n") if line.strip()]
    if start[:1] == b"<":
        return "text/html; charset=utf-8"
    if start[:1] == b"{" and len(lines) > 1 and all(line.lstrip()[:1] == b"{" for line in lines):
        return "application/x-ndjson"
    if start[:1] in (b"{", b"["):
        return "application/json"
    if len(body) > 16 and zlib.crc32(body[:8]) == int.from_bytes(body[8:12], "big"):
        return "application/vnd.amazon.eventstream"
    return "text/event-stream; charset=utf-8"


def seconds_of(text: str) -> float | None:
    """Text as seconds, or None where it is no number of them."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
