"""What is known about the stream so far, and the events that came out of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .call import Call, Delivered
from .drain import IdMaker, mark_repeated_ids, parse_calls
from .outcome import Dropped, StreamFailureError
from .text import ascii_lower, encodable, is_high_surrogate, word
from .tracker import CallTracker

USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
KINDS = ("reasoning", "text", "refusal")


@dataclass
class Choice:
    """One choice of the answer (P15)."""

    number: int
    calls: CallTracker = field(default_factory=CallTracker)
    halves: dict[str, str] = field(default_factory=dict)
    text_came: bool = False
    last_content: int = -1
    raw_reason: str | None = None


class State:
    """Collects events; the protocol readers call its methods in the order of the wire."""

    def __init__(
        self, words: dict[str, str], *, include_reasoning: bool, include_usage: bool, synthesize_tool_ids: bool
    ) -> None:
        self.words = words
        self.include_reasoning = include_reasoning
        self.include_usage = include_usage
        self.synthesize_tool_ids = synthesize_tool_ids
        self.events: list[list[object]] = []
        self.choices: dict[int, Choice] = {}
        self.dropped: list[Dropped] = []
        self.response_id: str | None = None
        self.model: str | None = None
        self.end_marker = False
        self.raw_reason: str | None = None
        self.usage: dict[str, int | None] | None = None
        self.media: Counter[str] = Counter()
        self.ids = IdMaker()
        self.bad_call = False
        self._clock = 0

    def tick(self) -> int:
        """The next moment: everything that arrives gets its own."""
        self._clock += 1
        return self._clock

    def choice(self, number: int) -> Choice:
        """The choice with this number, made when first seen."""
        return self.choices.setdefault(number, Choice(number))

    # ---- facts ----------------------------------------------------------------------------------------------------

    def identify(self, response_id: object, model: object) -> None:
        """The first id and model that are not empty."""
        new_id, new_model = word(response_id), word(model)
        if self.response_id is None and new_id is not None:
            self.response_id = encodable(new_id)
        if self.model is None and new_model is not None:
            self.model = encodable(new_model)

    def merge_usage(self, numbers: dict[str, object]) -> None:
        """P17: the last value that is not null wins, field by field."""
        if self.usage is None:
            self.usage = dict.fromkeys(USAGE_FIELDS)
        for name, number in numbers.items():
            if isinstance(number, int) and not isinstance(number, bool):
                self.usage[name] = number

    # ---- content --------------------------------------------------------------------------------------------------

    def emit(self, kind: str, text: object, number: int) -> None:
        """I2: a fragment of text, reasoning or refusal goes out as it lands; half a surrogate pair waits (P9)."""
        if not isinstance(text, str) or not text:
            return
        choice = self.choice(number)
        choice.last_content = self.tick()
        choice.text_came = choice.text_came or kind == "text"
        if kind == "reasoning" and not self.include_reasoning:
            return
        text = choice.halves.pop(kind, "") + text
        if is_high_surrogate(text[-1]):
            choice.halves[kind] = text[-1]
            text = text[:-1]
        if text:
            self.events.append([kind, encodable(text), number])

    def release_halves(self, choice: Choice) -> None:
        """P9: no other half came."""
        for kind in KINDS:
            half = choice.halves.pop(kind, None)
            if half is not None:
                self.events.append([kind, encodable(half), choice.number])

    # ---- reasons and drains ---------------------------------------------------------------------------------------

    def reason_of(self, raw: str | None) -> str | None:
        """P5: the plain name of a reported word; None if there is no such name or no word."""
        return None if raw is None else self.words.get(ascii_lower(raw))

    def report_reason(self, raw: object, number: int) -> None:
        """I4, I5: the first reason wins, and each one drains its choice."""
        if not isinstance(raw, str) or not raw:
            return
        raw = encodable(raw)
        choice = self.choice(number)
        choice.raw_reason = choice.raw_reason or raw
        self.raw_reason = self.raw_reason or raw
        self.drain(choice)

    def drain(self, choice: Choice) -> None:
        """Deliver the open calls of one choice."""
        self.release_halves(choice)
        raw_reason = choice.raw_reason or self.raw_reason
        reason = None if raw_reason is None else self.reason_of(raw_reason) or "other"
        candidates = []
        for candidate in parse_calls(choice.calls.take_all(), reason, choice.last_content):
            call = candidate.call
            if call.name is None or (call.id is None and not self.synthesize_tool_ids):
                self.drop(call)
            else:
                candidates.append(candidate)
        mark_repeated_ids(candidates, choice.calls.history)
        used = self.used_ids() | {candidate.call.id for candidate in candidates if candidate.call.id is not None}
        for candidate in candidates:
            call = candidate.call
            if candidate.is_echo:
                self.drop(call)
                continue
            name = encodable(call.name or "")
            wire_id = None if call.id is None else encodable(call.id)
            final_id = wire_id
            if final_id is None or candidate.needs_id:
                final_id = self.ids.make(self.response_id, call, used)
            used.add(final_id)
            choice.calls.history.append(Delivered(wire_id, final_id, name, candidate.arguments))
            if candidate.arguments.valid:
                self.events.append(["tool", final_id, name, candidate.arguments.value, choice.number])
            else:
                self.bad_call = True

    def used_ids(self) -> set[str]:
        """Every id given to a call so far, in any choice."""
        used = {old.final_id for choice in self.choices.values() for old in choice.calls.history}
        return used | {call.id for choice in self.choices.values() for call in choice.calls.open if call.id is not None}

    def drop(self, call: Call) -> None:
        """P3: never in silence."""
        if not call.is_nothing:
            texts = [None if text is None else encodable(text) for text in (call.id, call.name)]
            self.dropped.append((call.index, texts[0], texts[1], call.raw))

    # ---- the end --------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """I1: drain what is left, then usage, then one Finish or the error in its place (P4)."""
        for number in sorted(self.choices):
            self.drain(self.choices[number])
        if self.include_usage and self.usage is not None:
            self.events.append(["usage", self.usage, 0])
        if self.bad_call:
            category = "invalid_tool_arguments"
            raise StreamFailureError(category, "arguments of a tool call are not valid")
        if self.raw_reason is None:
            self.events.append(["finish", "unspecified", 0])
            return
        reason = self.reason_of(self.raw_reason)
        self.events.append(["finish", "other", self.raw_reason, 0] if reason is None else ["finish", reason, 0])
