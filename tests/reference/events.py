"""Events and payloads of one stream, and its end (P6, P8, P9)."""

from __future__ import annotations

from typing import Final

from .anthropic import AnthropicReader
from .errors import api_error, is_error_payload
from .jsontext import is_json, parse_payload
from .openai_chat import OpenAIChatReader
from .outcome import protocol_error, truncated
from .state import State
from .text import JSON_BLANKS, word

DONE: Final = "[DONE]"
HEARTBEATS: Final = ("ping", "keepalive")


def is_done(text: str) -> bool:
    """P9: the marker, with blanks around it or without."""
    return text.strip(JSON_BLANKS) == DONE


def is_heartbeat_data(text: str) -> bool:
    """P9: empty data, or a comment that was wrapped as data."""
    return text.strip(JSON_BLANKS) == "" or text.lstrip(JSON_BLANKS).startswith(":")


class EventEngine:
    """Turns collected events into calls of a reader. `over` is set once the stream has ended with Finish."""

    def __init__(self, protocol: str, state: State) -> None:
        self.protocol = protocol
        self.state = state
        self.reader = OpenAIChatReader(state) if protocol == "openai-chat" else AnthropicReader(state)
        self.over = False
        self.name = ""
        self.data: list[str] = []
        self.recognised = False
        self.payloads_seen = False
        self.done_seen = False

    def end_reported(self) -> bool:
        """P7: whether a reason or a marker was seen."""
        return self.done_seen or self.state.raw_reason is not None

    # ---- events ---------------------------------------------------------------------------------------------------

    def dispatch(self, *, at_end: bool) -> None:
        """P9: the event that was collected."""
        name, lines = self.name, self.data
        self.name, self.data = "", []
        text = "\n".join(lines)
        if is_heartbeat_data(text) and (len(lines) < 2 or all(is_heartbeat_data(line) for line in lines)):
            if name == "error":
                raise api_error(self.protocol, None)
            return
        payloads = self.split(lines)
        if payloads is None:
            self.not_json(name, text, at_end=at_end)
            return
        for payload in payloads:
            if is_done(payload) and name != "error":
                self.done()
            elif is_done(payload):
                raise api_error(self.protocol, payload)
            else:
                self.payload(parse_payload(payload), name)
            if self.over:
                return

    @staticmethod
    def split(lines: list[str]) -> list[str] | None:
        """P9: the payloads of one event; None if it does not decode."""
        text = "\n".join(lines)
        if is_done(text) or is_json(text):
            return [text]
        parts = [line for line in lines if not is_heartbeat_data(line)]
        if len(lines) > 1 and all(is_done(part) or is_json(part) for part in parts):
            return parts
        return None

    def not_json(self, name: str, text: str, *, at_end: bool) -> None:
        """P8: an error event in any shape; P7: a cut event at the end; P9: otherwise the peer broke the protocol."""
        if name == "error":
            raise api_error(self.protocol, text)
        if not at_end:
            raise protocol_error("data that is not JSON")
        if not self.end_reported():
            raise truncated("the body ends inside an event")

    def payload(self, value: object, name: str) -> None:
        """One JSON payload: content first, then the error in it (P8), then the end if it is the marker."""
        if not isinstance(value, dict):
            self.payloads_seen = True
            if name == "error":
                raise api_error(self.protocol, value)
            return
        recognised = self.reader.recognises(value, name)
        failing = is_error_payload(value, name, recognised=recognised)
        kind = word(value.get("type"))
        is_beat = kind in HEARTBEATS or (kind is None and name in HEARTBEATS and not recognised)
        if is_beat and not failing:
            return
        self.payloads_seen = True
        self.recognised = self.recognised or recognised
        is_marker = False
        if recognised or self.reader.is_readable(value):
            is_marker = self.reader.read(value, name, failing=failing)
        if failing:
            raise api_error(self.protocol, value)
        if is_marker:
            self.finish(marker=True)

    # ---- the end --------------------------------------------------------------------------------------------------

    def done(self) -> None:
        """P6: `[DONE]` ends openai-chat alone; elsewhere it was seen, and counts at the end of the body."""
        self.done_seen = self.state.end_marker = True
        if self.protocol == "openai-chat":
            self.finish(marker=True)

    def finish(self, *, marker: bool) -> None:
        """P13: a stream of which nothing was recognised is no success; otherwise I1."""
        self.state.end_marker = marker
        if self.payloads_seen and not self.recognised:
            raise protocol_error("not one payload belongs to this protocol")
        self.state.finish()
        self.over = True
