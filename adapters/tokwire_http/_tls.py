"""`TLS`: encryption as a converter between bytes and bytes, on `ssl.MemoryBIO`. It opens nothing and never waits.

The socket transports use it in place of the TLS of `socket` and `asyncio`, which cannot tell a connection that was cut
from one that was closed (asyncio), or needs a second kind of waiting (`SSLWantReadError` and its like).
"""

from __future__ import annotations

import ssl
from functools import cache

__all__ = ["TLS", "default_context"]

READ_BYTES = 64 << 10
ALPN = "http/1.1"


@cache
def default_context() -> ssl.SSLContext:
    """The context for callers who bring none: the authorities of the system, certificate and host name checked."""
    context = ssl.create_default_context()
    context.set_alpn_protocols([ALPN])
    return context


class TLS:
    """One end of a TLS connection. Send what `pending` gives after each call of another method.

    Args:
        context: Which authorities are trusted, and what is checked.
        host: The host that the certificate must be for; also sent as SNI.

    Attributes:
        is_closed: Whether the peer said that it sends no more. Without that, the end of the connection may be a cut.
        failure: What makes the connection unusable from here on: bytes that were tampered with, an alert of the peer.

    Raises:
        ValueError: The host cannot be that of a certificate.
    """

    __slots__ = ("_incoming", "_object", "_outgoing", "failure", "is_closed")

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.is_closed = False
        self.failure: ssl.SSLError | None = None

    def handshake(self, data: bytes = b"") -> bool:
        """Take the next bytes from the peer; True once the handshake is over.

        Raises:
            ssl.SSLError: The peer cannot be trusted, or does not speak TLS, or chose another protocol than HTTP/1.1.
        """
        self._incoming.write(data)
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        chosen = self._object.selected_alpn_protocol()
        if chosen not in (None, ALPN):
            raise ssl.SSLError(f"the server chose {chosen!r}; let ssl_context offer {ALPN} alone")
        return True

    def decrypt(self, data: bytes) -> bytes:
        """What the peer said, as far as it can be read: also what came before a `failure`."""
        self._incoming.write(data)
        pieces: list[bytes] = []
        try:
            while piece := self._object.read(READ_BYTES):
                pieces.append(piece)
            self.is_closed = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.is_closed = True
        except ssl.SSLError as error:
            self.failure = error
        return b"".join(pieces)

    def encrypt(self, data: memoryview) -> int:
        """Encrypt as much as can be; how many bytes that were."""
        try:
            return self._object.write(data)
        except ssl.SSLWantReadError:  # the server wants new keys first
            return 0
        except ssl.SSLError as error:
            self.failure = error
            return 0

    def pending(self) -> bytes:
        """What is to be sent; each byte once."""
        return self._outgoing.read()
