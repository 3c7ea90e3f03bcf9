"""Bodies and ways of asking that once lost events or had a verdict that depended on the cuts."""

from __future__ import annotations

import pytest
from tests.support import BODIES, DONE, EVERYTHING, PROTOCOLS, chunk, data, decoded, without_quick_path

import tokwire
from tokwire import Limits, StreamDecoder
from tokwire.framing._sse_body import SSEBody


# an older `events()` that goes on after a newer one clears `attention` while an event waits.
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_way_of_asking_takes_from_the_same_events(protocol: str) -> None:
    body = BODIES[protocol]
    expected = tokwire.decode(body, protocol, **EVERYTHING)
    for path in (protocol, without_quick_path(protocol)):
        decoder = StreamDecoder(path, **EVERYTHING)
        decoder.receive_data(body)
        older = decoder.events()
        found = [next(older)]
        for each in decoder.events():
            found.append(each)
            inner = next(decoder.events(), None)
            found += [] if inner is None else [inner]
            asked = decoder.next_event()
            found += [asked] if isinstance(asked, tokwire.StreamEvent) else []
        found += older
        found += decoder.events()
        assert found == expected


def test_the_last_event_is_not_lost_between_two_ways_of_asking() -> None:
    decoder = StreamDecoder("openai-chat", include_usage=True)
    decoder.receive_data(chunk({"content": "a"}) + data({"choices": [], "usage": {"prompt_tokens": 1}}) + DONE)
    found: list[object] = []
    for each in decoder.events():
        found += [each, decoder.next_event()]
    found += decoder.events()
    assert [type(each) for each in found].count(tokwire.Finish) == 1


# `held` keeps counting JSON that a field line interrupted.
def test_interrupted_json_is_not_held() -> None:
    framing = SSEBody(Limits())
    framing.feed(b'{"a":\ndata: 1\n\n', 0)
    assert framing.is_idle
    assert framing.held == 0


# P7, after a marker such a rest is ignored.
@pytest.mark.parametrize("rest", [b"}", b"text", b"text\n", b"<p>", b'{"a":', b'{"a":1}\n{"b":2}\n'])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_follows_a_mark_that_stands_alone(protocol: str, rest: bytes) -> None:
    found = decoded(protocol, b"[DONE]\n" + rest)
    assert (found.events, found.failure) == ([tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)], None)


# JSON without framing that is still open after a blank line, then an ordinary event in the same read.
# (then `INSERTED` in test_properties can become `PIECES` again)
def test_open_json_between_ordinary_events() -> None:
    body = chunk({"content": "a"}) + b"{\n\n" + chunk({"content": "b"})
    assert decoded("openai-chat", body).text == "ab"
