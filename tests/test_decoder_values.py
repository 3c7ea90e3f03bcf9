"""What a decoder hands out, used as values: collected, pickled, and made by many threads at once."""

from __future__ import annotations

import pickle
import threading

import pytest
from tests.support import BODIES, CHAT, EVERYTHING, PROTOCOLS, data, describe, single_bytes, text_stream

import tokwire
from tokwire import FinishReason, StreamDecoder


def test_collect_folds_a_stream() -> None:
    whole = tokwire.collect(tokwire.decode(CHAT, "openai-chat", include_reasoning=True, include_usage=True))
    assert (whole.text, whole.reasoning, whole.refusal) == ("ab", "hm", "no")
    assert [(call.id, call.name, call.input) for call in whole.tool_calls] == [("c1", "f", {"x": 1}), ("c2", "g", {})]
    assert whole.usage is not None
    assert (whole.usage.input_tokens, whole.finish) == (5, FinishReason.TOOL_CALLS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_events_and_errors_can_be_pickled(protocol: str) -> None:
    events = tokwire.decode(BODIES[protocol], protocol, **EVERYTHING)
    assert pickle.loads(pickle.dumps(events)) == events
    for rest in (data(b"junk"), data({"error": {"message": "no", "code": 429}}), b"data: {", b'{"a"'):
        with pytest.raises(tokwire.TokwireError) as caught:
            tokwire.decode(text_stream(protocol, "a") + rest, protocol)
        again = pickle.loads(pickle.dumps(caught.value))
        assert describe(again) == describe(caught.value)
        assert (vars(again), again.events) == (vars(caught.value), caught.value.events)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_decoders_share_nothing(protocol: str) -> None:
    expected = tokwire.decode(BODIES[protocol], protocol, **EVERYTHING)
    barrier = threading.Barrier(8)
    found: list[list[tokwire.StreamEvent]] = [[] for _ in range(8)]

    def run(place: int) -> None:
        barrier.wait()
        for _ in range(3):
            decoder = StreamDecoder(protocol, **EVERYTHING)
            events: list[tokwire.StreamEvent] = []
            for read in single_bytes(BODIES[protocol]):
                decoder.receive_data(read)
                events += decoder.events()
            found[place] += events

    threads = [threading.Thread(target=run, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected * 3] * 8
