"""The decoder against a slow one that was written from the policy alone: same events, error, facts and drops.

Streams are made by sound rules and then damaged: odd indexes and ids of tool calls, odd types, lines that are lost,
doubled or cut. Whatever becomes of them, both decoders have to agree.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import decode
from tests.support import BODIES, DONE, PROTOCOLS, START, STOP, chunk, cut, data, event

import tokwire
from tokwire import StreamDecoder

CATEGORIES: dict[type[tokwire.TokwireError], str] = {
    tokwire.APIError: "stream_error",
    tokwire.StreamTruncated: "truncated",
    tokwire.InvalidToolArguments: "invalid_tool_arguments",
    tokwire.RemoteProtocolError: "protocol_error",
}
COUNTS = tokwire.Usage.__struct_fields__


def plain(event: tokwire.StreamEvent) -> list[object]:
    """An event in the words of the slow decoder."""
    match event:
        case tokwire.Block(tokwire.TextBlock(text)):
            return ["text", text, event.choice]
        case tokwire.Block(tokwire.ToolUseBlock() as call):
            return ["tool", call.id, call.name, call.input, event.choice]
        case tokwire.Reasoning(text):
            return ["reasoning", text, event.choice]
        case tokwire.Refusal(text):
            return ["refusal", text, event.choice]
        case tokwire.Usage():
            counts = {name: getattr(event, name) for name in COUNTS if name.endswith("_tokens")}
            return ["usage", counts, event.choice]
        case tokwire.Finish(reason):
            word = ["other", str(reason)] if reason.is_other else [str(reason)]
            return ["finish", *word, event.choice]
    raise AssertionError(event)


def fast(protocol: str, reads: list[bytes], *, complete: bool, **options: Any) -> dict[str, Any]:
    """What our decoder makes of a body."""
    decoder = StreamDecoder(protocol, **options)
    events: list[list[object]] = []
    error: tokwire.TokwireError | None = None
    try:
        for read in reads:
            decoder.receive_data(read)
            for each in decoder.events():
                events.append(plain(each))  # noqa: PERF401 - those before an error count
        decoder.receive_eof(complete=complete)
        for each in decoder.events():
            events.append(plain(each))  # noqa: PERF401 - as above
    except tokwire.TokwireError as caught:
        error = caught
    summary = decoder.summary
    return {
        "events": events,
        "error": CATEGORIES[type(error)] if error is not None else None,
        "error_body": getattr(error, "body", None),
        "error_status": getattr(error, "status_code", None),
        "dropped": [(call.index, call.id, call.name, call.arguments) for call in summary.dropped_tool_calls],
        "response_id": summary.response_id,
        "model": summary.model,
        "end_marker": summary.end_marker,
        "raw_finish_reason": summary.raw_finish_reason,
        "finish_reasons": summary.finish_reasons,
        "media": summary.media,
    }


def slow(protocol: str, body: bytes, *, complete: bool, **options: Any) -> dict[str, Any]:
    """What the slow decoder makes of it."""
    return vars(decode(protocol, body, complete=complete, **options))


def comparable(outcome: dict[str, Any]) -> dict[str, str]:
    """As text, so that 1, 1.0 and true differ; what has no order of its own is sorted."""
    dropped = sorted(json.dumps(call) for call in outcome["dropped"])
    return {name: json.dumps(value, sort_keys=True) for name, value in (outcome | {"dropped": dropped}).items()}


def check(
    protocol: str, body: bytes, reads: list[bytes] | None = None, *, complete: bool = True, **options: Any
) -> None:
    found = fast(protocol, [body] if reads is None else reads, complete=complete, **options)
    assert comparable(found) == comparable(slow(protocol, body, complete=complete, **options))


# Tool calls, as forty servers send them and worse.
INDEXES = st.sampled_from([None, 0, 0, 0, 1, 1, 2, 5, -1, "0", "1", "x", 0.0, 1.5, True])
IDS = st.sampled_from([None, None, "a", "a", "b", "c", "", "null", 7, "é"])
NAMES = st.sampled_from([None, None, "f", "f", "g", "", "ff", 3])
FRAGMENTS = st.sampled_from(
    [
        *(None, "", "{}", "{}", '{"a":1}', '{"a":1}', '{"a":', '{"a":', "1}", "1}", "null", "  ", "{", "}"),
        *('"{}"', '"x"', "[1]", "7", "{}{}", '{"a":1,"a":2}', '{"a":NaN}', "1e999", '{"a":1.0}', '{"a":true}'),
        *('{"a":"\ud83d', '\ude00"}', '{"a":"\n"}', '{"a":"\\ud83d"}'),
    ]
)
OBJECTS: st.SearchStrategy[object] = st.sampled_from([{}, {"a": 1}, {"a": [1.0, True, None]}])
TEXTS = st.sampled_from([None, "", "x", "hello", "\ud83d", "\ude00!", "é"])
REASONS = st.sampled_from([None] * 6 + ["stop", "length", "tool_calls", "", "eos", "STOP", 3])
COUNTED = st.sampled_from([None, None, {}, {"prompt_tokens": 3}, {"completion_tokens": 4, "prompt_tokens": None}])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with these members, each of which may be missing where it is null."""
    filled = st.tuples(st.fixed_dictionaries(dict(members)), st.booleans())
    return filled.map(lambda drawn: {name: value for name, value in drawn[0].items() if value is not None or drawn[1]})


