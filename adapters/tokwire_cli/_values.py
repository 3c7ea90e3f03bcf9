"""The values of options: what text means, and what is said where it means nothing."""

from __future__ import annotations

import argparse
import re
from typing import Any

import msgspec

import tokwire

from ._sniff import AUTO

__all__ = ["cuts", "number", "positive", "protocol", "protocol_or_auto", "seconds", "setting", "whole_number"]

PLAIN_WORD = re.compile(r"[A-Za-z][\w.:/-]*")


def protocol(text: str) -> str:
    """The name of a protocol, as it was written."""
    try:
        tokwire.StreamDecoder(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def protocol_or_auto(text: str) -> str:
    """The name of a protocol, or `AUTO`."""
    return AUTO if text.lower() == AUTO else protocol(text)


def seconds(text: str) -> float | None:
    """A time in seconds, or None for no limit."""
    if text.lower() == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of seconds above 0 nor none")
    return value


def whole_number(text: str) -> int:
    """A whole number of at least 0."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def number(text: str) -> float:
    """Any number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def setting(text: str) -> tuple[str, Any]:
    """Name and value of `NAME=JSON`; a plain word is a text. The value may be a secret: no message repeats it."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise argparse.ArgumentTypeError("expected NAME=JSON")
    try:
        return name, msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        if PLAIN_WORD.fullmatch(value):
            return name, value
        advice = "a text of more than one word stands in quotes, inside of those of the shell"
        raise argparse.ArgumentTypeError(f"the value of {name!r} is not JSON ({error}); {advice}") from None


def cuts(text: str) -> int | None:
    """The number of random cuts, or None for all."""
    if text == "all":
        return None
    kind, _, count = text.partition(":")
    if kind != "random":
        raise argparse.ArgumentTypeError(f"{text!r} is neither all nor random:N")
    return positive(count)
