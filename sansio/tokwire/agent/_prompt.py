"""The prompt of a turn: what may be said, and the hooks that see it first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from .._blocks import ContentBlock, ImageBlock, TextBlock
from .._errors import PromptBlocked
from .._messages import Message
from ._actions import AskHook
from ._history import copied
from ._hooks import Decision, UserPromptSubmit, check_decision
from ._options import AgentOptions

__all__: list[str] = []


def prompt_message(prompt: str | Sequence[ContentBlock] | Message) -> Message:
    """The user's message that a prompt is.

    Raises:
        ValueError: It says nothing, or is a message of somebody else.
        TypeError: It holds what is neither text nor image.
    """
    if isinstance(prompt, Message):
        if prompt.role != "user":
            raise ValueError(f"send: the message has the role {prompt.role!r}; a prompt is a message of the user")
        message = prompt
    else:
        message = Message.user(prompt) if isinstance(prompt, str) else Message.user_with_blocks(blocks_of(prompt))
    for block in message.content:
        if not isinstance(block, TextBlock | ImageBlock):
            name = type(block).__name__
            raise TypeError(f"send: a prompt holds text and images, not a {name}; results go to add_tool_result")
    content = tuple(block for block in message.content if block != TextBlock(""))
    if all(isinstance(block, TextBlock) and not block.text.strip() for block in content):
        raise ValueError("send: the prompt is empty, or blank; pass None to let the model go on without one")
    return Message("user", content)


def blocks_of(prompt: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
    """The blocks of a prompt; one block counts as well.

    Raises:
        TypeError: It is nothing of that kind.
    """
    if isinstance(prompt, ContentBlock):
        return (prompt,)
    if not isinstance(prompt, Iterable):
        raise TypeError(f"send: the prompt is a {type(prompt).__name__}; expected text, blocks, a Message or None")
    return prompt


def with_text(message: Message, text: str) -> Message:
    """The message with another text in place of its first, without further texts, and with its images."""
    images = [block for block in message.content if not isinstance(block, TextBlock)]
    first = next((at for at, block in enumerate(message.content) if isinstance(block, TextBlock)), 0)
    return Message("user", (*images[:first], TextBlock(text), *images[first:]))


class PromptHooks:
    """Asks the hooks that see a prompt before anybody else does.

    Args:
        options: The hooks.
        history: What was said before.
        message: The prompt, or None where the conversation just goes on: then nobody is asked.

    Attributes:
        message: The prompt as the hooks left it.
    """

    def __init__(self, options: AgentOptions, history: tuple[Message, ...], message: Message | None) -> None:
        self.message = message
        self._history = history
        self._handlers = deque(() if message is None else options.hooks.user_prompt_submit)
        self._question: AskHook | None = None

    def next_question(self) -> AskHook | None:
        """The hook to ask now, or None where all were asked."""
        if self._question is None and self._handlers and self.message is not None:
            event = UserPromptSubmit(self.message.text, copied(self._history))
            self._question = AskHook(event, self._handlers[0])
        return self._question

    def decided(self, decision: Decision | None) -> None:
        """Take the answer to the question; None lets the next handler be asked, any decision ends the chain.

        Raises:
            PromptBlocked: The hook refused the prompt.
            LocalProtocolError: The decision is none that this hook can make.
            TypeError: It is no decision.
        """
        assert self._question is not None
        assert self.message is not None
        event, self._question = self._question.event, None
        self._handlers.popleft()
        if decision is None:
            return
        self._handlers.clear()
        check_decision(event, decision)
        if decision.kind == "block":
            raise PromptBlocked(decision.reason)
        if decision.kind == "modify_prompt":
            self.message = with_text(self.message, decision.value)
