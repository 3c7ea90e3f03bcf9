"""What a `ResponseDecoder` makes of heads and chunks, for the tests of responses."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WINDOWS = {"gzip": 31, "deflate": 15, "raw deflate": -15}
STREAM = ("Content-Type", "text/event-stream")


@dataclass(frozen=True)
class Answer:
    """What came of a response. Errors are compared by what they say."""

    events: list[tokwire.StreamEvent]
    failure: tuple[object, ...] | None
    state: tokwire.StreamState
    error: Any = field(compare=False)


def response_decoder(
    status: int = 200, headers: Iterable[tuple[str, str]] = (STREAM,), **options: Unpack[tokwire.DecoderOptions]
) -> tokwire.ResponseDecoder:
    """A decoder that has a head."""
    decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder("openai-chat", **options))
    decoder.receive_head(tokwire.ResponseHead(status, tuple(headers)))
    return decoder


def answered(
    reads: Iterable[bytes],
    status: int = 200,
    headers: Iterable[tuple[str, str]] = (STREAM,),
    *,
    complete: bool | None = True,
    **options: Unpack[tokwire.DecoderOptions],
) -> Answer:
    """Feed the reads one by one and take what is ready after each; `complete` None announces no end."""
    decoder = response_decoder(status, headers, **options)
    events: list[tokwire.StreamEvent] = []
    failure = None
    try:
        for read in reads:
            decoder.receive_data(read)
            events.extend(decoder.events())
        if complete is not None:
            decoder.receive_eof(complete=complete)
            events.extend(decoder.events())
    except tokwire.TokwireError as error:
        failure = error
    said = None if failure is None else (type(failure), str(failure), getattr(failure, "__notes__", None))
    return Answer(events, said, decoder.state, failure)


def compressed(body: bytes, coding: str, *, level: int = 6) -> bytes:
    """A body with a content coding."""
    compressor = zlib.compressobj(level, wbits=WINDOWS[coding])
    return compressor.compress(body) + compressor.flush()


def coded(coding: str) -> Sequence[tuple[str, str]]:
    """The headers that announce it."""
    return [STREAM, ("Content-Encoding", coding.rpartition(" ")[2])]
