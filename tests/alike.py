"""Events that are alike: makers for each kind of delta, for the tests of the quick machine that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.bodies import part
from tests.support import START, chunk, data
from tests.wire import begin, more, piece, said, tool_use, written

if TYPE_CHECKING:
    from collections.abc import Callable

STOP = chunk({}, "stop")
COHERE_START = data({"type": "message-start", "id": "i", "delta": {"message": {}}}, name="message-start")


def text(letters: str, **members: Any) -> bytes:
    """Text of Chat Completions."""
    return chunk({"content": letters}, usage=None, **members)


def thought(letters: str) -> bytes:
    """Reasoning of Chat Completions."""
    return chunk({"content": None, "reasoning_content": letters})


def argument(letters: str) -> bytes:
    """A fragment of the arguments of the call that was opened under 1."""
    return piece(1, arguments=letters)


def anthropic_text(letters: str) -> bytes:
    """Text of Anthropic Messages."""
    return said(0, letters)


def thinking(letters: str) -> bytes:
    """Thinking of Anthropic Messages."""
    return more(0, "thinking_delta", thinking=letters)


def tool_input(letters: str) -> bytes:
    """A fragment of the input of a tool."""
    return written(1, letters)


def cohere_text(letters: str) -> bytes:
    """Text of Cohere."""
    return part("content-delta", 0, content={"text": letters})


KNOWN = "abcef"
"""After the text of these an envelope is known."""

KINDS: list[tuple[str, bytes, Callable[[str], bytes]]] = [
    ("openai-chat", b"", text),
    ("openai-chat", b"", thought),
    ("openai-chat", piece(1, "a", "f", ""), argument),
    ("anthropic", START + begin(0, "text", text=""), anthropic_text),
    ("anthropic", START + begin(0, "thinking", thinking=""), thinking),
    ("anthropic", START + tool_use(1), tool_input),
    ("cohere", COHERE_START, cohere_text),
]


def noisy(letters: str) -> bytes:
    """Text of Chat Completions with a word of padding that is as long as the text is far in the alphabet."""
    return text(letters, obfuscation="word" * (ord(letters[0]) % 3) if letters else "word")


def blank(letters: str) -> bytes:
    """Text of Anthropic Messages with blanks as padding."""
    return said(0, letters).replace(b"}\n", b" " * (ord(letters[0]) % 3) + b"}\n")


def server_input(letters: str) -> bytes:
    """A fragment of the input of a tool that the server runs."""
    return written(2, letters)
