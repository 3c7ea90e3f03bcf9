"""How the outcome of a tool becomes the result that the model reads."""

from __future__ import annotations

import msgspec

from .._blocks import ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock

__all__: list[str] = []

CANCELLED = "the call was cancelled before it ended"
NOT_EXECUTED = "the call was not executed: the limit of tool iterations is reached"


def result_content(value: object) -> str | tuple[TextBlock | ImageBlock, ...]:
    """The content of a result: a text stays as it is, blocks become a tuple, and anything else compact JSON.

    Raises:
        TypeError: The value is nothing that JSON can hold.
        ValueError: It nests too deeply, or a text in it holds half of a surrogate pair.
    """
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, TextBlock | ImageBlock):
        return (value,)
    if isinstance(value, list | tuple) and value and all(isinstance(item, TextBlock | ImageBlock) for item in value):
        return tuple(value)
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        raise ValueError("a text in it holds half of a surrogate pair") from None
    except RecursionError:
        raise ValueError("it nests too deeply, or contains itself") from None


def mended(text: str) -> str:
    """The text with halves of surrogate pairs replaced: no request could carry them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def tool_result(call: ToolUseBlock, outcome: object) -> ToolResultBlock:
    """The result of a call that ran.

    Args:
        call: The call.
        outcome: What the tool returned, or the exception that it raised.
    """
    if isinstance(outcome, BaseException):
        return error_result(call, str(outcome) or type(outcome).__name__)
    try:
        return ToolResultBlock(call.id, result_content(outcome))
    except (TypeError, ValueError) as error:
        return error_result(call, f"the tool returned a {type(outcome).__name__} that is not JSON: {error}")


def error_result(call: ToolUseBlock, error: str, reason: str | None = None) -> ToolResultBlock:
    """A result that tells the model why there is none.

    Args:
        call: The call.
        error: What happened.
        reason: What a hook gave as its reason.
    """
    told = {"error": mended(error), "tool": mended(call.name), "id": mended(call.id)}
    if reason is not None:
        told["reason"] = mended(reason) or "no reason was given"
    return ToolResultBlock(call.id, msgspec.json.encode(told).decode(), is_error=True)
