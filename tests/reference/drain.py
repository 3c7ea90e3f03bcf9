"""The drain of one choice: which calls are dropped, which ids are made, what is delivered (P1, P3, P4, I4, I7)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .arguments import INVALID, Arguments
from .call import Call, Delivered
from .jsontext import typed_equal
from .text import encodable


@dataclass
class IdMaker:
    """P3: ids made by us, unique in the stream; `used` holds every id that the server or we gave to a call."""

    count: int = 0

    def make(self, response_id: str | None, call: Call, used: set[str]) -> str:
        """The next id."""
        while True:
            number = str(self.count)
            self.count += 1
            middle = response_id or self.digest(call, number)
            made = f"call_{middle}_{number}"
            if made not in used:
                return made

    @staticmethod
    def digest(call: Call, number: str) -> str:
        """What stands in for a response id that never came."""
        text = "\0".join([encodable(call.name or ""), call.raw, number])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(eq=False)
class Candidate:
    """A call with a name, on its way out."""

    call: Call
    arguments: Arguments
    needs_id: bool = False
    is_echo: bool = False


def parse_calls(calls: list[Call], reason: str | None, last_content: int) -> list[Candidate]:
    """Judge the arguments of every call; one that LENGTH cut before its first fragment is invalid (P4)."""
    last_opened = max(calls, key=lambda call: call.arrival, default=None)
    candidates = []
    for call in calls:
        was_cut = call is last_opened and call.arrival > last_content and reason == "length" and not call.texts()
        candidates.append(Candidate(call, INVALID if was_cut else call.parse(reason)))
    return candidates


def _same(left: Arguments, right: Arguments) -> bool:
    return left.valid and right.valid and typed_equal(left.value, right.value)


def mark_repeated_ids(candidates: list[Candidate], history: list[Delivered]) -> None:
    """P1: an id is unique in a choice. Echoes are marked for dropping, other later uses for an id of ours."""
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: c.call.arrival):
        call = candidate.call
        if call.id is None:
            candidate.needs_id = True
            continue
        earlier = [old for old in history if call.id in (old.wire_id, old.final_id)]
        pending = [other for other in kept if other.call.id == call.id]
        twins = [other for other in pending if other.call.name == call.name]
        if (
            any(
                old.name == call.name and (call.is_bare or _same(candidate.arguments, old.arguments)) for old in earlier
            )
            or (call.is_bare and twins)
            or any(_same(candidate.arguments, twin.arguments) for twin in twins if not twin.call.is_bare)
        ):
            candidate.is_echo = True
            continue
        bare = next((twin for twin in twins if twin.call.is_bare), None)
        if bare is not None:
            bare.is_echo = True
            candidate.needs_id = bare.needs_id
            kept.remove(bare)
        else:
            candidate.needs_id = bool(earlier or pending)
        kept.append(candidate)
