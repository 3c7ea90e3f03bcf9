"""The policy of retries: what may be sent again, and after how long. No clock and no chance of its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    APIError,
    ConnectError,
    FinishReason,
    InvalidToolArguments,
    InvalidToolCall,
    LimitExceeded,
    LocalProtocolError,
    NoResponse,
    PromptBlocked,
    RemoteProtocolError,
    RetryConfig,
    StreamTruncated,
    TokwireError,
    TransportError,
    TransportTimeout,
    TurnInterrupted,
    is_retryable_error,
    next_retry_delay,
    retry_delay,
)

STEADY = RetryConfig(max_attempts=4, initial_delay=0.5, max_delay=3.0, multiplier=3.0, jitter=0.0)
DOWN = ConnectError("nobody listens")

configs = st.builds(
    RetryConfig,
    max_attempts=st.integers(1, 10),
    initial_delay=st.floats(0, 1e9),
    max_delay=st.floats(0, 1e9),
    multiplier=st.floats(1, 1e9),
    jitter=st.floats(0, 1),
)
fractions = st.floats(0, 1, exclude_max=True)


def middle() -> float:
    """Chance that adds nothing."""
    return 0.5


def no_chance() -> float:
    """Fails where chance is asked for."""
    raise AssertionError("chance was asked for")


def busy(status: int = 429, retry_after: float | None = None) -> APIError:
    """What a server says that has too much to do."""
    return APIError("later", status_code=status, retry_after=retry_after)


def test_the_defaults_are_three_attempts_and_a_minute_at_most() -> None:
    assert RetryConfig() == RetryConfig(max_attempts=3, initial_delay=1.0, max_delay=60.0, multiplier=2.0, jitter=0.1)


@pytest.mark.parametrize(
    "values",
    [
        {"max_attempts": 1},
        {"initial_delay": 0, "max_delay": 0, "multiplier": 1, "jitter": 0},
        {"initial_delay": 90.0, "max_delay": 2.5},
        {"jitter": 1, "multiplier": 1.0},
        {"max_delay": 1e9},
    ],
)
def test_values_at_the_ends_of_their_ranges_are_taken(values: dict[str, Any]) -> None:
    config = RetryConfig(**values)
    assert {name: getattr(config, name) for name in values} == values


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("max_attempts", [0, -1, 2.0, True, None, "3"], "a whole number of at least 1"),
        ("initial_delay", [-0.1, float("nan"), float("inf"), 10**400, "1", None, False], "a number from 0 to 1e.09"),
        ("max_delay", [-1, float("nan"), float("inf"), 1e10], "a number from 0 to 1e.09"),
        ("multiplier", [0.99, -2, float("nan"), float("inf"), 10**400], "a number from 1 to 1e.09"),
        ("jitter", [-0.01, 1.01, float("nan"), "0.1", True], "a number from 0 to 1"),
    ],
)
def test_other_values_are_refused_with_name_value_and_rule(name: str, values: list[Any], expected: str) -> None:
    for value in values:
        with pytest.raises(ValueError, match=f"RetryConfig\\({name}=.*\\): expected {expected}"):
            RetryConfig(**{name: value})


def test_a_policy_is_given_by_name_and_stays_as_it_is() -> None:
    make: Any = RetryConfig
    with pytest.raises(TypeError):
        make(5)
    frozen: Any = RetryConfig()
    with pytest.raises(AttributeError):
        frozen.max_attempts = 5


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_statuses_that_pass_by_themselves_are_retryable(status: int) -> None:
    assert is_retryable_error(busy(status))


@pytest.mark.parametrize(
    "status", [None, 200, 302, 400, 401, 402, 403, 404, 409, 410, 413, 418, 425, 501, 505, 507, 599]
)
def test_other_statuses_and_none_are_not(status: int | None) -> None:
    assert not is_retryable_error(APIError("no", status_code=status, type="overloaded_error"))


@pytest.mark.parametrize(
    "error",
    [
        DOWN,
        NoResponse("closed"),
        StreamTruncated("cut"),
        *(TransportTimeout("slow", phase=phase) for phase in ("connect", "idle", "total")),
    ],
    ids=repr,
)
def test_failures_of_the_connection_are_retryable(error: Exception) -> None:
    assert is_retryable_error(error)


@pytest.mark.parametrize(
    "error",
    [
        TokwireError("x"),
        TransportError("x"),
        TurnInterrupted("x"),
        PromptBlocked("x"),
        LocalProtocolError("x"),
        RemoteProtocolError("x"),
        LimitExceeded("max_line_bytes", 5),
        InvalidToolArguments((InvalidToolCall(0, "k", "f", "{", "cut"),), FinishReason.LENGTH),
        TimeoutError("x"),
        ConnectionError("x"),
        ValueError("x"),
        KeyboardInterrupt(),
    ],
    ids=repr,
)
def test_nothing_else_is(error: BaseException) -> None:
    assert not is_retryable_error(error)


def test_pauses_grow_up_to_the_longest() -> None:
    assert [retry_delay(STEADY, attempt, middle) for attempt in range(4)] == [0.5, 1.5, 3.0, 3.0]


def test_pauses_of_one_length_are_possible() -> None:
    config = RetryConfig(initial_delay=2, multiplier=1, jitter=0)
    assert {retry_delay(config, attempt, middle) for attempt in (0, 1, 7, 10**6)} == {2.0}


def test_jitter_lies_on_both_sides_of_the_pause() -> None:
    config = RetryConfig(initial_delay=10.0, multiplier=2.0, jitter=0.2)
    assert retry_delay(config, 0, lambda: 0.0) == pytest.approx(9.0)
    assert retry_delay(config, 0, middle) == 10.0
    assert retry_delay(config, 0, lambda: 0.999) == pytest.approx(11.0, abs=0.01)
    assert retry_delay(config, 1, lambda: 0.0) == pytest.approx(18.0)


def test_jitter_never_leads_over_the_longest_pause() -> None:
    config = RetryConfig(initial_delay=4.0, max_delay=4.0, jitter=1.0)
    chances = [0.0, 0.25, 0.5, 0.9]
    assert [retry_delay(config, 3, iter([chance]).__next__) for chance in chances] == [2.0, 3.0, 4.0, 4.0]


@pytest.mark.parametrize("attempt", [2000, 10**9, 10**400])
def test_growth_beyond_all_numbers_is_the_longest_pause(attempt: int) -> None:
    assert retry_delay(RetryConfig(multiplier=10, jitter=0), attempt, middle) == 60.0
    assert retry_delay(RetryConfig(initial_delay=1e9, multiplier=1e9, jitter=0), attempt, middle) == 60.0
    assert retry_delay(RetryConfig(initial_delay=0, multiplier=10), attempt, middle) == 0.0


@pytest.mark.parametrize("chance", [-5.0, 7.0, float("nan"), float("inf"), float("-inf")])
def test_chance_outside_of_its_range_does_no_harm(chance: float) -> None:
    assert 0.0 <= retry_delay(RetryConfig(initial_delay=5.0, max_delay=6.0), 0, lambda: chance) <= 6.0


@given(configs, st.integers(0, 2000), fractions)
def test_every_pause_is_within_its_bounds(config: RetryConfig, attempt: int, chance: float) -> None:
    delay = retry_delay(config, attempt, lambda: chance)
    assert isinstance(delay, float)
    assert 0.0 <= delay <= config.max_delay


@given(configs, st.integers(0, 50), fractions)
def test_without_jitter_no_pause_is_shorter_than_the_one_before(
    config: RetryConfig, attempt: int, chance: float
) -> None:
    steady = RetryConfig(
        initial_delay=config.initial_delay, max_delay=config.max_delay, multiplier=config.multiplier, jitter=0
    )
    assert retry_delay(steady, attempt, lambda: chance) <= retry_delay(steady, attempt + 1, middle)


def test_attempts_are_counted_from_zero_and_failures_from_one() -> None:
    with pytest.raises(ValueError, match="attempt is -1; attempts are counted from 0"):
        retry_delay(STEADY, -1, middle)
    with pytest.raises(ValueError, match="failed_attempts is 0; they are counted from 1"):
        next_retry_delay(STEADY, 0, busy(retry_after=1.0), middle)


def test_after_each_failure_but_the_last_there_is_another_attempt() -> None:
    assert [next_retry_delay(STEADY, failed, DOWN, middle) for failed in (1, 2, 3, 4, 5)] == [0.5, 1.5, 3.0, None, None]
    assert next_retry_delay(RetryConfig(max_attempts=1), 1, DOWN, no_chance) is None


def test_an_error_that_is_not_retryable_ends_it_at_once() -> None:
    assert next_retry_delay(STEADY, 1, busy(400, retry_after=1.0), no_chance) is None
    assert next_retry_delay(STEADY, 1, TurnInterrupted("x"), no_chance) is None


@pytest.mark.parametrize("asked_for", [0.0, 0.01, 2.75, 3.0])
def test_the_pause_that_the_server_asks_for_wins(asked_for: float) -> None:
    for failed in (1, 2, 3):
        assert next_retry_delay(STEADY, failed, busy(503, retry_after=asked_for), no_chance) == asked_for
    assert next_retry_delay(STEADY, 4, busy(503, retry_after=asked_for), no_chance) is None


@pytest.mark.parametrize("asked_for", [3.01, 3600.0, float("inf")])
def test_a_server_that_asks_for_too_long_a_pause_is_not_asked_again(asked_for: float) -> None:
    assert next_retry_delay(STEADY, 1, busy(retry_after=asked_for), no_chance) is None


@pytest.mark.parametrize("asked_for", [None, -1.0, float("nan")])
def test_where_the_server_asks_for_nothing_that_makes_sense_the_policy_decides(asked_for: float | None) -> None:
    assert next_retry_delay(STEADY, 2, busy(retry_after=asked_for), middle) == 1.5
