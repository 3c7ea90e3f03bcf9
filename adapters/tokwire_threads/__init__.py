"""Streaming responses over blocking sockets: `stream` for one request, `SocketTransport` for programs that send many.

Nothing here reads the environment: proxies and certificates are what the caller says.
"""

from ._stream import stream
from ._transport import SocketTransport

__all__ = ["SocketTransport", "stream"]
