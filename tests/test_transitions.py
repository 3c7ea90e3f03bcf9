"""The states of a decoder: the whole product of state and input, on the table and on real decoders."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import assert_never

import pytest

from tokwire import (
    FINISHED,
    NEED_DATA,
    Block,
    Finish,
    LocalProtocolError,
    Need,
    RemoteProtocolError,
    StreamDecoder,
    StreamEvent,
    StreamState,
    StreamTruncated,
    TextBlock,
)
from tokwire._transitions import STATES, TRANSITIONS, Input, Phase, checked_bytes, move

TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
BAD = b"data: {not json}\n\n"
END = b"data: [DONE]\n\n"

R, C, D, F = Phase.RECEIVING, Phase.CLOSING, Phase.DONE, Phase.FAILED
REFUSED = "refused"
IMPOSSIBLE = "impossible"

PRODUCT: dict[Phase, dict[Input, Phase | str]] = {
    R: {Input.DATA: R, Input.EOF: C, Input.EVENT: R, Input.LAST_EVENT: D, Input.ERROR: F},
    C: {Input.DATA: REFUSED, Input.EOF: C, Input.EVENT: C, Input.LAST_EVENT: D, Input.ERROR: F},
    D: {Input.DATA: D, Input.EOF: D, Input.EVENT: IMPOSSIBLE, Input.LAST_EVENT: IMPOSSIBLE, Input.ERROR: IMPOSSIBLE},
    F: {Input.DATA: F, Input.EOF: F, Input.EVENT: IMPOSSIBLE, Input.LAST_EVENT: IMPOSSIBLE, Input.ERROR: F},
}
CELLS = [(phase, happened, PRODUCT[phase][happened]) for phase, happened in itertools.product(Phase, Input)]


def cell_name(value: object) -> str:
    """The name of a test case."""
    return value.name if isinstance(value, Phase | Input) else str(value)


@pytest.mark.parametrize(("phase", "happened", "expected"), CELLS, ids=cell_name)
def test_each_input_in_each_phase_moves_is_refused_or_cannot_happen(
    phase: Phase, happened: Input, expected: Phase | str
) -> None:
    if isinstance(expected, Phase):
        assert move(phase, happened) is expected
    elif expected == REFUSED:
        with pytest.raises(LocalProtocolError, match=happened.value):
            move(phase, happened)
    else:
        assert (phase, happened) not in TRANSITIONS


def test_the_table_lists_exactly_what_can_happen() -> None:
    possible = {(phase, happened) for phase, happened, expected in CELLS if expected != IMPOSSIBLE}
    assert set(TRANSITIONS) == possible


def test_from_every_phase_the_end_can_be_reached_and_never_left() -> None:
    for phase in (D, F):
        assert {after for (before, _), after in TRANSITIONS.items() if before is phase} == {phase}
    for phase in (R, C):
        assert {D, F} <= {after for (before, _), after in TRANSITIONS.items() if before is phase}


def test_closing_looks_open_from_outside() -> None:
    assert STATES == {R: StreamState.OPEN, C: StreamState.OPEN, D: StreamState.DONE, F: StreamState.FAILED}


def receiving() -> StreamDecoder:
    """A decoder in the middle of a stream, an event of it taken."""
    decoder = StreamDecoder("openai-chat")
    decoder.receive_data(TEXT)
    assert list(decoder.events()) == [Block(TextBlock("a"))]
    return decoder


def closing() -> StreamDecoder:
    """A decoder whose body is over, while its last events are not taken."""
    decoder = receiving()
    decoder.receive_data(TEXT)
    decoder.receive_eof()
    return decoder


def done() -> StreamDecoder:
    """A decoder that handed out its last event."""
    decoder = receiving()
    decoder.receive_data(END)
    assert isinstance(list(decoder.events())[-1], Finish)
    return decoder


def failed() -> StreamDecoder:
    """A decoder that raised its error."""
    decoder = receiving()
    decoder.receive_data(BAD)
    with pytest.raises(RemoteProtocolError):
        list(decoder.events())
    return decoder


MAKERS: dict[Phase, Callable[[], StreamDecoder]] = {R: receiving, C: closing, D: done, F: failed}


@pytest.mark.parametrize("phase", MAKERS, ids=cell_name)
def test_a_decoder_shows_the_state_of_its_phase(phase: Phase) -> None:
    decoder = MAKERS[phase]()
    assert decoder.state is STATES[phase]
    assert STATES[phase].name in repr(decoder)


@pytest.mark.parametrize("phase", MAKERS, ids=cell_name)
@pytest.mark.parametrize("data", [TEXT, BAD, END, b"data: ha", b"\n"])
def test_data_is_taken_while_open_refused_after_the_end_was_announced_and_ignored_after_the_stream(
    phase: Phase, data: bytes
) -> None:
    decoder = MAKERS[phase]()
    if phase is C:
        with pytest.raises(LocalProtocolError, match="receive_data"):
            decoder.receive_data(data)
        assert [type(event) for event in decoder.events()] == [Block, Finish]
        return
    decoder.receive_data(data)
    assert decoder.state is STATES[phase]
    if phase is D:
        assert list(decoder.events()) == []
        assert decoder.next_event() is FINISHED


@pytest.mark.parametrize("phase", [R, D, F], ids=cell_name)
def test_empty_data_is_no_end(phase: Phase) -> None:
    decoder = MAKERS[phase]()
    decoder.receive_data(b"")
    assert decoder.state is STATES[phase]
    if phase is R:
        assert decoder.next_event() is NEED_DATA


@pytest.mark.parametrize("phase", MAKERS, ids=cell_name)
def test_announcing_the_end_is_allowed_always_and_again(phase: Phase) -> None:
    decoder = MAKERS[phase]()
    decoder.receive_eof()
    decoder.receive_eof(complete=False)
    assert decoder.state is STATES[phase]
    if phase is R:
        assert [type(event) for event in decoder.events()] == [Finish]
        assert decoder.state is StreamState.DONE


def test_the_first_word_on_how_the_body_ended_stands() -> None:
    decoder = receiving()
    decoder.receive_eof(complete=False)
    decoder.receive_eof(complete=True)
    with pytest.raises(StreamTruncated):
        list(decoder.events())
    assert decoder.state is StreamState.FAILED


def test_a_failed_decoder_raises_the_same_error_for_ever() -> None:
    decoder = failed()
    errors = []
    for take in (decoder.next_event, lambda: list(decoder.events())) * 2:
        with pytest.raises(RemoteProtocolError) as caught:
            take()
        errors.append(caught.value)
    decoder.receive_data(TEXT)
    decoder.receive_eof()
    with pytest.raises(RemoteProtocolError) as caught:
        decoder.next_event()
    assert {id(error) for error in errors} == {id(caught.value)}


def test_the_state_changes_when_the_last_event_is_handed_out_and_not_before() -> None:
    decoder = StreamDecoder("openai-chat")
    decoder.receive_data(TEXT + END)
    states = [(type(decoder.next_event()), decoder.state) for _ in range(3)]
    assert states == [(Block, StreamState.OPEN), (Finish, StreamState.DONE), (Need, StreamState.DONE)]


def answer(event: StreamEvent | Need) -> str:
    """What a caller does with an answer of `next_event`; the type checker sees that nothing is left."""
    if event is NEED_DATA:
        return "read"
    if event is FINISHED:
        return "stop"
    if isinstance(event, StreamEvent):
        return "use"
    assert_never(event)


def test_a_decoder_asks_for_data_until_it_is_finished() -> None:
    decoder = StreamDecoder("openai-chat")
    assert answer(decoder.next_event()) == "read"
    decoder.receive_data(TEXT[:-1])
    assert answer(decoder.next_event()) == "read"
    decoder.receive_data(TEXT[-1:] + END)
    assert [answer(decoder.next_event()) for _ in range(4)] == ["use", "use", "stop", "stop"]


def test_the_answers_are_members_of_one_enum_and_survive_pickling() -> None:
    assert list(Need) == [NEED_DATA, FINISHED]
    for value in (*Need, *StreamState):
        assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize("data", [b"", b"abc", bytearray(b"abc"), memoryview(b"xabcx")[1:-1], memoryview(b"")])
def test_data_becomes_bytes_of_its_own(data: bytes | bytearray | memoryview) -> None:
    checked = checked_bytes(data)
    assert type(checked) is bytes
    assert checked == bytes(data)


def test_a_buffer_may_change_after_it_was_handed_over() -> None:
    decoder = StreamDecoder("openai-chat")
    buffer = bytearray(TEXT)
    decoder.receive_data(buffer)
    buffer[:] = b"x" * len(buffer)
    assert list(decoder.events()) == [Block(TextBlock("a"))]


def test_a_view_of_wider_items_is_taken_as_its_bytes() -> None:
    assert checked_bytes(memoryview(b"abcdefgh").cast("I")) == b"abcdefgh"


@pytest.mark.parametrize("data", ["text", None, 5, [1, 2], (b"a",), object()])
def test_what_is_no_bytes_is_a_type_error_that_names_its_type(data: object) -> None:
    with pytest.raises(TypeError, match=type(data).__name__):
        checked_bytes(data)
