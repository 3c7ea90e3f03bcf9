"""`serve`: a loopback HTTP/1.1 server for recordings, as a context manager for threads and for tasks."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from ._connection import Connection
from ._record import Record
from ._reply import Reply

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from types import TracebackType

__all__ = ["ReplayServer", "serve"]

HOST = "127.0.0.1"


def serve(
    body: bytes | Sequence[bytes] | Reply = b"",
    *more: Reply,
    port: int = 0,
    ssl_context: ssl.SSLContext | None = None,
    **options: Any,
) -> ReplayServer:
    """A server for a recording, on 127.0.0.1 only. It answers every request, whatever its path.

    Args:
        body: A body, the reads of one, or a whole `Reply`.
        *more: Replies to the second and the following requests; the last one answers all that come after it.
        port: The port, by default one that is free.
        ssl_context: Serve over TLS with this context.
        **options: Fields of `Reply`, which change each of the replies.

    Returns:
        The server. `with server as url` runs it in a daemon thread, `async with server as url` in the running loop.

    Raises:
        TypeError: An option is no field of `Reply`.
        ValueError: An option is out of range.
    """
    unknown = options.keys() - set(Reply.__struct_fields__)
    if unknown:
        raise TypeError(f"serve: {', '.join(sorted(unknown))}: no such field of Reply")
    first = body if isinstance(body, Reply) else Reply(body=body)
    return ReplayServer([msgspec.structs.replace(reply, **options) for reply in (first, *more)], port, ssl_context)


class ReplayServer(Record):
    """A running or future server. Its counts and `wait` are those of `Record`.

    Attributes:
        url: Where it listens, without a slash at the end; empty before it runs.
        port: Its port.
    """

    def __init__(self, replies: Sequence[Reply], port: int, ssl_context: ssl.SSLContext | None) -> None:
        super().__init__()
        self.url = ""
        self.port = port
        self._replies = list(replies)
        self._ssl_context = ssl_context
        self._answered = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._released: asyncio.Semaphore | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None

    def release(self) -> None:
        """Let one stalled reply go on, or the next one that stalls. Any thread may call it."""
        if self._loop is not None and self._released is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._released.release)

    def __enter__(self) -> str:
        started: list[BaseException | None] = []
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started, ready), name="tokwire-replay", daemon=True)
        self._thread.start()
        ready.wait()
        if started[0] is not None:
            self._thread.join()
            raise started[0]
        return self.url

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread, self._thread = self._thread, None
        if self._loop is not None and thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            thread.join()

    async def __aenter__(self) -> str:
        self._loop = asyncio.get_running_loop()
        self._released = asyncio.Semaphore(0)
        self._server = await asyncio.start_server(self._accept, HOST, self.port, ssl=self._ssl_context)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'http' if self._ssl_context is None else 'https'}://{HOST}:{self.port}"
        return self.url

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _run(self, started: list[BaseException | None], ready: threading.Event) -> None:
        """What the thread does. Whatever keeps it from starting is raised where it was started."""
        try:
            asyncio.run(self._serve(started, ready))
        except BaseException as error:
            if started:
                raise
            started.append(error)
            ready.set()

    async def _serve(self, started: list[BaseException | None], ready: threading.Event) -> None:
        self._stopping = asyncio.Event()
        async with self:
            started.append(None)
            ready.set()
            await self._stopping.wait()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._released is None:
            return
        connection = Connection(reader, writer, self._next_reply, self, self._released)
        task = asyncio.ensure_future(connection.run())
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, writer))

    def _done(self, writer: asyncio.StreamWriter, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():  # perhaps before its first step, and then it closed nothing
            writer.transport.abort()
        elif (error := task.exception()) is not None:
            asyncio.get_running_loop().call_exception_handler({"message": "replay server", "exception": error})

    def _next_reply(self) -> Reply:
        place = min(self._answered, len(self._replies) - 1)
        self._answered += 1
        return self._replies[place]
