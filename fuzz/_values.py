"""What must hold for the values that a decoder hands out, by themselves."""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING, Any

import msgspec

from fuzz._check import demand, same
from tokwire import (
    APIError,
    Block,
    Finish,
    InvalidToolArguments,
    LimitExceeded,
    Limits,
    RawPayload,
    Reasoning,
    Refusal,
    RemoteProtocolError,
    StreamEvent,
    StreamSummary,
    StreamTruncated,
    TextBlock,
    TokwireError,
    ToolCallDelta,
    ToolUseBlock,
    Usage,
    event_from_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz._plan import Plan

ERRORS = {APIError, RemoteProtocolError, InvalidToolArguments, LimitExceeded, StreamTruncated}
OPT_IN = {
    Reasoning: "include_reasoning",
    Usage: "include_usage",
    ToolCallDelta: "include_tool_deltas",
    RawPayload: "include_raw",
}


def check_events(events: Sequence[StreamEvent], plan: Plan, *, failed: bool) -> None:
    """Require of the events of one stream what the policy promises of every stream."""
    finishes = [place for place, event in enumerate(events) if type(event) is Finish]
    expected = [] if failed else [len(events) - 1]
    demand(finishes == expected, "a stream ends with one Finish or with an error", finishes, events[-3:])
    for kind, option in OPT_IN.items():
        if not plan.options.get(option):
            demand(not any(type(event) is kind for event in events), f"{option} gives its events only if set")
    usages = [place for place, event in enumerate(events) if type(event) is Usage]
    demand(
        usages in ([], [len(events) - (1 if failed else 2)]),
        "Usage comes once, directly before the end",
        usages,
        events,
    )
    blocks = [(event.choice, event.block) for event in events if isinstance(event, Block)]
    calls = [(choice, block.id) for choice, block in blocks if isinstance(block, ToolUseBlock)]
    demand(len(set(calls)) == len(calls), "the ids of the calls of a choice are unique", calls)
    most = plan.limits.max_tool_calls
    demand(most is None or len(calls) <= most, "calls stay within their limit", calls)
    for event in events:
        check_event(event)


def check_event(event: StreamEvent) -> None:
    """Require that an event is not empty, can be encoded, and comes back from its JSON."""
    match event:
        case Block(TextBlock(text)) | Reasoning(text) | Refusal(text):
            demand(text, "an empty fragment gives no event", event)
        case Block(ToolUseBlock(id=call_id, name=name)):
            demand(call_id and name, "a call that is delivered has id and name", event)
        case Usage():
            demand(event.raw, "usage is an object that is not empty", event)
    written = check_encodable(event)
    if is_finite(msgspec.to_builtins(event)):
        same(event, event_from_json(written), "an event comes back from its JSON")


def check_encodable(value: object) -> bytes:
    """Require that every text in a value can be encoded. Returns its JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        demand(None, "every text that is handed out can be encoded", error, value)
        raise


def is_finite(value: Any) -> bool:
    """Whether JSON can write every number in a value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return True


def check_error(error: TokwireError, body: bytes) -> None:
    """Require that an error is one of those that a stream can end with, and of its parts what they promise."""
    demand(type(error) in ERRORS, "a stream fails only with the documented errors", repr(error))
    check_encodable([str(error), error.args])
    copy = pickle.loads(pickle.dumps(error))
    same(vars(error), vars(copy), "an error survives pickling")
    if isinstance(error, RemoteProtocolError):
        demand(error.offset is None or 0 <= error.offset <= len(body), "an offset lies in the body", error.offset)
        demand(len(error.excerpt) <= 64, "an excerpt has at most 64 bytes", error.excerpt)
    if isinstance(error, LimitExceeded):
        demand(error.limit in Limits.__struct_fields__, "a limit has the name of a field", error.limit)
        demand(error.offset is not None, "a limit says where it was crossed", error)
    if isinstance(error, InvalidToolArguments):
        demand(error.calls, "invalid arguments name the calls", error)
        check_encodable([error.calls, error.finish_reason])
    if isinstance(error, APIError):
        check_encodable(error.body)
        check_encodable([error.message, error.type, error.code, error.param, error.request_id])


def check_summary(summary: StreamSummary, plan: Plan) -> None:
    """Require that a summary can be encoded and that its lists are capped."""
    check_encodable(summary)
    most = plan.limits.max_tool_calls
    for found in (summary.dropped_tool_calls, summary.signatures, summary.thinking_blocks):
        demand(most is None or len(found) <= most, "the lists of the summary are capped", found)
    if not plan.options.get("keep_thinking"):
        demand(not summary.thinking_blocks, "thinking is kept only if asked for", summary.thinking_blocks)
