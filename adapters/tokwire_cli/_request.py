"""The request that the arguments of `tokwire stream` describe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import tokwire

from ._input import read_whole

if TYPE_CHECKING:
    from ._arguments import Arguments

__all__ = ["UsageError", "request_for"]

DEFAULTS = (
    ("Content-Type", "application/json"),
    ("Accept", "text/event-stream, application/json"),
    ("User-Agent", f"tokwire/{tokwire.__version__}"),
)


class UsageError(Exception):
    """The arguments contradict each other, or something that they name is not there."""


def request_for(arguments: Arguments) -> tokwire.HTTPRequest:
    """A POST with the data, or a GET where there are none.

    Raises:
        OSError: The file with the data cannot be read.
        UsageError: The URL, a header or the key cannot be used. The message repeats no value of a header.
    """
    body = b"" if arguments.data is None else data_of(arguments.data)
    headers = [*arguments.header]
    if arguments.key_env is not None:
        headers.append(key_header(arguments.key_env, arguments.key_header))
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in DEFAULTS if name.lower() not in given and (body or name[0] != "C")]
    try:
        return tokwire.HTTPRequest("GET" if arguments.data is None else "POST", arguments.url, tuple(headers), body)
    except ValueError as error:
        raise UsageError(str(error).removeprefix("HTTPRequest: ")) from None


def data_of(text: str) -> bytes:
    """The body of the request: the contents of a file or of stdin behind an @, else the text itself."""
    return read_whole(text[1:]) if text.startswith("@") else text.encode("utf-8", "surrogateescape")


def key_header(variable: str, name: str) -> tuple[str, str]:
    """The header that carries the key.

    Raises:
        UsageError: The environment has no such variable.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"the environment variable {variable} holds no key")
    return name, f"Bearer {key}" if name.lower() == "authorization" else key
