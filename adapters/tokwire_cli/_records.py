"""Errors, summaries and what else is no plain value as JSON: lines of `--json`, and what `check` compares."""

from __future__ import annotations

from typing import Any

import msgspec

import tokwire

__all__ = ["error_record", "event_record", "summary_record"]

# The attributes that the exceptions document, `events` apart: those were handed out before the error.
ERROR_ATTRIBUTES = (
    "phase",
    "offset",
    "excerpt",
    "limit",
    "value",
    "calls",
    "finish_reason",
    "status_code",
    "type",
    "code",
    "param",
    "request_id",
    "retry_after",
    "retryable",
    "body",
)


def event_record(event: tokwire.StreamEvent) -> object:
    """An event as a value that JSON can hold: the error in one becomes the record of an error."""
    match event:
        case tokwire.Retrying(attempt, delay, error):
            return {"type": "retrying", "attempt": attempt, "delay": delay, "error": error_record(error)}
        case _:
            return event


def error_record(error: tokwire.TokwireError) -> dict[str, Any]:
    """An error as a JSON object: `kind` is its class, `message` its text, and then every attribute that is set.

    `APIError.type` stands under `error_type`, because `type` says that the line is an error.
    """
    message = error.message if isinstance(error, tokwire.APIError) else str(error)
    record: dict[str, Any] = {"type": "error", "kind": type(error).__name__, "message": message}
    for name in ERROR_ATTRIBUTES:
        value = getattr(error, name, None)
        if value is not None and value != b"":
            record["error_type" if name == "type" else name] = _builtin(value)
    return record


def summary_record(summary: tokwire.StreamSummary) -> dict[str, Any]:
    """A summary as a JSON object with all its fields."""
    fields: dict[str, Any] = msgspec.to_builtins(summary, str_keys=True)
    return {"type": "summary"} | fields


def _builtin(value: object) -> object:
    """A value that JSON can hold; bytes become text that one can read, a finish reason the server's word."""
    match value:
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case tokwire.FinishReason():
            return str(value)
        case _:
            return msgspec.to_builtins(value, str_keys=True)
