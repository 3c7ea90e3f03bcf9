"""Ctrl-C: the first one interrupts what is waited for, and not the program."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["interrupted_by_ctrl_c"]


@contextmanager
def interrupted_by_ctrl_c(interrupt: Callable[[], None]) -> Iterator[None]:
    """While this lasts, Ctrl-C calls `interrupt`, and a second one raises `KeyboardInterrupt` in the usual way."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may have handlers
        yield
        return
    pressed = False

    def handle(_number: int, _frame: object) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        interrupt()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
