"""What frames mean, by the rules that hold for every protocol.

Errors in every shape, end marks, heartbeats, junk, the end of the body, bodies that are no stream: all of it is
settled here, so that a protocol module only says what its payloads mean.
"""

from __future__ import annotations

from typing import Any

from ._detect import name_of_payload
from ._errors import APIError, LimitExceeded, RemoteProtocolError, StreamTruncated, TokwireError
from ._events import RawPayload
from ._intake import Intake
from ._json import JSONError, NestingError, is_json, parse_payload
from ._server_errors import api_error, has_error, is_blank
from ._state import DecodeState
from .framing._frames import PAYLOAD, Frame, FrameKind
from .protocols._protocol import RECOGNISED, UNKNOWN, ApiProtocol, OnPayload, is_heartbeat

__all__: list[str] = []

END_MARK = b"[DONE]"
BLANKS = b" \t\r\n"


class FrameReader(Intake):
    """Reads frames into the state of the stream.

    Attributes:
        protocol: The protocol that reads the payloads.
        failure: The error with which the stream ends, behind the events that are out.
        request_id: The server's id of the request, where the head of the response told it, for errors that do not.
    """

    __slots__ = ("_recognised", "_unknown", "_unknown_name", "failure", "protocol", "request_id")

    def __init__(self, protocol: ApiProtocol, state: DecodeState) -> None:
        super().__init__(protocol.framing, state)
        self.protocol = protocol
        self.failure: TokwireError | None = None
        self.request_id: str | None = None
        self._recognised = False
        self._unknown: Frame | None = None
        self._unknown_name: str | None = None

    def read_frame(self, frame: Frame) -> None:
        """Read one frame: its events go to the state, an error that ends the stream to `failure`."""
        try:
            self._accept(frame)
        except LimitExceeded as error:
            self.failure = LimitExceeded(error.limit, error.value, offset=frame.offset)
        except APIError as error:
            error.request_id = error.request_id or self.request_id
            self.failure = error
        except TokwireError as error:
            self.failure = error
        except RecursionError:
            self.failure = refusal("a payload is nested too deeply for the stack of this program", frame)
        except ValueError as error:
            self.failure = refusal(str(error), frame)
        if self.failure is not None:
            self.state.flush_halves()

    def _accept(self, frame: Frame) -> None:
        if frame.kind is PAYLOAD:
            self._payload(frame)
            return
        match frame.kind:
            case FrameKind.PENDING | FrameKind.PENDING_CUT | FrameKind.UNFINISHED:
                self._pending(frame)
            case FrameKind.END_MARK:
                self._end_mark()
            case FrameKind.CLOSED:
                self.state.end_marker = True
                self._end_stream()
            case FrameKind.ERROR:
                self._error_field(frame)
            case FrameKind.LOOSE_JSON:
                self._loose_json(frame)
            case FrameKind.BODY:
                self._body(frame)
            case FrameKind.FOREIGN:
                raise self._foreign(frame)
            case FrameKind.CUT:
                self._cut_off(frame)
            case FrameKind.END:
                self._end_of_body(frame)

    def _payload(self, frame: Frame, *, is_pending: bool = False) -> None:
        text = frame.data.strip(BLANKS)
        is_comment = text[:1] == b":" and not frame.parts
        if frame.name != "error" and (not text or text == END_MARK or is_comment):
            if text == END_MARK:
                self._end_mark()
            else:
                self._show_raw(frame)
            return
        try:
            value = self._parse(frame)
        except JSONError as error:
            self._not_json(frame, error, is_pending=is_pending)
        else:
            self._show_raw(frame)
            self._read(value, frame, self.protocol.on_payload)

    def _not_json(self, frame: Frame, error: JSONError, *, is_pending: bool) -> None:
        parts = [part for part in frame.parts if part.strip(BLANKS)]
        if len(parts) > 1 and all(_is_payload(part) for part in parts[:-1]):
            last_is_whole = _is_payload(parts[-1])
            if last_is_whole or is_pending:
                whole = [Frame(PAYLOAD, part, frame.offset, frame.name) for part in parts[:-1]]
                kind = PAYLOAD if last_is_whole else FrameKind.CUT
                whole.append(Frame(kind, parts[-1], frame.offset, frame.name))
                self.frames = iter([*whole, *(self.frames or ())])
                return
        if frame.name == "error":
            self._show_raw(frame)
            raise api_error(frame.data.decode("utf-8", "replace") or None, self.protocol.error_statuses)
        if is_pending:
            self._cut_off(frame)
            return
        raise refusal(f"a payload that is not JSON ({error})", frame)

    def _pending(self, frame: Frame) -> None:
        """What the body ended in: used where it is whole, else a sign of truncation, unless the end was reported."""
        last_line = frame.parts[-1] if frame.parts else frame.data
        is_mark = last_line.strip(BLANKS) == END_MARK
        if frame.kind is FrameKind.UNFINISHED and (is_mark or not self._end_was_reported):
            return
        if frame.kind is FrameKind.PENDING_CUT and not is_mark and not self._end_was_reported:
            return
        try:
            self._payload(frame, is_pending=True)
        except APIError:
            if not self.state.end_marker:
                raise

    def _read(self, value: Any, frame: Frame, read: OnPayload) -> None:
        state, protocol = self.state, self.protocol
        is_object = isinstance(value, dict)
        payload = value if is_object else {}
        is_recognised = is_object and protocol.recognises(payload, frame.name)
        is_error = has_error(value, frame.name, is_recognised=is_recognised)
        if not is_recognised and not is_error and is_heartbeat(payload, frame.name):
            return
        state.is_failing = is_error
        verdict = read(state, payload, frame.name) if is_object else UNKNOWN
        if is_error:
            raise api_error(value, protocol.error_statuses)
        if verdict is RECOGNISED:
            self._recognised = True
        elif verdict is UNKNOWN:
            self._note_unknown(frame, value)
        if state.is_ended:
            self._end_stream()

    def _note_unknown(self, frame: Frame, value: Any) -> None:
        """Keep the first payload that nobody knows here, or rather the first that another protocol would know."""
        if self._recognised or self._unknown_name is not None:
            return
        self._unknown_name = name_of_payload(value, frame.name)
        if self._unknown is None or self._unknown_name is not None:
            self._unknown = frame

    def _error_field(self, frame: Frame) -> None:
        value: Any
        try:
            value = self._parse(frame)
        except JSONError:
            value = frame.data.decode("utf-8", "replace")
        if not is_blank(value):
            raise api_error(value, self.protocol.error_statuses, name=frame.name)

    def _loose_json(self, frame: Frame) -> None:
        if self.state.end_marker:
            return
        try:
            value = self._parse(frame)
        except JSONError:
            return
        self._raise_error_in(value)
        self._note_unknown(frame, value)

    def _body(self, frame: Frame) -> None:
        try:
            value = self._parse(frame)
        except JSONError as error:
            raise refusal(f"the body is neither a stream nor JSON ({error})", frame) from None
        self._show_raw(frame)
        if isinstance(value, list):
            self._raise_error_in(value)
        was_recognised = self._recognised
        self._read(value, frame, self.protocol.on_body or self.protocol.on_payload)
        if self._recognised and not was_recognised and not self.state.is_ended:
            self.state.end()
            self._end_stream()

    def _raise_error_in(self, value: Any) -> None:
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, dict) and has_error(member, None, is_recognised=True):
                raise api_error(member, self.protocol.error_statuses)

    def _foreign(self, frame: Frame) -> RemoteProtocolError:
        looks = frame.name
        known = name_of_payload(_json_or_text(frame.data), None)
        if known is not None:
            looks = f"{looks} of {known}"
        return refusal(
            f"the body is {looks}, not a stream of {self.protocol.name}; look at the status and the content type, and "
            "give the decoder the body without its content coding",
            frame,
        )

    def _cut_off(self, frame: Frame) -> None:
        if not self._end_was_reported:
            raise StreamTruncated("the body ends in the middle of an event", offset=frame.offset, excerpt=frame.data)

    @property
    def _end_was_reported(self) -> bool:
        return self.state.reason is not None or self.state.end_marker

    def _end_mark(self) -> None:
        self.state.end_marker = True
        if self.protocol.done_ends:
            self._end_stream()

    def _end_of_body(self, frame: Frame) -> None:
        if frame.data and not self._end_was_reported:
            raise StreamTruncated(
                "the connection was cut before the server reported an end; the events so far are only a prefix",
                offset=frame.offset,
            )
        self._end_stream()

    def _end_stream(self) -> None:
        self.state.is_ended = True
        if not self._recognised and self._unknown is not None:
            known = self._unknown_name
            looks = f"this one looks like {known}: use that protocol" if known else "the first one is unknown"
            raise refusal(f"no payload of this stream is one of {self.protocol.name}; {looks}", self._unknown)
        self.protocol.on_eof(self.state)
        self.failure = self.state.finalize()

    def _parse(self, frame: Frame) -> Any:
        limit = self.state.limits.max_json_depth
        try:
            return parse_payload(frame.data, limit)
        except NestingError as error:
            if limit is None:
                raise ValueError(f"a payload is {error}") from None
            raise LimitExceeded("max_json_depth", limit, offset=frame.offset) from None

    def _show_raw(self, frame: Frame) -> None:
        if self.state.options.include_raw:
            self.state.out.append(RawPayload(frame.name, frame.data))


def refusal(message: str, frame: Frame) -> RemoteProtocolError:
    """The error for a frame that breaks the protocol."""
    return RemoteProtocolError(message, offset=frame.offset, excerpt=frame.data)


def _json_or_text(data: bytes) -> Any:
    try:
        return parse_payload(data, None)
    except JSONError:
        return data.decode("utf-8", "replace")


def _is_payload(part: bytes) -> bool:
    text = part.strip(BLANKS)
    return text == END_MARK or text[:1] == b":" or is_json(part)
