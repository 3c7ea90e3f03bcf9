"""What holds for all tests.

Hypothesis draws the same examples in every run, so that a change fails because of the change, and few of them, so that
a run stays short. No example has a time limit: a busy machine is no fault of the code. `pytest
--hypothesis-profile=default` draws more and new ones; the fuzz targets do so for hours.

The key that tests use may be in nothing that they print or log.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator

KEY = "sk-harbour-4711"

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("repeatable")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What was loaded for the tests lives as long as the run: the garbage collector need not look at it each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test whose output or log holds the key."""
    report = yield
    leaking = [name for name, text in report.sections if KEY in text]
    if report.passed and leaking:
        report.outcome = "failed"
        report.longrepr = f"the key is in: {', '.join(leaking)}"
    return report
