"""Keys in what a server said: some repeat the key that they refuse, and no error may show it."""

from __future__ import annotations

from typing import Any

from .._errors import TokwireError
from .._http import SHOWN_HEADERS
from ._options import AgentOptions

__all__: list[str] = []

SHORTEST_SECRET = 8
"""In characters. Anything shorter is a word that a server may well say, such as the "none" of a local one."""


def secrets_of(options: AgentOptions) -> list[str]:
    """What the options hold that nobody may see: the key, and the words of the headers that are not shown."""
    hidden = [value for name, value in dict(options.headers).items() if name.lower() not in SHOWN_HEADERS]
    words = [options.key_text(), *(word for value in hidden for word in value.split())]
    return sorted((word for word in words if len(word) >= SHORTEST_SECRET), key=len, reverse=True)


def redact(error: Exception, options: AgentOptions) -> None:
    """Take the secrets of the options out of an error of ours: out of its text and of all that it carries."""
    if isinstance(error, TokwireError):
        for secret in secrets_of(options):
            error.args = without(error.args, secret)
            for name, value in vars(error).items():
                setattr(error, name, without(value, secret))


def without(value: Any, secret: str) -> Any:
    """A JSON value, text or bytes with `***` in place of the secret."""
    match value:
        case str():
            return value.replace(secret, "***")
        case bytes():
            return value.replace(secret.encode(), b"***")
        case list() | tuple():
            return type(value)(without(item, secret) for item in value)
        case dict():
            return {without(name, secret): without(item, secret) for name, item in value.items()}
        case _:
            return value
