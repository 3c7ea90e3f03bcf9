"""`retry_call`: call a function again while its errors say that this may help."""

from __future__ import annotations

import asyncio
from random import random as random_fraction
from typing import TYPE_CHECKING, TypeVar

import tokwire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["retry_call"]

DEFAULT_CONFIG = tokwire.RetryConfig()

T = TypeVar("T")


async def retry_call(
    function: Callable[[], Awaitable[T]],
    config: tokwire.RetryConfig = DEFAULT_CONFIG,
    *,
    random: Callable[[], float] = random_fraction,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    on_retry: Callable[[tokwire.Retrying], object] | None = None,
) -> T:
    """Call a function until it returns, at most as often as the policy allows.

    Let the function do all of its work, down to the last event: an error in a stream that it hands out comes too late
    to be seen here. A `Client` needs no such help: with `AgentOptions(retry=...)` it repeats the request alone, so
    that the prompt does not enter the history twice.

    Args:
        function: What to call, without arguments.
        config: The policy.
        random: Gives a number from 0 up to 1.
        sleep: Waits for so many seconds.
        on_retry: Told before each pause how many attempts have failed, how long the pause is, and why.

    Returns:
        What the function returned.

    Raises:
        TokwireError: The function's last error, when it is not retryable, all attempts are used, or the server asks for
            a longer pause than the policy allows.
    """
    failed = 0
    while True:
        try:
            return await function()
        except tokwire.TokwireError as error:
            failed += 1
            delay = tokwire.next_retry_delay(config, failed, error, random)
            if delay is None:
                raise
            retrying = tokwire.Retrying(failed, delay, error)
        if on_retry is not None:
            on_retry(retrying)
        await sleep(delay)
