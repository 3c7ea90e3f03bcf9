"""How a stream ends: the rule for a source that fails, once for blocking and asynchronous streams."""

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

    An exception of the source says that the body was cut. Whether that matters is for the decoder to say: if the
    server had reported its end before, or its status is an error, the exception is dropped.

    Args:
        decoder: It has the head and every chunk that came.
        failure: What the source raised, or None where it came to its end.
        bare: Which of the `Timeouts` a `TimeoutError` without further name stands for.

    Raises:
        TransportTimeout: The source waited too long; its own exception is the cause.
        StreamTruncated: The source failed in any other way; its exception is the cause. It is always the decoder's own,
            which tells the place and is the same for every source.
        TokwireError: The failure itself, where it is another one of ours; or whatever the decoder finds.
    """
    if isinstance(failure, tokwire.TurnInterrupted | tokwire.LocalProtocolError):
        raise failure
    decoder.receive_eof(complete=failure is None)
    try:
        yield from decoder.events()
    except tokwire.StreamTruncated as error:
        if failure is None:
            raise
        if isinstance(failure, tokwire.TokwireError) and not isinstance(failure, tokwire.StreamTruncated):
            raise failure from failure.__cause__
        phase = timeout_phase(failure, bare)
        if phase is None:
            raise error from failure
        raise tokwire.TransportTimeout(f"the response stopped: {phase} timeout of the client", phase=phase) from failure


def timeout_phase(error: Exception, bare: str) -> str | None:
    """Which timeout an exception of a client stands for, from the names of its classes; None where it is no timeout."""
    names = [kind.__name__ for kind in type(error).__mro__ if "Timeout" in kind.__name__]
    if not names:
        return None
    if names[0] == "TimeoutError":
        return bare
    return "connect" if any("Connect" in name or "Pool" in name for name in names) else "idle"
