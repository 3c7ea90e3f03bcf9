"""What the clients of `tokwire_threads` and `tokwire_asyncio` make of options, outcomes and foreign failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokwire

from ._failure import known_failure
from ._timeouts import Timeouts

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CANCELLED",
    "failure_of_request",
    "last_answer",
    "options_of_query",
    "timeout_of_tool",
    "timeouts_of",
]

CANCELLED = "the function was cancelled"
"""The error of a handler that ended in a cancellation of its own making."""

REFUSALS = frozenset(
    {"ClientConnectorError", "ConnectError", "ConnectionRefusedError", "NewConnectionError", "gaierror"}
)
"""The names that clients give to the failure of a connection that never was."""


def timeouts_of(options: tokwire.AgentOptions) -> Timeouts:
    """How long a transport may wait for each request of a client."""
    return Timeouts(connect=options.connect_timeout, idle=options.idle_timeout, total=options.timeout)


def options_of_query(options: tokwire.AgentOptions) -> tokwire.AgentOptions:
    """The options for one request, whose calls are for the caller to run.

    Raises:
        TypeError: They are no options.
    """
    if not isinstance(options, tokwire.AgentOptions):
        raise TypeError(f"query: options must be AgentOptions, not {type(options).__name__}")
    return options.replace(auto_execute_tools=False)


def failure_of_request(error: Exception, bare: str) -> Exception:
    """Why a request got no response, in our words where the transport used its own; those are kept as the cause.

    The text of a foreign error is not repeated: it may hold a header.

    Args:
        error: What the transport raised.
        bare: Which of the `Timeouts` a `TimeoutError` without further name stands for.
    """
    known = known_failure(error, bare)
    if isinstance(known, tokwire.TokwireError):
        return known
    names = [kind.__name__ for kind in type(error).__mro__]
    kind = tokwire.TransportError if REFUSALS.isdisjoint(names) else tokwire.ConnectError
    failure = kind(f"the transport raised {names[0]} before a response came")
    failure.__cause__ = error
    return failure


def timeout_of_tool(seconds: float | None) -> TimeoutError:
    """The outcome of a tool that took too long, for the model to read."""
    return TimeoutError(f"the tool did not end within {seconds:g} seconds")


def last_answer(messages: Sequence[tokwire.Message]) -> tokwire.Message:
    """What the model said last; a message without content where it said nothing."""
    answers = (message for message in reversed(messages) if message.role == "assistant")
    return next(answers, tokwire.Message.assistant(()))
