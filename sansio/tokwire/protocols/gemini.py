"""Google Gemini (`:streamGenerateContent`), as server-sent events and as one JSON array."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .._errors import RemoteProtocolError
from .._finish import FinishReason
from .._json import value_text
from .._limits import Limits
from .._partial_call import PartialToolCall
from .._state import DecodeState, argument_text
from .._token_counts import CountPaths
from ..framing._frames import Frame, Framing
from ..framing._sse_body import SSEBody
from ..framing.json_array import BLANKS, JSONArray
from ..framing.sse import BYTE_ORDER_MARK
from ._gemini_arguments import ArgumentTree, PathError
from ._protocol import ApiProtocol, Verdict
from ._readers import as_dict, as_id, as_index, as_list, as_text, as_word

__all__: list[str] = []

NO_REASON = "FINISH_REASON_UNSPECIFIED"
FINISH_WORDS: Mapping[str, FinishReason] = MappingProxyType(
    {"stop": FinishReason.STOP, "max_tokens": FinishReason.LENGTH}
    | dict.fromkeys(
        ("safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"),
        FinishReason.CONTENT_FILTER,
    )
)
USAGE: CountPaths = {
    "input_tokens": (("promptTokenCount",),),
    "output_tokens": (("candidatesTokenCount",),),
    "total_tokens": (("totalTokenCount",),),
    "cached_tokens": (("cachedContentTokenCount",),),
    "reasoning_tokens": (("thoughtsTokenCount",),),
}
STILL_CONTINUING = "the server said that its arguments would continue, and they did not"


class GeminiBody:
    """The framing of Gemini, which the first character decides: an opening bracket begins the array form."""

    __slots__ = ("_framing", "_is_decided", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._is_decided = False
        self._framing: Framing = SSEBody(limits)

    @property
    def error(self) -> RemoteProtocolError | None:
        """Set once the body breaks the framing or a limit."""
        return self._framing.error

    @property
    def is_idle(self) -> bool:
        """True between two frames, with nothing held."""
        return self._framing.is_idle

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return self._framing.held

    def feed(self, data: bytes, offset: int) -> list[Frame]:
        """The frames that `data` completes; `offset` is where it stands in the body."""
        if self._is_decided:
            return self._framing.feed(data, offset)
        start = first_character(data, offset)
        self._is_decided = start < len(data)
        frames = self._framing.feed(data[:start], offset)
        if not self._is_decided or self.error is not None:
            return frames
        if data[start] == ord("["):
            self._framing = JSONArray(self._limits)
        return frames + self._framing.feed(data[start:], offset + start)

    def finish(self, *, complete: bool) -> list[Frame]:
        """What is left at the end of the body; not `complete` means that the transport cut it."""
        return self._framing.finish(complete=complete)


def first_character(data: bytes, offset: int) -> int:
    """Where in `data` the first character is that is no blank and no part of a byte order mark."""
    at = 0
    while at < len(data) and offset + at < len(BYTE_ORDER_MARK) and data[at] in (BYTE_ORDER_MARK[offset + at], *BLANKS):
        at += 1
    rest = data[at:]
    return at + len(rest) - len(rest.lstrip(BLANKS))


def recognises(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload can be this protocol's, loosely."""
    return (
        isinstance(payload.get("candidates"), list)
        or isinstance(payload.get("promptFeedback"), dict)
        or isinstance(payload.get("usageMetadata"), dict)
    )


def marks(payload: Mapping[str, Any], sse_name: str | None) -> bool:
    """Whether a payload proves this protocol."""
    if isinstance(payload.get("promptFeedback"), dict) or isinstance(payload.get("usageMetadata"), dict):
        return True
    candidates = payload.get("candidates")
    first = as_dict(candidates[0]) if isinstance(candidates, list) and candidates else {}
    content = as_dict(first.get("content"))
    has_parts = isinstance(content.get("parts"), list) or content.get("role") == "model"
    return has_parts or isinstance(first.get("finishReason"), str)


def on_payload(state: DecodeState, payload: dict[str, Any], sse_name: str | None) -> Verdict:
    """Read one payload."""
    if not recognises(payload, sse_name):
        return Verdict.UNKNOWN
    state.identify(payload.get("responseId"), payload.get("modelVersion"))
    state.usage(payload.get("usageMetadata"), USAGE)
    if state.protocol_data is None:
        state.protocol_data = GeminiCalls(state)
    calls: GeminiCalls = state.protocol_data
    for position, member in enumerate(as_list(payload.get("candidates"))):
        candidate = as_dict(member)
        index = as_index(candidate.get("index"))
        choice = position if index is None else index
        calls.has_candidates = True
        for part in as_list(as_dict(candidate.get("content")).get("parts")):
            _read_part(state, calls, as_dict(part), choice)
        reason = as_word(candidate.get("finishReason"))
        if reason is not None and reason != NO_REASON:
            calls.settle(choice)
            state.finish(reason, choice)
    block_reason = as_word(as_dict(payload.get("promptFeedback")).get("blockReason"))
    if block_reason is not None and not calls.has_candidates:
        state.finish_with(FinishReason.CONTENT_FILTER, block_reason)
    return Verdict.RECOGNISED


