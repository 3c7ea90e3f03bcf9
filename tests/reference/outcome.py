"""What the reference decoder answers, and the ways in which a stream fails."""

from __future__ import annotations

from dataclasses import dataclass

Dropped = tuple[int | None, str | None, str | None, str]


@dataclass(frozen=True)
class Outcome:
    """Everything that one body means."""

    events: list[list[object]]
    error: str | None
    error_body: object
    error_status: int | None
    dropped: list[Dropped]
    response_id: str | None
    model: str | None
    end_marker: bool
    raw_finish_reason: str | None
    finish_reasons: dict[int, str]
    media: dict[str, int]


class StreamFailureError(Exception):
    """The stream ends with an error of this category."""

    def __init__(self, category: str, message: str, *, body: object = None, status: int | None = None) -> None:
        super().__init__(message)
        self.category = category
        self.body = body
        self.status = status


def protocol_error(message: str) -> StreamFailureError:
    """The peer broke the protocol."""
    return StreamFailureError("protocol_error", message)


def truncated(message: str) -> StreamFailureError:
    """The body was cut before any end was reported."""
    return StreamFailureError("truncated", message)
