"""How a stream ends, once for blocking and asynchronous streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["last_events"]


def last_events(
    decoder: tokwire.ResponseDecoder, failure: Exception | None, *, bare: str
) -> Iterator[tokwire.StreamEvent]:
    """The events behind the last chunk of a body that came to its end, or whose source failed.

    Args:
        decoder: It has the head and every chunk that came.
        failure: What the source raised, or None where it came to its end.
        bare: Which of the `Timeouts` a `TimeoutError` without further name stands for.

    Raises:
        TransportTimeout: The source waited too long; its own exception is the cause.
        TokwireError: What `ResponseDecoder.receive_failure` makes of any other failure.
    """
    if failure is None:
        decoder.receive_eof()
    else:
        decoder.receive_failure(known_failure(failure, bare))
    return decoder.events()


def known_failure(failure: Exception, bare: str) -> Exception:
    """The failure of a source, as a `TransportTimeout` where its name says that it waited too long."""
    phase = None if isinstance(failure, tokwire.TokwireError) else timeout_phase(failure, bare)
    if phase is None:
        return failure
    timeout = tokwire.TransportTimeout(f"the response stopped: {phase} timeout of the client", phase=phase)
    timeout.__cause__ = failure
    return timeout


def timeout_phase(error: Exception, bare: str) -> str | None:
    """Which timeout an exception of a client stands for, from the names of its classes; None where it is no timeout."""
    names = [kind.__name__ for kind in type(error).__mro__ if "Timeout" in kind.__name__]
    if not names:
        return None
    if names[0] == "TimeoutError":
        return bare
    return "connect" if any("Connect" in name or "Pool" in name for name in names) else "idle"
