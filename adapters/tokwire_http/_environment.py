"""What the environment says about the server and the model. Nothing else of tokwire's libraries reads it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import tokwire

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["get_base_url", "get_model"]

BASE_URL_VARIABLE = "OPEN_AGENT_BASE_URL"
MODEL_VARIABLE = "OPEN_AGENT_MODEL"


def get_base_url(
    provider: tokwire.Provider | str | None = None,
    fallback: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The base URL to use: of the variable `OPEN_AGENT_BASE_URL`, the provider, the fallback, or LM Studio.

    The first of them that says something wins; a variable that is blank says nothing.

    Args:
        provider: A local server, or its name.
        fallback: For the case that neither the variable nor a provider is there.
        environ: The variables; by default those of this process.

    Raises:
        ValueError: No provider has that name.
    """
    known = tokwire.Provider.from_name(provider) if isinstance(provider, str) else provider
    preset = None if known is None else known.base_url
    return read_variable(BASE_URL_VARIABLE, environ) or preset or fallback or tokwire.Provider.LM_STUDIO.base_url


def get_model(
    fallback: str | None = None,
    prefer_environment: bool = True,  # noqa: FBT001, FBT002 - the Rust crate takes it by position
    *,
    environ: Mapping[str, str] | None = None,
) -> str | None:
    """The model to use: of the variable `OPEN_AGENT_MODEL`, or the fallback.

    Args:
        fallback: For the case that the variable is not there, or blank.
        prefer_environment: Whether the variable is looked at.
        environ: The variables; by default those of this process.

    Returns:
        The model's name; None where nobody names one.
    """
    return (read_variable(MODEL_VARIABLE, environ) if prefer_environment else None) or fallback or None


def read_variable(name: str, environ: Mapping[str, str] | None) -> str | None:
    """The value of a variable without blanks around it; None where nothing is left."""
    return (os.environ if environ is None else environ).get(name, "").strip() or None
