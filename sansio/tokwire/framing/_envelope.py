"""What is the same from one event to the next: the shape of its payload, and the very bytes around its text.

A server repeats itself: hundreds of bytes of ids and nulls stand around each word, the same ones every time. Once an
event was read, the bytes around its text are its envelope. An event that begins and ends with the same bytes holds one
string between them and nothing else that is new, so that only this string has to be decoded.

That is proved and not guessed. JSON is read part by part: where one string takes the place of another, what is read
from that place changes, and nothing else. So the envelope of an event is tried with another text and with none. Where
both are found again, every other text will be.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from .._json import FAILURES, typed_decoder
from ._quick_frames import BLANK_LINE

if TYPE_CHECKING:
    from ._shape import Expectation, Lead, Shape

__all__: list[str] = []

MAX_EVENT_BYTES = 2048
"""Longer events have no envelope: it is held as long as the stream is open, and searched for in each event."""

WAITS = 2
"""So many events of a shape come before an envelope is learned: the shortest texts would not be worth its price."""

FEW_EVENTS = 16
"""An envelope that does not hold for so many events was not worth its price."""

TRIES = 3
"""So many in a row that were not worth it, and the stream is taken for one in which more changes than the text."""

LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

decode_string = typed_decoder(str)


class Envelope(Struct, frozen=True, eq=False, gc=False):
    """The bytes around the text of an event.

    Attributes:
        start: The bytes before the text. Where it is empty, none fits and none will be learned.
        end: The bytes behind the text, or behind the noise. Where it is empty, none fits.
        middle: The bytes between the text and noise that differs from event to event; else empty.
        is_noise: Whether bytes there, if any, are noise of the same kind.
        piece_start: `start` without what every event of the stream begins with.
        piece_end: `end` without the blank line.
        index: The index of the tool call that the text belongs to.
        offset: Where in the body of the stream the event was.
        tries: How many more may be learned.
        waits: How many more events come before one is.
    """

    start: bytes = b""
    end: bytes = b""
    middle: bytes = b""
    is_noise: Callable[[bytes], bool] = bytes.isalnum
    piece_start: bytes = b""
    piece_end: bytes = b""
    index: int = 0
    offset: int = 0
    tries: int = 0
    waits: int = 0


NO_ENVELOPE = Envelope()
WAITING = tuple(Envelope(start=b"\0", piece_start=b"\0", tries=TRIES, waits=waits) for waits in range(WAITS + 1))
UNLEARNED, NOT_YET = WAITING[0], WAITING[WAITS]


def learn(state: Expectation, event: bytes, offset: int) -> Envelope:
    """Learn the envelope of an event that has the expected shape and not the envelope known so far.

    Args:
        state: What is expected of the stream; it keeps the envelope.
        event: The event, with its lead and the blank line that ends it.
        offset: Where in the body it is.

    Returns:
        The new envelope. None fits it where nothing was learned.
    """
    known = state.envelope
    if known.waits:
        state.envelope = WAITING[known.waits - 1]
        return state.envelope
    if known.middle and event.startswith(known.start) and known.middle in event:
        return known  # only its noise is of another kind, this once
    was_worth_it = known.end != b"" and offset - known.offset >= FEW_EVENTS * len(event)
    tries = TRIES if was_worth_it else known.tries
    if tries:
        found = _envelope_of(state.shape, state.lead, event, known) if len(event) <= MAX_EVENT_BYTES else UNLEARNED
        state.envelope = replace(found, offset=offset, tries=tries - 1)
    else:
        state.envelope = NO_ENVELOPE
    return state.envelope


def _envelope_of(shape: Shape, lead: Lead, event: bytes, known: Envelope) -> Envelope:
    """The envelope of an event; one that never fits where it is not proved."""

    def read(event: bytes) -> Any:
        return shape.decode(event[len(lead.whole) : -len(BLANK_LINE)])

    message = read(event)
    text = shape.text_of(message) or ""
    start, found_text, end = event.partition(encode(text))
    if not found_text:
        start, found_text, end = event.partition(json.dumps(text).encode())
    if not found_text:
        return UNLEARNED
    middle, is_noise, behind = _parted_at_noise(end)
    if start == known.start and known.end.startswith(middle) and known.end.endswith(behind):
        end = behind
    else:
        middle = b""
    noise = (LETTERS if is_noise is bytes.isalnum else b"  ") if middle else b""
    for other_text, other_noise in ((text + "?", noise), ("", b"")):
        other = start + encode(other_text) + middle + other_noise + end
        try:
            found = shape.text_of(read(other))
        except FAILURES:
            return UNLEARNED
        if (found or "") != other_text:
            return UNLEARNED
    piece_start, piece_end = start[len(lead.common) :], end[: -len(BLANK_LINE)]
    return Envelope(start, end, middle, is_noise, piece_start, piece_end, shape.index_of(message))


def are_blanks(noise: bytes) -> bool:
    """Whether these are blanks, and nothing else that JSON takes for blank: a line end would end the payload."""
    return not noise.strip(b" ")


def _parted_at_noise(end: bytes) -> tuple[bytes, Callable[[bytes], bool], bytes]:
    """What stands before the noise of an event, what tells such noise, and what stands behind it.

    Servers pad events so that their length tells nothing of the text: OpenAI with a word in the last string of the
    event, Anthropic with blanks before its last bracket.
    """
    payload = end.removesuffix(BLANK_LINE)
    word, quote, _ = payload.rpartition(b'"')
    middle = word.rstrip(LETTERS)
    if quote and middle[-1:] == b'"' and not payload[len(word) + 1 :].strip(b"]}"):
        return middle, bytes.isalnum, end[len(word) :]
    return payload[:-1].rstrip(b" "), are_blanks, end[len(payload) - 1 :]
