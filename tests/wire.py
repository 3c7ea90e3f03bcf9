"""Compact builders of synthetic bodies, and outcomes as short rows, for the tests of the two protocols."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final, Unpack

import msgspec
from tests.support import DONE, START, STOP, chunk, cut, data, event, outcome, single_bytes, without_quick_path

import tokwire

if TYPE_CHECKING:
    from tests.support import Outcome

EVERY_CUT_UP_TO, CUTS = 200, 8

ABSENT: Final = object()
"""A member that is not on the wire at all, as against null."""

Row = tuple[Any, ...]


def present(**members: object) -> dict[str, Any]:
    """The members that are on the wire."""
    return {name: value for name, value in members.items() if value is not ABSENT}


# ---- Chat Completions ----------------------------------------------------------------------------------------


def entry(
    index: object = ABSENT, call_id: object = ABSENT, name: object = ABSENT, arguments: object = ABSENT
) -> dict[str, Any]:
    """One member of `tool_calls`, each part of any type or absent."""
    function = present(name=name, arguments=arguments)
    return present(index=index, id=call_id, function=function or ABSENT)


def piece(index: object = ABSENT, call_id: object = ABSENT, name: object = ABSENT, arguments: object = ABSENT) -> bytes:
    """One chunk with one fragment of a tool call."""
    return chunk({"tool_calls": [entry(index, call_id, name, arguments)]})


def ended(finish: str | None = "tool_calls") -> bytes:
    """The last chunk, with its finish word, and the end marker."""
    return chunk({}, finish) + DONE


def choices(*members: object, **more: Any) -> bytes:
    """One chunk with exactly these choices."""
    return data({"id": "r1", "object": "chat.completion.chunk", "model": "m1", "choices": list(members), **more})


# ---- Anthropic Messages --------------------------------------------------------------------------------------


def begin(index: object, kind: str, **members: object) -> bytes:
    """The start of a content block."""
    return event("content_block_start", **present(index=index), content_block={"type": kind, **members})


def tool_use(index: object = 0, call_id: object = "t1", name: object = "f", **members: object) -> bytes:
    """The start of a tool call."""
    return begin(index, "tool_use", id=call_id, name=name, **members)


def more(index: object, kind: str, **members: object) -> bytes:
    """A delta of a content block."""
    return event("content_block_delta", **present(index=index), delta={"type": kind, **members})


def written(index: object, text: object) -> bytes:
    """A fragment of the input of a tool."""
    return more(index, "input_json_delta", partial_json=text)


def said(index: object, text: object) -> bytes:
    """A fragment of text."""
    return more(index, "text_delta", text=text)


def message(*parts: bytes, reason: object = "end_turn", **members: Any) -> bytes:
    """A whole message around these events."""
    return START + b"".join(parts) + event("message_delta", delta={"stop_reason": reason}, **members) + STOP


# ---- outcomes ------------------------------------------------------------------------------------------------


def row(found: tokwire.StreamEvent) -> Row:  # noqa: PLR0911 - one for each kind of event
    """An event as a short row; the input of a call as its JSON, so that 1, 1.0 and true differ."""
    choice = (found.choice,) if found.choice else ()
    match found:
        case tokwire.Block(tokwire.TextBlock(text)):
            return ("text", text, *choice)
        case tokwire.Block(tokwire.ToolUseBlock(call_id, name, value)):
            return ("call", call_id, name, msgspec.json.encode(value).decode(), *choice)
        case tokwire.Reasoning(text):
            return ("reasoning", text, *choice)
        case tokwire.Refusal(text):
            return ("refusal", text, *choice)
        case tokwire.ToolCallDelta(index, call_id, name, arguments):
            return ("delta", index, call_id, name, arguments, *choice)
        case tokwire.RawPayload(name, payload):
            return ("raw", name, payload)
        case tokwire.Finish(reason):
            return ("finish", str(reason), "other") if reason.is_other else ("finish", str(reason))
        case tokwire.Usage():
            return ("usage", {name: value for name, value in counts(found).items() if value is not None})
        case _:
            raise AssertionError(found)


def counts(usage: tokwire.Usage) -> dict[str, int | None]:
    """The token counts of a `Usage`, without what the server sent beside them."""
    names = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
    return {name: getattr(usage, name) for name in names}


def rows(found: Outcome) -> list[Row]:
    """The events as rows; an error that ended the stream is the last one, by the name of its class."""
    return [row(each) for each in found.events] + ([("error", found.failure.kind)] if found.failure else [])


def alike(protocol: str, body: bytes, **options: Unpack[tokwire.DecoderOptions]) -> Outcome:
    """The outcome of a body, once it was shown to be the same for other ways to cut it and without the quick path.

    A short body is cut in two at every place, a longer one at places drawn by lot.
    """
    expected = outcome(lambda: tokwire.StreamDecoder(protocol, **options), [body])
    lot = random.Random(len(body))
    places = [[place] for place in range(1, len(body))]
    if len(body) > EVERY_CUT_UP_TO:
        places = [[lot.randrange(len(body)) for _ in range(lot.choice((1, 2, 8)))] for _ in range(CUTS)]
    events = [read + b"\n\n" for read in body.split(b"\n\n")]
    events[-1] = events[-1][:-2]
    ways = [single_bytes(body), events, *(cut(body, each) for each in places)]
    for reads in ways:
        assert outcome(lambda: tokwire.StreamDecoder(protocol, **options), reads) == expected, reads
    plain = without_quick_path(protocol)
    for reads in ([body], *ways[:3]):
        assert outcome(lambda: tokwire.StreamDecoder(plain, **options), reads) == expected, reads
    return expected


def openai(body: bytes, **options: Unpack[tokwire.DecoderOptions]) -> Outcome:
    """A body of Chat Completions, decoded in every way, with reasoning and usage unless told otherwise."""
    asked: tokwire.DecoderOptions = {"include_reasoning": True, "include_usage": True, **options}
    return alike("openai-chat", body, **asked)


def anthropic(body: bytes, **options: Unpack[tokwire.DecoderOptions]) -> Outcome:
    """A body of Anthropic Messages, decoded likewise."""
    asked: tokwire.DecoderOptions = {"include_reasoning": True, "include_usage": True, **options}
    return alike("anthropic", body, **asked)


def dropped(found: Outcome) -> list[Row]:
    """Index, id, name and arguments of what was not delivered, each with a reason."""
    assert all(call.reason for call in found.summary.dropped_tool_calls)
    return [(call.index, call.id, call.name, call.arguments) for call in found.summary.dropped_tool_calls]
