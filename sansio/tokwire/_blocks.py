"""Content blocks: what a message is made of, and what a stream delivers inside `Block` events."""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Iterable
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from ._image_rules import (
    check_detail,
    check_image_url,
    check_media_type,
    known_media_type,
    shortened,
    sniff_media_type,
)
from ._json import mend_surrogates

__all__ = [
    "ContentBlock",
    "ImageBlock",
    "RedactedThinkingBlock",
    "TextBlock",
    "ThinkingBlock",
    "ToolResultBlock",
    "ToolUseBlock",
    "coalesce_text_blocks",
]


class TextBlock(Struct, frozen=True, gc=False, tag="text"):
    """Text of the model, or of a message. In a stream it is one fragment: join them to get the answer."""

    text: str


class ToolUseBlock(Struct, frozen=True, tag="tool_use", omit_defaults=True, repr_omit_defaults=True):
    """A tool call, complete: run tool `name` with `input` and answer under `id`.

    Attributes:
        id: The id to send back with the result.
        name: The tool's name.
        input: The parsed arguments, a JSON value: almost always a dict.
        signature: What the provider wants back with the call, unread (Gemini's `thoughtSignature`). In a history only:
            a stream tells it in the `signatures` of its summary.
    """

    id: str
    name: str
    input: Any
    signature: str = ""


class ImageBlock(Struct, frozen=True, gc=False, tag="image"):
    """An image, by http(s) or data URL, with the detail level that the model should look at.

    The rules hold however a block is made, also when it is read from JSON. Nothing here limits the size, but servers
    do: many refuse images of more than 5 MB and http URLs of more than 2,000 characters. A `repr` shows only the
    beginning of a long URL.

    Attributes:
        url: An http or https URL that the server can reach, or a data URL: `data:image/<type>;base64,<data>`.
        detail: `low`, `high` or `auto`. Servers that know no such thing are not told.

    Raises:
        ValueError: The URL or the detail level breaks the rules. The message never repeats a whole URL.
        TypeError: The URL is no text.
    """

    url: str
    detail: str = "auto"

    def __post_init__(self) -> None:
        check_image_url(self.url)
        check_detail(self.detail)

    @classmethod
    def from_url(cls, url: str, detail: str = "auto") -> Self:
        """An image by its URL. It is not fetched: that is for the server.

        Raises:
            ValueError: The URL or the detail level breaks the rules.
            TypeError: The URL is no text.
        """
        return cls(url, detail)

    @classmethod
    def from_base64(cls, data: str, media_type: str, detail: str = "auto") -> Self:
        """An image from its base64 text.

        Args:
            data: Base64 in the standard alphabet, padded, without line ends.
            media_type: Such as `image/png`, without parameters.
            detail: `low`, `high` or `auto`.

        Raises:
            ValueError: The data, the media type or the detail level breaks the rules.
            TypeError: The data or the media type is no text.
        """
        if not isinstance(data, str):
            raise TypeError(
                f"ImageBlock: the base64 data must be a str, not {type(data).__name__}; for bytes use from_bytes"
            )
        check_media_type(media_type)
        return cls(f"data:{media_type};base64,{data}", detail)

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, media_type: str | None = None, detail: str = "auto"
    ) -> Self:
        """An image from the content of its file. For the file itself there is `tokwire_http.image_from_file`.

        Args:
            data: The bytes of the file.
            media_type: Such as `image/png`. By default the bytes tell it, for PNG, JPEG, GIF, WebP and BMP.
            detail: `low`, `high` or `auto`.

        Raises:
            ValueError: There are no bytes, they do not tell a media type, or an argument breaks the rules.
            TypeError: The data is not made of bytes.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(
                f"ImageBlock: the data must be bytes, not {type(data).__name__}; for base64 use from_base64"
            )
        content = bytes(data)
        if not content:
            raise ValueError("ImageBlock: the data is empty; zero bytes cannot be an image")
        if media_type is None:
            media_type = known_media_type(content)
        return cls.from_base64(b2a_base64(content, newline=False).decode("ascii"), media_type, detail)

    @staticmethod
    def media_type_of(data: bytes) -> str | None:
        """The media type that the first bytes of a file tell: of a PNG, JPEG, GIF, WebP or BMP; None for others."""
        return sniff_media_type(data)

    def __repr__(self) -> str:
        return f"ImageBlock(url={shortened(self.url)!r}, detail={self.detail!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("url", shortened(self.url)), ("detail", self.detail)]


class ToolResultBlock(Struct, frozen=True, tag="tool_result"):
    """The outcome of a tool call, as it is sent back to the model.

    Attributes:
        tool_use_id: Id of the call that this answers.
        content: Text, or a tuple of text and image blocks. A block, or a list of blocks, becomes such a tuple, and
            anything else compact JSON.
        is_error: True when the tool failed and `content` says why.

    Raises:
        TypeError: The content is nothing that JSON can hold.
        ValueError: It nests too deeply.
    """

    tool_use_id: str
    content: str | tuple[TextBlock | ImageBlock, ...]
    is_error: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "content", result_content(self.content))


def result_content(value: object) -> str | tuple[TextBlock | ImageBlock, ...]:
    """What a result holds: text and blocks as they are, and anything else as compact JSON."""
    if isinstance(value, str):
        return mend_surrogates(value)
    if isinstance(value, TextBlock | ImageBlock):
        return (value,)
    if isinstance(value, tuple) and all(isinstance(item, TextBlock | ImageBlock) for item in value):
        return value
    if isinstance(value, list) and value and all(isinstance(item, TextBlock | ImageBlock) for item in value):
        return tuple(value)
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return mend_surrogates(json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":")))
    except RecursionError:
        raise ValueError("the content nests too deeply, or contains itself") from None


class ThinkingBlock(Struct, frozen=True, gc=False, tag="thinking"):
    """A whole block of the model's thinking with the signature that lets it be sent back unchanged."""

    text: str
    signature: str = ""


class RedactedThinkingBlock(Struct, frozen=True, gc=False, tag="redacted_thinking"):
    """A block of thinking that the provider encrypted; send it back as it is."""

    data: str


ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock | ImageBlock | ThinkingBlock | RedactedThinkingBlock
"""Any block that a message can hold."""


def coalesce_text_blocks(blocks: Iterable[ContentBlock]) -> list[ContentBlock]:
    """Join neighbouring text blocks without a separator, and drop empty ones; all other blocks stay and separate.

    Use it before streamed blocks enter a history, so that the next request reads as if nothing had been streamed.
    """
    joined: list[ContentBlock] = []
    run: list[str] = []

    def close_run() -> None:
        text = "".join(run)
        run.clear()
        if text:
            joined.append(TextBlock(text))

    for block in blocks:
        if isinstance(block, TextBlock):
            run.append(block.text)
        else:
            close_run()
            joined.append(block)
    close_run()
    return joined
