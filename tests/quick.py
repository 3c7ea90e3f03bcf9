"""What the tests of quick paths share: both paths side by side, read by read, and what the exact reader had to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Unpack

import msgspec
from hypothesis import strategies as st
from tests.support import cut, describe, single_bytes, without_quick_path

import tokwire
from tokwire.protocols import find_protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

LIMITS = st.builds(
    tokwire.Limits,
    max_line_bytes=st.sampled_from([None, 40, 160, 1 << 20]),
    max_event_bytes=st.sampled_from([None, 40, 160, 1 << 20]),
    max_json_depth=st.sampled_from([None, 4, 7, 512]),
    max_frame_bytes=st.sampled_from([None, 150, 1 << 20]),
)
OPTIONS: st.SearchStrategy[tokwire.DecoderOptions] = st.fixed_dictionaries(
    {
        "include_reasoning": st.booleans(),
        "include_usage": st.booleans(),
        "include_tool_deltas": st.booleans(),
        "keep_thinking": st.booleans(),
        "limits": st.just(tokwire.Limits()) | LIMITS,
    }
)  # type: ignore[assignment]  # a strategy of plain dictionaries with these members


def watched(
    protocol: tokwire.ApiProtocol, reads: Sequence[bytes], *, complete: bool, **options: Unpack[tokwire.DecoderOptions]
) -> list[Any]:
    """All that a caller can see: after each read its events, each with the summary of that moment; then the end."""
    decoder = tokwire.StreamDecoder(protocol, **options)
    found: list[Any] = []
    try:
        for read in reads:
            decoder.receive_data(read)
            found += [(repr(event), repr(decoder.summary)) for event in decoder.events()]
            found.append((repr(decoder.summary), decoder.state))
        decoder.receive_eof(complete=complete)
        found += [(repr(event), repr(decoder.summary)) for event in decoder.events()]
    except tokwire.TokwireError as error:
        found.append(describe(error))
    return [*found, repr(decoder.summary), decoder.state]


def unwatched(
    protocol: tokwire.ApiProtocol, reads: Sequence[bytes], *, complete: bool, **options: Unpack[tokwire.DecoderOptions]
) -> list[Any]:
    """What comes out where two or three reads wait, or the end behind the last ones, before anything is asked for."""
    decoder = tokwire.StreamDecoder(protocol, **options)
    found: list[Any] = []
    try:
        for place, read in enumerate(reads):
            decoder.receive_data(read)
            if place % 5 in (1, 4) and place < len(reads) - 1:
                found.append([repr(event) for event in decoder.events()])
        decoder.receive_eof(complete=complete)
        found.append([repr(event) for event in decoder.events()])
    except tokwire.TokwireError as error:
        found.append(describe(error))
    return [*found, repr(decoder.summary), decoder.state]


def check(
    protocol: str, reads: Sequence[bytes], *, complete: bool = True, **options: Unpack[tokwire.DecoderOptions]
) -> None:
    """Both paths show the same, read by read."""
    known, exact = find_protocol(protocol), without_quick_path(protocol)
    for see in (watched, unwatched):
        quick = see(known, reads, complete=complete, **options)
        assert quick == see(exact, reads, complete=complete, **options), reads


def check_that_nothing_waits(protocol: str, begin: bytes, frames: Sequence[bytes], texts: str) -> None:
    """Frames of text come out with what is asked for next, however they and the end of the body came in."""
    for way in range(3):
        decoder = tokwire.StreamDecoder(protocol)
        decoder.receive_data(begin + frames[0])
        found = [event.as_text() for event in decoder.events()]
        rest = list(frames[1:])
        for _ in range(3 if way == 0 else 1):
            decoder.receive_data(rest.pop(0))
        if way == 1:
            decoder.receive_eof()
        for event in decoder.events():
            found.append(event.as_text())
            if way == 2 and rest:
                decoder.receive_data(rest.pop(0))
        expected = [*texts[: len(frames) - len(rest)], *([None] if way == 1 else [])]
        assert found == expected, way


def ways(frames: Sequence[bytes], draw: st.DataObject) -> list[bytes]:
    """The frames as reads: each on its own, byte by byte, or cut anywhere."""
    body = b"".join(frames)
    way = draw.draw(st.sampled_from(["frames", "bytes", "cuts", "cuts"]), label="way")
    if way == "cuts":
        return cut(body, draw.draw(st.lists(st.integers(0, len(body)), max_size=8), label="cuts"))
    return single_bytes(body) if way == "bytes" else list(frames)


def without_names(event: bytes) -> bytes:
    """The event without its `event:` line."""
    return re.sub(rb"(?m)^event: [^\n]*\n", b"", event)


def without_blanks(event: bytes) -> bytes:
    """The event without the blanks behind the names of its fields."""
    return re.sub(rb"(?m)^(event|data): ", rb"\1:", event)


def respelled(events: Sequence[bytes], draw: st.DataObject) -> list[bytes]:
    """The events, spelled as other servers do: without their names, without blanks, or without both."""
    spellings = [[], [without_names], [without_blanks], [without_names, without_blanks]]
    found = list(events)
    for spell in draw.draw(st.sampled_from(spellings), label="spelling"):
        found = [spell(event) for event in found]
    return found


def read_in_full(protocol: str, reads: Sequence[bytes], **options: Unpack[tokwire.DecoderOptions]) -> int:
    """How many payloads of these reads the exact reader was given."""
    known = find_protocol(protocol)
    count = 0

    def on_payload(state: Any, payload: dict[str, Any], name: str | None) -> tokwire.Verdict:
        nonlocal count
        count += 1
        return known.on_payload(state, payload, name)

    decoder = tokwire.StreamDecoder(msgspec.structs.replace(known, on_payload=on_payload), **options)
    for read in reads:
        decoder.receive_data(read)
        for _ in decoder.events():
            pass
    return count


def one_by_one(decoder: tokwire.StreamDecoder) -> list[tokwire.StreamEvent]:
    """Everything that is ready, each event from a generator of its own."""
    return [found for found in iter(decoder.next_event, tokwire.NEED_DATA) if isinstance(found, tokwire.StreamEvent)]
