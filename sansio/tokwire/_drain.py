"""Draining: which of the held tool calls are delivered, under which ids, and in what order.

Nothing disappears in silence: a call that is not delivered is recorded as dropped, one that cannot run as invalid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from ._arguments import Repair, is_bare, read_fragments
from ._blocks import ToolUseBlock
from ._budget import CallBudget
from ._calls import PartialToolCall
from ._errors import InvalidToolCall
from ._finish import FinishReason
from ._json import JSONError, canonical
from ._limits import Limits
from ._summary import DroppedToolCall

__all__: list[str] = []

ECHO = "it repeats another call with its id and name"
CUT_BEFORE_ARGUMENTS = "the token limit cut it before its arguments began"
SHORT_KEY = 64


class StreamRecord:
    """What the buffers of all choices of one stream share."""

    __slots__ = (
        "_ids_made",
        "budget",
        "dropped",
        "invalid",
        "max_depth",
        "max_records",
        "repair",
        "response_id",
        "synthesize",
    )

    def __init__(self, limits: Limits, *, synthesize: bool = False, repair: Repair | None = None) -> None:
        self.budget = CallBudget(limits)
        self.max_depth = limits.max_json_depth
        self.max_records = limits.max_tool_calls
        self.synthesize = synthesize
        self.repair = repair
        self.response_id: str | None = None
        self.dropped: list[DroppedToolCall] = []
        self.invalid: list[InvalidToolCall] = []
        self._ids_made = 0

    def drop(self, dropped: DroppedToolCall) -> None:
        """Record a call, or a fragment, that is not delivered."""
        if self.max_records is None or len(self.dropped) < self.max_records:
            self.dropped.append(dropped)

    def make_id(self, call: PartialToolCall) -> str:
        """An id for a call that needs one: unique in the stream, and the same for every way to cut the bytes."""
        number = self._ids_made
        self._ids_made += 1
        if self.response_id:
            return f"call_{self.response_id}_{number}"
        seed = f"{call.name}\0{call.arguments}\0{number}"
        return f"call_{sha256(seed.encode('utf-8', 'replace')).hex()[:12]}_{number}"


def sha256(data: bytes) -> bytes:
    """The SHA-256 digest of `data`."""
    import hashlib  # noqa: PLC0415 - a millisecond of import that only few streams need

    return hashlib.sha256(data).digest()


class Candidate(Struct, gc=False, eq=False):
    """A call with all it needs to be delivered, while it is judged beside the others.

    Attributes:
        call: The call.
        value: Its parsed arguments.
        error: Why they cannot be used; empty where they can.
        key: Equal for two calls with equal arguments.
        is_bare: True where no argument text came.
        needs_id: True where it has no id, or one that an earlier call has.
        is_delivered: True once it left in an earlier drain, or in this one.
    """

    call: PartialToolCall
    value: Any = None
    error: str = ""
    key: bytes = b""
    is_bare: bool = False
    is_delivered: bool = False
    needs_id: bool = False


class ToolCallDrain:
    """Delivers the calls of one choice, and remembers the ids under which it did."""

    __slots__ = ("_by_id", "_choice", "_record")

    def __init__(self, choice: int, record: StreamRecord) -> None:
        self._choice = choice
        self._record = record
        self._by_id: dict[str, list[Candidate]] = {}

    def deliver(
        self, calls: Iterable[PartialToolCall], reason: FinishReason | None, cut: PartialToolCall | None
    ) -> list[ToolUseBlock]:
        """The calls that can run, in ascending index order.

        Args:
            calls: The calls, in order of opening.
            reason: What the server reported, or None.
            cut: The call that the token limit cut off, if it turns out to have no arguments.
        """
        kept: list[Candidate] = []
        for call in calls:
            if self._is_complete(call):
                candidate = self._read(call, reason, is_cut=call is cut)
                if not self._is_echo(candidate, kept):
                    kept.append(candidate)
        for candidate in kept:
            call_id = candidate.call.id
            candidate.needs_id = call_id is None or self._by_id[call_id][0] is not candidate
        kept.sort(key=lambda candidate: candidate.call.sort_key)
        return [block for candidate in kept if (block := self._deliver_one(candidate)) is not None]

    def _is_complete(self, call: PartialToolCall) -> bool:
        missing = [word for word, value in (("id", call.id), ("name", call.name)) if not value]
        if missing == ["id"] and self._record.synthesize:
            return True
        if missing:
            self._drop(call, f"the server never sent its {' or '.join(missing)}")
        return not missing

    def _drop(self, call: PartialToolCall, reason: str) -> None:
        if call.id or call.name or call.arguments:  # an empty entry says nothing that could be lost
            self._record.drop(DroppedToolCall(self._choice, call.index, call.id, call.name, call.arguments, reason))

    def _read(self, call: PartialToolCall, reason: FinishReason | None, *, is_cut: bool) -> Candidate:
        fragments = call.fragments()
        candidate = Candidate(call, error=call.cut)
        candidate.is_bare = is_bare("".join(fragments))
        if is_cut and not fragments and not call.is_whole:
            candidate.error = CUT_BEFORE_ARGUMENTS
        if candidate.error:
            return candidate
        if call.takes_text:
            candidate.value = "".join(fragments)
            candidate.key = sha256(candidate.value.encode("utf-8", "replace"))
            return candidate
        try:
            candidate.value = read_fragments(fragments, reason, self._record.max_depth, self._record.repair)
        except JSONError as error:
            candidate.error = str(error)
        else:
            key = canonical(candidate.value)
            candidate.key = key if len(key) <= SHORT_KEY else sha256(key)
        return candidate

    def _is_echo(self, candidate: Candidate, kept: list[Candidate]) -> bool:
        """Whether a call repeats another of its id and name. Of two in one drain the bare one goes, else the later."""
        call = candidate.call
        if call.id is None:
            return False
        rivals = self._by_id.setdefault(call.id, [])
        for rival in [rival for rival in rivals if rival.call.name == call.name]:
            if rival.is_bare and not rival.is_delivered and not candidate.is_bare:
                rivals.remove(rival)
                kept.remove(rival)
                self._drop(rival.call, ECHO)
            elif candidate.is_bare or (not candidate.error and not rival.error and candidate.key == rival.key):
                self._drop(call, ECHO)
                return True
        rivals.append(candidate)
        return False

    def _deliver_one(self, candidate: Candidate) -> ToolUseBlock | None:
        call, value = candidate.call, candidate.value
        if call.id is None or candidate.needs_id:
            call.id = self._unused_id(call)
            self._by_id[call.id] = [candidate]
        candidate.is_delivered, candidate.value = True, None
        if not call.name:
            return None
        if candidate.error:
            invalid = InvalidToolCall(call.index, call.id, call.name, call.arguments, candidate.error)
            self._record.invalid.append(invalid)
            return None
        block = ToolUseBlock(call.id, call.name, value)
        call.pieces.clear()
        return block

    def _unused_id(self, call: PartialToolCall) -> str:
        in_use = self._record.budget.ids
        while (made := self._record.make_id(call)) in in_use or made in self._by_id:
            pass
        in_use.add(made)
        return made
