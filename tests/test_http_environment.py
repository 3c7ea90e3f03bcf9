"""`get_base_url` and `get_model`: what the environment says, and what wins over what."""

from __future__ import annotations

from typing import Any

import pytest

import tokwire
from tokwire_http import get_base_url, get_model

ELSEWHERE = {"OPEN_AGENT_BASE_URL": "https://models.example/v1", "OPEN_AGENT_MODEL": "big-one"}
BLANK = [
    {},
    {"OPEN_AGENT_BASE_URL": "", "OPEN_AGENT_MODEL": ""},
    {"OPEN_AGENT_BASE_URL": " ", "OPEN_AGENT_MODEL": "\n"},
]


@pytest.mark.parametrize(
    "arguments", [(), ("ollama",), (None, "http://spare.example"), ("vllm", "http://spare.example")]
)
def test_the_variable_wins_over_everything(arguments: tuple[Any, ...]) -> None:
    assert get_base_url(*arguments, environ=ELSEWHERE) == "https://models.example/v1"


@pytest.mark.parametrize("environ", BLANK)
@pytest.mark.parametrize(
    ("arguments", "url"),
    [
        ((), "http://localhost:1234/v1"),
        ((None, None), "http://localhost:1234/v1"),
        ((None, ""), "http://localhost:1234/v1"),
        ((None, "http://spare.example"), "http://spare.example"),
        (("ollama",), "http://localhost:11434/v1"),
        (("LLAMA_CPP", "http://spare.example"), "http://localhost:8080/v1"),
        ((tokwire.Provider.VLLM, "http://spare.example"), "http://localhost:8000/v1"),
    ],
)
def test_without_it_the_provider_wins_then_the_fallback_then_lm_studio(
    arguments: tuple[Any, ...], url: str, environ: dict[str, str]
) -> None:
    assert get_base_url(*arguments, environ=environ) == url


@pytest.mark.parametrize("environ", [{}, ELSEWHERE])
def test_an_unknown_provider_is_an_error_even_where_it_does_not_matter(environ: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="unknown provider 'olama'; known are "):
        get_base_url("olama", environ=environ)


def test_blanks_around_a_variable_are_no_part_of_it() -> None:
    environ = {"OPEN_AGENT_BASE_URL": " https://models.example/v1\n", "OPEN_AGENT_MODEL": "\tbig-one "}
    assert get_base_url(environ=environ) == "https://models.example/v1"
    assert get_model(environ=environ) == "big-one"


def test_the_model_of_the_variable_wins_over_the_fallback() -> None:
    assert get_model(environ=ELSEWHERE) == get_model("small-one", environ=ELSEWHERE) == "big-one"


@pytest.mark.parametrize("environ", BLANK)
def test_without_it_the_fallback_is_the_model_if_there_is_one(environ: dict[str, str]) -> None:
    assert get_model("small-one", environ=environ) == "small-one"
    assert get_model(environ=environ) is None
    assert get_model("", environ=environ) is None


def test_the_variable_of_the_model_is_not_looked_at_where_it_is_not_preferred() -> None:
    assert get_model("small-one", prefer_environment=False, environ=ELSEWHERE) == "small-one"
    assert get_model(prefer_environment=False, environ=ELSEWHERE) is None
    assert get_model("small-one", False, environ=ELSEWHERE) == "small-one"  # noqa: FBT003 - by position too


def test_the_variables_are_those_of_the_process_and_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPEN_AGENT_BASE_URL", "http://first.example")
    monkeypatch.setenv("OPEN_AGENT_MODEL", "first")
    assert (get_base_url("ollama"), get_model()) == ("http://first.example", "first")
    monkeypatch.delenv("OPEN_AGENT_BASE_URL")
    monkeypatch.delenv("OPEN_AGENT_MODEL")
    assert (get_base_url("ollama"), get_model()) == ("http://localhost:11434/v1", None)
