"""The key: it comes from the environment or from a file, goes into a header, and is never shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ._input import read_whole
from ._usage import UsageError

if TYPE_CHECKING:
    from ._arguments import Arguments

__all__ = ["header_of", "read_key"]


def read_key(arguments: Arguments) -> str | None:
    """The key that the arguments name, without blanks around it; None where they name none.

    Raises:
        OSError: The file cannot be read.
        UsageError: There is no key where one should be.
    """
    if arguments.key_env is not None:
        place = f"the environment variable {arguments.key_env}"
        key = os.environ.get(arguments.key_env, "")
    elif arguments.key_file is not None:
        place = f"the file {arguments.key_file}"
        key = read_whole(arguments.key_file).decode("utf-8", "surrogateescape")
    else:
        return None
    if not key.strip():
        raise UsageError(f"{place} holds no key")
    return key.strip()


def header_of(key: str, name: str) -> tuple[str, str]:
    """The header that carries the key: as a bearer token in `Authorization`, as it is in others."""
    return name, f"Bearer {key}" if name.lower() == "authorization" else key
