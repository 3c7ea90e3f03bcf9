"""Transports on the connection pools of httpcore and httpcore2, blocking and asynchronous, HTTP/2 and proxies included.

Whichever of the two is installed is used, or the pool that is passed in. A transport sends requests for
`tokwire_threads` and `tokwire_asyncio`, which bring the events.
"""

from ._async_transport import AsyncTransport
from ._core import installed_core
from ._network import AsyncBackend, Backend
from ._transport import Transport

__all__ = ["AsyncBackend", "AsyncTransport", "Backend", "Transport"]

installed_core()  # where there is none, that is said at the import and not at the first request
