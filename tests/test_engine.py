"""The state machine: every input in every phase against the table, errors that stay, and what is held."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.support import (
    PROTOCOLS,
    START,
    STOP,
    chunk,
    data,
    delta,
    describe,
    marker_of,
    reason_of,
    single_bytes,
    text_stream,
    tool,
    without_quick_path,
)

import tokwire
from tokwire import FINISHED, NEED_DATA, Finish, FinishReason, Limits, SSEDecoder, StreamDecoder, StreamState
from tokwire._transitions import STATES, TRANSITIONS, Input, Phase, move

MACHINES = [*PROTOCOLS, "openai-chat, exact", "anthropic, exact", "framing alone"]
JUNK = data(b"junk")
NO_EVENT = (NEED_DATA, FINISHED)


class Machine:
    """A decoder of either kind, and bodies that bring it wherever it can go."""

    def __init__(self, name: str) -> None:
        self.protocol, _, path = name.partition(", ")
        self.decoder: Any
        if name == "framing alone":
            self.decoder = SSEDecoder(limits=Limits(max_event_bytes=9))
            self.text, self.end, self.junk = b"data: a\n\n", None, b"data: 1234567890\n\n"
            self.more = self.text
            return
        self.decoder = StreamDecoder(without_quick_path(self.protocol) if path else self.protocol)
        self.text, self.end, self.junk = text_stream(self.protocol, "a"), marker_of(self.protocol), JUNK
        self.more = delta(0, "text", "b") if self.protocol == "anthropic" else self.text

    @property
    def phase(self) -> Phase:
        found: Phase = self.decoder._phase if self.end is None else self.decoder._engine.phase
        assert self.decoder.state is STATES[found]
        return found

    def bring_to(self, phase: Phase, then: Input) -> bool:
        """Bring the decoder into a phase in which an input can happen. False where no body can do that."""
        self.decoder.receive_data(self.text)
        assert self.decoder.next_event() not in NO_EVENT
        if phase is Phase.DONE:
            self.decoder.receive_eof()
            assert isinstance(self.decoder.next_event(), Finish) or self.end is None
            assert self.decoder.next_event() is FINISHED
        elif phase is Phase.FAILED:
            self.decoder.receive_data(self.junk)
            with pytest.raises(tokwire.TokwireError):
                self.decoder.next_event()
        elif then is Input.EVENT:
            self.decoder.receive_data(self.more)
        elif then is Input.ERROR:
            self.decoder.receive_data(self.junk)
        elif then is Input.LAST_EVENT and phase is Phase.RECEIVING:
            if self.end is None:
                return False
            self.decoder.receive_data(self.end)
        if phase is Phase.CLOSING:
            self.decoder.receive_eof()
        return True

    def apply(self, happened: Input) -> None:
        """Let an input happen."""
        if happened is Input.DATA:
            self.decoder.receive_data(self.more)
        elif happened is Input.EOF:
            self.decoder.receive_eof()
        elif happened is Input.ERROR:
            with pytest.raises(tokwire.TokwireError):
                self.decoder.next_event()
        elif happened is Input.EVENT:
            assert self.decoder.next_event() not in NO_EVENT
        else:
            last = self.decoder.next_event()
            assert isinstance(last, Finish) or last is FINISHED


PRODUCT = list(product(MACHINES, Phase, Input))


@pytest.mark.parametrize(("name", "phase", "happened"), PRODUCT)
def test_every_input_in_every_phase(name: str, phase: Phase, happened: Input) -> None:
    machine = Machine(name)
    possible = machine.bring_to(phase, happened)
    assert machine.phase is phase
    after = TRANSITIONS.get((phase, happened))
    if after is None:
        if phase is Phase.FAILED:
            machine.apply(Input.ERROR)
        else:
            assert phase is Phase.DONE
            assert machine.decoder.next_event() is FINISHED
        assert machine.phase is phase
    elif after is tokwire.LocalProtocolError:
        with pytest.raises(tokwire.LocalProtocolError, match="receive_eof"):
            machine.apply(happened)
        assert machine.phase is phase
    elif possible:
        machine.apply(happened)
        assert machine.phase is after


def test_the_table_is_whole() -> None:
    inside = {Phase.RECEIVING, Phase.CLOSING}
    assert set(STATES) == set(Phase)
    for phase, happened in product(Phase, Input):
        if phase in inside or happened in (Input.DATA, Input.EOF):
            assert (phase, happened) in TRANSITIONS
    for (phase, happened), after in TRANSITIONS.items():
        if isinstance(after, Phase):
            assert move(phase, happened) is after
        else:
            with pytest.raises(after):
                move(phase, happened)


FAILURES: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "junk": ("openai-chat", JUNK, {}),
    "server": ("anthropic", data({"error": {"message": "no"}}), {}),
    "page": ("anthropic", b"<html>\n", {}),
    "foreign": ("openai-chat", text_stream("anthropic", "a") + b"data: [DONE]\n\n", {}),
    "event": ("openai-chat", b"data: " + b"1" * 99 + b"\n\n", {"limits": Limits(max_event_bytes=50)}),
    "line": ("openai-chat", b"data: " + b"1" * 99, {"limits": Limits(max_line_bytes=50)}),
    "calls": ("openai-chat", tool(0, "c1", "f", "{}") + tool(1, "c2", "f", "{}"), {"limits": Limits(max_tool_calls=1)}),
    "arguments": ("openai-chat", tool(0, "c1", "f", "{") + chunk({}, "stop") + b"data: [DONE]\n\n", {}),
    "spliced": ("anthropic", START + delta(0, "text", "a") + START, {}),
}


@pytest.mark.parametrize(("protocol", "body", "options"), FAILURES.values(), ids=FAILURES)
def test_an_error_comes_again_and_again(protocol: str, body: bytes, options: dict[str, Any]) -> None:
    for reads in ([body], single_bytes(body)):
        decoder = StreamDecoder(protocol, **options)
        for read in reads:
            decoder.receive_data(read)
        with pytest.raises(tokwire.TokwireError) as first:
            list(decoder.events())
        assert decoder.state is StreamState.FAILED
        summary, told = decoder.summary, describe(first.value)
        decoder.receive_data(text_stream(protocol, "late"))
        decoder.receive_eof()
        decoder.receive_data(b"more")
        decoder.receive_eof(complete=False)
        for _ in range(3):
            with pytest.raises(type(first.value)) as again:
                decoder.next_event()
            assert again.value is first.value
            with pytest.raises(type(first.value)) as again:
                list(decoder.events())
            assert again.value is first.value
            assert describe(again.value) == told
        assert decoder.state is StreamState.FAILED
        assert decoder.summary == summary
        assert decoder._engine.held == 0


def test_the_traceback_of_an_error_does_not_grow() -> None:
    decoder = StreamDecoder("openai-chat")
    decoder.receive_data(JUNK)
    depths = []
    for _ in range(4):
        try:
            decoder.next_event()
        except tokwire.RemoteProtocolError as error:
            depth, place = 0, error.__traceback__
            while place is not None:
                depth, place = depth + 1, place.tb_next
            depths.append(depth)
    assert len(set(depths[1:])) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_error_comes_behind_the_events_before_it(protocol: str) -> None:
    for body in (text_stream(protocol, "a", "b") + JUNK, text_stream(protocol, "a", "b") + b"event: error\n\n"):
        decoder = StreamDecoder(protocol)
        decoder.receive_data(body)
        found = [decoder.next_event(), decoder.next_event()]
        assert [event.as_text() for event in found if isinstance(event, tokwire.StreamEvent)] == ["a", "b"]
        with pytest.raises(tokwire.TokwireError):
            decoder.next_event()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_end_comes_behind_the_reads_before_it(protocol: str) -> None:
    decoder = StreamDecoder(protocol)
    for read in single_bytes(text_stream(protocol, "a") + reason_of(protocol))[:-2]:
        decoder.receive_data(read)
    decoder.receive_eof()
    assert [event.as_text() for event in decoder.events()] == ["a", None]
    assert decoder.summary.finish_reason is FinishReason.STOP


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_held_once_the_stream_is_over(protocol: str) -> None:
    for path in (protocol, without_quick_path(protocol)):
        decoder = StreamDecoder(path)
        decoder.receive_data(text_stream(protocol, "a") + marker_of(protocol) + b"data: rest" + b"x" * 70_000)
        list(decoder.events())
        assert decoder._engine.held == 0
        assert decoder._engine.reads == []
        decoder.receive_data(b"more")
        assert decoder._engine.reads == []
        assert decoder._engine.first is None


def test_an_error_of_the_framing_at_the_end() -> None:
    for body in (b"data: 12345678", b'data: 1234\ndata: 567"', b"\r\ndata: 12345678"):
        decoder = StreamDecoder("openai-chat", limits=Limits(max_event_bytes=7))
        decoder.receive_data(body)
        decoder.receive_eof()
        with pytest.raises(tokwire.LimitExceeded) as caught:
            list(decoder.events())
        assert caught.value.offset == body.index(b"data")


def test_frames_behind_the_last_one_are_not_read() -> None:
    decoder = StreamDecoder("anthropic")
    decoder.receive_data((START + STOP + JUNK).replace(b"\n", b"\r\n"))
    assert list(decoder.events()) == [Finish(FinishReason.UNSPECIFIED)]
    assert list(decoder.events()) == []
    assert decoder.state is StreamState.DONE
