"""Rules about a history: which calls wait for a result, how results join it, and copies that can be given away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from .._blocks import ContentBlock, ToolResultBlock, ToolUseBlock
from .._errors import LocalProtocolError
from .._messages import Message
from ._schema import json_copy

__all__: list[str] = []

NAMED_CALLS = 5


def calls_of(message: Message) -> list[ToolUseBlock]:
    """The tool calls of a message, in order."""
    return [block for block in message.content if isinstance(block, ToolUseBlock)]


def results_of(message: Message) -> list[ToolResultBlock]:
    """The tool results of a message, in order."""
    return [block for block in message.content if isinstance(block, ToolResultBlock)]


def open_calls(history: Sequence[Message]) -> list[ToolUseBlock]:
    """The calls of the last assistant message that no result answers yet, in order.

    Where ids repeat, each result answers the first call of that id that is still open.
    """
    last = last_answer(history)
    if last is None:
        return []
    answered = Counter(result.tool_use_id for message in history[last + 1 :] for result in results_of(message))
    unanswered = []
    for call in calls_of(history[last]):
        if answered[call.id]:
            answered[call.id] -= 1
        else:
            unanswered.append(call)
    return unanswered


def last_answer(history: Sequence[Message]) -> int | None:
    """Where the last assistant message stands, or None."""
    return next((at for at in range(len(history) - 1, -1, -1) if history[at].role == "assistant"), None)


def check_answered(history: Sequence[Message]) -> None:
    """See that nothing waits for a result.

    Raises:
        LocalProtocolError: A call has none; the message names it.
    """
    unanswered = open_calls(history)
    if unanswered:
        named = ", ".join(f"{call.name!r} (id {call.id!r})" for call in unanswered[:NAMED_CALLS])
        more = f" and {len(unanswered) - NAMED_CALLS} more" if len(unanswered) > NAMED_CALLS else ""
        raise LocalProtocolError(f"the history holds tool calls without a result: {named}{more}; use add_tool_result")


def with_result(history: tuple[Message, ...], result: ToolResultBlock) -> tuple[Message, ...]:
    """The history with one more result; all results of one answer stand in one user message, in the order of the calls.

    Raises:
        LocalProtocolError: No open call has that id.
    """
    waiting = open_calls(history)
    if result.tool_use_id not in {call.id for call in waiting}:
        known = ", ".join(repr(call.id) for call in waiting[:NAMED_CALLS]) or "none"
        raise LocalProtocolError(f"no tool call with the id {result.tool_use_id!r} waits for a result; open: {known}")
    at = last_answer(history)
    assert at is not None
    if at + 1 == len(history):
        return (*history, Message("user", (result,)))
    places = {call.id: place for place, call in reversed([*enumerate(calls_of(history[at]))])}
    results = sorted((*results_of(history[-1]), result), key=lambda block: places.get(block.tool_use_id, -1))
    others = [block for block in history[-1].content if not isinstance(block, ToolResultBlock)]
    return (*history[:-1], Message("user", (*results, *others)))


def copied_block(block: ContentBlock) -> ContentBlock:
    """A block that shares nothing that can change with the original."""
    return replace(block, input=json_copy(block.input)) if isinstance(block, ToolUseBlock) else block


def copied(history: Sequence[Message]) -> tuple[Message, ...]:
    """Messages that share nothing that can change with the originals."""
    return tuple(
        Message(message.role, tuple(map(copied_block, message.content))) if calls_of(message) else message
        for message in history
    )
