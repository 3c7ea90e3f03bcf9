"""The targets by name. A new target is a module with `one_input` and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.targets import (
    anthropic,
    bedrock,
    cohere,
    decoder,
    gemini,
    http11,
    lines,
    ollama,
    openai_chat,
    openai_responses,
    sse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "lines": lines.one_input,
    "sse": sse.one_input,
    "openai_chat": openai_chat.one_input,
    "anthropic": anthropic.one_input,
    "openai_responses": openai_responses.one_input,
    "gemini": gemini.one_input,
    "ollama": ollama.one_input,
    "bedrock": bedrock.one_input,
    "cohere": cohere.one_input,
    "decoder": decoder.one_input,
    "http11": http11.one_input,
}
