"""`HTTPExchange`: one HTTP/1.1 request and its response, bytes in and bytes out, on h11.

It knows no decoder: it turns the bytes of a connection into a head and body chunks. h11 reads the protocol; what it
leaves to its callers is done here: the size of a head is counted byte by byte, so that the verdict does not depend on
the cuts, its mutable buffers are copied, and none of its messages, which may repeat a key, reaches anybody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import h11

from ._errors import (
    EXCERPT_BYTES,
    LimitExceeded,
    LocalProtocolError,
    NoResponse,
    RemoteProtocolError,
    StreamTruncated,
    TokwireError,
)
from ._http import HTTPRequest, ResponseHead
from ._limits import Limits, comparable
from ._transitions import checked_bytes

__all__ = ["HTTPExchange"]

SLICE_BYTES = 16 << 10
MAX_INTERIM_RESPONSES = 16
DEFAULT_LIMITS = Limits()


class HTTPExchange:
    """One request and its response on a connection. A new one is made for every exchange, also on a kept connection.

    Send what `data_to_send` gives, feed what arrives with `receive_data`, take the body from `body`, and announce the
    end of the connection with `receive_eof`.

    Args:
        request: The request.
        limits: `max_head_bytes` bounds the head of the response.
        through_proxy: The request goes to a proxy, which needs the whole URL in the request line.

    Attributes:
        response: The head of the final response, or None before it came. Interim (1xx) responses are skipped.
        ended: True once the body was handed out to its end.
    """

    def __init__(self, request: HTTPRequest, *, limits: Limits = DEFAULT_LIMITS, through_proxy: bool = False) -> None:
        self.response: ResponseHead | None = None
        self.ended = False
        self._request = request
        self._through_proxy = through_proxy
        self._max_head = comparable(limits.max_head_bytes)
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._max_head + 2 * SLICE_BYTES)
        self._unsent = True
        self._input: deque[memoryview] = deque()
        self._eof = False
        self._error: TokwireError | None = None
        self._head = HeadCounter()
        self._interim = 0

    @property
    def keep_alive(self) -> bool:
        """Whether the connection can carry another exchange: this one ended, and nothing was left over."""
        connection = self._connection
        return (
            self.ended
            and not self._input
            and not self._eof
            and connection.our_state is h11.DONE
            and connection.their_state is h11.DONE
            and connection.trailing_data == (b"", False)
        )

    def data_to_send(self) -> list[bytes]:
        """The request in pieces, in order. The body is the caller's own object.

        It is empty from the second call on, and once the server has answered without waiting for the request.

        Raises:
            LocalProtocolError: The headers contradict each other, for example by two that say `Host`.
        """
        if not self._unsent or self._connection.their_state is not h11.IDLE:
            return []
        self._unsent = False
        pieces = self._pieces()
        if pieces is None:  # raised here, where no error of h11, which may repeat a key, becomes its context
            raise LocalProtocolError("the request cannot be sent as HTTP/1.1; check its method and headers")
        return [piece for piece in pieces if piece]

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Store what arrived; then take what is ready from `body`. Empty data does nothing.

        Raises:
            LocalProtocolError: `receive_eof` was called before.
        """
        data = checked_bytes(data)
        if self._eof:
            raise LocalProtocolError("receive_data was called after receive_eof; make a new exchange")
        if data:
            self._input.append(memoryview(data))

    def receive_eof(self) -> None:
        """Announce that the peer closed the connection; then take the rest from `body`."""
        self._eof = True

    def body(self) -> Iterator[bytes]:
        """The chunks of the body that are ready. It may be dropped at any point. `response` is set before the first.

        Raises:
            NoResponse: The connection closed before a response began.
            StreamTruncated: The connection closed in the middle of the response.
            RemoteProtocolError: The bytes are not HTTP/1.1, or the head is too long. Raised again by every later call.
        """
        if self._error is not None:
            raise self._error.with_traceback(None)
        try:
            while not self.ended:
                chunk = self._next_chunk()
                if chunk is None:
                    return
                if chunk:
                    yield chunk
        except h11.RemoteProtocolError:
            self._error = self._refusal()
        except TokwireError as error:
            self._error = error
        if self._error is not None:
            raise self._error.with_traceback(None)

    def _pieces(self) -> list[bytes] | None:
        request, connection = self._request, self._connection
        try:
            head = h11.Request(method=request.method, target=self._target(), headers=self._headers())
            pieces = [connection.send(head) or b""]
            if request.body:
                pieces += connection.send_with_data_passthrough(h11.Data(data=request.body)) or []
            pieces += connection.send_with_data_passthrough(h11.EndOfMessage()) or []
        except h11.LocalProtocolError:
            return None
        return pieces

    def _next_chunk(self) -> bytes | None:
        """One chunk, empty where something else came, or None where more input is needed."""
        event = self._connection.next_event()
        if event is h11.NEED_DATA:
            return b"" if self._feed() else None
        if isinstance(event, h11.Data):
            return bytes(event.data)
        if isinstance(event, h11.InformationalResponse):
            self._interim += 1
            if self._interim > MAX_INTERIM_RESPONSES or event.status_code == 101:
                raise RemoteProtocolError("the server sends interim responses without end, or switches protocols")
            self._head.begin()
        elif isinstance(event, h11.Response):
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers)
            self.response = ResponseHead(event.status_code, headers)
            self.ended = self._request.method == "CONNECT" and 200 <= event.status_code < 300
        elif isinstance(event, h11.EndOfMessage):
            self.ended = True
        else:  # the peer closed, or sent more than a response
            raise self._cut()
        return b""

    def _feed(self) -> bool:
        """Give h11 the next slice of input. False where there is none."""
        if self._input:
            data = self._input.popleft()
            piece = bytes(data[:SLICE_BYTES])
            if self.response is None:
                piece = piece[: self._head.take(piece)]
                if not self._head.is_plausible:
                    raise self._refusal()
                if self._head.size > self._max_head:
                    raise LimitExceeded("max_head_bytes", self._max_head)
            if len(piece) < len(data):
                self._input.appendleft(data[len(piece) :])
            self._connection.receive_data(piece)
            return True
        if self._eof:
            if self.response is None:
                raise self._cut()
            event: object = None
            with suppress(h11.RemoteProtocolError):
                self._connection.receive_data(b"")
                event = self._connection.next_event()
            if not isinstance(event, h11.EndOfMessage):
                raise self._cut()
            self.ended = True
            return True
        return False

    def _cut(self) -> TokwireError:
        if self.response is None and not self._head.size:
            return NoResponse("the connection was closed before a response began")
        return StreamTruncated("the connection was closed in the middle of the response")

    def _refusal(self) -> RemoteProtocolError:
        if self.response is not None:
            return RemoteProtocolError("the body of the response is not valid HTTP/1.1")
        return RemoteProtocolError("the head of the response is not valid HTTP/1.1", excerpt=self._head.excerpt)

    def _target(self) -> str:
        request = self._request
        if request.method == "CONNECT":
            return f"{bracketed(request.host)}:{request.port}"
        return request.url.partition("#")[0] if self._through_proxy else request.target

    def _headers(self) -> list[tuple[bytes, bytes]]:
        request = self._request
        given = {name.lower() for name, _ in request.headers}
        headers: list[tuple[str, str]] = []
        if "host" not in given:
            default = request.port == (443 if request.scheme == "https" else 80) and request.method != "CONNECT"
            host = bracketed(request.host)
            headers.append(("Host", host if default else f"{host}:{request.port}"))
        headers += request.headers
        if "accept-encoding" not in given:
            headers.append(("Accept-Encoding", "identity"))
        if "content-length" not in given and (request.body or request.method in ("POST", "PUT", "PATCH")):
            headers.append(("Content-Length", str(len(request.body))))
        return [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]


