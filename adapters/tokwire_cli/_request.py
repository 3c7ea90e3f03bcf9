"""The request that the arguments of `tokwire stream` describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokwire

from ._input import read_whole
from ._keys import header_of, read_key
from ._usage import UsageError

if TYPE_CHECKING:
    from ._arguments import Arguments

__all__ = ["request_for"]

DEFAULTS = (
    ("Content-Type", "application/json"),
    ("Accept", "text/event-stream, application/json"),
    ("User-Agent", f"tokwire/{tokwire.__version__}"),
)


def request_for(arguments: Arguments) -> tokwire.HTTPRequest:
    """A POST with the data, or a GET where there are none.

    Raises:
        OSError: The file with the data, or with the key, cannot be read.
        UsageError: The URL, a header or the key cannot be used. The message repeats no value of a header.
    """
    body = b"" if arguments.data is None else data_of(arguments.data)
    headers = [*arguments.header]
    key = read_key(arguments)
    if key is not None:
        headers.append(header_of(key, arguments.key_header or "Authorization"))
    given = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in DEFAULTS if name.lower() not in given and (body or name[0] != "C")]
    try:
        return tokwire.HTTPRequest("GET" if arguments.data is None else "POST", arguments.url, tuple(headers), body)
    except ValueError as error:
        raise UsageError(str(error).removeprefix("HTTPRequest: ")) from None


def data_of(text: str) -> bytes:
    """The body of the request: the contents of a file or of stdin behind an @, else the text itself."""
    return read_whole(text[1:]) if text.startswith("@") else text.encode("utf-8", "surrogateescape")
