"""What each protocol says of options: the range of the temperature, what must be set, and what is ours to fill in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

__all__: list[str] = []


class ProtocolRules(Struct, frozen=True, kw_only=True):
    """The rules of one protocol.

    Attributes:
        max_temperature: The highest temperature, or None where the server alone decides.
        needs_max_tokens: Whether a request without a limit of tokens is refused.
        own_fields: Fields of the body that hold the history or ask for a stream, and so are not the caller's.
        choices: Where the body says how many answers are wanted: names of fields, from the outside in.
    """

    max_temperature: float | None = None
    needs_max_tokens: bool = False
    own_fields: tuple[str, ...] = ("messages", "stream")
    choices: tuple[tuple[str, ...], ...] = (("n",),)


DEFAULT = ProtocolRules()

RULES = {
    "openai-chat": ProtocolRules(max_temperature=2),
    "openai-responses": ProtocolRules(max_temperature=2, own_fields=("input", "messages", "stream")),
    "anthropic": ProtocolRules(max_temperature=1, needs_max_tokens=True),
    "gemini": ProtocolRules(
        max_temperature=2,
        own_fields=("contents", "messages", "stream"),
        choices=(("generationConfig", "candidateCount"), ("generation_config", "candidate_count")),
    ),
    "bedrock": ProtocolRules(max_temperature=1),
}
"""Protocols that are not here, those that a caller registers among them, have the rules of `DEFAULT`."""


def rules_of(protocol: str) -> ProtocolRules:
    """The rules of a protocol by its name."""
    return RULES.get(protocol, DEFAULT)


def field_at(body: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of a field inside of nested objects, or None where there is none."""
    value: Any = body
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
