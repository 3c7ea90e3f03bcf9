"""Hooks: functions of the caller that see a prompt or a tool call pass by, and what they may decide about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from .._blocks import ToolResultBlock
from .._errors import LocalProtocolError
from .._messages import Message
from ._schema import json_copy

__all__ = ["Decision", "HookHandler", "Hooks", "PostToolUse", "PreToolUse", "UserPromptSubmit"]

Kind = Literal["proceed", "block", "modify_input", "modify_prompt", "replace_result"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class UserPromptSubmit(Struct, frozen=True):
    """A prompt is about to be sent. It may proceed, be blocked, or have its text replaced by `modify_prompt`.

    Attributes:
        prompt: The text of the prompt, without its images.
        history: What was said before it.
    """

    prompt: str
    history: tuple[Message, ...]


class PreToolUse(Struct, frozen=True):
    """A tool is about to run. It may proceed, be blocked, or get other arguments by `modify_input`.

    Attributes:
        tool_name: The name that the model called; there may be no such tool.
        tool_input: The arguments that the model gave, a JSON value.
        tool_use_id: The id of the call.
        history: What was said, up to and with the answer that holds the call.
    """

    tool_name: str
    tool_input: Any
    tool_use_id: str
    history: tuple[Message, ...]


class PostToolUse(Struct, frozen=True):
    """A tool call has its result. It may proceed, be withheld by `block`, or be replaced by `replace_result`.

    Attributes:
        tool_name: The name that the model called.
        tool_input: The arguments that were used, a JSON value.
        tool_use_id: The id of the call.
        tool_result: The result, also that of a call that failed or was blocked.
        history: What was said, up to and with the results.
    """

    tool_name: str
    tool_input: Any
    tool_use_id: str
    tool_result: ToolResultBlock
    history: tuple[Message, ...]


HookEvent = UserPromptSubmit | PreToolUse | PostToolUse


class Decision(Struct, frozen=True, repr_omit_defaults=True):
    """What a hook decides. Make one with the methods that are named after the kinds; `Decision()` proceeds.

    A hook that returns None decides nothing, and the next one is asked; a decision of any kind, `proceed` too, is
    the last word.

    Attributes:
        kind: What is decided.
        reason: Why. The model reads why a call was blocked, the caller why a prompt was; the reason of a change is
            for whoever looks at the decision.
        value: The new arguments, prompt or result; None for the other kinds.
        is_error: Whether the new result tells of an error.

    Raises:
        ValueError: The kind is unknown, or the value does not go with it.
        TypeError: A part has the wrong type.
    """

    kind: Kind = "proceed"
    reason: str = ""
    value: Any = None
    is_error: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Decision: the kind is {self.kind!r}; expected one of {', '.join(KINDS)}")
        if not isinstance(self.reason, str):
            raise TypeError(f"Decision: reason is a {type(self.reason).__name__}; expected a text")
        if not isinstance(self.is_error, bool):
            raise TypeError(f"Decision: is_error is a {type(self.is_error).__name__}; expected a bool")
        if self.is_error and self.kind != "replace_result":
            raise ValueError(f"Decision: is_error goes with replace_result only, not with {self.kind}")
        if self.kind == "modify_input":
            force_setattr(self, "value", checked_input(self.value))
        elif self.kind == "modify_prompt":
            check_prompt(self.value)
        elif self.kind != "replace_result" and self.value is not None:
            raise ValueError(f"Decision: {self.kind} takes no value")

    @staticmethod
    def proceed() -> Decision:
        """Go on unchanged, and ask no further hook."""
        return Decision()

    @staticmethod
    def block(reason: str = "") -> Decision:
        """Stop it: the prompt is not sent, the tool does not run, or its result is withheld.

        A blocked prompt raises `PromptBlocked`; for a tool call, the model gets an error with the reason in place of
        the result.
        """
        return Decision("block", reason)

    @staticmethod
    def modify_input(input: dict[str, Any], reason: str = "") -> Decision:  # noqa: A002  # the word of the two APIs
        """Run the tool with other arguments: a JSON object, of which a copy is kept.

        History keeps the arguments that the model gave.

        Raises:
            TypeError: It is no JSON object.
        """
        return Decision("modify_input", reason, input)

    @staticmethod
    def modify_prompt(prompt: str, reason: str = "") -> Decision:
        """Send another text. Images of the prompt stay.

        Raises:
            ValueError: The text is empty.
            TypeError: It is no text.
        """
        return Decision("modify_prompt", reason, prompt)

    @staticmethod
    def replace_result(
        content: object,
        is_error: bool = False,  # noqa: FBT001, FBT002 - before the reason, which all of these take as their last
        reason: str = "",
    ) -> Decision:
        """Give the model another result: a text, blocks, or any value that JSON can hold."""
        return Decision("replace_result", reason, content, is_error)


HookHandler = Callable[[Any], Decision | Awaitable[Decision | None] | None]
"""A hook: called with its event, it returns a `Decision`, or None for no opinion. It may be a coroutine function."""


class Hooks(Struct, frozen=True, kw_only=True):
    """The hooks of a client. Those of one event are asked in order, until one decides.

    Attributes:
        user_prompt_submit: Asked with `UserPromptSubmit` before a prompt is sent.
        pre_tool_use: Asked with `PreToolUse` before a tool runs.
        post_tool_use: Asked with `PostToolUse` before a result is used.

    Raises:
        TypeError: A field is no tuple or list of callables.
    """

    user_prompt_submit: Sequence[HookHandler] = ()
    pre_tool_use: Sequence[HookHandler] = ()
    post_tool_use: Sequence[HookHandler] = ()

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            handlers = getattr(self, name)
            if not isinstance(handlers, tuple | list):
                found = type(handlers).__name__
                raise TypeError(f"Hooks: {name} is a {found}; expected a tuple of handlers, such as (handler,)")
            for handler in handlers:
                if not callable(handler):
                    raise TypeError(f"Hooks: {name} holds a {type(handler).__name__}; expected callables")
            force_setattr(self, name, tuple(handlers))


def checked_input(value: object) -> dict[str, Any]:
    """A copy of the arguments that a hook gives.

    Raises:
        TypeError: They are no JSON object.
    """
    if not isinstance(value, dict):
        raise TypeError(f"Decision: modify_input got a {type(value).__name__}; expected a JSON object, that is a dict")
    try:
        copied: dict[str, Any] = json_copy(value)
    except ValueError as error:
        raise TypeError(f"Decision: modify_input got a dict that is not JSON: {error}") from None
    return copied


def check_prompt(value: object) -> None:
    """Look at the prompt that a hook gives.

    Raises:
        ValueError: It is empty.
        TypeError: It is no text.
    """
    if not isinstance(value, str):
        raise TypeError(f"Decision: modify_prompt got a {type(value).__name__}; expected a text")
    if not value:
        raise ValueError("Decision: modify_prompt got an empty text; to send nothing, block the prompt")


ALLOWED: dict[type[HookEvent], tuple[str, tuple[str, ...]]] = {
    UserPromptSubmit: ("user_prompt_submit", ("proceed", "block", "modify_prompt")),
    PreToolUse: ("pre_tool_use", ("proceed", "block", "modify_input")),
    PostToolUse: ("post_tool_use", ("proceed", "block", "replace_result")),
}
"""The hook of each event, and what can be decided there."""


def check_decision(event: HookEvent, decision: object) -> Decision:
    """The decision, if the hook that was asked with `event` can make it.

    Raises:
        LocalProtocolError: This event cannot carry the decision.
        TypeError: It is no decision.
    """
    hook, allowed = ALLOWED[type(event)]
    expected = f"None or a Decision ({', '.join(allowed)})"
    if not isinstance(decision, Decision):
        raise TypeError(f"a {hook} hook returned a {type(decision).__name__}; expected {expected}")
    if decision.kind not in allowed:
        raise LocalProtocolError(f"a {hook} hook decided {decision.kind}; expected {expected}")
    return decision