class HeadCounter:
    """Counts the bytes of response heads, and finds where each one ends.

    Attributes:
        size: Bytes of all heads so far, interim ones included.
    """

    __slots__ = ("_last", "_start", "size")

    def __init__(self) -> None:
        self.size = 0
        self.begin()

    def begin(self) -> None:
        """Begin the next head."""
        self._start = b""
        self._last = b""

    @property
    def is_plausible(self) -> bool:
        """Whether the head can be one by its first byte. TLS and binary protocols begin with a control character."""
        return self._start[:1] >= b"!"

    @property
    def excerpt(self) -> bytes:
        """What to show of a head that is refused: the status line, since headers may be secret; else its first byte."""
        return self._start.splitlines()[0] if self.is_plausible else self._start[:1]

    def take(self, data: bytes) -> int:
        """Count a slice, up to the end of the head. Returns how many bytes of the slice belong to it."""
        if len(self._start) < EXCERPT_BYTES:
            self._start = (self._start + data)[:EXCERPT_BYTES]
        text = self._last + data
        ends = [text.find(end) + len(end) for end in (b"\n\r\n", b"\n\n") if end in text]
        taken = min(ends) - len(self._last) if ends else len(data)
        self._last = b"" if ends else text[-2:]
        self.size += taken
        return taken


def bracketed(host: str) -> str:
    """The host as it stands in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host
