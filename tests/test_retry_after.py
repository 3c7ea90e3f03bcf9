"""When to try again, in every form in which servers say it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokwire
from tokwire._retry_after import retry_after

NOW = "Sun, 06 Nov 1994 08:49:37 GMT"
EPOCH = 784111777


def wait(status: int = 429, **headers: str) -> float | None:
    """What a head says; an underscore in a name stands for a hyphen."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return retry_after(tokwire.ResponseHead(status, pairs))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("120", 120.0),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1e3", None),
        ("1_0", None),
        (".5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("\u0663", None),
        ("9" * 16, None),
        ("7, 8", None),
    ],
)
@pytest.mark.parametrize("status", [301, 429, 503])
def test_a_number_of_seconds(status: int, value: str, seconds: float | None) -> None:
    assert wait(status, Retry_After=value) == seconds


def test_milliseconds_are_more_exact() -> None:
    assert wait(503, retry_after_ms="1500", retry_after="2") == 1.5
    assert wait(503, Retry_After_Ms="250.5") == 0.2505
    assert wait(503, retry_after_ms="soon", retry_after="2") == 2.0
    assert wait(503, retry_after_ms="soon") is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sun, 06 Nov 1994 09:50:37 GMT", 3660.0),
        ("Mon, 07 Nov 1994 08:49:37 GMT", 86400.0),
        (NOW, 0.0),
        ("Sun, 06 Nov 1994 08:49:36 GMT", 0.0),
        ("Sun, 06 Nov 1994 08:49:60 GMT", 23.0),
        ("Sunday, 06-Nov-94 08:49:47 GMT", None),
        ("Sun Nov  6 08:49:47 1994", None),
        ("Sun, 06 Nov 1994 08:49:47 +0000", None),
        ("Sun, 06 Foo 1994 08:49:47 GMT", None),
        ("Sun, 00 Nov 1994 08:49:47 GMT", None),
        ("Sun, 32 Nov 1994 08:49:47 GMT", None),
        ("Sun, 06 Nov 1994 24:49:47 GMT", None),
        ("Sun, 06 Nov 1994 08:60:47 GMT", None),
        ("Sun, 06 Nov 1994 08:49:61 GMT", None),
        ("sun, 06 nov 1994 08:49:47 gmt", None),
        ("Sun, 6 Nov 1994 08:49:47 GMT", None),
    ],
)
def test_a_date_is_compared_with_that_of_the_response(value: str, seconds: float | None) -> None:
    assert wait(503, Retry_After=value, Date=NOW) == seconds


@pytest.mark.parametrize("date", [None, "", "today", "Sun Nov  6 08:49:47 1994"])
def test_without_a_date_of_the_response_a_date_says_nothing(date: str | None) -> None:
    headers = {} if date is None else {"Date": date}
    assert wait(503, Retry_After="Sun, 06 Nov 1994 08:49:47 GMT", **headers) is None


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1)).map(
        lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
    ),
    st.integers(0, 10**10),
)
def test_dates_agree_with_the_calendar_of_python(now: datetime, seconds: int) -> None:
    then = now + timedelta(seconds=seconds)
    assert wait(503, Retry_After=format_datetime(then, usegmt=True), Date=format_datetime(now, usegmt=True)) == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30", 30.0),
        ("0.25", 0.25),
        ("6m0s", 360.0),
        ("1s", 1.0),
        ("120ms", 0.12),
        ("1h2m3.5s", 3723.5),
        ("1d", 86400.0),
        (" 17ms ", 0.017),
        (str(EPOCH + 1_000_000_000), None),
        ("6m0", None),
        ("m", None),
        ("2030-01-01T00:00:00Z", None),
        ("", None),
    ],
)
def test_resets_of_rate_limits(value: str, seconds: float | None) -> None:
    assert wait(429, X_RateLimit_Reset_Requests=value) == pytest.approx(seconds)


def test_resets_as_points_in_time() -> None:
    now = "Sat, 01 Jan 2028 00:00:00 GMT"
    epoch = 1_830_297_600
    assert wait(x_ratelimit_reset=str(epoch + 5), date=now) == 5.0
    assert wait(x_ratelimit_reset=f"{epoch * 1000 + 2500}", date=now) == 2.5
    assert wait(x_ratelimit_reset=str(epoch - 5), date=now) == 0.0
    assert wait(x_ratelimit_reset=str(epoch + 5)) is None


def test_the_longest_reset_counts() -> None:
    assert wait(x_ratelimit_reset_requests="1s", x_ratelimit_reset_tokens="6m0s", x_ratelimit_reset="soon") == 360.0


def test_resets_count_only_on_429_and_without_retry_after() -> None:
    assert wait(503, x_ratelimit_reset="30") is None
    assert wait(429, x_ratelimit_reset="30", retry_after="7") == 7.0
    assert wait(429, x_ratelimit_reset="30", retry_after="soon") is None
    assert wait(429) is None
