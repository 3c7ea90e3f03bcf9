"""What the public decoders of a framing share: their states, their one error, and the announced end of the body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from .._errors import TokwireError
from .._transitions import FINISHED, NEED_DATA, STATES, Input, Need, Phase, StreamState, checked_bytes, move

__all__: list[str] = []

FrameT = TypeVar("FrameT")


class FramingDecoder(ABC, Generic[FrameT]):
    """Bytes in, frames of one kind out."""

    def __init__(self) -> None:
        self._phase = Phase.RECEIVING
        self._complete = True
        self._error: TokwireError | None = None

    @property
    def state(self) -> StreamState:
        """OPEN, DONE after the last frame was handed out and the end was announced, or FAILED after an error."""
        return STATES[self._phase]

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Store one read; then take what is ready. Never raises for what the peer sent.

        Raises:
            LocalProtocolError: `receive_eof` was called before.
            TypeError: `data` is not bytes-like.
        """
        data = checked_bytes(data)
        self._phase = move(self._phase, Input.DATA)
        if self._phase is Phase.RECEIVING and data:
            self._store(data)

    def receive_eof(self, *, complete: bool = True) -> None:
        """Announce the end of the body; then take the rest. The first call's flag stands.

        Args:
            complete: False when the transport knows that the body was cut; then the end is `StreamTruncated`.
        """
        if self._phase is Phase.RECEIVING:
            self._complete = complete
        self._phase = move(self._phase, Input.EOF)

    @abstractmethod
    def _store(self, data: bytes) -> None:
        """Keep a read that is not empty."""

    @abstractmethod
    def _next(self) -> FrameT | None:
        """The next frame, or None where there is none now. Behind the last one it moves to the phase DONE."""

    def _frames(self) -> Iterator[FrameT]:
        while True:
            if self._error is not None:
                raise self._error.with_traceback(None)
            try:
                frame = self._next()
            except TokwireError as error:
                self._error = error
                self._phase = move(self._phase, Input.ERROR)
                raise
            if frame is None:
                return
            yield frame

    def _next_frame(self) -> FrameT | Need:
        frame = next(self._frames(), None)
        if frame is not None:
            return frame
        return FINISHED if self._phase is Phase.DONE else NEED_DATA
