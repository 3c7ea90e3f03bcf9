"""`TaskInterrupt`: a flag that wakes the task that waits on behalf of its owner, by cancelling it."""

from __future__ import annotations

import asyncio
from typing import Any

__all__ = ["TaskInterrupt"]


class TaskInterrupt:
    """The twin of `tokwire_http.Interrupt` for tasks. It is used in the thread of the event loop.

    Attributes:
        is_set: Whether `set` was called. It stays so.
    """

    __slots__ = ("_cancelling", "_is_cancelled", "_task", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._is_cancelled = False

    def set(self) -> None:
        """Set the flag, and cancel the wait of another task. Calling it again does no harm."""
        self.is_set = True
        task = self._task
        if task is not None and not self._is_cancelled and task is not asyncio.current_task():
            self._is_cancelled = True
            task.cancel()

    def begin(self) -> None:
        """The running task is about to wait."""
        self._task = asyncio.current_task()
        self._cancelling = 0 if self._task is None else self._task.cancelling()

    def end(self) -> bool:
        """The wait is over. Whether it was cancelled by the interrupt, and by nobody else."""
        task, self._task = self._task, None
        if not self._is_cancelled or task is None:
            return False
        self._is_cancelled = False
        return task.uncancel() <= self._cancelling
