"""The command as a process, with pipes and at a terminal: what the tests of `ask` and `chat` share. POSIX alone."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from tests.test_cli_support import HELLO, sse, text_chunk

from tokwire_replay import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMAND = [sys.executable, "-c", "import sys; from tokwire_cli import main; sys.exit(main())"]
PATIENCE = 20.0
"""Seconds after which waiting for a process is in vain."""

HANGING = Reply(body=[sse(text_chunk("Hel")), HELLO], faults=[f"stall:{len(sse(text_chunk('Hel')))}"])
SLOW = '''
import threading

def wait() -> str:
    """Wait for ever."""
    print("waiting", flush=True)
    threading.Event().wait()
    return "never"
'''


def environment() -> dict[str, str]:
    """The environment without what a developer may have set."""
    unwanted = {"PYTHONUNBUFFERED", "OPEN_AGENT_BASE_URL", "OPEN_AGENT_MODEL"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"TERM": "dumb", "NO_COLOR": "1", "INPUTRC": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def running(*argv: str, folder: Path, **streams: int) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a folder, with pipes unless told otherwise."""
    kinds = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    process = subprocess.Popen([*COMMAND, *argv], bufsize=0, env=environment(), cwd=folder, **kinds)  # type: ignore[call-overload]  # the streams are among the keywords
    with process:
        try:
            yield process
        finally:
            process.kill()


def event_of(stream: IO[bytes] | None) -> Any:
    """The next JSON line; waits until the process has written it."""
    assert stream is not None
    line = b""
    while not line.endswith(b"\n"):
        more = stream.read(1)
        assert more, line
        line += more
    return json.loads(line)


def block_of(process: subprocess.Popen[bytes]) -> Any:
    """The block of the next event."""
    return event_of(process.stdout)["block"]


def type_in(process: subprocess.Popen[bytes], text: str) -> None:
    """Write to the standard input of a process."""
    assert process.stdin is not None
    process.stdin.write(text.encode())


class Terminal:
    """A person at a terminal, in which the command runs."""

    def __init__(self, primary: int, process: subprocess.Popen[bytes]) -> None:
        self._primary = primary
        self._unread = ""
        self.process = process

    def press(self, keys: str) -> None:
        """Type something."""
        os.write(self._primary, keys.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def interrupt_prompt(self) -> None:
        """Press Ctrl-C where a line is waited for, and Enter.

        The line editor does not see a signal that comes just before it begins to wait; the end of the line wakes it.
        """
        self.interrupt()
        with suppress(OSError):  # the command may be over
            self.press("\n")

    def until(self, text: str) -> str:
        """What is shown up to a text, which is waited for."""
        while text not in self._unread:
            more = self._more()
            assert more, self._unread
            self._unread += more
        shown, _, self._unread = self._unread.partition(text)
        return shown

    def rest(self) -> str:
        """What is shown until the command is over."""
        while more := self._more():
            self._unread += more
        self.process.wait(timeout=PATIENCE)
        return self._unread

    def _more(self) -> str:
        assert select.select([self._primary], [], [], PATIENCE)[0], self._unread
        try:
            return os.read(self._primary, 1 << 16).decode()
        except OSError:  # how Linux reports that nobody is at the other end
            return ""


@contextmanager
def at_terminal(*argv: str, folder: Path, echo: bool = False, **streams: int) -> Iterator[Terminal]:
    """The command with a terminal for all of its streams, unless told otherwise. `echo` shows what is typed."""
    primary, secondary = pty.openpty()
    settings = termios.tcgetattr(secondary)
    settings[1] &= ~termios.OPOST  # or the terminal would send CR LF for LF
    if not echo:
        settings[3] &= ~termios.ECHO
    termios.tcsetattr(secondary, termios.TCSANOW, settings)
    kinds = {"stdin": secondary, "stdout": secondary, "stderr": secondary} | streams
    try:
        with running(*argv, folder=folder, **kinds) as process:
            os.close(secondary)
            yield Terminal(primary, process)
    finally:
        os.close(primary)
