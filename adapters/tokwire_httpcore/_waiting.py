"""`Waiting`: how long one request may wait, what ends its waits, and what its failures are called."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import tokwire
from tokwire_http import Interrupt, Timeouts
from tokwire_http._deadlines import Deadlines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tokwire_http._route import Route

__all__ = ["CURRENT", "Waiting"]

LEAST_SECONDS = 0.001
"""Zero would mean to a socket that it must not wait at all, and would be told as another error."""

CLOCK_SLACK = 0.005
"""A wait that ended by the total timeout may end a little early."""

NO_CONNECTION = ("ConnectError", "ProxyError", "UnsupportedProtocol")
NO_BYTES = ("ReadError", "WriteError")


class Waiting:
    """All waits of one request.

    Args:
        route: Whom the request goes to, for the messages.
        timeouts: How long to wait, from now.
        interrupt: Ends every wait; asynchronous requests have none.

    Attributes:
        is_fresh: Whether a connection was made for this request.
        interrupt: Ends every wait.
    """

    __slots__ = ("_deadlines", "_route", "_timeouts", "interrupt", "is_fresh")

    def __init__(self, route: Route, timeouts: Timeouts, interrupt: Interrupt | None = None) -> None:
        self.is_fresh = False
        self.interrupt = interrupt or Interrupt()
        self._timeouts = timeouts
        self._route = route
        self._deadlines = Deadlines(timeouts, monotonic(), route)

    def short(self, seconds: float) -> Waiting:
        """Another one for the same connection, that is over in so many seconds."""
        return Waiting(self._route, Timeouts(connect=None, idle=None, total=seconds))

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """While this lasts, the streams of a `Backend` keep these deadlines and can be woken."""
        token = CURRENT.set(self)
        try:
            yield
        finally:
            CURRENT.reset(token)

    def extension(self) -> dict[str, float | None]:
        """The timeouts as a pool takes them, for pools that have another network backend."""
        connecting, reading = self.seconds(None, connecting=True), self.seconds(None)
        return {"connect": connecting, "pool": connecting, "read": reading, "write": reading}

    def seconds(self, timeout: float | None, *, connecting: bool = False) -> float | None:
        """How long a wait that begins now may take, at most `timeout`; None for ever."""
        now = monotonic()
        left = min(self._deadlines.end_of_wait(now, connecting=connecting) - now, inf if timeout is None else timeout)
        return None if left == inf else max(left, LEAST_SECONDS)

    def watch(self, wake: Callable[[], None] | None) -> None:
        """Say what wakes the wait that is about to begin; None where nobody waits."""
        self.interrupt.register(wake)

    def check(self) -> None:
        """Look at the flag and at the clock.

        Raises:
            TurnInterrupted: The interrupt was set.
            TransportTimeout: The total time is over.
        """
        if self.interrupt.is_set:
            raise tokwire.TurnInterrupted("the request was interrupted")
        now = monotonic()
        if now >= self._deadlines.total:
            raise self._deadlines.error(now, connecting=False)

    def failure(self, error: Exception) -> tokwire.TokwireError:
        """What an exception of httpcore means before the head. It is told by the names of its classes."""
        names = [kind.__name__ for kind in type(error).__mro__]
        known = self._known(error, names)
        if known is not None:
            return known
        if not set(names).isdisjoint(NO_CONNECTION):
            return tokwire.ConnectError(f"{self._route}: no connection: {error}")
        if not set(names).isdisjoint(NO_BYTES) or "disconnected" in str(error):
            return tokwire.NoResponse(f"{self._route}: the connection was closed before a response began")
        if "RemoteProtocolError" in names:
            return tokwire.RemoteProtocolError("the head of the response is not valid HTTP")
        return tokwire.LocalProtocolError(f"{self._route}: httpcore refused the request ({names[0]})")

    def failure_in_body(self, error: Exception) -> tokwire.TokwireError:
        """What an exception means behind the head."""
        known = self._known(error, [kind.__name__ for kind in type(error).__mro__])
        return known or tokwire.StreamTruncated("the connection broke in the middle of the response")

    def _known(self, error: Exception, names: list[str]) -> tokwire.TokwireError | None:
        if self.interrupt.is_set:
            return tokwire.TurnInterrupted("the request was interrupted")
        if isinstance(error, tokwire.TokwireError):
            return error
        if "TimeoutException" in names:
            return self._timeout(connecting=names[0] in ("ConnectTimeout", "PoolTimeout"))
        return None

    def _timeout(self, *, connecting: bool) -> tokwire.TransportTimeout:
        own = self._timeouts.connect if connecting else self._timeouts.idle
        now = inf if own is None else monotonic() + CLOCK_SLACK
        return self._deadlines.error(now, connecting=connecting)


CURRENT: ContextVar[Waiting | None] = ContextVar("tokwire_httpcore_waiting", default=None)
"""The request on behalf of which this thread or task waits."""
