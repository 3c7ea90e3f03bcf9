"""Conversations and streaming responses for blocking programs, over sockets or any other `Transport`.

`Client` holds a conversation and `query` asks once, both with tools, hooks and retries. `stream` is one request without
any of that, and `SocketTransport` sends them, with a few connections kept.

Nothing here reads the environment: proxies and certificates are what the caller says.
"""

from ._client import Client
from ._query import query
from ._retry import retry_call
from ._stream import stream
from ._transport import SocketTransport
from ._turn import Turn

__all__ = ["Client", "SocketTransport", "Turn", "query", "retry_call", "stream"]
