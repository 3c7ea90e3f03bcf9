"""Events from the response of any HTTP client, and the contract of a transport.

`from_response` and `afrom_response` take a response of httpx2, httpx, requests, urllib3, aiohttp, httpcore or
http.client; `iter_events` and `aiter_events` take chunks of bytes from anywhere. `Transport` and `AsyncTransport` are
what a transport of one's own has to be, `EventStream` and `AsyncEventStream` what all of them give. `image_from_file`,
`get_base_url` and `get_model` read what the core may not: files and the environment. Nothing here opens a connection or
imports a client.
"""

from ._async_stream import AsyncEventStream
from ._environment import get_base_url, get_model
from ._functions import afrom_response, aiter_events, from_response, iter_events
from ._images import image_from_file
from ._stream import EventStream
from ._timeouts import Interrupt, Timeouts
from ._transport import (
    AsyncChunkResponse,
    AsyncResponse,
    AsyncTransport,
    ChunkResponse,
    Response,
    Transport,
)

__all__ = [
    "AsyncChunkResponse",
    "AsyncEventStream",
    "AsyncResponse",
    "AsyncTransport",
    "ChunkResponse",
    "EventStream",
    "Interrupt",
    "Response",
    "Timeouts",
    "Transport",
    "afrom_response",
    "aiter_events",
    "from_response",
    "get_base_url",
    "get_model",
    "image_from_file",
    "iter_events",
]
