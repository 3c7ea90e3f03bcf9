"""When to try again: what servers say about it in the headers of an error, in seconds.

The core has no clock, so a date is compared with the response's own `Date` header.
"""

from __future__ import annotations

import re

from ._http import ResponseHead

__all__: list[str] = []

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
EPOCH_SECONDS = 1_000_000_000
EPOCH_MILLISECONDS = 1_000_000_000_000
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

_DATE = re.compile(
    r"[A-Z][a-z]{2}, (0[1-9]|[12]\d|3[01]) ([A-Z][a-z]{2}) (\d{4}) ([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60) GMT", re.ASCII
)
_AMOUNT = r"(\d{1,15}(?:\.\d{1,9})?)"
_NUMBER = re.compile(_AMOUNT, re.ASCII)
_DURATION = re.compile(rf"(?:{_AMOUNT}(?:ms|[smhd]))+", re.ASCII)
_DURATION_PART = re.compile(rf"{_AMOUNT}(ms|[smhd])", re.ASCII)


def retry_after(head: ResponseHead) -> float | None:
    """Seconds to wait before another attempt, or None where the server does not say.

    `retry-after-ms` is the most exact, then `retry-after` as a number or an HTTP date (RFC 9110, section 10.2.3);
    the `x-ratelimit-reset*` headers are used only on status 429 without these.
    """
    milliseconds = _number(head.header("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = head.header("retry-after")
    if value is not None:
        seconds = _number(value)
        return seconds if seconds is not None else _until(_date(value), head)
    if head.status != 429:
        return None
    resets = [value for name, value in head.headers if name.lower().startswith("x-ratelimit-reset")]
    waits = [wait for value in resets if (wait := _reset(value, head)) is not None]
    return max(waits, default=None)


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and _NUMBER.fullmatch(text.strip()) else None


def _reset(text: str, head: ResponseHead) -> float | None:
    """A reset is told in seconds, as a duration such as `6m0s`, or as a point in time since 1970."""
    number = _number(text)
    if number is None:
        if not _DURATION.fullmatch(text.strip()):
            return None
        return sum(float(amount) * UNITS[unit] for amount, unit in _DURATION_PART.findall(text))
    if number >= EPOCH_MILLISECONDS:
        return _until(number / 1000, head)
    return _until(number, head) if number >= EPOCH_SECONDS else number


def _until(moment: float | None, head: ResponseHead) -> float | None:
    now = _date(head.header("date") or "")
    return None if moment is None or now is None else max(0.0, moment - now)


def _date(text: str) -> float | None:
    """Seconds since 1970 of an HTTP date in its fixed form, the only one that servers may send."""
    match = _DATE.fullmatch(text.strip())
    if match is None or match[2] not in MONTHS:
        return None
    day, year, hour, minute, second = (int(match[group]) for group in (1, 3, 4, 5, 6))
    month = MONTHS.index(match[2]) + 1
    return float(_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 of a Gregorian date: years begin in March here, so that the leap day is their last."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719469
