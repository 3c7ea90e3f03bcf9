"""`image_from_file`: an image block from a file on this machine."""

from __future__ import annotations

import os

import tokwire

__all__ = ["image_from_file"]

MEDIA_TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".svg": "image/svg+xml",
}


def image_from_file(path: str | os.PathLike[str], detail: str = "auto") -> tokwire.ImageBlock:
    """Read an image file into a block that holds it whole, as a data URL.

    The content tells what it is, and the name where the content does not. Most servers take JPEG, PNG, GIF and WebP.

    Args:
        path: The file.
        detail: `low`, `high` or `auto`.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is empty, is no image by its content or name, or the detail level is none of the three.
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        content = file.read()
    if not content:
        raise ValueError(f"{name}: the file is empty; zero bytes cannot be an image")
    media_type = tokwire.ImageBlock.media_type_of(content) or MEDIA_TYPES.get(os.path.splitext(name)[1].lower())
    if media_type is None:
        raise ValueError(
            f"{name}: neither content nor name is that of an image; expected a name that ends in one of "
            f"{', '.join(MEDIA_TYPES)}, or give the bytes and the media type to ImageBlock.from_bytes"
        )
    return tokwire.ImageBlock.from_bytes(content, media_type, detail)