def on_eof(state: DecodeState) -> None:
    """Calls that were to continue are cut."""
    if state.protocol_data is not None:
        state.protocol_data.settle(None)


def _read_part(state: DecodeState, calls: GeminiCalls, part: dict[str, Any], choice: int) -> None:
    text = as_text(part.get("text"))
    if part.get("thought") is True:
        state.reasoning(text, choice)
    else:
        state.text(text, choice)
    call = None
    if isinstance(part.get("functionCall"), dict):
        call = calls.take(part["functionCall"], choice)
    inline = as_dict(part.get("inlineData"))
    if inline:
        kind = (as_word(inline.get("mimeType")) or "data").partition("/")[0]
        state.note().count_media(kind)
    if part.get("thoughtSignature"):
        state.note().sign("thought_signature", part["thoughtSignature"], choice=choice, call=call)


class HeldCall:
    """A call that is not drained yet.

    Attributes:
        call: The call.
        choice: The choice it belongs to.
        arguments: Its last arguments that came whole, or None.
        tree: Its arguments that came in fragments, or None.
        counted: Characters of the tree that count against the limit and are not in the call yet.
    """

    __slots__ = ("arguments", "call", "choice", "counted", "tree")

    def __init__(self, call: PartialToolCall, choice: int) -> None:
        self.call = call
        self.choice = choice
        self.arguments: dict[str, Any] | None = None
        self.tree: ArgumentTree | None = None
        self.counted = 0


class GeminiCalls:
    """The function calls of one stream that are not drained yet.

    Attributes:
        has_candidates: Whether any candidate came.
    """

    __slots__ = ("_by_id", "_continuing", "_state", "has_candidates")

    def __init__(self, state: DecodeState) -> None:
        self.has_candidates = False
        self._state = state
        self._by_id: dict[int, dict[str, HeldCall]] = {}
        self._continuing: dict[int, dict[HeldCall, None]] = {}

    def take(self, part: dict[str, Any], choice: int) -> PartialToolCall | None:
        """Read one function call, or one fragment of it. Returns the call; None where nothing was said of it."""
        call_id, name = as_id(part.get("id")), as_word(part.get("name"))
        held = self._find(call_id, name, choice)
        if held is None:
            if call_id is None and name is None and not part.get("args") and not part.get("partialArgs"):
                return None
            held = HeldCall(self._state.take_tool_call(call_id, name, None, choice), choice)
            if call_id is not None:
                self._by_id.setdefault(choice, {})[call_id] = held
        elif name is not None:
            held.call.identify(None, name)
        self._fill(held, part)
        self._note_continuing(held, is_continuing=part.get("willContinue") is True)
        return held.call

    def settle(self, choice: int | None) -> None:
        """Before a drain: a call that was to continue is cut, and no later fragment belongs to a drained call."""
        for number in list(self._continuing) if choice is None else [choice]:
            for held in self._continuing.pop(number, {}):
                self._write(held)
                held.call.cut = held.call.cut or STILL_CONTINUING
            self._by_id.pop(number, None)

    def _find(self, call_id: str | None, name: str | None, choice: int) -> HeldCall | None:
        if call_id is not None:
            return self._by_id.get(choice, {}).get(call_id)
        continuing = self._continuing.get(choice)
        return next(reversed(continuing)) if name is None and continuing else None

    def _fill(self, held: HeldCall, part: dict[str, Any]) -> None:
        args = part.get("args")
        if isinstance(args, dict | list | str) and not (held.tree is not None and not args):
            self._forget_tree(held)
            held.arguments = args if isinstance(args, dict) else None
            held.call.replace(argument_text(args))
        entries = as_list(part.get("partialArgs"))
        if entries and held.tree is None:
            held.tree = ArgumentTree(self._state.limits.max_json_depth, held.arguments or {})
        for entry in entries:
            self._put(held, as_dict(entry))

    def _put(self, held: HeldCall, entry: dict[str, Any]) -> None:
        assert held.tree is not None
        before = held.tree.characters
        try:
            held.tree.put(entry)
        except PathError as error:
            held.call.cut = held.call.cut or str(error)
        grown = held.tree.characters - before
        held.counted += grown
        self._state.record.budget.add_characters(grown)

    def _forget_tree(self, held: HeldCall) -> None:
        held.tree = None
        self._state.record.budget.characters -= held.counted
        held.counted = 0

    def _write(self, held: HeldCall) -> None:
        """Put the arguments that came in fragments into the call."""
        if held.tree is not None:
            self._state.record.budget.characters -= held.counted
            held.counted = 0
            held.call.replace(value_text(held.tree.value()))

    def _note_continuing(self, held: HeldCall, *, is_continuing: bool) -> None:
        continuing = self._continuing.setdefault(held.choice, {})
        continuing.pop(held, None)
        if is_continuing:
            continuing[held] = None
        else:
            self._write(held)


GEMINI = ApiProtocol(
    name="gemini",
    aliases=("google",),
    on_payload=on_payload,
    recognises=recognises,
    marks=marks,
    framing=GeminiBody,
    on_eof=on_eof,
    finish_words=FINISH_WORDS,
    makes_ids=True,
    last_reason_wins=True,
)
