"""The type of a header on the command lines of tokwire, for `argparse`."""

from __future__ import annotations

import argparse

__all__ = ["header_argument"]


def header_argument(text: str) -> tuple[str, str]:
    """Name and value of `Name: value`.

    Raises:
        ArgumentTypeError: It is none. The text may hold a key, so the message does not repeat it.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("expected 'Name: value'")
    return name.strip(), value.strip()
