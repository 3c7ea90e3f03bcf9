"""What the tests of the decoder share: ways to cut a body, the outcome of decoding it, and payloads to decode."""

from __future__ import annotations

import functools
import json
import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import msgspec

import tokwire
from tokwire._options import DecodeOptions
from tokwire.protocols import find_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

EVERY_CUT_UP_TO = 400
PROTOCOLS = ("openai-chat", "anthropic")


class Failure(NamedTuple):
    """An error, as plain values that can be compared."""

    kind: str
    text: str
    offset: int | None
    excerpt: bytes


class Outcome(NamedTuple):
    """What a decoder made of a body. `exact` tells 1, 1.0 and true apart, which `==` on the events does not."""

    events: list[tokwire.StreamEvent]
    failure: Failure | None
    summary: tokwire.StreamSummary
    exact: str

    @property
    def text(self) -> str:
        """The joined text of the answer."""
        return "".join(event.as_text() or "" for event in self.events)

    @property
    def reasoning(self) -> str:
        """The joined reasoning."""
        return "".join(event.as_reasoning() or "" for event in self.events)

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        """Id, name and input of the delivered tool calls."""
        blocks = [event.as_block() for event in self.events]
        return [(block.id, block.name, block.input) for block in blocks if isinstance(block, tokwire.ToolUseBlock)]

    @property
    def finish(self) -> tokwire.FinishReason | None:
        """The reason of the last event, where that is a `Finish`."""
        return self.events[-1].finish_reason() if self.events else None


