"""Ways to interrupt from outside of an event loop, once it sleeps: from another thread, and from a signal handler."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_asleep() -> bool:
    """Whether the event loop of the main thread waits for the system."""
    main = threading.main_thread().ident
    assert main is not None
    code = sys._current_frames()[main].f_code
    return code.co_name == "select" and "selectors" in code.co_filename


@contextmanager
def handled_by(act: Callable[[], object]) -> Iterator[None]:
    """A signal handler of Python, which the event loop knows nothing of."""
    before = signal.signal(signal.SIGUSR1, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


def send_signal(is_handled: Callable[[], bool]) -> None:
    """Send a signal to the main thread, and again while the handler has not run.

    Python is deaf between its last look at signals and the system call in which it sleeps.
    """
    main = threading.main_thread().ident
    assert main is not None
    until = time.monotonic() + 10
    while not is_handled() and time.monotonic() < until:
        signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.01)


@contextmanager
def once_asleep(way: str, act: Callable[[], object]) -> Iterator[None]:
    """Do something in another thread or in a signal handler, once the event loop sleeps."""
    handled: list[object] = []

    def run() -> None:
        until = time.monotonic() + 10
        while not is_asleep() and time.monotonic() < until:
            time.sleep(0.001)
        if way == "signal":
            send_signal(lambda: bool(handled))
        else:
            act()

    thread = threading.Thread(target=run)
    with handled_by(lambda: handled.append(act())):
        thread.start()
        try:
            yield
        finally:
            thread.join()
