"""Every adapter gives the events that the decoder gives, for every recording, framing, coding and size of reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.contract.driver import Adapter, Ask, Seen
from tests.support import PROTOCOLS, Failure, describe, marker_of, outcome, reason_of, text_stream

import tokwire
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from tests.support import Outcome

RECORDINGS = Path(__file__).resolve().parent.parent.parent / "examples" / "recordings"
TEXT = "".join(f"wave {number}, " for number in range(40)) + "naïve Übung \U0001f6a2"


class Recording(NamedTuple):
    """A recorded body and how it was decoded there."""

    name: str
    protocol: str
    body: bytes
    options: Any
    complete: bool

    def expected(self) -> Outcome:
        """What the decoder alone makes of it."""
        decoder = tokwire.StreamDecoder(self.protocol, **self.options)
        return outcome(lambda: decoder, [self.body], complete=self.complete)


def recordings() -> list[Recording]:
    """All of them."""
    found = []
    for path in sorted(RECORDINGS.glob("*/*.sse")):
        expect = json.loads(path.with_suffix("").with_suffix(".expect.json").read_text(encoding="utf-8"))
        protocol = path.parent.name
        name = f"{protocol}/{path.stem}"
        options, complete = expect.get("options", {}), expect.get("complete", True)
        found.append(Recording(name, protocol, path.read_bytes(), options, complete))
    return found


def failure_of(seen: Seen) -> Failure | None:
    """The error of a stream in the form of the decoder's own tests."""
    return None if seen.error is None else describe(seen.error)


def synthetic(protocol: str) -> bytes:
    """An answer with text beyond ASCII."""
    return text_stream(protocol, *[TEXT[start : start + 9] for start in range(0, len(TEXT), 9)])


def whole(protocol: str) -> bytes:
    """The answer with its reason and its end marker."""
    return synthetic(protocol) + reason_of(protocol) + marker_of(protocol)


def test_every_recording_has_the_events_of_the_decoder(adapter: Adapter) -> None:
    recorded = recordings()
    assert len(recorded) > 100
    faults = {True: (), False: ("no-terminator",)}
    server = serve(*[Reply(body=each.body, reads=37, faults=faults[each.complete]) for each in recorded])
    with server as url:
        asks = [Ask(f"{url}/{each.name}", each.protocol, each.options) for each in recorded]
        for each, seen in zip(recorded, adapter.run(*asks), strict=True):
            expected = each.expected()
            assert (seen.events, failure_of(seen)) == (expected.events, expected.failure), each.name
            assert seen.summary == expected.summary, each.name
    assert [request.target for request in server.requests] == [f"/{each.name}" for each in recorded]


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_reads_of_every_size_in_every_framing(adapter: Adapter, protocol: str, framing: Any) -> None:
    body = whole(protocol)
    sizes = [1, 7, 1000, None]
    with serve(*[Reply(body=body, reads=size, framing=framing) for size in sizes]) as url:
        for seen in adapter.run(*[Ask(url, protocol)] * len(sizes)):
            assert seen.text == TEXT
            assert seen.events == tokwire.decode(body, protocol)
            assert seen.error is None


@pytest.mark.parametrize("framing", ["chunked", "length"])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_body_is_inflated(adapter: Adapter, coding: Any, framing: Any) -> None:
    body = whole("openai-chat")
    sizes = [1, 100, None]
    with serve(*[Reply(body=body, reads=size, framing=framing, coding=coding) for size in sizes]) as url:
        for seen in adapter.run(*[Ask(url)] * len(sizes)):
            assert (seen.text, seen.error) == (TEXT, None)


def test_a_big_body_comes_through(adapter: Adapter) -> None:
    body = text_stream("anthropic", *["x" * 5000] * 200) + reason_of("anthropic") + marker_of("anthropic")
    with serve(body, reads=3001) as url:
        (seen,) = adapter.run(Ask(url, "anthropic"))
    assert len(seen.text) == 1_000_000


def test_the_head_is_there(adapter: Adapter) -> None:
    with serve(whole("openai-chat"), headers=[("X-Request-Id", "r-1"), ("X-Two", "a"), ("X-Two", "b")]) as url:
        (seen,) = adapter.run(Ask(url))
    assert seen.head.status == 200
    assert seen.head.header("x-request-id") == "r-1"
    assert seen.head.header("content-type") == "text/event-stream; charset=utf-8"