def describe(error: tokwire.TokwireError) -> Failure:
    """The facts of an error."""
    return Failure(type(error).__name__, str(error), getattr(error, "offset", None), getattr(error, "excerpt", b""))


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body, cut at the places; equal places give empty reads."""
    return [body[start:end] for start, end in pairwise([0, *sorted(places), len(body)])]


def single_bytes(body: bytes) -> list[bytes]:
    """The body, one byte per read."""
    return [bytes([byte]) for byte in body]


def every_way(body: bytes) -> Iterator[list[bytes]]:
    """Whole, one byte per read, and in two: at every place where the body is short, else at places drawn by lot."""
    yield [body]
    yield single_bytes(body)
    if len(body) <= EVERY_CUT_UP_TO:
        yield from (cut(body, [place]) for place in range(1, len(body)))
        return
    lot = random.Random(len(body))
    yield from (cut(body, [lot.randrange(len(body)) for _ in range(lot.choice((1, 2, 8)))]) for _ in range(30))


def outcome(
    make: Callable[[], tokwire.StreamDecoder], reads: Sequence[bytes], *, complete: bool | None = True
) -> Outcome:
    """Feed the reads one by one and take what is ready after each; `complete` None announces no end."""
    decoder = make()
    events: list[tokwire.StreamEvent] = []
    failure = None
    try:
        for read in reads:
            decoder.receive_data(read)
            events.extend(decoder.events())
        if complete is not None:
            decoder.receive_eof(complete=complete)
            events.extend(decoder.events())
    except tokwire.TokwireError as error:
        failure = describe(error)
    return Outcome(events, failure, decoder.summary, f"{events!r} {decoder.summary!r} {decoder.state}")


def decode_options(**options: Unpack[tokwire.DecoderOptions]) -> DecodeOptions:
    """The options of a decoder as its parts get them."""
    members: dict[str, Any] = dict.fromkeys(DecodeOptions.__struct_fields__, False)
    members.update(repair_arguments=None, limits=tokwire.Limits())
    members.update(options)
    return DecodeOptions(**members)


@functools.cache
def without_quick_path(name: str) -> tokwire.ApiProtocol:
    """The protocol with everything taking the exact way."""
    return msgspec.structs.replace(find_protocol(name), events=None)


def decoded(
    protocol: str, body: bytes, *, complete: bool | None = True, **options: Unpack[tokwire.DecoderOptions]
) -> Outcome:
    """The outcome of a body, once it was shown to be the same for every way to cut it, on both paths."""
    expected = outcome(lambda: tokwire.StreamDecoder(protocol, **options), [body], complete=complete)
    plain = without_quick_path(protocol)
    for place, reads in enumerate(every_way(body)):
        found = outcome(lambda: tokwire.StreamDecoder(protocol, **options), reads, complete=complete)
        assert found == expected, f"cut {place}: {reads!r}"
        if place < 2 or place % 3 == 0:
            exact = outcome(lambda: tokwire.StreamDecoder(plain, **options), reads, complete=complete)
            assert exact == expected, f"the exact path, cut {place}: {reads!r}"
    return expected


def data(payload: object, *, name: str | None = None) -> bytes:
    """One event of the stream; what is not bytes becomes JSON."""
    text = payload if isinstance(payload, bytes) else json.dumps(payload, separators=(",", ":")).encode()
    return (b"" if name is None else b"event: " + name.encode() + b"\n") + b"data: " + text + b"\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, *, choice: int = 0, **more: Any) -> bytes:
    """One chunk of Chat Completions."""
    member = {"index": choice, "delta": delta or {}, "finish_reason": finish}
    return data({"id": "r1", "object": "chat.completion.chunk", "model": "m1", "choices": [member], **more})


def tool(index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: str = "") -> bytes:
    """One chunk with one fragment of a tool call."""
    function = {"arguments": arguments} | ({} if name is None else {"name": name})
    entry = {"index": index, "id": call_id, "function": function}
    return chunk({"tool_calls": [{key: value for key, value in entry.items() if value is not None}]})


DONE = b"data: [DONE]\n\n"


def event(kind: str, **members: Any) -> bytes:
    """One event of Anthropic Messages."""
    return data({"type": kind, **members}, name=kind)


START = event("message_start", message={"id": "a1", "model": "m2", "role": "assistant", "content": []})
STOP = event("message_stop")


def open_block(index: int, **block: Any) -> bytes:
    """The start of a content block."""
    return event("content_block_start", index=index, content_block=block)


def delta(index: int, kind: str, text: str) -> bytes:
    """A delta of a content block; `kind` is `text`, `thinking`, `signature` or `input_json`."""
    member = "partial_json" if kind == "input_json" else kind
    return event("content_block_delta", index=index, delta={"type": f"{kind}_delta", member: text})


def close_block(index: int) -> bytes:
    """The end of a content block."""
    return event("content_block_stop", index=index)


def end_of_content(reason: str | None = "end_turn", **members: Any) -> bytes:
    """The event with the stop reason."""
    return event("message_delta", delta={"stop_reason": reason}, **members)


def text_stream(protocol: str, *fragments: str) -> bytes:
    """The begin of a stream with these text fragments, without reason or end marker."""
    if protocol == "openai-chat":
        return b"".join(chunk({"content": fragment}) for fragment in fragments)
    deltas = b"".join(delta(0, "text", fragment) for fragment in fragments)
    return START + open_block(0, type="text", text="") + deltas


def reason_of(protocol: str) -> bytes:
    """The event that reports an ordinary stop."""
    return chunk({}, "stop") if protocol == "openai-chat" else end_of_content("end_turn")


def marker_of(protocol: str) -> bytes:
    """The end marker."""
    return DONE if protocol == "openai-chat" else STOP


CHAT = (
    chunk({"reasoning_content": "hm"})
    + chunk({"content": "a"})
    + chunk({"content": "b"})
    + tool(0, "c1", "f", '{"x":')
    + tool(0, None, None, "1}")
    + tool(1, "c2", "g", "{}")
    + chunk({"refusal": "no"})
    + chunk({}, "tool_calls")
    + data({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}})
    + DONE
)
MESSAGES = (
    START
    + open_block(0, type="thinking", thinking="", signature="")
    + delta(0, "thinking", "hm")
    + delta(0, "signature", "s1")
    + open_block(1, type="text", text="")
    + delta(1, "text", "a")
    + event("ping")
    + delta(1, "text", "b")
    + open_block(2, type="tool_use", id="c1", name="f", input={})
    + delta(2, "input_json", '{"x":')
    + delta(2, "input_json", "1}")
    + end_of_content("tool_use", usage={"output_tokens": 6})
    + STOP
)
BODIES = {"openai-chat": CHAT, "anthropic": MESSAGES}
"""One body of each protocol with something of everything."""

EVERYTHING: tokwire.DecoderOptions = {
    "include_reasoning": True,
    "include_usage": True,
    "include_tool_deltas": True,
    "include_raw": True,
    "keep_thinking": True,
}
"""The options that show all that there is."""
