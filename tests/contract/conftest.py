"""Runs each test of the contract once for each adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.contract.clients import ADAPTERS

if TYPE_CHECKING:
    from tests.contract.driver import Adapter


@pytest.fixture(params=ADAPTERS, ids=lambda adapter: adapter.name)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """One of the ways to stream."""
    chosen: Adapter = request.param
    return chosen
