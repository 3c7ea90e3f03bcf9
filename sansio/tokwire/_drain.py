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
from ._errors import InvalidToolCall
from ._finish import FinishReason
from ._json import JSONError, canonical
from ._limits import Limits
from ._partial_call import PartialToolCall
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
        is_echo: True where another call of its id and name takes its place.
    """

    call: PartialToolCall
    value: Any = None
    error: str = ""
    key: bytes = b""
    is_bare: bool = False
    is_echo: bool = False


class IdUse:
    """How one id was used: by which call first, and by which names with which arguments.

    Attributes:
        owner: The call that keeps the id.
        names: Names of tools that were called under it.
        keys: Names with arguments.
        bare: Name to a call without arguments that is not delivered yet.
    """

    __slots__ = ("bare", "keys", "names", "owner")

    def __init__(self) -> None:
        self.owner: Candidate | None = None
        self.names: set[str | None] = set()
        self.keys: set[tuple[str | None, bytes]] = set()
        self.bare: dict[str | None, Candidate] = {}

    def settle_bare(self) -> None:
        """After a drain: calls without arguments were delivered, and can be repeated like all others."""
        self.keys.update((name, candidate.key) for name, candidate in self.bare.items())
        self.bare.clear()


class ToolCallDrain:
    """Delivers the calls of one choice, and remembers the ids under which it did."""

    __slots__ = ("_by_id", "_choice", "_record", "_with_bare")

    def __init__(self, choice: int, record: StreamRecord) -> None:
        self._choice = choice
        self._record = record
        self._by_id: dict[str, IdUse] = {}
        self._with_bare: list[IdUse] = []

    def deliver(
        self, calls: Iterable[PartialToolCall], reason: FinishReason | None, cut: PartialToolCall | None
    ) -> list[ToolUseBlock]:
        """The calls that can run, in ascending index order.

        Args:
            calls: The calls, in order of opening.
            reason: What the server reported, or None.
            cut: The call that the token limit cut off, if it turns out to have no arguments.
        """
        candidates = [self._read(call, reason, is_cut=call is cut) for call in calls if self._is_complete(call)]
        for candidate in candidates:
            self._find_echo(candidate)
        kept = [candidate for candidate in candidates if not candidate.is_echo]
        kept.sort(key=lambda candidate: candidate.call.sort_key)
        blocks = [block for candidate in kept if (block := self._deliver_one(candidate)) is not None]
        for use in self._with_bare:
            use.settle_bare()
        self._with_bare.clear()
        return blocks

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

    def _find_echo(self, candidate: Candidate) -> None:
        """Note a call that repeats another of its id and name: of two in one drain the bare one, else the later."""
        call = candidate.call
        if call.id is None:
            return
        use = self._by_id.setdefault(call.id, IdUse())
        bare = None if candidate.is_bare else use.bare.pop(call.name, None)
        if bare is not None:
            self._drop_echo(bare)
            if use.owner is bare:
                use.owner = None
        is_known = call.name in use.names if candidate.is_bare else (call.name, candidate.key) in use.keys
        if bare is None and is_known and (candidate.is_bare or not candidate.error):
            self._drop_echo(candidate)
            return
        if use.owner is None:
            use.owner = candidate
        use.names.add(call.name)
        if candidate.is_bare:
            use.bare[call.name] = candidate
            self._with_bare.append(use)
        elif not candidate.error:
            use.keys.add((call.name, candidate.key))

    def _drop_echo(self, candidate: Candidate) -> None:
        candidate.is_echo = True
        self._drop(candidate.call, ECHO)

    def _deliver_one(self, candidate: Candidate) -> ToolUseBlock | None:
        call = candidate.call
        if call.id is None or self._by_id[call.id].owner is not candidate:
            call.id = self._unused_id(call)
            use = self._by_id[call.id] = IdUse()
            use.owner = candidate
            use.names.add(call.name)
            use.keys.add((call.name, candidate.key))
        value, candidate.value = candidate.value, None
        assert call.name is not None
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
