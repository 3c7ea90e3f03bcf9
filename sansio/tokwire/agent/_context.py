"""How much of a model's context a history takes, and how to cut it. Estimates: only the server counts tokens."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from math import ceil

import msgspec

from .._blocks import (
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from .._messages import Message

__all__ = ["estimate_tokens", "is_approaching_limit", "truncate_messages"]

BYTES_PER_TOKEN = 4
BYTES_AROUND_CONVERSATION = 16
BYTES_AROUND_MESSAGE = 8
BYTES_OF_IMAGE = {"low": 340, "high": 1200, "auto": 800}


def estimate_tokens(messages: Iterable[Message]) -> int:
    """Estimate how many tokens a history takes, at four bytes of UTF-8 each.

    Images count by their detail level, not by their size; thinking counts with its signature, as it is sent back. The
    system prompt and the tools of the options are not part of a history: they come on top.

    Returns:
        Tokens; 0 for no messages. It is a rough number: English prose has about four bytes to a token, code fewer.

    Raises:
        TypeError: The input of a tool call holds an object that JSON does not know.
    """
    sizes = [BYTES_AROUND_MESSAGE + sum(map(_size_of, message.content)) for message in messages]
    return ceil((BYTES_AROUND_CONVERSATION + sum(sizes)) / BYTES_PER_TOKEN) if sizes else 0


def is_approaching_limit(messages: Iterable[Message], limit: int, margin: float = 0.9) -> bool:
    """Whether a history is estimated to take more than a part of a model's context. Then truncate or summarise it.

    Args:
        messages: The history.
        limit: Tokens of the model's context, less what the answer is to have.
        margin: The part of the limit from which on the answer is yes, from 0 to 1.

    Raises:
        ValueError: The limit is negative, or the margin outside of its range.
        TypeError: The input of a tool call holds an object that JSON does not know.
    """
    if not limit >= 0:
        raise ValueError(f"is_approaching_limit: limit is {limit!r}; expected tokens, 0 or more")
    if not 0 <= margin <= 1:
        raise ValueError(f"is_approaching_limit: margin is {margin!r}; expected a number from 0 to 1")
    return estimate_tokens(messages) > int(limit * margin)


def truncate_messages(
    messages: Sequence[Message],
    keep: int,
    preserve_system: bool = True,  # noqa: FBT001, FBT002 - the Rust crate takes it by position
) -> tuple[Message, ...]:
    """The latest messages of a history, cut where no call is parted from its result.

    Where the cut would fall between a call and its result, it moves back before the call, so that a few more messages
    are kept than asked for: the model waits for just these results, and a round of calls is never long. What is kept
    may begin with a message of the model. OpenAI and Anthropic accept that; for a server that does not, choose `keep`
    so that a message of the user comes first.

    Args:
        messages: The history. It is not changed.
        keep: How many of the latest messages to keep. 0 keeps none.
        preserve_system: Whether a first message with the role `system` is kept in any case, on top of `keep`.

    Raises:
        ValueError: `keep` is negative.
    """
    if keep < 0:
        raise ValueError(f"truncate_messages: keep is {keep}; expected a number of messages, 0 or more")
    cut = max(len(messages) - keep, 0)
    if keep:
        cut = _place_between_rounds(messages, cut)
    has_system = preserve_system and cut > 0 and messages[0].role == "system"
    return (*messages[: 1 if has_system else 0], *messages[cut:])


def _size_of(block: ContentBlock) -> int:
    """Bytes of a block, as the estimate counts them."""
    if isinstance(block, ImageBlock):
        return BYTES_OF_IMAGE[block.detail]
    if isinstance(block, ToolResultBlock):
        content = block.content
        inside = _bytes_of(content) if isinstance(content, str) else sum(_size_of(part) for part in content)
        return _bytes_of(block.tool_use_id) + inside
    return sum(map(_bytes_of, _texts_of(block)))


def _texts_of(block: TextBlock | ToolUseBlock | ThinkingBlock | RedactedThinkingBlock) -> tuple[str, ...]:
    """What a block adds to a request, as text."""
    match block:
        case TextBlock(text):
            return (text,)
        case ToolUseBlock(call_id, name, arguments):
            return call_id, name, msgspec.json.encode(arguments).decode()
        case ThinkingBlock(text, signature):
            return text, signature
        case RedactedThinkingBlock(data):
            return (data,)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _place_between_rounds(messages: Sequence[Message], cut: int) -> int:
    """The last place at or before `cut` with no call before it whose result stands behind it."""
    for called, answered in reversed(_spans_of_calls(messages)):
        if called < cut <= answered:
            cut = called
    return cut


def _spans_of_calls(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Where each answered call and its result stand, by the result. It answers the first open call with its id."""
    open_calls: defaultdict[str, deque[int]] = defaultdict(deque)
    spans = []
    for position, message in enumerate(messages):
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                open_calls[block.id].append(position)
            elif isinstance(block, ToolResultBlock) and open_calls[block.tool_use_id]:
                spans.append((open_calls[block.tool_use_id].popleft(), position))
    return spans
