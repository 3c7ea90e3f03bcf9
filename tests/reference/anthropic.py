"""Reading the events of the Anthropic Messages API (P5, P12)."""

from __future__ import annotations

from typing import Final

from .arguments import fragment_text
from .call import Call
from .outcome import protocol_error
from .state import State
from .text import call_id, fields, items, whole_number, word

WORDS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
KNOWN_TYPES: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "message",
        "error",
    }
)


class AnthropicReader:
    """Feeds one stream's events into a state. There is one choice, 0."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.blocks: dict[int, Call | None] = {}  # what was opened last on each index; None: no call of the caller
        self.texty: set[int] = set()  # indexes whose block holds no input of its own
        self.last_index: int | None = None
        self.started = False
        self.content_came = False

    # ---- what is it -----------------------------------------------------------------------------------------------

    @staticmethod
    def type_of(payload: dict[str, object], name: str) -> str | None:
        """P9, P13: the payload's own type, else the event name, of which `message` is only the default."""
        return word(payload.get("type")) or (None if name == "message" else word(name))

    def recognises(self, payload: dict[str, object], name: str) -> bool:
        """P13: a known type."""
        return self.type_of(payload, name) in KNOWN_TYPES

    def is_answer(self, payload: dict[str, object]) -> bool:
        """P13: whether a JSON body is a whole answer."""
        return payload.get("type") == "message"

    def is_readable(self, payload: dict[str, object]) -> bool:
        """Nothing without a known type is read."""
        return False

    # ---- reading --------------------------------------------------------------------------------------------------

    def read(self, payload: dict[str, object], name: str, *, failing: bool) -> bool:
        """One event; True if it is the terminal marker."""
        kind = self.type_of(payload, name)
        if kind == "message_start":
            self._message_start(fields(payload.get("message")))
        elif kind == "content_block_start":
            self._block_start(whole_number(payload.get("index")), fields(payload.get("content_block")))
        elif kind == "content_block_delta":
            self._block_delta(whole_number(payload.get("index")), fields(payload.get("delta")))
        elif kind == "message_delta":
            self._usage(payload.get("usage"))
            if not failing:
                self.state.report_reason(fields(payload.get("delta")).get("stop_reason"), 0)
        elif kind == "message":
            self.read_answer(payload, failing=failing)
        return kind == "message_stop"

    def read_answer(self, payload: dict[str, object], *, failing: bool) -> None:
        """A whole message."""
        self.state.identify(payload.get("id"), payload.get("model"))
        self._usage(payload.get("usage"))
        for index, block in enumerate(items(payload.get("content"))):
            self._block_start(index, fields(block))
        if not failing:
            self.state.report_reason(payload.get("stop_reason"), 0)

    def _usage(self, usage: object) -> None:
        numbers = fields(usage)
        if not numbers:
            return
        self.state.merge_usage(
            {
                "input_tokens": numbers.get("input_tokens"),
                "output_tokens": numbers.get("output_tokens"),
                "cached_tokens": numbers.get("cache_read_input_tokens"),
                "cache_write_tokens": numbers.get("cache_creation_input_tokens"),
                "reasoning_tokens": fields(numbers.get("output_tokens_details")).get("thinking_tokens"),
            }
        )

    def _message_start(self, message: dict[str, object]) -> None:
        """P12: a second start replaces what the first said, but never after a block."""
        state = self.state
        if self.started:
            if self.content_came:
                raise protocol_error("a second message_start after content: two answers were spliced")
            if word(message.get("id")):
                state.response_id = None
            if word(message.get("model")):
                state.model = None
            state.usage = None
        self.started = True
        state.identify(message.get("id"), message.get("model"))
        self._usage(message.get("usage"))

    def _block_start(self, index: int | None, block: dict[str, object]) -> None:
        """P12: content that already stands in the start is used; only `tool_use` is a call for the caller."""
        state = self.state
        self.content_came = True
        if index is None:
            index = max(self.blocks, default=-1) + 1
        self.last_index = index
        kind = block.get("type")
        call = self._tool_start(index, block) if kind == "tool_use" else None
        if call is None:
            state.choice(0).last_content = state.tick()
        self.blocks[index] = call
        self.texty.discard(index)
        if kind in ("text", "thinking"):
            self.texty.add(index)
            state.emit("text" if kind == "text" else "reasoning", block.get(str(kind)), 0)

    def _tool_start(self, index: int, block: dict[str, object]) -> Call:
        """P1: a second start on a used index with another id opens a new call; otherwise it is the same call."""
        state = self.state
        choice = state.choice(0)
        new_id = call_id(block.get("id"))
        call = self.blocks.get(index)
        if call is None or call not in choice.calls.open or (new_id and call.id and new_id != call.id):
            call = choice.calls.start(index, state.tick())
        call.merge(new_id, block.get("name"))
        start_input = fragment_text(block.get("input"))
        if start_input and start_input != "{}":
            call.start_input = start_input
        return call

    def _block_delta(self, index: int | None, delta: dict[str, object]) -> None:
        """P12: a delta is routed by its own tag; a missing index means the block opened last."""
        state = self.state
        self.content_came = True
        kind = delta.get("type")
        if kind == "text_delta":
            state.emit("text", delta.get("text"), 0)
        elif kind == "thinking_delta":
            state.emit("reasoning", delta.get("thinking"), 0)
        elif kind == "input_json_delta":
            self._input_delta(self.last_index if index is None else index, delta.get("partial_json"))

    def _input_delta(self, index: int | None, partial: object) -> None:
        """P1: argument fragments for a block that never opened as a tool call are dropped, and recorded."""
        text = fragment_text(partial)
        call = None if index is None else self.blocks.get(index)
        if call is not None and call in self.state.choice(0).calls.open:
            call.append(self.state.tick(), partial)
        elif text and (index not in self.blocks or index in self.texty or call is not None):
            self.state.drop(Call(index, 0, fragments=[(0, text)]))
