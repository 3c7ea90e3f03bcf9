"""How the outcome of a tool becomes the result that the model reads."""

from __future__ import annotations

import msgspec

from .._blocks import ToolResultBlock, ToolUseBlock
from .._json import mend_surrogates

__all__: list[str] = []

CANCELLED = "the call was cancelled before it ended"
NOT_EXECUTED = "the call was not executed: the limit of tool iterations is reached"


def tool_result(call: ToolUseBlock, outcome: object) -> ToolResultBlock:
    """The result of a call that ran.

    Args:
        call: The call.
        outcome: What the tool returned, or the exception that it raised.
    """
    if isinstance(outcome, BaseException):
        return error_result(call, str(outcome) or type(outcome).__name__)
    try:
        return ToolResultBlock(call.id, outcome)  # type: ignore[arg-type]  # the block makes JSON of what is not text
    except (TypeError, ValueError) as error:
        return error_result(call, f"the tool returned a {type(outcome).__name__} that is not JSON: {error}")


def error_result(call: ToolUseBlock, error: str, reason: str | None = None) -> ToolResultBlock:
    """A result that tells the model why there is none.

    Args:
        call: The call.
        error: What happened.
        reason: What a hook gave as its reason.
    """
    told = {"error": mend_surrogates(error), "tool": mend_surrogates(call.name), "id": mend_surrogates(call.id)}
    if reason is not None:
        told["reason"] = mend_surrogates(reason) or "no reason was given"
    return ToolResultBlock(call.id, msgspec.json.encode(told).decode(), is_error=True)
