"""`Message`: one turn of a conversation, and the JSON of a whole history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from ._blocks import ContentBlock, ImageBlock, TextBlock
from ._json import FAILURES

__all__ = ["Message", "Role", "history_from_json", "history_to_json"]

Role = Literal["system", "user", "assistant", "tool"]
"""Who speaks. Results of tools stand in `user` messages here; `tool` is read as the same."""

ROLES = ("system", "user", "assistant", "tool")


class Message(Struct, frozen=True):
    """One message: who speaks, and the blocks that were said, in order.

    Nothing here checks that roles alternate or that calls have results: that is for the conversation, and for the
    request that is built from the history.

    Attributes:
        role: Who speaks.
        content: The blocks. Any iterable of blocks is taken; it is kept as a tuple.

    Raises:
        ValueError: The role is none of the four.
        TypeError: The content is a text, or holds what is no content block.
    """

    role: Role
    content: Sequence[ContentBlock] = ()

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"Message: the role is {self.role!r}; expected one of {', '.join(ROLES)}")
        given: object = self.content
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            found = type(given).__name__
            raise TypeError(f"Message: content is of type {found}; expected content blocks, or Message.user(text)")
        content = tuple(given)
        for block in content:
            if not isinstance(block, ContentBlock):
                found = type(block).__name__
                raise TypeError(f"Message: content holds an object of type {found}; expected content blocks")
        force_setattr(self, "content", content)

    @classmethod
    def system(cls, text: str) -> Self:
        """Instructions for the model, as a message inside the history."""
        return cls("system", (_text_block(text),))

    @classmethod
    def user(cls, text: str) -> Self:
        """What the user said."""
        return cls("user", (_text_block(text),))

    @classmethod
    def assistant(cls, content: str | Iterable[ContentBlock]) -> Self:
        """What the model answered, as text or as blocks."""
        return cls("assistant", (TextBlock(content),) if isinstance(content, str) else tuple(content))

    @classmethod
    def user_with_blocks(cls, blocks: Iterable[ContentBlock]) -> Self:
        """What the user said, as blocks."""
        return cls("user", tuple(blocks))

    @classmethod
    def user_with_image(cls, text: str, url: str, detail: str = "auto") -> Self:
        """A text and, behind it, an image by its URL.

        Raises:
            ValueError: The URL or the detail level breaks the rules of `ImageBlock.from_url`.
        """
        return cls("user", (_text_block(text), ImageBlock.from_url(url, detail)))

    @classmethod
    def user_with_base64_image(cls, text: str, data: str, media_type: str, detail: str = "auto") -> Self:
        """A text and, behind it, an image as base64.

        Raises:
            ValueError: The data or the media type breaks the rules of `ImageBlock.from_base64`.
        """
        return cls("user", (_text_block(text), ImageBlock.from_base64(data, media_type, detail)))

    @property
    def text(self) -> str:
        """All text of the message, joined without a separator."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


def _text_block(text: str) -> TextBlock:
    if not isinstance(text, str):
        raise TypeError(f"Message: the text must be a str, not {type(text).__name__}")
    return TextBlock(text)


_history_decoder: msgspec.json.Decoder[tuple[Message, ...]] = msgspec.json.Decoder(tuple[Message, ...])


def history_to_json(messages: Sequence[Message]) -> bytes:
    """A history as JSON: a list of messages, each block with its `type`. `history_from_json` reads it back.

    Raises:
        TypeError: The input of a tool call holds an object that JSON does not know.
        ValueError: A text holds half of a surrogate pair, which cannot be encoded.
    """
    return msgspec.json.encode(tuple(messages))


def history_from_json(data: bytes | str) -> tuple[Message, ...]:
    """Read a history that `history_to_json` wrote; every block is checked as if it were made anew.

    Raises:
        ValueError: The text is not JSON, names an unknown type of block, or a block breaks its rules.
    """
    try:
        return _history_decoder.decode(data)
    except FAILURES as error:
        raise ValueError(f"not the JSON of a history: {error}") from None
