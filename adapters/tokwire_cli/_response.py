"""The way from a response, live or recorded with its head, to events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import tokwire
from tokwire_http import ChunkResponse, EventStream, Interrupt

from ._sniff import AUTO, UnsureError, settle_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import BinaryIO

    from tokwire_http import Response

    from ._arguments import Arguments
    from ._stream import StreamOptions

__all__ = ["Copy", "Source", "open_stream", "settle"]

ANY_PROTOCOL = "openai-chat"
"""For responses whose status is an error: their body is read alike for all protocols."""


def open_stream(
    response: Response, arguments: Arguments, interrupt: Interrupt | None = None, copy: Copy | None = None
) -> EventStream:
    """The events of a response, its protocol found from its first bytes where it was not named.

    Raises:
        UnsureError: The first bytes do not tell the protocol.
        TransportError: The response ended before they told it.
    """
    options = arguments.stream_options()
    source = Source(response, copy)
    try:
        protocol, chunks = settle(response.head, arguments.protocol, source, options)
    except BaseException as error:
        response.close()
        if isinstance(error, UnsureError) and source.failure is not None:
            raise source.failure from None
        raise
    source.is_settling = False
    decoder = tokwire.ResponseDecoder(options.decoder(protocol))
    return EventStream(ChunkResponse(response.head, chunks, response.close), decoder, interrupt=interrupt)


def settle(
    head: tokwire.ResponseHead, named: str, chunks: Iterator[bytes], options: StreamOptions
) -> tuple[str | tokwire.ApiProtocol, Iterator[bytes]]:
    """The protocol of a response, and all its chunks.

    Raises:
        UnsureError: It was not named, and the first bytes do not tell it.
    """
    if not 200 <= head.status < 300:
        return ANY_PROTOCOL, chunks
    if named == AUTO and head.header("content-encoding") not in (None, "identity"):
        raise UnsureError("the body is compressed")
    return settle_protocol(named, chunks, options)


class Source(Iterator[bytes]):
    """The chunks of a response, saved as they pass.

    While somebody reads the first of them to find the protocol, a failure looks like the end, and is raised when one
    more is asked for: then what came before it is decoded before it shows.

    Attributes:
        failure: Why the chunks ended, or None.
        is_settling: Whether the protocol is still being found.
    """

    def __init__(self, chunks: Iterable[bytes], copy: Copy | None) -> None:
        self._chunks = iter(chunks)
        self._copy = copy
        self.failure: Exception | None = None
        self.is_settling = True

    def __next__(self) -> bytes:
        if self.failure is not None:
            raise self.failure
        try:
            chunk = next(self._chunks)
        except tokwire.TokwireError as error:
            if not self.is_settling:
                raise
            self.failure = error
            raise StopIteration from None
        if self._copy is not None:
            self._copy.write(chunk)
        return chunk


class Copy:
    """A file that gets the body as it came. If it fails, the stream goes on without it.

    Attributes:
        error: Why it failed, or None.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, chunk: bytes) -> None:
        """Write a chunk through."""
        if self.error is None:
            try:
                self._file.write(chunk)
            except OSError as error:
                error.filename = self._file.name
                self.error = error
