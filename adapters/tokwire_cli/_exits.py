"""Exit codes, the same for every command, and which error ends in which of them."""

from __future__ import annotations

from enum import IntEnum

import tokwire

__all__ = ["EXIT_CODES_HELP", "ExitCode", "exit_code_for"]


class ExitCode(IntEnum):
    """What the shell is told. Codes above 128 follow the shell's own convention for signals."""

    COMPLETE = 0
    API_ERROR = 1
    USAGE = 2
    TRUNCATED = 3
    PROTOCOL_ERROR = 4
    TRANSPORT_ERROR = 5
    INTERRUPTED = 130
    CLOSED_PIPE = 141


EXIT_CODES_HELP = """\
exit codes:
  0    the answer is complete (also when the token limit ended it)
  1    the server reported an error, in the stream or by its status
  2    wrong usage, a file that cannot be read, or a protocol that must be named
  3    the body was cut: no end marker and no finish reason came
  4    bytes that break the protocol, a limit, or tool arguments that are not JSON
  5    no response came, or a timeout ended it (stream, ask, chat)
  130  interrupted by Ctrl-C
  141  whoever read the output went away
"""


def exit_code_for(error: tokwire.TokwireError) -> ExitCode:
    """The exit code of a stream that ended with `error`."""
    match error:
        case tokwire.APIError():
            return ExitCode.API_ERROR
        case tokwire.StreamTruncated():
            return ExitCode.TRUNCATED
        case tokwire.TransportError():
            return ExitCode.TRANSPORT_ERROR
        case tokwire.TurnInterrupted():
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.PROTOCOL_ERROR
