"""`tokwire_threads.retry_call`: the policy of the core, with a clock."""

from __future__ import annotations

import inspect
import time
from typing import TYPE_CHECKING

import pytest

import tokwire
from tokwire_threads import retry_call

if TYPE_CHECKING:
    from collections.abc import Callable

STEADY = tokwire.RetryConfig(max_attempts=3, initial_delay=0.5, multiplier=2.0, jitter=0.0)
DOWN = tokwire.ConnectError("nobody listens")
CUT = tokwire.StreamTruncated("cut")
WRONG = tokwire.APIError("bad request", status_code=400)


class Script:
    """A function that raises or returns what a list says, one after another, and notes the pauses in between."""

    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)
        self.pauses: list[float] = []
        self.told: list[tokwire.Retrying] = []

    def __call__(self) -> object:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def run(self, config: tokwire.RetryConfig = STEADY, random: Callable[[], float] = lambda: 0.5) -> object:
        """Call it as often as the policy says."""
        return retry_call(self, config, random=random, sleep=self.pauses.append, on_retry=self.told.append)


def test_a_function_that_returns_is_called_once() -> None:
    script = Script("answer", "more")
    assert script.run() == "answer"
    assert (script.outcomes, script.pauses, script.told) == (["more"], [], [])


def test_a_function_is_called_again_after_errors_that_pass() -> None:
    script = Script(DOWN, CUT, None)
    assert script.run() is None
    assert script.pauses == [0.5, 1.0]
    assert script.told == [tokwire.Retrying(1, 0.5, DOWN), tokwire.Retrying(2, 1.0, CUT)]


def test_the_last_error_is_raised_without_a_pause_before() -> None:
    last = tokwire.NoResponse("closed")
    script = Script(DOWN, CUT, last, "too late")
    with pytest.raises(tokwire.NoResponse) as caught:
        script.run()
    assert caught.value is last
    assert caught.value.__context__ is None
    assert (script.outcomes, script.pauses) == (["too late"], [0.5, 1.0])


@pytest.mark.parametrize("error", [WRONG, tokwire.TurnInterrupted("x"), ValueError("x"), KeyboardInterrupt()], ids=repr)
def test_any_other_error_is_raised_at_once(error: BaseException) -> None:
    first, second = Script(error, "too late"), Script(DOWN, error, "too late")
    for script in (first, second):
        with pytest.raises(type(error)) as caught:
            script.run()
        assert caught.value is error
    assert (first.pauses, second.pauses) == ([], [0.5])


def test_one_attempt_is_one_call() -> None:
    script = Script(DOWN, "too late")
    with pytest.raises(tokwire.ConnectError):
        script.run(tokwire.RetryConfig(max_attempts=1))
    assert (script.outcomes, script.pauses, script.told) == (["too late"], [], [])


def test_the_pause_that_the_server_asks_for_wins() -> None:
    script = Script(tokwire.APIError("busy", status_code=429, retry_after=7.5), "answer")
    assert script.run() == "answer"
    assert script.pauses == [7.5]


def test_a_pause_that_is_too_long_is_not_waited_for() -> None:
    script = Script(tokwire.APIError("busy", status_code=429, retry_after=61.0), "too late")
    with pytest.raises(tokwire.APIError, match="busy"):
        script.run()
    assert script.pauses == []


def test_chance_spreads_the_pauses() -> None:
    script = Script(DOWN, DOWN, "answer")
    script.run(tokwire.RetryConfig(initial_delay=10.0, multiplier=1.0, jitter=0.2), iter([0.0, 0.75]).__next__)
    assert script.pauses == pytest.approx([9.0, 10.5])


def test_who_is_told_may_end_it() -> None:
    def give_up(retrying: tokwire.Retrying) -> None:
        raise LookupError(retrying.attempt)

    script = Script(DOWN, "too late")
    with pytest.raises(LookupError, match="1"):
        retry_call(script, STEADY, sleep=script.pauses.append, on_retry=give_up)
    assert (script.outcomes, script.pauses) == (["too late"], [])


def test_by_default_it_waits_by_the_clock_and_leaves_the_pause_to_chance() -> None:
    assert inspect.signature(retry_call).parameters["sleep"].default is time.sleep
    script = Script(DOWN, DOWN, "answer")
    assert retry_call(script, sleep=script.pauses.append) == "answer"
    assert 0.95 <= script.pauses[0] <= 1.05
    assert 1.9 <= script.pauses[1] <= 2.1
