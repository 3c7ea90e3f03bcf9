"""What a person is told when something goes wrong: one line that says what, one that says what to do."""

from __future__ import annotations

import sys

import tokwire

from ._escape import escape
from ._screen import open_screen

__all__ = ["note", "report", "report_error", "report_no_end", "shortened"]

# A server may send a whole page as its error message; `--json` has all of it.
MAX_CHARS = 2000
TIMEOUT_OPTIONS = {"connect": "--connect-timeout", "idle": "--idle-timeout", "total": "--timeout"}


def report(message: str, advice: str | None = None) -> None:
    """Show a problem on stderr, and what can be done about it."""
    if sys.stderr is None:
        return
    screen = open_screen(sys.stderr)
    screen.write("error:", "bold red")
    screen.write(f" {escape(shortened(message))}\n")
    if advice:
        screen.write("hint:", "bold yellow")
        screen.write(f"  {escape(shortened(advice))}\n")


def note(message: str) -> None:
    """Tell the person on stderr what is no problem, but good to know."""
    if sys.stderr is not None:
        screen = open_screen(sys.stderr)
        screen.write("note:", "bold")
        screen.write(f"  {escape(shortened(message))}\n")


def shortened(text: str, chars: int = MAX_CHARS) -> str:
    """The text, or the beginning of a longer one and how much is left out."""
    rest = len(text) - chars
    return text if rest <= 0 else f"{text[:chars]}... ({rest:,} more characters)"


def report_error(error: tokwire.TokwireError) -> None:
    """Show the error in which a stream ended."""
    report(str(error), _advice_for(error))


def report_no_end() -> None:
    """Say that a stream stopped without any sign that it was over."""
    report(
        "the stream ended without an end marker and without a finish reason",
        "the answer may be cut: ask again, or look at how the connection was closed",
    )


def _advice_for(error: tokwire.TokwireError) -> str | None:
    match error:
        case tokwire.APIError():
            return _api_advice(error)
        case tokwire.StreamTruncated():
            return "what came before the cut was decoded, tool calls still open were held back; ask again"
        case tokwire.TransportError():
            return _transport_advice(error)
        case tokwire.LimitExceeded(limit="max_event_bytes", value=value):
            return f"allow more with --max-event-bytes, for example --max-event-bytes {value * 2}"
        case tokwire.InvalidToolArguments(calls=(_, *others)) if others:
            return "also: " + "; ".join(f"tool call {call.name!r} (id {call.id!r}): {call.detail}" for call in others)
        case _:
            return None


def _transport_advice(error: tokwire.TransportError) -> str | None:
    match error:
        case tokwire.ConnectError():
            return "look at the URL, and whether a server listens there"
        case tokwire.NoResponse():
            return "look at scheme and port of the URL, or ask again"
        case tokwire.TransportTimeout(phase=phase):
            return f"allow more seconds with {TIMEOUT_OPTIONS[phase]}, or none for no limit"
        case _:
            return None


def _api_advice(error: tokwire.APIError) -> str | None:
    request = f"the server calls the request {error.request_id}" if error.request_id else ""
    if not error.retryable:
        return request or None
    when = "later" if error.retry_after is None else f"in {error.retry_after:g} seconds"
    again = f"such errors pass: send the same request again {when}"
    return f"{again}; {request}" if request else again
