"""Facts about a stream that give no event: media, signatures, and thinking that is kept for sending back."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ._blocks import RedactedThinkingBlock, ThinkingBlock
from ._json import mend_surrogates
from ._summary import Signature

if TYPE_CHECKING:
    from ._partial_call import PartialToolCall

__all__: list[str] = []


class StreamNotes:
    """Collects what the summary tells beside the events. Lists are capped, so a peer cannot make them grow forever.

    Attributes:
        media: Kind to count.
    """

    __slots__ = ("_cap", "_seen", "_signatures", "_thinking", "media")

    def __init__(self, cap: int | None) -> None:
        self._cap = cap
        self._seen: set[Hashable] = set()
        self._thinking: dict[Hashable, _Thinking] = {}
        self.media: dict[str, int] = {}
        self._signatures: list[tuple[Signature, PartialToolCall | None]] = []

    def count_media(self, kind: str, number: int = 1, *, once_for: Hashable = None) -> None:
        """Count media. `once_for` names what must be counted once, however many pieces it comes in."""
        if once_for is not None:
            if (kind, once_for) in self._seen:
                return
            if self._has_room(len(self._seen)):
                self._seen.add((kind, once_for))
        if kind in self.media or self._has_room(len(self.media)):
            self.media[kind] = self.media.get(kind, 0) + number

    def sign(
        self,
        kind: str,
        data: object,
        *,
        choice: int = 0,
        block_index: int | None = None,
        item_id: str | None = None,
        call: PartialToolCall | None = None,
    ) -> None:
        """Keep data that the provider wants back, of a call or not; anything but text that is not empty is none."""
        if isinstance(data, str) and data and self._has_room(len(self._signatures)):
            signature = Signature(choice, kind, block_index, item_id, None, mend_surrogates(data))
            self._signatures.append((signature, call))

    def signatures(self) -> tuple[Signature, ...]:
        """What is kept, in wire order. A call has its final id once it was delivered."""
        return tuple(
            signature if call is None else replace(signature, tool_use_id=call.id)
            for signature, call in self._signatures
        )

    def think(self, block: Hashable, *, text: str = "", signature: str = "") -> None:
        """Add to the thinking of one block."""
        thinking = self._thinking.get(block)
        if thinking is None:
            if not self._has_room(len(self._thinking)):
                return
            thinking = self._thinking[block] = _Thinking()
        if text:
            thinking.texts.append(text)
        if signature:
            thinking.signatures.append(signature)

    def redact(self, block: Hashable, data: str) -> None:
        """Keep a block of thinking that came encrypted."""
        if self._has_room(len(self._thinking)):
            self._thinking[block] = _Thinking(data)

    def thinking_blocks(self) -> tuple[ThinkingBlock | RedactedThinkingBlock, ...]:
        """The kept thinking, in wire order."""
        return tuple(thinking.block() for thinking in self._thinking.values())

    def _has_room(self, count: int) -> bool:
        return self._cap is None or count < self._cap


class _Thinking:
    """One block of thinking while it comes in."""

    __slots__ = ("redacted", "signatures", "texts")

    def __init__(self, redacted: str | None = None) -> None:
        self.texts: list[str] = []
        self.signatures: list[str] = []
        self.redacted = redacted

    def block(self) -> ThinkingBlock | RedactedThinkingBlock:
        if self.redacted is not None:
            return RedactedThinkingBlock(mend_surrogates(self.redacted))
        return ThinkingBlock(mend_surrogates("".join(self.texts)), mend_surrogates("".join(self.signatures)))
