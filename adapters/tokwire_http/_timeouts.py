"""`Timeouts` and `Interrupt`: what bounds the waiting of a transport, and what ends it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Interrupt", "Timeouts"]


class Timeouts(Struct, frozen=True):
    """How long a transport may wait, in seconds; None waits for ever. Each one that runs out is a `TransportTimeout`.

    Attributes:
        connect: For a connection: name resolution, TCP, proxy and TLS together.
        idle: For the next bytes of the response, its head included. Reasoning models stay silent for long before they
            answer, so the default is generous; heartbeats count as bytes.
        total: For one request, from the connection to the last byte of the body.

    Raises:
        ValueError: One of them is neither None nor a number above 0.
    """

    connect: float | None = 10.0
    idle: float | None = 60.0
    total: float | None = 120.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is None:
                continue
            if type(value) not in (int, float) or not value > 0:
                raise ValueError(f"Timeouts({name}={value!r}): expected seconds above 0, or None to wait for ever")


class Interrupt:
    """A flag that any thread or signal handler may set, and that wakes whoever waits on behalf of its owner.

    The waiting side registers a function that ends its wait, and looks at `is_set` when it wakes. There is no lock,
    since a signal handler could not take one: `set` stores the flag and then calls the function, `register` stores the
    function and then looks at the flag, so that no order of the two loses the wake. The function may be called twice.

    Attributes:
        is_set: Whether `set` was called. It stays so.
    """

    __slots__ = ("_wake", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._wake: Callable[[], None] | None = None

    def set(self) -> None:
        """Set the flag and wake the waiting side. Calling it again does no harm."""
        self.is_set = True
        wake = self._wake
        if wake is not None:
            wake()

    def register(self, wake: Callable[[], None] | None) -> None:
        """Say how to end the wait that is about to begin; None once it is over.

        Args:
            wake: Called from another thread or from a signal handler, at once where the flag is set already. It must
                neither block nor raise.
        """
        self._wake = wake
        if wake is not None and self.is_set:
            wake()
