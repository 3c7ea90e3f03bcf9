"""`TaskInterrupt`: a flag that wakes the task that waits on behalf of its owner, by cancelling it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

__all__ = ["TaskInterrupt"]


class TaskInterrupt:
    """The twin of `Interrupt` for tasks of asyncio. Any thread or signal handler may set it.

    `begin` stores the task and then looks at the flag, `set` stores the flag and then looks for a task, so that no
    order of the two loses the wake. The task is cancelled in a turn of its event loop: only there it is certain that it
    still waits on behalf of the owner.

    Attributes:
        is_set: Whether `set` was called. It stays so.
    """

    __slots__ = ("_cancelling", "_is_cancelled", "_task", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._is_cancelled = False

    def set(self, *, wakes: bool = True) -> None:
        """Set the flag, and wake the task that waits, if that is wanted. Calling it again does no harm."""
        self.is_set = True
        task = self._task
        if task is not None and wakes:
            with suppress(RuntimeError):  # the event loop is closed, so nobody waits any more
                task.get_loop().call_soon_threadsafe(self._cancel)

    def begin(self, task: asyncio.Task[Any] | None) -> bool:
        """A wait begins. Whether it may last: where the flag is set already, nothing will wake the task.

        Args:
            task: Who waits; None where another library than asyncio drives the coroutine, which cannot be woken.
        """
        self._task = task
        if self.is_set:
            self._task = None
        elif task is not None:
            self._cancelling = task.cancelling()
        return not self.is_set

    def end(self) -> bool:
        """The wait is over. Whether it was cancelled by the interrupt, and by nobody else."""
        task, self._task = self._task, None
        if not self._is_cancelled or task is None:
            return False
        self._is_cancelled = False
        return task.uncancel() <= self._cancelling

    def _cancel(self) -> None:
        if self._task is not None and not self._is_cancelled:
            self._is_cancelled = True
            self._task.cancel()
