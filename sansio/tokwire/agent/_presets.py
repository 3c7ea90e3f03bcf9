"""Servers that run models on one's own machine, and where they listen unless told otherwise."""

from __future__ import annotations

from enum import Enum
from typing import Self

__all__ = ["Provider"]


class Provider(Enum):
    """A local server that speaks `openai-chat`. Give its `base_url` to `AgentOptions`; it needs no key."""

    LM_STUDIO = "lmstudio"
    OLLAMA = "ollama"
    LLAMA_CPP = "llamacpp"
    VLLM = "vllm"

    @property
    def base_url(self) -> str:
        """Where it listens by default, on this machine."""
        return f"http://localhost:{PORTS[self]}/v1"

    @classmethod
    def from_name(cls, name: str) -> Self:
        """A provider by its name: lmstudio, ollama, llamacpp or vllm.

        Any case will do, and the spellings lm-studio, lm_studio, llama-cpp, llama_cpp and llama.cpp.

        Raises:
            ValueError: None has that name.
            TypeError: The name is no text.
        """
        if not isinstance(name, str):
            raise TypeError(f"Provider.from_name: the name must be a str, not {type(name).__name__}")
        spelling = name.lower().replace("_", "-")
        try:
            return cls(SPELLINGS.get(spelling, spelling))
        except ValueError:
            known = ", ".join(provider.value for provider in cls)
            raise ValueError(f"unknown provider {name!r:.60}; known are {known}") from None


PORTS = {Provider.LM_STUDIO: 1234, Provider.OLLAMA: 11434, Provider.LLAMA_CPP: 8080, Provider.VLLM: 8000}
SPELLINGS = {"lm-studio": "lmstudio", "llama-cpp": "llamacpp", "llama.cpp": "llamacpp"}
