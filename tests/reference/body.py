"""The lines of one body, framed or not, and how it ends (P7, P9, P13)."""

from __future__ import annotations

from typing import Final

from .errors import api_error, is_error_payload, is_error_value
from .events import HEARTBEATS, EventEngine, is_done
from .jsontext import first_value, is_json, parse_payload
from .outcome import protocol_error, truncated
from .sse import FIELD_NAMES, split_field, split_lines
from .state import State
from .text import JSON_BLANKS

GZIP: Final = b"\x1f\x8b"


class Engine(EventEngine):
    """Goes through the lines of one body."""

    def __init__(self, protocol: str, state: State) -> None:
        super().__init__(protocol, state)
        self.lines: list[str] = []  # all of them; the last one has no line end
        self.position = 0
        self.collected: str | None = None  # JSON without `data:` in front of it, while it is not whole
        self.field_seen = False
        self.junk: str | None = None

    # ---- the body -------------------------------------------------------------------------------------------------

    def run(self, body: bytes, *, complete: bool, eof: bool) -> None:
        """All lines, then the end if there is one."""
        if body.startswith(GZIP):
            raise protocol_error("the body looks like gzip")
        finished, rest = split_lines(body)
        self.lines = [*finished, rest]
        for self.position, line in enumerate(finished):
            self.line(line)
            if self.over:
                return
        self.position = len(finished)
        was_stream = self.recognised
        is_framed = is_done(rest) or split_field(rest)[0] in FIELD_NAMES
        is_unframed = not is_framed and (self.collected is not None or self.may_open_json(rest) or self.is_page(rest))
        if is_unframed:
            self.unframed_rest(rest)
        if self.over or not eof:
            return
        if not complete and not self.end_reported():
            raise truncated("the transport says that the body was cut")
        is_whole = not was_stream if is_unframed else self.framed_rest(rest)
        if not self.over:
            self.dispatch(at_end=True)
        if not self.over:
            self.clean_end(is_whole=is_whole)

    def unframed_rest(self, rest: str) -> None:
        """P13: JSON is judged as soon as its last brace is there; `<` says at once that this is a page."""
        if self.collected is not None:
            self.collect(rest)
        else:
            self.junk_line(rest)

    def framed_rest(self, rest: str) -> bool:
        """The last line, which has no line end. False if it is no field, comment or marker."""
        if rest.strip(JSON_BLANKS) == "" or rest.startswith(":"):
            return True
        if is_done(rest) or split_field(rest)[0] in FIELD_NAMES:
            self.line(rest)
            return True
        self.junk = self.junk or rest
        return False

    def clean_end(self, *, is_whole: bool) -> None:
        """P7: after a reason or a marker the rest says nothing; otherwise it must be whole."""
        if not self.end_reported():
            if self.collected is not None:
                raise truncated("the body ends inside JSON")
            if self.junk is not None and not self.field_seen and not self.payloads_seen:
                raise protocol_error("the body looks like plain text")
            if not is_whole:
                raise truncated("the body ends inside a line")
        self.finish(marker=self.done_seen)

    # ---- lines ----------------------------------------------------------------------------------------------------

    def line(self, line: str) -> None:
        """One line."""
        name, value = split_field(line)
        if line == "":
            self.dispatch(at_end=False)
        elif line.startswith(":"):
            return
        elif name in FIELD_NAMES:
            self.collected = None
            self.field(name, value)
        elif is_done(line):
            self.dispatch(at_end=False)
            if not self.over:
                self.done()
        elif self.collected is not None:
            self.collect(line)
        elif line.strip(JSON_BLANKS):
            self.junk_line(line)

    def field(self, name: str, value: str) -> None:
        """P9: a field; P8: the field `error`."""
        self.field_seen = True
        if name == "data":
            self.data.append(value)
            if is_done(value) and all(is_done(line) or is_json(line) for line in self.data):
                self.dispatch(at_end=False)
        elif name == "event":
            self.name = value
        elif name == "error":
            self.error_field(value)

    def error_field(self, value: str) -> None:
        """P8: what was pending is delivered first; null, false and nothing are no error."""
        try:
            payload = parse_payload(value)
        except ValueError:
            payload = value
        if is_error_value(payload):
            self.dispatch(at_end=False)
            if not self.over:
                self.payloads_seen = True
                raise api_error(self.protocol, payload)

    # ---- what is not framed ---------------------------------------------------------------------------------------

    @staticmethod
    def may_open_json(line: str) -> bool:
        """Whether a line without a field name may be the start of JSON."""
        text = line.strip(JSON_BLANKS)
        return text.startswith("{") or (
            text.startswith("[") and text[1:].lstrip(JSON_BLANKS)[:1] in ("", "{", "[", "]", '"')
        )

    def is_page(self, line: str) -> bool:
        """P13: HTML or XML in place of a stream."""
        is_first = self.junk is None and not self.field_seen and not self.payloads_seen
        return is_first and line.lstrip(JSON_BLANKS).startswith("<")

    def junk_line(self, line: str) -> None:
        """P13: a line that is no field."""
        if self.is_page(line):
            raise protocol_error("the body looks like HTML or XML")
        if self.may_open_json(line):
            self.collected = ""
            self.collect(line)
        else:
            self.junk = self.junk or line

    def collect(self, line: str) -> None:
        """P13: JSON without framing, perhaps over many lines."""
        self.collected = (self.collected or "") + line + "\n"
        found = first_value(self.collected)
        if found is None:
            return
        self.collected = None
        value, tail = found
        after = "\n".join([tail, *self.lines[self.position + 1 :]]).lstrip(JSON_BLANKS)
        self.unframed(value, is_json_lines=after.startswith("{"))

    def unframed(self, value: object, *, is_json_lines: bool) -> None:
        """P13: before any payload it is the answer or an error; after one only an error in it counts."""
        if self.done_seen:
            return
        if not isinstance(value, dict):
            self.payloads_seen = True
            return
        is_body = not self.recognised
        is_answer = is_body and self.reader.is_answer(value)
        if is_error_value(value.get("error")) or (
            not self.end_reported() and is_error_payload(value, "", recognised=is_answer)
        ):
            self.dispatch(at_end=False)
            if is_answer:
                self.reader.read_answer(value, failing=True)
            raise api_error(self.protocol, value)
        if value.get("type") in HEARTBEATS or not is_body:
            return
        self.payloads_seen = True
        if is_answer:
            if is_json_lines:
                raise protocol_error("the body looks like JSON lines")
            self.recognised = True
            self.reader.read_answer(value, failing=False)
            self.finish(marker=True)
