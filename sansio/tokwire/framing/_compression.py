"""Compressed bytes, told by how they begin."""

from __future__ import annotations

__all__: list[str] = []

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def compression_of(start: bytes) -> str | None:
    """The name of the compression, or None."""
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