ENTRIES = some(index=INDEXES, id=IDS, function=some(name=NAMES, arguments=FRAGMENTS | FRAGMENTS | OBJECTS))
PARTS = st.lists(
    st.sampled_from([{"type": "text", "text": "t"}, {"type": "thinking", "thinking": "th"}, {"type": "odd", "n": 1}]),
    max_size=2,
)


def chunks(**calls: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Chunks of Chat Completions whose deltas may have these members too."""
    deltas = some(
        content=TEXTS | TEXTS | PARTS,
        reasoning_content=TEXTS,
        reasoning=st.sampled_from([None, None, "hm"]),
        refusal=st.sampled_from([None, None, None, "no", ""]),
        images=st.sampled_from([None, None, None, [{}], [{}, {}], []]),
        **calls,
    )
    choices = some(
        index=st.sampled_from([0, 0, 0, 0, 1, "0", None]),
        delta=deltas | st.none(),
        finish_reason=REASONS,
        usage=COUNTED,
    ).map(lambda choice: {"delta": None} | choice)
    return some(
        id=st.sampled_from(["r1", "r1", "r2", "", None]),
        model=st.sampled_from(["m", "m", None]),
        choices=st.lists(choices, min_size=1, max_size=1) | st.lists(choices, max_size=2),
        usage=COUNTED,
        error=st.sampled_from([None] * 30 + [False, "", {}, "x", {"message": "m", "code": 429}, 0]),
    ).map(lambda payload: {"object": "chat.completion.chunk"} | payload)


CHUNKS = chunks(tool_calls=st.lists(ENTRIES, max_size=2) | st.none())
LEGACY_CHUNKS = chunks(function_call=st.none() | some(name=NAMES, arguments=FRAGMENTS))
BLOCKS = st.sampled_from(["text", "thinking", "server_tool_use", "odd"]).map(
    lambda kind: {"type": kind, "text": "x", "thinking": "h", "id": "s", "name": "w", "input": {}, "data": "d"}
) | some(type=st.just("tool_use"), id=IDS, name=NAMES, input=st.sampled_from([None, {}, {"a": 1}]))
PLACES = st.sampled_from([0, 0, 1, 1, 2, None, "1", 1.0, -1])
EVENTS = st.one_of(
    some(type=st.just("content_block_start"), index=PLACES, content_block=BLOCKS),
    *[
        some(type=st.just("content_block_delta"), index=PLACES, delta=delta)
        for delta in (
            some(type=st.just("text_delta"), text=TEXTS),
            some(type=st.just("thinking_delta"), thinking=TEXTS),
            *[some(type=st.just("input_json_delta"), partial_json=FRAGMENTS)] * 3,
            some(type=st.just("odd_delta"), text=TEXTS),
        )
    ],
    some(type=st.just("content_block_stop"), index=PLACES),
    some(
        type=st.just("message_delta"),
        delta=some(
            stop_reason=st.sampled_from([None, "", "end_turn", "tool_use", "max_tokens", "pause_turn", "END_TURN"])
        ),
        usage=st.sampled_from([None, {"output_tokens": 5}, {"input_tokens": None, "output_tokens": 3}]),
    ),
    st.sampled_from(
        [
            {"type": "message_start", "message": {"id": "m2", "model": "k", "usage": {"input_tokens": 4}}},
            {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            {"type": "ping"},
            {"type": "new_event", "n": 1},
        ]
    ),
)
NOISE = st.sampled_from(
    [
        *(
            b": c\n\n",
            b"\n",
            b"data: \n\n",
            b"data: : k\n\n",
            b"event: x\n\n",
            b"id: 1\n\n",
            b"retry: 1\n",
            b"some text\n",
        ),
        *(
            b"event: error\n\n",
            b"error: x\n\n",
            b"error:\n",
            b'{"error":{"message":"u"}}\n',
            b"data: junk\n\n",
            b'{"a":\n1}\n',
        ),
        *(
            data({"type": "ping"}),
            data({"unknown": 1}),
            data({"detail": "x"}),
            data({"object": "error", "message": "q"}),
        ),
        *(data([]), data(7), data({}), DONE, STOP),
    ]
)


def encode(protocol: str, payload: dict[str, Any], *, named: bool) -> bytes:
    return data(payload, name=payload["type"] if named and protocol == "anthropic" else None)


@st.composite
def streams(draw: st.DrawFn, protocol: str) -> bytes:
    """The bytes of a stream that no server should send."""
    kinds = [EVENTS] if protocol == "anthropic" else [CHUNKS, CHUNKS, CHUNKS, LEGACY_CHUNKS]
    payloads = draw(st.lists(draw(st.sampled_from(kinds)), min_size=1, max_size=8))
    events = [encode(protocol, payload, named=draw(st.booleans())) for payload in payloads]
    if draw(st.integers(0, 3)) == 0:
        events.insert(draw(st.integers(1, len(events))), draw(NOISE))
    if protocol == "openai-chat":
        events += draw(st.sampled_from([[], [DONE], [chunk({}, "tool_calls"), DONE], [chunk({}, "length"), DONE]]))
    else:
        last = event("message_delta", delta={"stop_reason": draw(st.sampled_from(["tool_use", "max_tokens"]))})
        events = [START, *events, *draw(st.sampled_from([[], [STOP], [last, STOP], [last, STOP]]))]
    end = draw(st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"]))
    return b"".join(events).replace(b"\n", end)


OPTIONS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("complete", "include_reasoning", "include_usage", "synthesize_tool_ids")}
)


@given(st.data(), st.sampled_from(PROTOCOLS), OPTIONS)
@settings(max_examples=400, deadline=None)
def test_streams_that_no_server_should_send(draw: st.DataObject, protocol: str, options: dict[str, bool]) -> None:
    body = draw.draw(streams(protocol))
    check(protocol, body, cut(body, draw.draw(st.lists(st.integers(0, len(body)), max_size=4))), **options)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_prefix_of_a_sound_stream(protocol: str) -> None:
    body = BODIES[protocol]
    for size in range(len(body) + 1):
        for complete in (True, body[:size].endswith(b"]")):
            check(protocol, body[:size], complete=complete, include_reasoning=True, include_usage=True)


@given(st.data(), st.sampled_from(PROTOCOLS))
@settings(max_examples=200, deadline=None)
def test_sound_streams_that_lost_or_doubled_lines(draw: st.DataObject, protocol: str) -> None:
    events = [part + b"\n\n" for part in BODIES[protocol].split(b"\n\n")[:-1]]
    for _ in range(draw.draw(st.integers(1, 4))):
        start = draw.draw(st.integers(1, len(events)))
        end = draw.draw(st.integers(start, len(events)))
        events = draw.draw(
            st.sampled_from([events[:start] + events[end:], events[:end] + events[start:], events[:end]])
        )
    body = b"".join(events)
    check(protocol, body, complete=draw.draw(st.booleans()), include_reasoning=True, include_usage=True)
