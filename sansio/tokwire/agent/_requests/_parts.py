"""What the protocols behind the first two share beside `_common`: paths that hold a model, and images sent as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import ContentBlock, ImageBlock, TextBlock, ToolUseBlock
from ..._errors import LocalProtocolError
from ..._messages import Message
from ._common import inline_image

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__: list[str] = []

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
LONGEST_SHOWN = 60


def percent_encoded(text: str, *, safe: str = "") -> str:
    """The text as one segment of a path, also its slashes and colons, as AWS wants it signed.

    Args:
        text: Any text.
        safe: ASCII characters that stay as they are, beside letters, digits and `-._~`.
    """
    kept = UNRESERVED | frozenset(safe.encode())
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))


def path_below(options: AgentOptions, version: str, method: str) -> str:
    """The path of a method, below a base URL that ends with the version of the API or leaves it out.

    Args:
        options: With the base URL.
        version: The path of the version, with its leading slash.
        method: The path of the method behind that, with its leading slash.
    """
    return method if options.base_url.partition("?")[0].endswith(version) else version + method


def image_data(image: ImageBlock, protocol: str) -> tuple[str, str]:
    """Media type and base64 text of an image, for a protocol that takes nothing else.

    Raises:
        ValueError: It is an image by its URL.
    """
    inline = inline_image(image)
    if inline is None:
        shown = image.url.partition("?")[0][:LONGEST_SHOWN]
        raise ValueError(
            f"a message holds an image by its URL, {shown}, and servers of {protocol} fetch none; "
            "fetch it, and use ImageBlock.from_bytes"
        )
    return inline


def names_called(content: Iterable[ContentBlock]) -> list[str]:
    """The names of the tools that a message calls, in the order in which the message behind it holds their results."""
    return [block.name for block in content if isinstance(block, ToolUseBlock)]


def without_last_blanks(turns: Sequence[Message]) -> list[Message]:
    """The same turns; where the model is to go on with words of its own, without the blanks at their end.

    Servers that run Anthropic's models refuse those.
    """
    *before, last = turns
    *content, end = last.content
    if last.role == "assistant" and isinstance(end, TextBlock):
        last = Message(last.role, (*content, TextBlock(end.text.rstrip())))
    return [*before, last]


def something(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a request, if there is one.

    Raises:
        LocalProtocolError: There is none.
    """
    if not entries:
        raise LocalProtocolError("no message holds anything to send; add a user message with text or an image")
    return entries
