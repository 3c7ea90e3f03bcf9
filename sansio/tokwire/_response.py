"""`ResponseDecoder`: the head and the body chunks of any HTTP client in, `StreamEvent` objects out.

It judges what comes before decoding: the status, the content coding, and whether the body is whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ._decoder import StreamDecoder
from ._error_body import ErrorBody, request_id_of
from ._errors import (
    LocalProtocolError,
    RemoteProtocolError,
    StreamTruncated,
    TokwireError,
    TurnInterrupted,
)
from ._events import StreamEvent
from ._http import ResponseHead
from ._inflater import CODINGS, PIECE_BYTES, Inflater
from ._summary import StreamSummary
from ._transitions import FINISHED, NEED_DATA, Need, StreamState, checked_bytes

__all__ = ["ResponseDecoder"]

STREAM_TYPES = ("event-stream", "json", "eventstream")


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
        self._chunks: deque[bytes] = deque()
        self._eof: bool | None = None
        self._failure: Exception | None = None
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
        self._decoder._engine.request_id = request_id_of(head)
        content_type = head.header("content-type")
        if content_type is not None and not any(known in content_type.lower() for known in STREAM_TYPES):
            self._odd_type = content_type
        coding = (head.header("content-encoding") or "identity").strip().lower()
        is_foreign = coding not in (*CODINGS, "identity", "")
        if coding in CODINGS:
            self._inflater = Inflater(coding)
        if not 200 <= head.status < 300:
            limits = self._decoder.limits
            self._error_body = ErrorBody(head, limits, is_readable=not is_foreign)
        elif is_foreign:
            self._fail(
                RemoteProtocolError(
                    f"the content coding {coding[:40]!r} of the response cannot be undone here; ask for identity"
                )
            )

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Store a chunk of the body; then take what is ready from `events`. Empty data does nothing.

        Once the stream is over, data is ignored.

        Raises:
            LocalProtocolError: The head has not come, or `receive_eof` was called before.
        """
        data = checked_bytes(data)
        if self._head is None:
            raise LocalProtocolError("receive_data was called before receive_head")
        if self.state is not StreamState.OPEN:
            return
        if self._inflater is None and self._error_body is None:
            self._decoder.receive_data(data)
        elif self._eof is not None:
            raise LocalProtocolError("receive_data was called after receive_eof; make a new decoder")
        else:
            self._chunks.extend(data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES))

    def receive_eof(self, *, complete: bool = True) -> None:
        """Announce the end of the body; then take the rest from `events`.

        Args:
            complete: False when the body was cut: a reset, a missing terminator, fewer bytes than announced.

        Raises:
            LocalProtocolError: The head has not come. A connection that gave none is a `NoResponse` of its transport.
        """
        if self._head is None:
            raise LocalProtocolError("receive_eof was called before receive_head")
        if self._eof is None:
            self._eof = complete
        if self._inflater is None and self._error_body is None:
            self._decoder.receive_eof(complete=complete)

    def receive_failure(self, failure: Exception) -> None:
        """Announce that the source of the body failed, which says that it was cut; then take the rest from `events`.

        Whether that matters is for the decoder to say: if the server had reported its end before, or its status is an
        error, the failure is dropped. Otherwise `events` raises it where it is one of tokwire's, such as
        `TransportTimeout`, and else a `StreamTruncated` whose cause it is. `StreamTruncated` itself is always that of
        the decoder, which tells the place and is the same for every source.

        Args:
            failure: What the client, or the transport, raised.

        Raises:
            LocalProtocolError: The head has not come.
        """
        self.receive_eof(complete=False)
        if isinstance(failure, TurnInterrupted | LocalProtocolError):
            self._fail(failure)
        elif self._failure is None:
            self._failure = failure

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
        return self._ready_events() if self._failure is None else self._last_events(self._failure)

    def _ready_events(self) -> Iterator[StreamEvent]:
        if self._error_body is not None:
            return self._error_events(self._error_body)
        if self._inflater is not None:
            return self._inflated_events(self._inflater)
        return self._decoder.events() if self._odd_type is None else self._noted_events(self._odd_type)

    def _last_events(self, failure: Exception) -> Iterator[StreamEvent]:
        """The events before the place where the source failed."""
        try:
            yield from self._ready_events()
        except StreamTruncated as error:
            if isinstance(failure, TokwireError) and not isinstance(failure, StreamTruncated):
                self._fail(failure)
                raise failure from failure.__cause__
            raise error from failure

    def _inflated_events(self, inflater: Inflater) -> Iterator[StreamEvent]:
        try:
            yield from self._decoder.events()
            for data in self._bodies():
                self._decoder.receive_data(data)
                yield from self._decoder.events()
            if self._eof is not None:
                self._decoder.receive_eof(complete=self._eof and inflater.is_whole)
                yield from self._decoder.events()
        except TokwireError as error:
            self._fail(error)
            raise

    def _error_events(self, body: ErrorBody) -> Iterator[StreamEvent]:
        """No event, and the error once enough of its body is there."""
        yield from ()
        is_enough = self._eof is not None
        try:
            is_enough = any(body.add(data) for data in self._bodies()) or is_enough
        except RemoteProtocolError:
            is_enough = True  # it cannot be inflated; the status still says more than that
        if is_enough:
            error = body.error()
            self._fail(error)
            raise error

    def _noted_events(self, content_type: str) -> Iterator[StreamEvent]:
        """The events of a body whose content type is not that of a stream, which an error should say."""
        try:
            yield from self._decoder.events()
        except RemoteProtocolError as error:
            if not getattr(error, "__notes__", None):
                error.add_note(f"the content type of the response was {content_type[:80]!r}")
            raise

    def _bodies(self) -> Iterator[bytes]:
        """What was received, without its content coding, in bounded pieces. Nothing once the stream is over."""
        while self.state is StreamState.OPEN:
            if self._inflater is not None and self._inflater.has_more:
                yield self._inflater.more()
            elif not self._chunks:
                return
            elif self._inflater is None:
                yield self._chunks.popleft()
            else:
                self._inflater.give(self._chunks.popleft())

    def _fail(self, error: TokwireError) -> None:
        self._error = error
        self._chunks.clear()
