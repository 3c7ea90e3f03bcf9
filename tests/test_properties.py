"""Properties that hold for any stream: what was generated is what comes out, and nothing but our errors ever leaves."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import (
    BODIES,
    DONE,
    EVERYTHING,
    PROTOCOLS,
    START,
    STOP,
    chunk,
    close_block,
    cut,
    data,
    delta,
    end_of_content,
    event,
    open_block,
    outcome,
    tool,
    without_quick_path,
)

import tokwire
from tokwire import Finish, FinishReason, Limits, StreamDecoder

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
NAMES = st.text("abcdefgh_", min_size=1, max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), JSON, max_size=3)


class Call(NamedTuple):
    """A tool call, and how its argument text is cut into fragments."""

    name: str
    arguments: dict[str, Any]
    places: list[int]
    escaped: bool

    @property
    def fragments(self) -> list[str]:
        text = json.dumps(self.arguments, ensure_ascii=self.escaped)
        places = [0, *sorted(place % (len(text) + 1) for place in self.places), len(text)]
        return [text[start:end] for start, end in pairwise(places)]


CALLS = st.builds(Call, NAMES, ARGUMENTS, st.lists(st.integers(0, 99), max_size=4), st.booleans())
PARTS = st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), TEXT), max_size=8)
NOISE = {
    "openai-chat": [
        b": OPENROUTER PROCESSING\n\n",
        b"\n",
        b"data: \n\n",
        b"event: ping\ndata: {}\n\n",
        data({"type": "keepalive"}),
        data({"unknown": {"n": [1]}}),
        data({"choices": [], "obfuscation": "x9"}),
        chunk({"role": "assistant", "content": None, "tool_calls": None}),
    ],
    "anthropic": [
        b": keep-alive\n\n",
        b"\r\n",
        event("ping"),
        event("unknown_event", n=1),
        b"retry: 10\n\n",
        data({"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "text": "x"}}),
        close_block(77),
    ],
}


def wire(protocol: str, parts: list[tuple[str, str]], calls: list[Call]) -> list[bytes]:
    """The events of a stream with these parts, then these calls with their fragments mingled."""
    events: list[bytes] = []
    if protocol == "openai-chat":
        names = {"text": "content", "reasoning": "reasoning_content"}
        events += [chunk({names[kind]: text}, obfuscation="aaa") for kind, text in parts]
        events += [tool(index, f"c{index}", call.name) for index, call in enumerate(calls)]
        longest = max((len(call.fragments) for call in calls), default=0)
        for step in range(longest):
            events += [
                tool(index, None, None, call.fragments[step])
                for index, call in enumerate(calls)
                if step < len(call.fragments)
            ]
        return [*events, chunk({}, "tool_calls" if calls else "stop"), DONE]
    events.append(START)
    for index, (kind, text) in enumerate(parts):
        tag = "thinking" if kind == "reasoning" else kind
        events += [open_block(index, type=tag, **{tag: ""}), delta(index, tag, text), close_block(index)]
    for index, call in enumerate(calls, len(parts)):
        events.append(open_block(index, type="tool_use", id=f"c{index - len(parts)}", name=call.name, input={}))
        events += [delta(index, "input_json", fragment) for fragment in call.fragments]
        events.append(close_block(index))
    return [*events, end_of_content("tool_use" if calls else "end_turn"), STOP]


def sane(found: tokwire.StreamEvent) -> bool:
    """Whether an event survives the way through JSON; a half of a surrogate pair in it would not."""
    return tokwire.event_from_json(msgspec.json.encode(found)) == found


@given(st.sampled_from(PROTOCOLS), PARTS, st.lists(CALLS, max_size=3), st.data())
@settings(max_examples=150, deadline=None)
def test_what_was_generated_comes_out(
    protocol: str, parts: list[tuple[str, str]], calls: list[Call], draw: st.DataObject
) -> None:
    events = wire(protocol, parts, calls)
    for place in draw.draw(st.lists(st.integers(0, len(events) - 2), max_size=4), label="noise at"):
        events.insert(place, draw.draw(st.sampled_from(NOISE[protocol])))
    body = b"".join(events)
    places = draw.draw(st.lists(st.integers(0, len(body)), max_size=12), label="cuts")
    path = without_quick_path(protocol) if draw.draw(st.booleans(), label="exact") else protocol
    found = outcome(lambda: StreamDecoder(path, include_reasoning=True), cut(body, places))
    assert found.failure is None
    shown = [
        ("text", each.as_text()) if each.as_reasoning() is None else ("reasoning", each.as_reasoning())
        for each in found.events
        if each.as_text() is not None or each.as_reasoning() is not None
    ]
    assert shown == parts
    assert found.calls == [(f"c{index}", call.name, call.arguments) for index, call in enumerate(calls)]
    assert found.events[-1] == Finish(FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    assert all(map(sane, found.events))
    assert found.summary.end_marker
    assert found.summary.dropped_tool_calls == ()
    silent = outcome(lambda: StreamDecoder(protocol), [body])
    assert (silent.text, silent.reasoning) == (found.text, "")


def check(protocol: str, body: bytes, reads: list[bytes], *, complete: bool, **options: Any) -> None:
    """One way to decode a body against the slow path, and what must hold of any outcome."""
    found = outcome(lambda: StreamDecoder(protocol, **options), reads, complete=complete)
    assert found == outcome(lambda: StreamDecoder(without_quick_path(protocol), **options), [body], complete=complete)
    finishes = [each for each in found.events if isinstance(each, Finish)]
    if found.failure is None:
        assert finishes == found.events[-1:]
    else:
        assert finishes == []
        assert len(found.failure.excerpt) <= 64
        assert found.failure.kind in tokwire.__all__
    assert all(map(sane, found.events))


LIMITS = st.builds(
    Limits,
    max_line_bytes=st.sampled_from([None, 30, 120]),
    max_event_bytes=st.sampled_from([None, 30, 120]),
    max_tool_arguments_bytes=st.sampled_from([None, 8]),
    max_tool_calls=st.sampled_from([None, 1]),
    max_json_depth=st.sampled_from([None, 3, 6]),
)


@given(st.sampled_from(PROTOCOLS), st.binary(max_size=120), st.data())
@settings(max_examples=150, deadline=None)
def test_arbitrary_bytes(protocol: str, body: bytes, draw: st.DataObject) -> None:
    reads = cut(body, draw.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    check(protocol, body, reads, complete=draw.draw(st.booleans()), limits=draw.draw(LIMITS))


PIECES = [
    *(
        b"data: ",
        b"data:",
        b"event: ",
        b"error: x",
        b"error",
        b": c",
        b"[DONE]",
        b"data: [DONE]",
        b"id: 1",
        b"junk",
        b"<p>",
    ),
    *(
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b"{",
        b"}",
        b'{"error":',
        b'{"a":1}',
        b"null",
        b"\x1f\x8b",
        b"\xef\xbb\xbf",
        b"\xff",
    ),
    *(b'"\\ud83d"', b"1e999", b"message_stop", b"content_block_delta", b'{"choices":[{"delta":{"content":"x"}}]}'),
]


@given(st.sampled_from(PROTOCOLS), st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join), st.data())
@settings(max_examples=250, deadline=None)
def test_pieces_of_streams(protocol: str, body: bytes, draw: st.DataObject) -> None:
    reads = cut(body, draw.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    check(protocol, body, reads, complete=draw.draw(st.booleans()), limits=draw.draw(LIMITS))


INSERTED = [piece for piece in PIECES if piece.count(b"{") == piece.count(b"}")]


def mutate(body: bytes, draw: st.DataObject) -> bytes:
    """Delete, double or insert a few stretches, by lines or by bytes."""
    for _ in range(draw.draw(st.integers(1, 3))):
        units = body.split(b"\n") if draw.draw(st.booleans()) else [bytes([byte]) for byte in body]
        join = b"\n" if len(units) != len(body) else b""
        start = draw.draw(st.integers(0, len(units)))
        end = min(len(units), start + draw.draw(st.integers(0, 6)))
        match draw.draw(st.sampled_from(["delete", "double", "insert", "truncate", "move"])):
            case "delete":
                units[start:end] = []
            case "double":
                units[start:start] = units[start:end]
            case "insert":
                units.insert(start, draw.draw(st.sampled_from(INSERTED)))
            case "truncate":
                units[end:] = []
            case _:
                units = [*units[start:end], *units[:start], *units[end:]]
        body = join.join(units)
    return body


@given(st.sampled_from(PROTOCOLS), st.sampled_from(PROTOCOLS), st.data())
@settings(max_examples=250, deadline=None)
def test_streams_that_were_damaged(protocol: str, spoken: str, draw: st.DataObject) -> None:
    body = mutate(BODIES[spoken], draw)
    reads = cut(body, draw.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    options = EVERYTHING if draw.draw(st.booleans()) else {}
    limits = draw.draw(st.just(Limits()) | LIMITS)
    check(protocol, body, reads, complete=draw.draw(st.booleans()), limits=limits, **options)
