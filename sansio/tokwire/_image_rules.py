"""The rules for images: which URLs and which base64 a request may carry, and what the first bytes of a file tell.

A base64 text may have tens of megabytes: it is looked at by functions that run in C, and no message repeats it.
"""

from __future__ import annotations

import re

__all__: list[str] = []

DETAILS = ("low", "high", "auto")

LONGEST_SHOWN = 120
"""Characters of a URL that a `repr` shows whole; of a longer one it shows half as many."""

BASE64_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MEDIA_TYPE = re.compile(r"image/[A-Za-z0-9!#$&^_.+-]+")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=]")

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"BM.{4}\x00{4}", re.DOTALL), "image/bmp"),
)


def check_image_url(url: str) -> None:
    """Check that a URL is one by which a server can get an image.

    Raises:
        ValueError: It is neither an http(s) URL nor a data URL with an image as base64, or holds a control character.
        TypeError: It is no text.
    """
    if not isinstance(url, str):
        raise TypeError(f"ImageBlock: the url must be a str, not {type(url).__name__}")
    if not url:
        raise ValueError("ImageBlock: the url is empty; expected an http(s) URL or a data URL")
    if url.startswith("data:"):
        media_type, data = split_data_url(url)
        check_media_type(media_type)
        check_base64(data)
        return
    refuse_control_characters(url)
    scheme, _, rest = url.partition("://")
    if scheme not in ("http", "https"):
        start = url.partition(":")[0][:20]
        raise ValueError(
            f"ImageBlock: the url begins with {start!r}; expected http://, https:// or data:image/, in lower case"
        )
    if not rest:
        raise ValueError(f"ImageBlock: the url ends behind {scheme}://; expected a host")


def split_data_url(url: str) -> tuple[str, str]:
    """Media type, without its parameters, and base64 text of a data URL.

    Raises:
        ValueError: It is not in that format, or a control character stands before the data.
    """
    comma = url.find(",")
    header = url[:comma]
    if comma < 0 or not header.startswith("data:") or not header.endswith(";base64"):
        raise ValueError("ImageBlock: the format of the data URL is not data:image/<type>;base64,<data>")
    refuse_control_characters(header)
    return header.removeprefix("data:").partition(";")[0], url[comma + 1 :]


def refuse_control_characters(text: str) -> None:
    """Check that a URL holds nothing that no URL can hold.

    Raises:
        ValueError: There is a control character, or half of a surrogate pair.
    """
    found = _CONTROL.search(text)
    if found is not None:
        raise ValueError(
            f"ImageBlock: the url holds the control character {found[0]!r} at position {found.start()}; "
            "percent-encode it"
        )


def check_media_type(media_type: str) -> None:
    """Check a media type (MIME type).

    Raises:
        ValueError: It does not name a kind of image, or has parameters.
        TypeError: It is no text.
    """
    if not isinstance(media_type, str):
        raise TypeError(f"ImageBlock: the media type must be a str, not {type(media_type).__name__}")
    if not _MEDIA_TYPE.fullmatch(media_type):
        raise ValueError(
            f"ImageBlock: {media_type[:40]!r} is not the media type (MIME type) of an image; "
            "expected image/<type> without parameters, such as image/png"
        )


def check_base64(data: str) -> None:
    """Check that a text is the base64 of something, in one piece.

    Raises:
        ValueError: It is empty, holds a character outside of the alphabet, or is padded wrongly.
    """
    if not data:
        raise ValueError("ImageBlock: the base64 data is empty")
    outside = data.encode("ascii", "replace").translate(None, BASE64_ALPHABET)
    if outside.strip(b"="):
        raise ValueError(_invalid_character(data))
    if len(data) % 4:
        raise ValueError(f"ImageBlock: the length of the base64 data is {len(data)}; expected a multiple of 4")
    if len(outside) > 2:
        raise ValueError(f"ImageBlock: the padding of the base64 data has {len(outside)} '='; expected at most 2")
    if not data.endswith("=" * len(outside)):
        raise ValueError(f"ImageBlock: the base64 data has a '=' at position {data.index('=')}; expected it at the end")


def _invalid_character(data: str) -> str:
    first = next(_NOT_BASE64.finditer(data))
    return (
        f"ImageBlock: the base64 data holds invalid characters, the first {first[0]!r} at position {first.start()}; "
        "expected A-Z, a-z, 0-9, + and / without blanks or line ends"
    )


def check_detail(detail: str) -> None:
    """Check a level of detail.

    Raises:
        ValueError: It is not one of the three.
    """
    if detail not in DETAILS:
        raise ValueError(f"ImageBlock: the detail is {detail!r:.40}; expected low, high or auto")


def sniff_media_type(data: bytes) -> str | None:
    """The media type of a PNG, JPEG, GIF, WebP or BMP file, by its first bytes; None for anything else."""
    return next((media_type for signature, media_type in _SIGNATURES if signature.match(data)), None)


def known_media_type(data: bytes) -> str:
    """The media type that the first bytes of a file tell.

    Raises:
        ValueError: They tell none.
    """
    media_type = sniff_media_type(data)
    if media_type is None:
        raise ValueError(
            f"ImageBlock: the data begins with {data[:8]!r}, which is not PNG, JPEG, GIF, WebP or BMP; "
            "say what it is with media_type"
        )
    return media_type


def shortened(url: str) -> str:
    """A URL for showing: the beginning and the size of a long one."""
    if len(url) <= LONGEST_SHOWN:
        return url
    return f"{url[: LONGEST_SHOWN // 2]}... ({len(url)} characters)"
