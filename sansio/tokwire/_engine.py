"""The engine of a decoder: where the stream stands, and what comes out next."""

from __future__ import annotations

from collections.abc import Iterator

from ._events import Finish, StreamEvent
from ._frame_reader import FrameReader
from ._intake import Intake
from ._state import DecodeState
from ._transitions import DONE, EVENT, LAST_EVENT, RECEIVING, Input, move
from .framing._frames import Frame, FrameKind
from .protocols._protocol import ApiProtocol

__all__: list[str] = []

NOTHING: Iterator[StreamEvent] = iter(())


class Engine(FrameReader):
    """Hands out the events of one stream, in order, and its error behind them.

    Attributes:
        generate: The generator behind `StreamDecoder.events`.
        phase: Where the stream stands.
    """

    __slots__ = ("_handing_out", "generate", "phase")

    def __init__(self, protocol: ApiProtocol, state: DecodeState) -> None:
        super().__init__(protocol, state)
        self.generate = protocol.events or plain_events
        self.phase = RECEIVING
        self._handing_out: Iterator[StreamEvent] = NOTHING

    def slow_events(self) -> Iterator[StreamEvent]:
        """The events of everything that the exact machine found; then its error, if the stream ends with one."""
        while True:
            event = next(self._handing_out, None)
            if event is not None:
                self.phase = move(self.phase, LAST_EVENT if type(event) is Finish else EVENT)
                if self.phase is DONE:
                    self.attention = False
                    self._close()
                yield event
                continue
            if self.state.out:
                self._handing_out, self.state.out = iter(self.state.out), []
                continue
            if self.failure is not None:
                self.phase = move(self.phase, Input.ERROR)
                self.attention = True
                self._close()
                raise self.failure.with_traceback(None)
            if not self._next_frame():
                return

    def finish(self) -> None:
        """Deal with the announced end of the body: what is left of it comes first, then the end of the stream."""
        complete, self.complete = bool(self.complete), None
        if self.tail:
            self.exact(b"")
        frames = list(self.frames or ())
        if self.framing.error is None:
            frames += self.framing.finish(complete=complete)
        if self.framing.error is None:
            frames.append(Frame(FrameKind.END, b"" if complete else b"cut", self.position))
        self.frames = iter(frames)
        self.attention = True
        self.is_clean = False

    def receive(self, data: bytes) -> None:
        """Take a read while others wait, or when the body is over.

        Raises:
            LocalProtocolError: The end of the body was announced before.
        """
        self.phase = move(self.phase, Input.DATA)
        if self.phase is RECEIVING and data:
            self._put_back_first()
            self.queue.append(data)

    def announce_end(self, *, complete: bool) -> None:
        """Note that the body is over; what is left of it is decoded when it is asked for."""
        if self.phase is RECEIVING:
            self._put_back_first()
            self.complete = complete
            self.ready = self.is_over = True
        self.phase = move(self.phase, Input.EOF)

    def _put_back_first(self) -> None:
        """Put the read that waits alone with the others, before one of them comes."""
        if self.first is not None:
            self.reads.append(self.first)
            self.first = None

    def _close(self) -> None:
        """The stream is over: take no more data, and keep only what the summary tells."""
        self.ready = self.is_over = True
        self.drop_all()
        self.state.release()

    def _next_frame(self) -> bool:
        frame = None if self.frames is None else next(self.frames, None)
        if frame is None:
            self.frames = None
            if self._framing is not None and self._framing.error is not None:
                self.failure = self._framing.error
                return True
            self.attention = False
            return False
        self.read_frame(frame)
        return True


def plain_events(intake: Intake) -> Iterator[StreamEvent]:
    """The generator behind `events` of a protocol that has no quicker one: everything takes the exact way."""
    while True:
        if intake.attention:
            yield from intake.slow_events()
        data = intake.next_read()
        if data is None:
            return
        if data:
            intake.exact(data)
