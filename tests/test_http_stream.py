"""`EventStream` over scripted responses: what it reads, when it closes, and what it raises again."""

from __future__ import annotations

import gc
import threading

import pytest
from tests.http_fakes import EVENTS, HEAD, ONE, TWO, WHOLE, ReadTooFarError, Script, decoder
from tests.support import DONE, STOP, data, text_stream

import tokwire
from tokwire_http import EventStream, Interrupt


def test_the_events_come_one_by_one_and_the_connection_is_kept() -> None:
    response = Script(*WHOLE, ReadTooFarError())
    assert list(EventStream(response, decoder())) == EVENTS
    assert True in response.closed


def test_nothing_is_read_ahead() -> None:
    response = Script(*WHOLE)
    stream = EventStream(response, decoder())
    assert response.taken == 0
    assert next(stream) == EVENTS[0]
    assert response.taken == 1
    stream.close()


def test_a_loop_that_is_left_goes_on_where_it_was() -> None:
    with EventStream(Script(*WHOLE), decoder()) as stream:
        for event in stream:
            assert event == EVENTS[0]
            break
        assert next(stream) == EVENTS[1]
        assert list(stream) == EVENTS[2:]
        assert list(stream) == []


def test_the_end_of_the_block_closes() -> None:
    response = Script(*WHOLE)
    with EventStream(response, decoder()) as stream:
        next(stream)
        assert response.closed == []
    assert set(response.closed) == {False}
    assert list(stream) == []


def test_close_is_idempotent_and_may_come_first() -> None:
    response = Script(*WHOLE)
    stream = EventStream(response, decoder())
    stream.close()
    stream.close()
    assert set(response.closed) == {False}
    assert list(stream) == []
    assert response.taken == 0


def test_close_inside_the_loop_ends_it() -> None:
    response = Script(*WHOLE)
    stream = EventStream(response, decoder())
    seen = []
    for event in stream:
        seen.append(event)
        stream.close()
    assert seen == EVENTS[:1]
    assert response.taken == 1


def test_a_dropped_loop_closes_without_the_garbage_collector() -> None:
    response = Script(*WHOLE)
    gc.disable()
    try:
        for _ in EventStream(response, decoder()):
            break
        assert response.closed == [False]
    finally:
        gc.enable()


def test_leaving_at_the_finish_keeps_the_connection() -> None:
    response = Script(*WHOLE)
    with EventStream(response, decoder()) as stream:
        for event in stream:
            if event.finish_reason() is not None:
                break
    assert set(response.closed) == {True}


def test_an_error_comes_behind_the_events_and_again() -> None:
    response = Script(ONE, data({"error": {"message": "gone"}}), TWO)
    stream = EventStream(response, decoder())
    assert next(stream) == EVENTS[0]
    for _ in range(2):
        with pytest.raises(tokwire.APIError, match="gone"):
            next(stream)
        with pytest.raises(tokwire.APIError, match="gone"):
            list(stream)
    assert response.closed == [False]


def test_an_error_status() -> None:
    head = tokwire.ResponseHead(404, (("x-request-id", "r-1"),))
    response = Script(b'{"error": {"message": "no such model"}}', head=head)
    stream = EventStream(response, decoder())
    with pytest.raises(tokwire.APIError, match="no such model") as caught:
        next(stream)
    assert caught.value.request_id == "r-1"
    assert stream.head is head
    assert response.closed == [False]


def test_a_decoder_that_has_the_head_keeps_it() -> None:
    ready = decoder()
    ready.receive_head(HEAD)
    assert list(EventStream(Script(*WHOLE), ready)) == EVENTS


def test_chunks_may_be_empty_and_hold_many_events() -> None:
    assert list(EventStream(Script(b"", b"".join(WHOLE), b""), decoder())) == EVENTS


def test_a_chunk_that_is_no_bytes_is_a_mistake_of_the_program() -> None:
    response = Script(*WHOLE)
    response.__class__ = type("Wrong", (Script,), {"__next__": lambda _self: "text"})
    with pytest.raises(TypeError, match="bytes"):
        next(EventStream(response, decoder()))
    assert response.closed == [False]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(3)])
def test_an_exception_that_ends_the_program_passes_and_closes(stop: BaseException) -> None:
    response = Script(ONE, stop)
    stream = EventStream(response, decoder())
    next(stream)
    with pytest.raises(type(stop)):
        next(stream)
    assert response.closed == [False]


def test_the_summary_is_there_at_any_time() -> None:
    stream = EventStream(Script(*WHOLE), decoder())
    assert stream.summary.response_id is None
    next(stream)
    assert stream.summary.response_id == "r1"
    list(stream)
    assert stream.summary.end_marker


def test_another_protocol() -> None:
    body = text_stream("anthropic", "one") + STOP
    events = list(EventStream(Script(body), decoder("anthropic")))
    assert events == [EVENTS[0], tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)]


def test_an_interrupt_from_the_loop_takes_effect_with_the_next_read() -> None:
    response = Script(*WHOLE)
    stream = EventStream(response, decoder())
    next(stream)
    stream.interrupt()
    for _ in range(2):
        with pytest.raises(tokwire.TurnInterrupted):
            next(stream)
    assert response.closed == [False]


def test_an_interrupt_wakes_a_read_that_waits() -> None:
    interrupt = Interrupt()
    waiting, woken = threading.Event(), threading.Event()

    def wait() -> None:
        interrupt.register(woken.set)
        waiting.set()
        assert woken.wait(5)
        raise ConnectionError("the socket was shut down")

    response = Script(ONE, wait, TWO)
    stream = EventStream(response, decoder(), interrupt=interrupt)
    assert next(stream) == EVENTS[0]

    def interrupt_it() -> None:
        assert waiting.wait(5)
        stream.interrupt()

    other = threading.Thread(target=interrupt_it)
    other.start()
    with pytest.raises(tokwire.TurnInterrupted) as caught:
        next(stream)
    other.join()
    assert caught.value.__cause__ is None
    assert response.closed == [False]


def test_an_interrupt_after_the_end_changes_nothing() -> None:
    stream = EventStream(Script(*WHOLE), decoder())
    assert list(stream) == EVENTS
    stream.interrupt()
    assert list(stream) == []


def test_close_while_another_thread_reads_does_not_raise() -> None:
    reading, closed = threading.Event(), threading.Event()

    def wait() -> None:
        reading.set()
        assert closed.wait(5)

    stream = EventStream(Script(wait, ONE, DONE), decoder())
    seen: list[tokwire.StreamEvent] = []
    other = threading.Thread(target=lambda: seen.append(next(stream)))
    other.start()
    assert reading.wait(5)
    stream.close()
    closed.set()
    other.join()
    assert seen == EVENTS[:1]
    stream.close()


def test_repr_tells_status_and_state_alone() -> None:
    head = tokwire.ResponseHead(200, (("set-cookie", "secret"),))
    stream = EventStream(Script(*WHOLE, head=head), decoder())
    assert repr(stream) == "<EventStream status=200 OPEN>"
    stream.close()
