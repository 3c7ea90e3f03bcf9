"""Chunks of bytes from a file or stdin, each as soon as it is there."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

__all__ = ["STDIN", "open_chunks", "open_stdin", "read_whole"]

STDIN = "-"
READ_BYTES = 64 << 10


@contextmanager
def open_chunks(path: str) -> Iterator[Iterator[bytes]]:
    """The bytes of a file, or of stdin for `-`, as they arrive: a chunk is never held back to be filled.

    Raises:
        OSError: It cannot be opened or read; `filename` says which.
    """
    if path == STDIN:
        yield _chunks(open_stdin(), "standard input")
    else:
        with open(path, "rb") as file:
            yield _chunks(file, path)


def read_whole(path: str) -> bytes:
    """All bytes of a file, or of stdin for `-`.

    Raises:
        OSError: It cannot be opened or read; `filename` says which.
    """
    with open_chunks(path) as chunks:
        return b"".join(chunks)


def open_stdin() -> BufferedReader:
    """Standard input as bytes.

    Raises:
        OSError: There is none.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
    # Typed as any binary file; `io.TextIOWrapper`, which stdin is, has a buffer with `read1`.
    return cast("BufferedReader", sys.stdin.buffer)


def _chunks(reader: BufferedReader, name: str) -> Iterator[bytes]:
    try:
        while chunk := reader.read1(READ_BYTES):
            yield chunk
    except OSError as error:
        error.filename = name
        raise
