"""`Channel`: one connection as a machine, from its first byte through any number of exchanges.

The bytes of a socket go in and come out; what they mean (the tunnel of a proxy, TLS, HTTP) is settled here, once for
blocking and asynchronous sockets. A transport is then a loop that moves bytes and watches the clock: send what
`outgoing` shows and tell with `sent`, give what arrives to `receive_data`, and the end of it to `receive_eof`.
"""

from __future__ import annotations

import ssl
from collections import deque
from typing import TYPE_CHECKING

import tokwire
from tokwire import HTTPExchange

from ._tls import TLS, default_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._route import Route

__all__ = ["Channel"]

SLICE_BYTES = 64 << 10
MAX_DRAIN_BYTES = 64 << 10
"""How much of an old body is read to use its connection again. Behind an end marker stands a terminator of 5 bytes;
where there is more, a new connection costs less."""

NOTHING = memoryview(b"")
NO_CHUNKS: Iterator[bytes] = iter(())


class Channel:
    """The machine of one connection.

    Args:
        route: Whom the connection leads to.
        context: For TLS; None takes the default one.
        limits: `max_head_bytes` bounds the heads of responses.

    Attributes:
        route: Whom the connection leads to.
        is_open: Whether tunnel and TLS, where they are needed, are ready: only then a request may begin.

    Raises:
        ConnectError: TLS with this host is not possible.
    """

    def __init__(self, route: Route, context: ssl.SSLContext | None, limits: tokwire.Limits) -> None:
        self.route = route
        self.is_open = False
        self._context = context
        self._limits = limits
        self._tls: TLS | None = None
        self._queue: deque[memoryview] = deque()
        self._wire = NOTHING
        self._exchange: HTTPExchange | None = None
        self._chunks = NO_CHUNKS
        self._peeked: bytes | None = None
        self._is_cut = self._is_over = self._is_spent = False
        self._cause: BaseException | None = None
        self._drained = 0
        tunnel = route.tunnel()
        self._tunnel = None if tunnel is None else HTTPExchange(tunnel, limits=limits)
        if self._tunnel is None:
            self._secure()
        else:
            self._queue.extend(map(memoryview, self._tunnel.data_to_send()))

    def begin(self, request: tokwire.HTTPRequest) -> None:
        """Begin an exchange. Send what is `outgoing`, and ask for the `head`."""
        route = self.route
        exchange = HTTPExchange(route.outgoing(request), limits=self._limits, through_proxy=route.is_forwarded)
        pieces = exchange.data_to_send()
        if sum(map(len, pieces)) <= SLICE_BYTES:  # head and body in one packet
            pieces = [b"".join(pieces)]
        self._queue.extend(map(memoryview, pieces))
        self._exchange, self._chunks, self._drained = exchange, NO_CHUNKS, 0

    @property
    def is_ended(self) -> bool:
        """Whether the body was handed out to its end."""
        return self._exchange is not None and self._exchange.ended

    @property
    def is_reusable(self) -> bool:
        """Whether another exchange can begin."""
        return self._exchange is not None and self._exchange.keep_alive and self._is_clean()

    @property
    def may_become_reusable(self) -> bool:
        """Whether it is, or would be once the rest of the body was read."""
        if self._exchange is None or self._exchange.response is None or not self._is_clean():
            return False
        return self._exchange.keep_alive if self._exchange.ended else self._drained < MAX_DRAIN_BYTES

    def head(self) -> tokwire.ResponseHead | None:
        """The head of the response, or None before it came.

        Raises:
            TokwireError: There will be none.
        """
        exchange = self._exchange
        if exchange is None:
            return None
        if exchange.response is None:
            self._peeked = self.next_chunk()
            if exchange.response is not None and exchange.response.status >= 400:
                # A client should look out for an error while it still sends, and cease at once:
                # https://www.rfc-editor.org/rfc/rfc9112#section-9.5
                self.stop_sending()
        return exchange.response

    def next_chunk(self) -> bytes | None:
        """A chunk of the body, or None where more input is needed or the body has ended.

        Raises:
            NoResponse: The connection was closed before a response began.
            StreamTruncated: It was closed in the middle of the response.
            RemoteProtocolError: The peer does not speak HTTP/1.1.
        """
        if self._peeked is not None:
            chunk, self._peeked = self._peeked, None
            return chunk
        for chunk in self._chunks:
            return chunk
        return None

    def drain(self) -> None:
        """Throw away what is ready of the body.

        Raises:
            TokwireError: The connection cannot be used again.
        """
        while (chunk := self.next_chunk()) is not None:
            self._drained += len(chunk)

    def outgoing(self) -> memoryview:
        """The next bytes for the wire, none where there are none. The same until `sent` takes from them."""
        if not self._wire:
            tls = self._tls
            if tls is None:
                if self._queue:
                    self._wire = self._queue[0][:SLICE_BYTES]
                    self._take(len(self._wire))
            else:
                if self._queue:
                    self._take(tls.encrypt(self._queue[0][:SLICE_BYTES]))
                if tls.failure is not None:
                    self.stop_sending(tls.failure)
                self._wire = memoryview(tls.pending())
        return self._wire

    def sent(self, size: int) -> None:
        """Tell that so many bytes of `outgoing` were sent."""
        self._wire = self._wire[size:]

    def stop_sending(self, cause: BaseException | None = None) -> None:
        """Send no more of the request; the connection is not used again. What the server answered can still be read.

        Args:
            cause: Why sending failed, for the error that follows where there is no answer.
        """
        if self._queue or self._wire or cause is not None:
            self._queue.clear()
            self._wire = NOTHING
            self._is_spent = True
        self._cause = cause or self._cause

    def receive_data(self, data: bytes) -> None:
        """Take bytes from the wire; then look at `is_open`, or take `head` and chunks.

        Raises:
            ConnectError: The proxy refused, or TLS failed.
        """
        if self._is_over:
            return
        if self.is_open:
            self._receive(data)
        elif self._tunnel is not None:
            self._receive_answer(self._tunnel, data)
        else:
            self._shake_hands(data)

    def receive_eof(self, cause: BaseException | None = None) -> None:
        """Take the end of the connection; then take what is left of the chunks.

        Args:
            cause: The error of the network, or None where the peer closed the connection in the ordinary way.

        Raises:
            ConnectError: The connection was not open yet.
        """
        if not self.is_open:
            phase = "TLS handshake" if self._tunnel is None else "request to the proxy"
            raise tokwire.ConnectError(f"{self.route}: the connection was closed during the {phase}") from cause
        if cause is None and self._tls is not None and not self._tls.is_closed:
            cause = self._tls.failure or ssl.SSLEOFError(
                ssl.SSL_ERROR_EOF, "the connection was cut without TLS closure"
            )
        self._is_over = self._is_spent = True
        self._is_cut = cause is not None
        self._cause = cause or self._cause
        self._chunks = self._body()

    def _is_clean(self) -> bool:
        return not (self._is_spent or self._queue or self._wire)

    def _take(self, size: int) -> None:
        rest = self._queue[0][size:]
        if rest:
            self._queue[0] = rest
        else:
            self._queue.popleft()

    def _secure(self) -> None:
        if not self.route.is_secure:
            self.is_open = True
            return
        try:
            self._tls = TLS(self._context or default_context(), self.route.host)
        except ValueError as error:
            raise tokwire.ConnectError(f"{self.route}: no certificate can be for this host") from error
        self._shake_hands(b"")

    def _shake_hands(self, data: bytes) -> None:
        if self._tls is None:
            return
        try:
            self.is_open = self._tls.handshake(data)
        except ssl.SSLError as error:
            raise tokwire.ConnectError(f"{self.route}: TLS failed: {error}") from error

    def _receive_answer(self, tunnel: HTTPExchange, data: bytes) -> None:
        """Take what the proxy answers to CONNECT."""
        tunnel.receive_data(data)
        try:
            for _ in tunnel.body():
                break
        except tokwire.TokwireError as error:
            raise tokwire.ConnectError(f"{self.route}: the proxy does not answer in HTTP/1.1") from error
        if tunnel.response is not None:
            if not 200 <= tunnel.response.status < 300:
                raise tokwire.ConnectError(f"{self.route}: the proxy refused with status {tunnel.response.status}")
            self._tunnel = None
            self._secure()

    def _receive(self, data: bytes) -> None:
        tls, exchange = self._tls, self._exchange
        if tls is not None:
            data = tls.decrypt(data)
        if exchange is None:
            self._is_spent = self._is_spent or bool(data)  # nobody asked
            return
        exchange.receive_data(data)
        self._chunks = self._body()
        if tls is not None and (tls.failure is not None or tls.is_closed):
            self.receive_eof(tls.failure)

    def _body(self) -> Iterator[bytes]:
        exchange = self._exchange
        if exchange is None:
            return
        try:
            yield from exchange.body()
            if self._is_over and not (exchange.ended or (self._is_cut and exchange.response is not None)):
                # Of a body that ends with the connection, only an end that is no cut is the end.
                exchange.receive_eof()
                yield from exchange.body()
        except tokwire.TokwireError as error:
            raise error from self._cause
        if self._is_over and not exchange.ended:
            raise tokwire.StreamTruncated("the connection broke in the middle of the response") from self._cause
