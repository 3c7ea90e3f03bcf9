"""What `curl -i` printed: heads of HTTP/1.1 and HTTP/2 before a body, as a response.

Several heads stand one behind the other where there was an interim response, a proxy, or a redirect that curl followed;
the last one counts. The body is looked at rather than its head believed: curl undoes the chunked coding unless `--raw`
was given, and the content coding only with `--compressed`, and leaves both headers as they were.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import tokwire
from tokwire_http._clients import head_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["take_heads"]

START = b"HTTP/"
HEAD_END = re.compile(rb"\r?\n\r?\n")
STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: [^\r\n]*)?")
CHUNK_LINE = re.compile(rb"[0-9A-Fa-f]{1,16}[ \t]*(?:;[^\r\n]*)?\r\n")
PART_OF_CHUNK_LINE = re.compile(rb"[0-9A-Fa-f]{0,16}[ \t]*(?:;[^\r\n]*)?\r?")
MAX_CHUNK_LINE_BYTES = 256
MAGIC_BYTES = 2
MAX_HEAD_BYTES = 64 << 10
CHUNKED_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUEST = tokwire.HTTPRequest("GET", "http://curl.invalid")


def take_heads(arriving: Iterator[bytes]) -> tuple[tokwire.ResponseHead | None, Iterator[bytes]]:
    """The head of a response and the chunks of its body, or None and all the chunks where there is no head.

    Raises:
        RemoteProtocolError: It begins like a head and is none.
    """
    source = Source(arriving)
    if not source.begins_like_a_head():
        return None, source.rest()
    while source.begins_like_a_head():
        head = source.take_head()
    status, headers = head
    names = {name.lower(): value for name, value in headers}
    found = head_of(status, headers, source.look(MAGIC_BYTES) if "content-encoding" in names else b"")
    if names.get("transfer-encoding", "").lower() == "chunked" and source.begins_like_a_chunk():
        return found, unchunked(source.rest())
    size = names.get("content-length", "")
    if size.isdecimal() and "content-encoding" not in names:
        return found, measured(source.rest(), int(size))
    return found, source.rest()


class Source:
    """Chunks of which the first bytes can be looked at before they are taken."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._data = b""

    def look(self, size: int) -> bytes:
        """The next bytes: so many, or all that come."""
        while len(self._data) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._data += chunk
        return self._data[:size]

    def begins_like_a_head(self) -> bool:
        """Whether a head comes next. No more is read than it takes to know."""
        return all(self.look(size) == START[:size] for size in range(1, len(START) + 1))

    def begins_like_a_chunk(self) -> bool:
        """Whether the size of a chunk comes next. No more is read than it takes to know."""
        size = 0
        while size < MAX_CHUNK_LINE_BYTES and PART_OF_CHUNK_LINE.fullmatch(start := self.look(size)):
            if len(start) < size:
                return False
            size += 1
        return CHUNK_LINE.fullmatch(self.look(size)) is not None

    def take_head(self) -> tuple[int, list[tuple[str, str]]]:
        """The next head: its status and its headers."""
        size = 0
        while (end := HEAD_END.search(self._data)) is None:
            size = len(self._data)
            if size > MAX_HEAD_BYTES or len(self.look(size + 1)) == size:
                raise tokwire.RemoteProtocolError("the head of the response does not end", excerpt=self._first_line())
        lines = self._data[: end.start()].splitlines()
        status = STATUS_LINE.fullmatch(lines[0])
        if status is None:
            raise tokwire.RemoteProtocolError("this is no status line of HTTP", excerpt=self._first_line())
        self._data = self._data[end.end() :]
        pairs = (line.decode("latin-1").partition(":") for line in lines[1:])
        return int(status[1]), [(name.strip(), value.strip()) for name, colon, value in pairs if colon]

    def rest(self) -> Iterator[bytes]:
        """Everything that was not taken."""
        return chain([self._data] if self._data else [], self._chunks)

    def _first_line(self) -> bytes:
        return self._data.splitlines()[0]


def unchunked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """A body without its chunked coding.

    Raises:
        StreamTruncated: It was cut.
        RemoteProtocolError: It is not coded so after all.
    """
    exchange = tokwire.HTTPExchange(REQUEST)
    exchange.data_to_send()
    for chunk in chain([CHUNKED_HEAD], chunks):
        exchange.receive_data(chunk)
        yield from exchange.body()
        if exchange.ended:
            return
    exchange.receive_eof()
    yield from exchange.body()


def measured(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """A body of announced size.

    Raises:
        StreamTruncated: It is shorter.
    """
    for chunk in chunks:
        size -= len(chunk)
        yield chunk
    if size > 0:
        raise tokwire.StreamTruncated(f"the body ended {size} bytes before its announced length")
