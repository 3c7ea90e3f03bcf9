"""`Deadlines`: when each wait of one request ends. It reads no clock; whoever waits says what time it is."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from tokwire import TransportTimeout

if TYPE_CHECKING:
    from ._route import Route
    from ._timeouts import Timeouts

__all__ = ["Deadlines"]


class Deadlines:
    """The `Timeouts` of a request that began at `now`, as points in time.

    Args:
        timeouts: How long each wait may take, in seconds.
        now: The time, in seconds, on a clock that never goes back; every other time here is on the same clock.
        route: Whom the request goes to, for the messages.

    Attributes:
        connect: When the connection must be ready.
        total: When the response must be over.
    """

    __slots__ = ("_idle", "_route", "_timeouts", "connect", "total")

    def __init__(self, timeouts: Timeouts, now: float, route: Route) -> None:
        self._timeouts = timeouts
        self._route = route
        self._idle = inf if timeouts.idle is None else timeouts.idle
        self.total = inf if timeouts.total is None else now + timeouts.total
        self.connect = min(self.total, inf if timeouts.connect is None else now + timeouts.connect)

    def end_of_wait(self, now: float, *, connecting: bool) -> float:
        """When a wait that begins now must end: by the connect or the idle timeout, and always by the total."""
        return self.connect if connecting else min(self.total, now + self._idle)

    def error(self, now: float, *, connecting: bool) -> TransportTimeout:
        """The error of a wait that ended now without success. Its cause is a `TimeoutError`, as with other clients."""
        timeouts, route = self._timeouts, self._route
        if now >= self.total:
            phase, text = "total", f"the response was not over after {timeouts.total:g} s"
        elif connecting:
            phase, text = "connect", f"there was no connection after {timeouts.connect:g} s"
        else:
            phase, text = "idle", f"nothing came for {timeouts.idle:g} s"
        error = TransportTimeout(f"{route}: {text} ({phase} timeout)", phase=phase)
        error.__cause__ = TimeoutError(text)
        return error
