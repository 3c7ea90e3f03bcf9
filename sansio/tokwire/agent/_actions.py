"""What a `Conversation` asks of its driver: one action at a time, each a value that says all there is to know."""

from __future__ import annotations

from msgspec import Struct

from .._finish import FinishReason
from .._http import HTTPRequest
from ._hooks import HookHandler, PostToolUse, PreToolUse, UserPromptSubmit
from ._tools import Tool

__all__ = [
    "Action",
    "AskHook",
    "CallTools",
    "CloseResponse",
    "Done",
    "ReadResponse",
    "SendRequest",
    "ToolCall",
    "Wait",
]


class ToolCall(Struct, frozen=True):
    """A call to run: `tool.invoke(input)` gives the outcome, or an awaitable of it.

    Calls of unknown tools, blocked calls and those with unfit arguments never get this far: the machine answers them.

    Attributes:
        position: Where the call stands among the calls of its response, from 0. It names the call; ids may repeat.
        id: The call's id, as the server gave it.
        name: The tool's name.
        input: The arguments as `Tool.prepare` made them.
        tool: The tool.
    """

    position: int
    id: str
    name: str
    input: object
    tool: Tool


class SendRequest(Struct, frozen=True):
    """Send the request; answer with `response_started` once its head has come, or with `request_failed`."""

    request: HTTPRequest


class ReadResponse(Struct, frozen=True):
    """Read from the response; answer with `receive_data`, `receive_eof` or `request_failed`."""


class CloseResponse(Struct, frozen=True):
    """Close the response. The next call of `events` says that it was done.

    Attributes:
        reuse: The end of the stream was seen: keep the connection for the next request where that is possible.
    """

    reuse: bool


class CallTools(Struct, frozen=True):
    """Run all calls, one after another or at the same time; answer each with `tool_finished`, in any order."""

    calls: tuple[ToolCall, ...]


class AskHook(Struct, frozen=True):
    """Call `handler(event)`, await what it gives where that is awaitable, and answer with `hook_decided`.

    Where it raises, answer with `hook_failed`.
    """

    event: UserPromptSubmit | PreToolUse | PostToolUse
    handler: HookHandler


class Wait(Struct, frozen=True):
    """Wait so many seconds before the request is sent again; answer with `waited`."""

    seconds: float


class Done(Struct, frozen=True):
    """The turn is over, and `Finish` was handed out.

    Attributes:
        reason: The `finish_reason` of the conversation.
    """

    reason: FinishReason


Action = SendRequest | ReadResponse | CloseResponse | CallTools | AskHook | Wait | Done
"""All that a driver can be asked for: match it and close with `assert_never`."""
