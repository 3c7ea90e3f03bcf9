"""`main`: from the command line to an exit code, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import tokwire

from ._arguments import parse
from ._exits import ExitCode, exit_code_for
from ._problems import report, report_error
from ._sniff import UnsureError
from ._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._arguments import Arguments

__all__ = ["main"]

COMMANDS = {
    "ask": "_ask",
    "chat": "_chat",
    "decode": "_decode",
    "check": "_check",
    "stream": "_live",
    "demo": "_demo",
    "protocols": "_protocols",
}
"""The module of each command. It is imported when it is asked for: sockets are slow to import, and few need them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `tokwire` command with `argv`, by default the arguments of the process, and return its exit code."""
    if sys.stdout is None:
        report(f"standard output: {os.strerror(errno.EBADF)}")
        return ExitCode.USAGE
    try:
        return _run(argv)
    except BrokenPipeError:
        _discard_stdout()
        return ExitCode.CLOSED_PIPE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["replay"]:  # it has a parser of its own
        replay: Callable[[Sequence[str]], int] = import_module("tokwire_replay").main
        return replay(argv[1:])
    try:
        arguments = parse(argv)
        exit_code = command(COMMANDS[arguments.command])(arguments)
    except SystemExit as stop:
        # How argparse ends after --help, --version and wrong usage; in-process callers get a number like any other.
        exit_code = ExitCode(int(stop.code or 0))
    except UnsureError as error:
        known = ", ".join(protocol.name for protocol in tokwire.protocols())
        report(f"cannot tell the protocol: {error}", f"name it with --protocol, one of: {known}")
        return ExitCode.USAGE
    except UsageError as error:
        report(str(error))
        return ExitCode.USAGE
    except tokwire.TokwireError as error:
        report_error(error)
        return exit_code_for(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            _discard_stdout()
        report(f"{error.filename or 'standard output'}: {error.strerror}")
        return ExitCode.USAGE
    sys.stdout.flush()
    return exit_code


def command(module: str) -> Callable[[Arguments], ExitCode]:
    """What runs a command."""
    run: Callable[[Arguments], ExitCode] = import_module(f".{module}", __package__).run
    return run


def _discard_stdout() -> None:
    """Keep the interpreter from failing again when it flushes stdout on its way out."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
