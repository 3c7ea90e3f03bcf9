"""What the requests of all protocols share: URL, headers, JSON, and the parts of a message that need reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from ..._blocks import ImageBlock, TextBlock, ToolResultBlock
from ..._image_rules import split_data_url
from ..._json import mend_surrogates

if TYPE_CHECKING:
    from ..._http import Headers
    from .._options import AgentOptions

__all__: list[str] = []

DEFAULT_HEADERS = (("content-type", "application/json"), ("accept", "text/event-stream"))


def join_url(base_url: str, path: str) -> str:
    """The base URL with a path behind its own; the queries of both follow, that of the path first."""
    base, _, base_query = base_url.partition("?")
    below, _, query = path.partition("?")
    queries = "&".join(filter(None, (query, base_query)))
    return base + below + (f"?{queries}" if queries else "")


def all_headers(options: AgentOptions, headers: Iterable[tuple[str, str]]) -> Headers:
    """The headers of a request: a name that stands in a later list replaces the earlier ones, without case."""
    in_order = (*DEFAULT_HEADERS, *headers, *dict(options.headers).items())
    return tuple({name.lower(): (name, value) for name, value in in_order}.values())


def bearer(options: AgentOptions) -> list[tuple[str, str]]:
    """The key as a bearer token, or nothing where there is no key."""
    key = options.key_text()
    return [("authorization", f"Bearer {key}")] if key else []


def key_header(options: AgentOptions, name: str) -> list[tuple[str, str]]:
    """The key as the value of a header of its own, or nothing where there is no key."""
    key = options.key_text()
    return [(name, key)] if key else []


def json_body(body: Mapping[str, Any], extra_body: Mapping[str, Any]) -> bytes:
    """The body as compact JSON in UTF-8, with the caller's fields in place of ours; a field of None is left out."""
    return json_bytes({name: value for name, value in {**body, **extra_body}.items() if value is not None})


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8. Half of a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD."""
    try:
        return msgspec.json.encode(value, enc_hook=plain_text)
    except UnicodeEncodeError:
        return msgspec.json.encode(mended(value), enc_hook=plain_text)


def mended(value: Any) -> Any:
    """The same JSON value, every text in it without halves of surrogate pairs."""
    if isinstance(value, str):
        return mend_surrogates(value)
    if isinstance(value, dict):
        return {mended(name): mended(inner) for name, inner in value.items()}
    return [mended(inner) for inner in value] if isinstance(value, list | tuple) else value


def plain_text(value: Any) -> str:
    """The text of a subclass of `str`, which JSON is not written from otherwise.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"a message holds a {type(value).__name__}, which JSON cannot hold")


def json_text(value: Any) -> str:
    """Compact JSON as text, for arguments that a protocol wants inside a string."""
    return json_bytes(value).decode()


def as_object(value: Any) -> dict[str, Any]:
    """The arguments of a call, for protocols that take nothing but an object: other values are wrapped in one."""
    return value if isinstance(value, dict) else {"value": value}


def result_text(result: ToolResultBlock) -> str:
    """The text of a tool's result, as it is; the texts of several blocks stand on lines of their own."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(block.text for block in result.content if isinstance(block, TextBlock))


def result_images(result: ToolResultBlock) -> list[ImageBlock]:
    """The images of a tool's result, in order."""
    return [] if isinstance(result.content, str) else [b for b in result.content if isinstance(b, ImageBlock)]


def inline_image(image: ImageBlock) -> tuple[str, str] | None:
    """Media type and base64 text of an image that stands in a data URL, or None for one that the server fetches."""
    return split_data_url(image.url) if image.url.startswith("data:") else None
