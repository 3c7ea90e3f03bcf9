"""The protocols that tokwire knows, by name, and the registry for more of them."""

from __future__ import annotations

from ._protocol import ApiProtocol, Verdict
from .anthropic import ANTHROPIC
from .bedrock import BEDROCK
from .cohere import COHERE
from .gemini import GEMINI
from .ollama import OLLAMA
from .openai_chat import OPENAI_CHAT
from .openai_responses import OPENAI_RESPONSES

__all__ = ["ApiProtocol", "Verdict", "protocols", "register_protocol"]

_by_name: dict[str, ApiProtocol] = {}


def register_protocol(protocol: ApiProtocol) -> None:
    """Make a protocol known under its name and aliases, for `StreamDecoder`, `detect` and the command line.

    Raises:
        ValueError: A name is taken.
    """
    names = [name.lower() for name in (protocol.name, *protocol.aliases)]
    for name in names:
        if name in _by_name:
            raise ValueError(f"the protocol name {name!r} is taken by {_by_name[name].name}; choose another one")
    _by_name.update(dict.fromkeys(names, protocol))


def protocols() -> tuple[ApiProtocol, ...]:
    """All known protocols, in the order in which they were registered."""
    return tuple(dict.fromkeys(_by_name.values()))


def find_protocol(protocol: ApiProtocol | str) -> ApiProtocol:
    """A protocol by name or alias, in any ASCII case.

    Raises:
        ValueError: There is none of that name.
        TypeError: It is neither a name nor a protocol.
    """
    if isinstance(protocol, ApiProtocol):
        return protocol
    if not isinstance(protocol, str):
        raise TypeError(f"expected a protocol or its name, not {type(protocol).__name__}")
    found = _by_name.get(protocol.lower()) if protocol.isascii() else None
    if found is None:
        known = ", ".join(sorted(_by_name))
        raise ValueError(f"unknown protocol {protocol!r}; known are {known}")
    return found


for _protocol in (OPENAI_CHAT, ANTHROPIC, OPENAI_RESPONSES, GEMINI, OLLAMA, BEDROCK, COHERE):
    register_protocol(_protocol)
