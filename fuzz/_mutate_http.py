"""Mutations of HTTP/1.1 responses: heads are changed line by line, bodies inside, and framed again so that they fit."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz._words import CHUNK_LINES, HEADERS, STATUS_LINES

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Step = Callable[[bytes, Random], bytes]

HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
CHUNK: Final = re.compile(rb"([0-9A-Fa-f]+)[^\r\n]*\r\n")
FRAMING: Final = re.compile(rb"(?i)(content-length|transfer-encoding|content-encoding)\s*:")


class Response(NamedTuple):
    """A response in parts.

    Attributes:
        lines: The lines of its head, without their ends.
        body: What stands behind the head.
    """

    lines: list[bytes]
    body: bytes


def is_response(body: bytes) -> bool:
    """Whether a body begins like a response."""
    return body.startswith(b"HTTP/") and HEAD_END.search(body) is not None


def opened(body: bytes) -> Response:
    """A response, up to its first blank line and behind it."""
    end = HEAD_END.search(body)
    if end is None:
        return Response(body.splitlines(), b"")
    return Response(body[: end.start()].splitlines(), body[end.end() :])


def closed(response: Response) -> bytes:
    """The bytes of a response."""
    return b"\r\n".join([*response.lines, b"", response.body])


def unframed(body: bytes) -> bytes:
    """What stands in the chunks of a body, as far as it is made of chunks; else the body."""
    found, place = b"", 0
    while (line := CHUNK.match(body, place)) and (size := int(line[1][-6:], 16)):
        found += body[line.end() : line.end() + size]
        place = line.end() + size + 2
    return found or body


def framed(response: Response, body: bytes, lot: Random) -> Response:
    """The response with another body, in one of the ways in which a server may send it."""
    lines = [line for line in response.lines if not FRAMING.match(line)]
    match lot.randrange(8):
        case 0:
            body = gzip.compress(body, mtime=0)
            lines.append(b"Content-Encoding: gzip")
        case 1:
            body = zlib.compress(body)
            lines.append(b"Content-Encoding: deflate")
    match lot.randrange(4):
        case 0:
            lines.append(b"Content-Length: %d" % len(body))
        case 1:
            pass  # the body ends with the connection
        case _:
            lines.append(b"Transfer-Encoding: chunked")
            body = chunked(body, lot)
    return Response(lines, body)


def chunked(body: bytes, lot: Random) -> bytes:
    """A body in chunks, some of them announced in an odd way."""
    size = lot.choice((1, 7, 40, 200, 5000))
    pieces = [body[place : place + size] for place in range(0, min(len(body), 40 * size), size)]
    forms = (b"%x\r\n",) * 6 + (b"%X\r\n", b"00%x\r\n", b"%x;a=b\r\n", b"%x \r\n")
    lines = [lot.choice(forms) % len(piece) for piece in pieces]
    end = lot.choice((b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\n\r\n", b"", b"0\r\nX-Sum: 1\r\n\r\n", b"000;z\r\n\r\n"))
    return b"".join(line + piece + b"\r\n" for line, piece in zip(lines, pieces, strict=True)) + end


def change_response(body: bytes, lot: Random, inner: Step) -> bytes:
    """Change a line of the head, a line in front of a chunk, the body inside, or what stands around the response.

    Args:
        body: A response.
        lot: The random source.
        inner: Changes a body without its framing.
    """
    response = opened(body)
    match lot.randrange(8):
        case 0 | 1 | 2:
            return closed(framed(response, inner(unframed(response.body), lot), lot))
        case 3 | 4:
            return closed(response._replace(lines=changed_lines(response.lines, lot)))
        case 5:
            return closed(response._replace(body=changed_chunk_line(response.body, lot)))
        case 6:
            interim = lot.choice(STATUS_LINES) + b"\r\n\r\n"
            return interim * lot.choice((1, 2, 17)) + body
        case _:
            return closed(framed(response, unframed(response.body), lot))


def changed_lines(lines: list[bytes], lot: Random) -> list[bytes]:
    """The lines of a head, with another status, or one line added, doubled, moved, dropped or spoilt."""
    place = lot.randrange(len(lines))
    line = lines[place]
    match lot.randrange(6):
        case 0:
            return [lot.choice(STATUS_LINES), *lines[1:]]
        case 1 | 2:
            return [*lines[: place + 1], lot.choice(HEADERS), *lines[place + 1 :]]
        case 3:
            return [*lines[:place], *[line] * lot.choice((0, 2)), *lines[place + 1 :]]
        case 4:
            return [*lines[:place], line.swapcase(), *lines[place + 1 :]]
        case _:
            middle = lot.randrange(len(line) + 1)
            spoilt = line[:middle] + lot.choice((b"\r", b"\n ", b"\t", b"\0", b"\xff", b":", b" ")) + line[middle:]
            return [*lines[:place], spoilt, *lines[place + 1 :]]


def changed_chunk_line(body: bytes, lot: Random) -> bytes:
    """A chunked body with another line in front of one chunk."""
    places = list(CHUNK.finditer(body))
    if not places:
        return body + lot.choice(CHUNK_LINES)
    line = lot.choice(places)
    return body[: line.start()] + lot.choice(CHUNK_LINES) + body[line.end() :]
