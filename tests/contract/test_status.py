"""Every adapter turns a status other than 2xx into the same `APIError`, and follows no redirect."""

from __future__ import annotations

import json

import pytest
from tests.contract.driver import Adapter, Ask, Seen

import tokwire
from tokwire_replay import serve

ERROR = {"error": {"type": "overloaded", "code": "too_many", "message": "Too many ships", "param": "model"}}
BODY = json.dumps(ERROR).encode()


def error_of(seen: Seen) -> tokwire.APIError:
    """The error of a stream, which must be one of the server."""
    assert isinstance(seen.error, tokwire.APIError)
    assert seen.events == []
    return seen.error


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_an_error_status_with_all_that_it_says(adapter: Adapter, framing: str) -> None:
    headers = [("Retry-After", "7"), ("X-Request-Id", "r-9")]
    with serve(BODY, status=429, headers=headers, framing=framing, reads=5) as url:
        (seen,) = adapter.run(Ask(url))
    error = error_of(seen)
    assert (error.status_code, error.type, error.code, error.message) == (
        429,
        "overloaded",
        "too_many",
        "Too many ships",
    )
    assert (error.param, error.request_id, error.retry_after, error.retryable) == ("model", "r-9", 7.0, True)


@pytest.mark.parametrize("body", [b"", b"<html>gateway</html>", b"plain words"])
def test_an_error_status_whose_body_says_nothing(adapter: Adapter, body: bytes) -> None:
    with serve(body, status=502) as url:
        (seen,) = adapter.run(Ask(url))
    assert error_of(seen).status_code == 502


@pytest.mark.parametrize("fault", ["cut:10", "reset:10"])
def test_an_error_status_wins_over_a_broken_body(adapter: Adapter, fault: str) -> None:
    with serve(BODY, status=503, faults=[fault]) as url:
        (seen,) = adapter.run(Ask(url))
    error = error_of(seen)
    assert error.status_code == 503
    assert error.retryable


def test_an_error_status_wins_over_a_timeout(adapter: Adapter) -> None:
    with serve(BODY, status=500, faults=["stall"]) as url:
        (seen,) = adapter.run(Ask(url), timeout=0.1)
    assert error_of(seen).message == "Too many ships"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_error_is_read(adapter: Adapter, coding: str) -> None:
    with serve(BODY, status=400, coding=coding, framing="length") as url:
        (seen,) = adapter.run(Ask(url))
    assert error_of(seen).message == "Too many ships"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_named_and_not_followed(adapter: Adapter, status: int) -> None:
    with serve(b"", status=status, headers=[("Location", "https://elsewhere.example/v1?key=hidden")]) as url:
        (seen,) = adapter.run(Ask(url))
    error = error_of(seen)
    assert error.status_code == status
    assert "elsewhere.example" in str(error)
    assert "hidden" not in str(error)


def test_an_error_leaves_the_client_usable(adapter: Adapter) -> None:
    server = serve(BODY, status=500)
    with server as url:
        first, second = adapter.run(Ask(url), Ask(url))
    assert error_of(first).status_code == error_of(second).status_code == 500
    assert len(server.requests) == 2
