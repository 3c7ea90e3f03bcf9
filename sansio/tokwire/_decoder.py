"""`StreamDecoder`: the bytes of one response in, `StreamEvent` objects out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict, Unpack

from ._arguments import Repair
from ._engine import NOTHING, Engine
from ._errors import TokwireError
from ._events import StreamEvent
from ._limits import Limits
from ._options import DecodeOptions
from ._state import DecodeState
from ._summary import StreamSummary
from ._transitions import DONE, FINISHED, NEED_DATA, RECEIVING, STATES, Need, StreamState, checked_bytes
from .protocols import ApiProtocol, find_protocol

__all__ = ["DecoderOptions", "StreamDecoder", "decode"]

DEFAULT_LIMITS = Limits()


class DecoderOptions(TypedDict, total=False):
    """The options of `StreamDecoder`, for functions that pass them on."""

    include_reasoning: bool
    include_usage: bool
    include_tool_deltas: bool
    include_raw: bool
    keep_thinking: bool
    synthesize_tool_ids: bool
    repair_arguments: Repair | None
    limits: Limits


class StreamDecoder:
    """Decodes the body of one streaming response. Opens no connection, reads no clock, never waits.

    Feed it with `receive_data`, take what is ready from `events`, and announce the end of the body with
    `receive_eof`. A stream that does not fail ends with exactly one `Finish`, which is its last event.

    Args:
        protocol: The API that the server speaks, as an `ApiProtocol` or by name, in any ASCII case.
        include_reasoning: Give `Reasoning` events; otherwise reasoning is dropped on arrival.
        include_usage: Give one `Usage` event directly before the end. The summary has the counts in any case.
        include_tool_deltas: Give `ToolCallDelta` events while tool calls are assembled.
        include_raw: Give each payload as it came, as `RawPayload`, before the events that it gives.
        keep_thinking: Keep whole thinking blocks in the summary, for sending them back.
        synthesize_tool_ids: Give named tool calls without an id a made one instead of dropping them.
        repair_arguments: Called with the text of arguments that are not JSON; an object that it returns is used.
            Whatever it raises means that it could not repair.
        limits: How much of anything the peer may send.

    Raises:
        ValueError: No protocol has that name.
        TypeError: `protocol` is neither a name nor a protocol.
    """

    __slots__ = ("__weakref__", "_engine")

    def __init__(
        self,
        protocol: ApiProtocol | str,
        *,
        include_reasoning: bool = False,
        include_usage: bool = False,
        include_tool_deltas: bool = False,
        include_raw: bool = False,
        keep_thinking: bool = False,
        synthesize_tool_ids: bool = False,
        repair_arguments: Repair | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        protocol = find_protocol(protocol)
        options = DecodeOptions(
            include_reasoning=include_reasoning,
            include_usage=include_usage,
            include_tool_deltas=include_tool_deltas,
            include_raw=include_raw,
            keep_thinking=keep_thinking,
            synthesize_tool_ids=synthesize_tool_ids or protocol.makes_ids,
            repair_arguments=repair_arguments,
            limits=limits,
        )
        state = DecodeState(options, protocol.finish_words, last_reason_wins=protocol.last_reason_wins)
        self._engine = Engine(protocol, state)

    @property
    def protocol(self) -> ApiProtocol:
        """The protocol that is decoded."""
        return self._engine.protocol

    @property
    def limits(self) -> Limits:
        """How much of anything the peer may send."""
        return self._engine.state.limits

    @property
    def state(self) -> StreamState:
        """OPEN, DONE once `Finish` was handed out, or FAILED once an error was raised."""
        phase = self._engine.phase
        return StreamState.OPEN if phase is RECEIVING else STATES[phase]

    @property
    def summary(self) -> StreamSummary:
        """What is known of the stream beside its events, as of now."""
        return self._engine.state.summary()

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        """Store one read of the body; then take what is ready from `events`. Never raises for what the peer sent.

        Reads may be cut anywhere. Empty data does nothing. Once the stream is over, data is ignored: servers do send
        events behind their end marker.

        Raises:
            LocalProtocolError: `receive_eof` was called before.
            TypeError: `data` is not bytes-like.
        """
        engine = self._engine
        if type(data) is not bytes:
            data = checked_bytes(data)
        if engine.ready:
            engine.receive(data)
        elif engine.is_unfinished and engine.tail and data and 10 not in data and 13 not in data:
            engine.extend_tail(data)
        else:
            engine.first = data
            engine.ready = True

    def receive_eof(self, *, complete: bool = True) -> None:
        """Announce the end of the body; then take the rest from `events`. Calling it again changes nothing.

        Args:
            complete: False when the transport knows that the body was cut, by a reset or a missing terminator. Unless
                the server reported its end before, the stream then ends with `StreamTruncated`.
        """
        self._engine.announce_end(complete=complete)

    def next_event(self) -> StreamEvent | Need:
        """One event, `NEED_DATA` where more bytes are needed, or `FINISHED` once `Finish` was handed out.

        Raises:
            RemoteProtocolError: The peer broke the protocol, a limit, or was cut. Raised again by every later call.
            APIError: The server reported an error.
        """
        for event in self.events():
            return event
        return FINISHED if self._engine.phase is DONE else NEED_DATA

    def events(self) -> Iterator[StreamEvent]:
        """Everything that is ready, in order; an error comes after the events before it.

        It may be dropped at any point without losing anything, and `receive_data` may be called inside its loop.

        Raises:
            RemoteProtocolError: The peer broke the protocol, a limit, or was cut. Raised again by every later call.
            APIError: The server reported an error.
        """
        engine = self._engine
        if engine.ready:
            generate = engine.generate
            return generate(engine)
        return NOTHING

    def __repr__(self) -> str:
        return f"<StreamDecoder {self.protocol.name} {self.state.name}>"


def decode(
    data: bytes | bytearray | memoryview, protocol: ApiProtocol | str, **options: Unpack[DecoderOptions]
) -> list[StreamEvent]:
    """Decode a whole recorded body.

    Args:
        data: The body.
        protocol: The API that the server spoke.
        **options: Those of `StreamDecoder`.

    Returns:
        The events, the last of which is `Finish`.

    Raises:
        TokwireError: The stream failed; its `events` holds what was decoded before.
        ValueError: No protocol has that name.
    """
    decoder = StreamDecoder(protocol, **options)
    decoder.receive_data(data)
    decoder.receive_eof()
    events: list[StreamEvent] = []
    try:
        events.extend(decoder.events())
    except TokwireError as error:
        error.events = tuple(events)
        raise
    return events
