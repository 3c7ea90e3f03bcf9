"""`ResponseDecoder`: the head and the body chunks of any HTTP client in, `StreamEvent` objects out.

It judges what comes before decoding: the status, the content coding, and whether the body is whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from ._decoder import StreamDecoder
from ._errors import APIError, LocalProtocolError, RemoteProtocolError, TokwireError
from ._events import StreamEvent
from ._http import ResponseHead
from ._json import JSONError, parse_payload
from ._retry_after import retry_after
from ._server_errors import api_error
from ._summary import StreamSummary
from ._transitions import FINISHED, NEED_DATA, Need, StreamState, checked_bytes

__all__ = ["ResponseDecoder"]

INFLATED_BYTES = 64 << 10
MESSAGE_CHARACTERS = 1000
NO_LIMIT = 1 << 40
REQUEST_ID_HEADERS = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "x-goog-request-id",
    "cf-ray",
)
CODINGS = ("gzip", "x-gzip", "deflate")
GZIP_WINDOW, ZLIB_WINDOW, RAW_WINDOW = 31, 15, -15
MAGIC_BYTES = 2
STREAM_TYPES = ("event-stream", "json", "eventstream")
GZIP_MAGIC = b"\x1f\x8b"


class ResponseDecoder:
    """Decodes one HTTP response around a `StreamDecoder`.

    Give it the head with `receive_head`, the body as the client hands it out with `receive_data`, and the end with
    `receive_eof`; take what is ready from `events`. A status other than 2xx becomes an `APIError` with all that the
    body and the headers say; a redirect is one too and is never followed, since credentials must not go where a
    response points to.

    Args:
        decoder: A fresh decoder for the protocol that was asked.
    """

    def __init__(self, decoder: StreamDecoder) -> None:
        self._decoder = decoder
        self._head: ResponseHead | None = None
        self._inflater: Inflater | None = None
        self._chunks: list[bytes] = []
        self._eof: bool | None = None
        self._error_body: ErrorBody | None = None
        self._error: TokwireError | None = None
        self._odd_type: str | None = None

    @property
    def head(self) -> ResponseHead | None:
        """The head of the final response, or None before it came."""
        return self._head

    @property
    def state(self) -> StreamState:
        """OPEN, DONE once `Finish` was handed out, or FAILED once an error was raised."""
        return self._decoder.state if self._error is None else StreamState.FAILED

    @property
    def summary(self) -> StreamSummary:
        """What is known of the stream beside its events, as of now."""
        return self._decoder.summary

    def receive_head(self, head: ResponseHead) -> None:
        """Take the head of the response. Interim (1xx) ones are skipped.

        Raises:
            LocalProtocolError: There was one already.
        """
        if self._head is not None:
            raise LocalProtocolError("receive_head was called twice; make a new decoder for the next response")
        if 100 <= head.status < 200:
            return
        self._head = head
        content_type = head.header("content-type")
        if content_type is not None and not any(known in content_type.lower() for known in STREAM_TYPES):
            self._odd_type = content_type
        coding = (head.header("content-encoding") or "identity").strip().lower()
        if coding in CODINGS:
            self._inflater = Inflater(coding)
        if not 200 <= head.status < 300:
            limit = self._decoder.limits.max_error_body_bytes
            self._error_body = ErrorBody(head, NO_LIMIT if limit is None else limit)
        elif coding not in CODINGS and coding not in ("identity", ""):
            self._fail(
                RemoteProtocolError(
                    f"the content coding {coding[:40]!r} of the response cannot be undone here; ask for identity"
                )
            )

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Store a chunk of the body; then take what is ready from `events`. Empty data does nothing.

        Raises:
            LocalProtocolError: The head has not come, or `receive_eof` was called before.
        """
        data = checked_bytes(data)
        if self._head is None:
            raise LocalProtocolError("receive_data was called before receive_head")
        if self._inflater is None and self._error_body is None and self._error is None:
            self._decoder.receive_data(data)
        elif self._eof is not None:
            raise LocalProtocolError("receive_data was called after receive_eof")
        elif data and self._error is None:
            self._chunks.append(data)

    def receive_eof(self, *, complete: bool = True) -> None:
        """Announce the end of the body; then take the rest from `events`.

        Args:
            complete: False when the body was cut: a reset, a missing terminator, fewer bytes than announced.
        """
        if self._eof is None:
            self._eof = complete
        if self._inflater is None and self._error_body is None:
            self._decoder.receive_eof(complete=complete)

    def next_event(self) -> StreamEvent | Need:
        """One event, `NEED_DATA` where more bytes are needed, or `FINISHED` once `Finish` was handed out."""
        for event in self.events():
            return event
        return FINISHED if self.state is StreamState.DONE else NEED_DATA

    def events(self) -> Iterator[StreamEvent]:
        """Everything that is ready, in order; an error comes after the events before it. It may be dropped.

        Raises:
            APIError: The status is none of 2xx, or the server reported an error in the stream.
            RemoteProtocolError: The peer broke a protocol or a limit, or was cut. Raised again by every later call.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._inflater is not None or self._error_body is not None:
            return self._careful_events()
        return self._decoder.events() if self._odd_type is None else self._noted_events(self._odd_type)

    def _careful_events(self) -> Iterator[StreamEvent]:
        try:
            yield from self._decoder.events()
            for data in self._bodies():
                if self._error_body is None:
                    self._decoder.receive_data(data)
                    yield from self._decoder.events()
                elif self._error_body.add(data):
                    raise self._error_body.error()
            if self._eof is None:
                return
            if self._error_body is not None:
                raise self._error_body.error()
            inflated = self._inflater is None or self._inflater.is_whole
            self._decoder.receive_eof(complete=self._eof and inflated)
            yield from self._decoder.events()
        except TokwireError as error:
            self._fail(error)
            raise

    def _noted_events(self, content_type: str) -> Iterator[StreamEvent]:
        """The events of a body whose content type is not that of a stream, which an error should say."""
        try:
            yield from self._decoder.events()
        except RemoteProtocolError as error:
            if not getattr(error, "__notes__", None):
                error.add_note(f"the content type of the response was {content_type[:80]!r}")
            raise

    def _bodies(self) -> Iterator[bytes]:
        """What was received, without its content coding, in bounded pieces."""
        while True:
            if self._inflater is not None and self._inflater.has_more:
                yield self._inflater.more()
            elif not self._chunks:
                return
            elif self._inflater is None:
                yield self._chunks.pop(0)
            else:
                self._inflater.give(self._chunks.pop(0))

    def _fail(self, error: TokwireError) -> None:
        self._error = error
        self._chunks.clear()


class ErrorBody:
    """The body of a response whose status is an error, as far as it is kept."""

    def __init__(self, head: ResponseHead, limit: int) -> None:
        self._head = head
        self._limit = limit
        self._body = bytearray()

    def add(self, data: bytes) -> bool:
        """Keep more of the body. True once there is as much as may be kept."""
        self._body += data[: self._limit - len(self._body)]
        return len(self._body) >= self._limit

    def error(self) -> APIError:
        """The error that status, headers and body tell of."""
        head = self._head
        text = bytes(self._body).decode("utf-8", "replace").strip()
        try:
            value = parse_payload(bytes(self._body), None)
        except JSONError:
            value = text[:MESSAGE_CHARACTERS] or None
        if isinstance(value, list) and value:
            value = value[0]
        said = api_error(value, {})
        ids = (head.header(name) for name in REQUEST_ID_HEADERS)
        return APIError(
            self._redirect() or said.message,
            status_code=head.status,
            type=said.type,
            code=said.code,
            param=said.param,
            request_id=said.request_id or next((found for found in ids if found), None),
            retry_after=retry_after(head),
            body=said.body,
        )

    def _redirect(self) -> str:
        location = self._head.header("location")
        if not 300 <= self._head.status < 400 or location is None:
            return ""
        host = location.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
        where = f"the host {host[:100]!r}" if host else "another path of the same host"
        return f"the server redirects to {where}; redirects are not followed, so use that address as the base URL"


class Inflater:
    """Undoes gzip or deflate, in pieces of bounded size.

    Attributes:
        is_whole: Whether the compressed data came to its own end, checksum included.
    """

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._inflate: Any = None
        self._waiting = b""
        self._was_full = False
        self.is_whole = False

    @property
    def has_more(self) -> bool:
        """Whether another piece can be had from what was given."""
        return self._was_full or len(self._waiting) >= (MAGIC_BYTES if self._inflate is None else 1)

    def give(self, data: bytes) -> None:
        """Take compressed bytes."""
        self._waiting += data

    def more(self) -> bytes:
        """The next piece, possibly empty.

        Raises:
            RemoteProtocolError: The bytes are not compressed as the head says.
        """
        if self._inflate is None:
            self._inflate = zlib.decompressobj(self._window_bits())
        try:
            data: bytes = self._inflate.decompress(self._waiting, INFLATED_BYTES)
        except zlib.error:
            raise RemoteProtocolError("the body cannot be inflated: it is not what content-encoding says") from None
        self.is_whole = self._inflate.eof
        if self.is_whole:
            self._was_full = False
            self._waiting = self._inflate.unused_data
            if self._waiting.startswith(GZIP_MAGIC):  # a gzip body may have several members
                self._inflate, self.is_whole = None, False
            else:
                self._waiting = b""
        else:
            self._was_full = len(data) == INFLATED_BYTES
            self._waiting = self._inflate.unconsumed_tail
        return data

    def _window_bits(self) -> int:
        if self._coding != "deflate":
            return GZIP_WINDOW
        method, check = self._waiting[0], self._waiting[1]
        is_zlib = method & 15 == 8 and (method * 256 + check) % 31 == 0
        return ZLIB_WINDOW if is_zlib else RAW_WINDOW  # many servers leave the zlib header out
