"""Puts a history into the order that servers want, and sees that each tool call has its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from msgspec import Struct, field

from ..._blocks import (
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from ..._errors import LocalProtocolError
from ..._messages import Message, Role

__all__: list[str] = []

NAMED_CALLS = 5


class Round(Struct):
    """What stands between one assistant message and the next: answers to its calls, and what was said beside them.

    Attributes:
        calls: The calls of the assistant message.
        results: The result of each call, None while it is missing.
        said: Messages without results, in order.
    """

    calls: list[ToolUseBlock] = field(default_factory=list)
    results: list[ToolResultBlock | None] = field(default_factory=list)
    said: list[Message] = field(default_factory=list)

    def answer(self, result: ToolResultBlock, position: int) -> None:
        """Take the result for the first call of its id that has none yet."""
        for place, call in enumerate(self.calls):
            if call.id == result.tool_use_id and self.results[place] is None:
                self.results[place] = result
                return
        raise LocalProtocolError(
            f"message {position} of the history holds a result for the tool call {result.tool_use_id!r}, "
            "and the assistant message before it has no such call that waits for one; take the result out"
        )

    def messages(self) -> list[Message]:
        """The results in one message, and behind it what was said."""
        results = [result for result in self.results if result is not None]
        if len(results) < len(self.calls):
            self._refuse()
        return ([Message("user", tuple(results))] if results else []) + self.said

    def _refuse(self) -> NoReturn:
        missing = [call for call, result in zip(self.calls, self.results, strict=True) if result is None]
        named = ", ".join(f"{call.name!r} (id {call.id!r})" for call in missing[:NAMED_CALLS])
        more = f" and {len(missing) - NAMED_CALLS} more" if len(missing) > NAMED_CALLS else ""
        raise LocalProtocolError(
            f"the history holds tool calls without a result: {named}{more}; servers refuse that: give each one a result"
        )


def arranged(messages: Sequence[Message]) -> list[Message]:
    """A history whose results stand directly behind their calls.

    Each message is `system`, `user` or `assistant`. The results of one assistant message stand together in the user
    message behind it, which holds nothing else, in the order of the calls; what was said meanwhile follows.

    Raises:
        LocalProtocolError: A call has no result, or a result no call.
    """
    ordered: list[Message] = []
    current = Round()
    for position, message in enumerate(messages):
        calls = [block for block in message.content if isinstance(block, ToolUseBlock)]
        results = [block for block in message.content if isinstance(block, ToolResultBlock)]
        if calls and results:
            raise LocalProtocolError(f"message {position} of the history holds tool calls and results; make it two")
        if calls or (message.role == "assistant" and not results):
            ordered += [*current.messages(), Message("assistant", message.content)]
            current = Round(calls, [None] * len(calls))
            continue
        for result in results:
            current.answer(result, position)
        others = tuple(block for block in message.content if not isinstance(block, ToolResultBlock))
        if others or not results:
            current.said.append(Message(_speaker(message.role), others))
    return ordered + current.messages()


def _speaker(role: Role) -> Role:
    """Who says what stands beside results: results come from the user's side, whatever their message is called."""
    return "system" if role == "system" else "user"


def hoisted(system_prompt: str | None, messages: Iterable[Message]) -> tuple[str | None, list[Message]]:
    """All system text, a blank line between that of one message and the next, and the messages without it.

    For APIs that take the system text as a field. The system prompt of the options comes first; None is no text.
    """
    texts, others = [system_prompt or ""], []
    for message in messages:
        if message.role == "system":
            texts.append(message.text)
        else:
            others.append(message)
    return "\n\n".join(text for text in texts if text.strip()) or None, others


def alternating(messages: Iterable[Message], *, replay_thinking: bool = False) -> list[Message]:
    """The messages for APIs that refuse empty text and two messages of one role in a row.

    Blank text, images that are not the user's, and thinking that cannot be sent back are left out, then messages with
    nothing left; neighbours of one role are joined. Results come first in their message, as `arranged` put them.

    Args:
        messages: Arranged, and without system messages.
        replay_thinking: Keep thinking that is signed or encrypted, where something of the same message follows it.

    Raises:
        LocalProtocolError: No message is left.
    """
    joined: list[Message] = []
    for message in messages:
        content = tuple(block for block in message.content if _can_be_sent(block, message.role, replay_thinking))
        while content and isinstance(content[-1], ThinkingBlock | RedactedThinkingBlock):
            content = content[:-1]
        if content and joined and joined[-1].role == message.role:
            content = (*joined.pop().content, *content)
        if content:
            joined.append(Message(message.role, content))
    if not joined:
        raise LocalProtocolError("no message holds anything to send; add a user message with text or an image")
    return joined


def _can_be_sent(block: ContentBlock, role: Role, replay_thinking: bool) -> bool:  # noqa: FBT001
    match block:
        case TextBlock(text=text):
            return bool(text.strip())
        case ImageBlock():
            return role == "user"
        case ThinkingBlock(signature=signature):
            return replay_thinking and role == "assistant" and bool(signature)
        case RedactedThinkingBlock():
            return replay_thinking and role == "assistant"
        case _:
            return True
