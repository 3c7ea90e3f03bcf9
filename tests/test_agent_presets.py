"""The servers on one's own machine that tokwire knows by name."""

from __future__ import annotations

from typing import Any

import pytest

from tokwire import Provider


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        (Provider.LM_STUDIO, "http://localhost:1234/v1"),
        (Provider.OLLAMA, "http://localhost:11434/v1"),
        (Provider.LLAMA_CPP, "http://localhost:8080/v1"),
        (Provider.VLLM, "http://localhost:8000/v1"),
    ],
)
def test_each_listens_on_its_own_port(provider: Provider, url: str) -> None:
    assert provider.base_url == url


def test_there_are_four() -> None:
    assert len({provider.base_url for provider in Provider}) == len(Provider) == 4


@pytest.mark.parametrize("provider", Provider)
def test_a_provider_is_found_by_its_own_name(provider: Provider) -> None:
    assert Provider.from_name(provider.value) is provider


@pytest.mark.parametrize(
    ("provider", "spellings"),
    [
        (Provider.LM_STUDIO, ["lm-studio", "lm_studio", "LMStudio", "LM_STUDIO"]),
        (Provider.OLLAMA, ["Ollama", "OLLAMA"]),
        (Provider.LLAMA_CPP, ["llama-cpp", "llama_cpp", "llama.cpp", "Llama.CPP", "LLAMA_CPP"]),
        (Provider.VLLM, ["vLLM", "VLLM"]),
    ],
)
def test_other_spellings_are_understood(provider: Provider, spellings: list[str]) -> None:
    assert {Provider.from_name(spelling) for spelling in spellings} == {provider}


@pytest.mark.parametrize(
    "name", ["", " ollama", "openai", "lm studio", "llama", "lm.studio", "http://localhost:1234/v1"]
)
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown provider '.*known are lmstudio, ollama, llamacpp, vllm$") as caught:
        Provider.from_name(name)
    assert repr(name) in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", [None, 1234, b"ollama"])
def test_a_name_is_text(name: Any) -> None:
    with pytest.raises(TypeError, match="the name must be a str, not "):
        Provider.from_name(name)
