"""Draining one choice of a stream, for the tests of what a drain delivers."""

from __future__ import annotations

from typing import Any

from tokwire import FinishReason, Limits, PartialToolCall
from tokwire._drain import StreamRecord, ToolCallDrain

Given = tuple[int | None, str | None, str | None, str]


def partial(index: int | None, call_id: str | None, name: str | None, *pieces: str) -> PartialToolCall:
    """A call as it stands before a drain."""
    call = PartialToolCall(index)
    call.identify(call_id, name)
    for piece in pieces:
        call.append(piece)
    return call


class Choice:
    """One choice of a stream: drains calls and shows what came of them."""

    def __init__(self, *, record: StreamRecord | None = None, number: int = 0, response_id: str | None = "R") -> None:
        self.record = StreamRecord(Limits()) if record is None else record
        self.record.response_id = response_id
        self.drain = ToolCallDrain(number, self.record)

    def give(self, *calls: Given, reason: FinishReason | None = FinishReason.TOOL_CALLS) -> list[tuple[str, str, Any]]:
        """Drain some calls."""
        blocks = self.drain.deliver([partial(*call) for call in calls], reason, None)
        return [(block.id, block.name, block.input) for block in blocks]

    def dropped(self) -> list[tuple[int | None, str | None, str | None, str]]:
        """What was dropped so far, without the reasons."""
        return [(call.index, call.id, call.name, call.arguments) for call in self.record.dropped]


def synthesizing() -> StreamRecord:
    """A record of a stream whose missing ids are made."""
    return StreamRecord(Limits(), synthesize=True)
