"""A loopback HTTP/1.1 server that serves recordings, with faults on demand: for testing clients over real sockets.

`with serve(body) as url` runs it in a daemon thread, `async with serve(body) as url` in the running event loop; `main`
is the command `tokwire replay`. It listens on 127.0.0.1 only, and it decides nothing about what it sends.
"""

from ._main import main
from ._record import ReceivedRequest, Record
from ._reply import FAULTS, Fault, Reply, guess_content_type
from ._server import ReplayServer, serve

__all__ = [
    "FAULTS",
    "Fault",
    "ReceivedRequest",
    "Record",
    "ReplayServer",
    "Reply",
    "guess_content_type",
    "main",
    "serve",
]
