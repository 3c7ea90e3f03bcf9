"""`Record`: what a server saw of its clients, with ways to wait for it from threads and from tasks."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ReceivedRequest", "Record"]


class ReceivedRequest(Struct, frozen=True):
    """A request as the server got it.

    Attributes:
        method: For example `POST`.
        target: Path and query.
        headers: Names in lower case, and values.
        body: The body; what had come of it, where the reply was early.
        connection: The number of its connection, from 1.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection: int

    def __repr__(self) -> str:
        path, query, _ = self.target.partition("?")
        names = ", ".join(name for name, _ in self.headers)
        return f"<ReceivedRequest {self.method} {path}{query}... [{names}] {len(self.body)} bytes>"

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next((value for key, value in self.headers if key == name.lower()), None)


class Record:
    """What a server saw.

    Attributes:
        requests: The requests, in the order in which their heads and bodies were complete.
        connections: How many connections were accepted; with TLS, how many ended their handshake.
        open_connections: How many of them are open.
        closed_by_client: How many the client closed or reset before the server did.
    """

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self.connections = 0
        self.open_connections = 0
        self.closed_by_client = 0
        self._changed = threading.Condition()
        self._waiters: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def change(self, **changes: int) -> None:
        """Add to the counts and wake whoever waits."""
        with self._changed:
            for name, more in changes.items():
                setattr(self, name, getattr(self, name) + more)
            self._changed.notify_all()
            waiters = list(self._waiters)
        for loop, event in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def add_request(self, request: ReceivedRequest) -> None:
        """Keep a request."""
        with self._changed:
            self.requests.append(request)
        self.change()

    def wait(self, condition: Callable[[], bool], timeout: float = 5.0) -> None:
        """Wait in a thread until a condition on the record holds; not in the thread of an event loop.

        Args:
            condition: Called again after each change, for example `lambda: server.closed_by_client == 1`.
            timeout: Seconds after which waiting is in vain.

        Raises:
            TimeoutError: It did not come to hold.
        """
        with self._changed:
            if not self._changed.wait_for(condition, timeout):
                raise TimeoutError(f"the server did not see it within {timeout} s: {self!r}")

    async def async_wait(self, condition: Callable[[], bool], timeout: float = 5.0) -> None:
        """Wait in a task until a condition on the record holds. The twin of `wait`.

        Raises:
            TimeoutError: It did not come to hold.
        """
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event)
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout):
                while not condition():
                    event.clear()
                    if not condition():
                        await event.wait()
        except TimeoutError:
            raise TimeoutError(f"the server did not see it within {timeout} s: {self!r}") from None
        finally:
            self._waiters.discard(waiter)

    def __repr__(self) -> str:
        return (
            f"<Record {self.connections} connections, {self.open_connections} open, "
            f"{self.closed_by_client} closed by the client, {len(self.requests)} requests>"
        )
