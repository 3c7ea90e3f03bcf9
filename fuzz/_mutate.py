"""Mutations that know what a body is made of: a header, events, lines, JSON in the lines.

`mutated` changes an input in a few places and is a pure function of the input and the random source, so the same code
serves libFuzzer and hypothesis.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from fuzz._mutate_frames import change_frames, opened
from fuzz._mutate_http import change_response, is_response
from fuzz._mutate_json import changed, written
from fuzz._plan import HEADER_BYTES, PROTOCOLS
from fuzz._words import ENDS, LINES, THINGS, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence
    from random import Random

    Step = Callable[[bytes, Random], bytes]

LINE_END = re.compile(rb"(\r\n|\r|\n)")
EVENT_END = re.compile(rb"((?:\r\n|\r|\n){2,})")
FRAMES_WITHIN = 600
"""A body of which so many bytes hold a frame is an event stream."""

JSON_LINE = re.compile(rb"^((?:data:)? ?)(?=[\[{])")


def mutated(data: bytes, lot: Random, most: int) -> bytes:
    """The input, changed by one to four steps; at most `most` bytes of it."""
    head, body = data[:HEADER_BYTES].ljust(HEADER_BYTES, b"@"), data[HEADER_BYTES:]
    for _ in range(lot.choice((1, 1, 2, 4))):
        if lot.random() < 0.15:
            place = lot.randrange(HEADER_BYTES)
            byte = head[place] ^ (1 << lot.randrange(8)) if place else lot.choice(list(PROTOCOLS))
            head = head[:place] + bytes([byte]) + head[place + 1 :]
        elif opened(body[:FRAMES_WITHIN]) and lot.random() < 0.8:
            body = change_frames(body, lot)
        elif is_response(body) and lot.random() < 0.8:
            body = change_response(body, lot, lot.choice(STEPS))
        else:
            body = lot.choice(STEPS)(body, lot)
    return (head + body)[:most]


def change_json(body: bytes, lot: Random) -> bytes:
    """Change a value inside the JSON of one line, or inside a body that is JSON as a whole."""
    pieces = LINE_END.split(body)
    places = [place for place in range(0, len(pieces), 2) if JSON_LINE.match(pieces[place])]
    if not places:
        return body + b"\n\ndata: " + written(lot.choice(THINGS))
    place = lot.choice(places)
    lead, text = split_lead(pieces[place])
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return change_whole(body, lot)
    pieces[place] = lead + written(changed(value, lot))
    if lot.random() < 0.2:  # the same event once more, as it was: fragments go on, calls are opened again
        pieces[place] += b"\n\n" + lead + text
    return b"".join(pieces)


def change_whole(body: bytes, lot: Random) -> bytes:
    """Change a value inside a body that is one JSON text."""
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return body
    return json.dumps(changed(value, lot), indent=lot.choice((None, 1))).encode()


def split_lead(line: bytes) -> tuple[bytes, bytes]:
    """What stands before the JSON of a line, and the JSON."""
    found = JSON_LINE.match(line)
    size = found.end() if found else 0
    return line[:size], line[size:]


def change_lines(body: bytes, lot: Random) -> bytes:
    """Swap, double, drop or add a line."""
    pieces = LINE_END.split(body)
    if lot.random() < 0.4:
        place = 2 * lot.randrange(len(pieces) // 2 + 1)
        pieces[place:place] = [lot.choice(LINES), lot.choice(ENDS)]
        return b"".join(pieces)
    return b"".join(rearranged(pieces, lot))


def change_events(body: bytes, lot: Random) -> bytes:
    """Swap, double, move or drop an event."""
    return b"".join(rearranged(EVENT_END.split(body), lot))


def rearranged(pieces: list[bytes], lot: Random) -> list[bytes]:
    """Pieces with their ends, one of them moved, doubled or dropped."""
    pairs = [pieces[place : place + 2] for place in range(0, len(pieces), 2)]
    one, other = lot.randrange(len(pairs)), lot.randrange(len(pairs))
    match lot.randrange(4):
        case 0:
            pairs[one], pairs[other] = pairs[other], pairs[one]
        case 1:
            pairs[one:one] = [pairs[other]] * lot.choice((1, 1, 2, 9))
        case 2:
            pairs.pop(one)
        case _:
            del pairs[min(one, other) : max(one, other)]
    return [piece for pair in pairs for piece in pair]


def change_ends(body: bytes, lot: Random) -> bytes:
    """Change one line end, or all."""
    pieces = LINE_END.split(body)
    places = range(1, len(pieces), 2)
    if not places:
        return body + lot.choice(ENDS)
    end = lot.choice(ENDS)
    for place in places if lot.random() < 0.3 else [lot.choice(places)]:
        pieces[place] = end
    return b"".join(pieces)


def split_text(body: bytes, lot: Random) -> bytes:
    """Cut one text in the JSON of a line in two: the same event twice, each with one half."""
    pieces = LINE_END.split(body)
    places = [place for place in range(0, len(pieces), 2) if JSON_LINE.match(pieces[place])]
    if not places:
        return body
    place = lot.choice(places)
    texts = list(re.finditer(rb'"((?:[^"\\]|\\.)+)"(?!:)', pieces[place]))
    if not texts:
        return body
    found = lot.choice(texts)
    line, middle = pieces[place], lot.randrange(found.start(1), found.end(1) + 1)
    name = pieces[place - 2] + b"\n" if place >= 2 and pieces[place - 2].startswith(b"event") else b""
    first, second = line[:middle] + line[found.end(1) :], line[: found.start(1)] + line[middle:]
    pieces[place] = first + b"\n\n" + name + second
    return b"".join(pieces)


def change_bytes(body: bytes, lot: Random) -> bytes:
    """Cut off, delete, repeat, overwrite or insert bytes."""
    start = lot.randrange(len(body) + 1)
    end = min(len(body), start + lot.choice((1, 1, 2, 5, 40)))
    match lot.randrange(6):
        case 0:
            return body[:start]
        case 1:
            return body[:start] + body[end:]
        case 2:
            return body[:end] + body[start:end] * lot.choice((1, 2, 20)) + body[end:]
        case 3:
            return body[:start] + bytes([lot.randrange(256)]) + body[end:]
        case 4:
            return body[start:]
        case _:
            word = lot.choice((lot.choice(LINES), lot.choice(ENDS), lot.choice(VALUES).encode("utf-8", "replace")))
            return body[:start] + word + body[start:]


def change_case(body: bytes, lot: Random) -> bytes:
    """Write one word of the body in another case, or one character of it as an escape."""
    words: MutableSequence[re.Match[bytes]] = list(re.finditer(rb"[A-Za-z_]{2,}", body))
    if not words:
        return body
    word = lot.choice(words)
    text = word[0].swapcase() if lot.random() < 0.5 else b"\\u%04x" % word[0][0] + word[0][1:]
    return body[: word.start()] + text + body[word.end() :]


STEPS: tuple[Step, ...] = (
    *(change_json, change_json, change_json, change_json, change_lines, change_lines, change_events, change_events),
    *(change_ends, split_text, change_bytes, change_case),
)
