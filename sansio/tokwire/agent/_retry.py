"""When to try again, and after how long: the policy alone. Whoever waits is a driver; chance is an argument."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from msgspec import Struct

from .._errors import APIError, ConnectError, NoResponse, StreamTruncated, TransportTimeout

__all__ = ["RetryConfig", "is_retryable_error", "next_retry_delay", "retry_delay"]

RETRYABLE_ERRORS = (ConnectError, TransportTimeout, NoResponse, StreamTruncated)

LARGEST = 1e9
"""Bound of the numbers in `RetryConfig`: as seconds thirty years, which every system's clock can count."""


class RetryConfig(Struct, frozen=True, kw_only=True):
    """How often to try, and how long to wait in between. The pause grows by `multiplier` with every failure.

    Attributes:
        max_attempts: Attempts altogether, the first included: 1 never tries again.
        initial_delay: Seconds before the second attempt.
        max_delay: Seconds that no pause exceeds. A server that asks for a longer one is not asked again.
        multiplier: By how much each pause is longer than the one before, from 1 for pauses of the same length.
        jitter: Width of the random part, from 0 for none to 1: a pause of 10 seconds with 0.2 lasts from 9 to 11.

    Raises:
        ValueError: A value is no number, or outside of its range.
    """

    max_attempts: int = 3
    initial_delay: float = 1.0
    max_delay: float = 60.0
    multiplier: float = 2.0
    jitter: float = 0.1

    def __post_init__(self) -> None:
        if type(self.max_attempts) is not int or self.max_attempts < 1:
            raise ValueError(
                f"RetryConfig(max_attempts={self.max_attempts!r}): expected a whole number of at least 1; "
                "it counts the first attempt too"
            )
        for name, lowest, highest in (
            ("initial_delay", 0, LARGEST),
            ("max_delay", 0, LARGEST),
            ("multiplier", 1, LARGEST),
            ("jitter", 0, 1),
        ):
            value = getattr(self, name)
            if type(value) not in (int, float) or not lowest <= value <= highest:
                raise ValueError(f"RetryConfig({name}={value!r}): expected a number from {lowest} to {highest:g}")


def is_retryable_error(error: BaseException) -> bool:
    """Whether the same request may succeed when it is sent again.

    Yes for an `APIError` that is `retryable`, and for `ConnectError`, `TransportTimeout`, `NoResponse` and
    `StreamTruncated`; no for everything else. A response that had begun to arrive may have been acted upon: only the
    caller knows whether its events were used.
    """
    return error.retryable if isinstance(error, APIError) else isinstance(error, RETRYABLE_ERRORS)


def retry_delay(config: RetryConfig, attempt: int, random: Callable[[], float]) -> float:
    """Seconds to wait after a failed attempt.

    Args:
        config: The policy.
        attempt: Which attempt failed, from 0.
        random: Gives a number from 0 up to 1, as `random.random` does. It is called once.

    Returns:
        Seconds, from 0 to `config.max_delay`.

    Raises:
        ValueError: The attempt is negative.
    """
    if attempt < 0:
        raise ValueError(f"retry_delay: attempt is {attempt}; attempts are counted from 0")
    delay = _delay_without_jitter(config, attempt)
    return max(0.0, min(delay + (random() - 0.5) * config.jitter * delay, float(config.max_delay)))


def next_retry_delay(
    config: RetryConfig, failed_attempts: int, error: BaseException, random: Callable[[], float]
) -> float | None:
    """Decide what follows a failure: a pause and another attempt, or the end.

    What the server asked for in `APIError.retry_after` wins over the policy's own pause.

    Args:
        config: The policy.
        failed_attempts: How many attempts have failed by now, from 1.
        error: Why the last one failed.
        random: Gives a number from 0 up to 1, as `random.random` does.

    Returns:
        Seconds to wait before the next attempt; None where the error is to be raised, because it is not retryable,
        all attempts are used, or the server asks for a pause longer than `config.max_delay`.

    Raises:
        ValueError: No attempt has failed.
    """
    if failed_attempts < 1:
        raise ValueError(f"next_retry_delay: failed_attempts is {failed_attempts}; they are counted from 1")
    if failed_attempts >= config.max_attempts or not is_retryable_error(error):
        return None
    asked_for = error.retry_after if isinstance(error, APIError) else None
    if asked_for is None or not asked_for >= 0:
        return retry_delay(config, failed_attempts - 1, random)
    return float(asked_for) if asked_for <= config.max_delay else None


def _delay_without_jitter(config: RetryConfig, attempt: int) -> float:
    if not config.initial_delay:
        return 0.0
    try:
        growth = float(config.multiplier) ** attempt
    except OverflowError:
        growth = inf
    return min(config.initial_delay * growth, config.max_delay)
