"""`Pool`: connections that wait for their next request, a few for each route."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._route import Route

__all__ = ["Pool"]

MAX_IDLE = 8
"""Connections kept for one route. More are only of use to programs that send more requests than that at a time."""

KEEP_SECONDS = 60.0
"""How long one is kept. Many servers close an idle connection after 60 or 75 seconds; routers on the way forget it some
minutes later without a word, and then only a timeout would tell."""


class Pooled(Protocol):
    """A connection that can be dropped."""

    def abort(self) -> None:
        """Drop it at once."""
        ...


ConnectionT = TypeVar("ConnectionT", bound=Pooled)


class Pool(Generic[ConnectionT]):
    """Idle connections by route. It takes no lock: each step is one operation on a deque, which no thread can split.

    Args:
        clock: The time in seconds, on a clock that never goes back.
    """

    __slots__ = ("_clock", "_idle", "is_closed")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.is_closed = False
        self._clock = clock
        self._idle: dict[Route, deque[tuple[float, ConnectionT]]] = {}

    def take(self, route: Route) -> ConnectionT | None:
        """The connection that was put back last, or None. Whether it is alive is for the caller to find out."""
        idle = self._idle.get(route, ())
        while idle:
            try:
                since, connection = idle.pop()
            except IndexError:  # another thread was faster
                break
            if self._clock() - since < KEEP_SECONDS:
                return connection
            connection.abort()
        return None

    def put(self, route: Route, connection: ConnectionT) -> None:
        """Keep a connection for the next request; the one that waits longest makes room for it."""
        idle = self._idle.setdefault(route, deque())
        idle.append((self._clock(), connection))
        while len(idle) > (0 if self.is_closed else MAX_IDLE):
            drop_oldest(idle)

    def close(self) -> None:
        """Drop every idle connection, and from now on each one that is put back."""
        self.is_closed = True
        for idle in list(self._idle.values()):
            while idle:
                drop_oldest(idle)


def drop_oldest(idle: deque[tuple[float, ConnectionT]]) -> None:
    """Drop the connection that waits longest, unless another thread took it."""
    try:
        connection = idle.popleft()[1]
    except IndexError:
        return
    connection.abort()
