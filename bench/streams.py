"""Recordings to measure with: bodies of streaming responses, made here, and what a right decoder finds in them.

Nothing is random: the same call gives the same bytes on every machine. The envelopes have the members, the order and
about the sizes that the services send, since a decoder's time depends on them; names, ids and words are made up.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

VOCABULARY = (
    "the of a to and in is with for on that ferry tide harbour lantern north wind keeper rope anchor signal copper "
    "drift quiet morning between slowly measure pilot chart shallow answer because however therefore île Ångström "
    'göra море 港口 灯台 🌊 "knots" C:\\log path/to 3.14 2025 (see) step; so, then: end.'
)
"""Mostly short words in ASCII, as in most answers; some that JSON escapes, some of other alphabets."""

WORDS = VOCABULARY.split(" ")

DONE = b"data: [DONE]\n\n"


class Call(NamedTuple):
    """A tool call, its arguments as the text that was sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Recording:
    """The body of one response.

    Attributes:
        name: What the tables call it.
        protocol: The API that it is written in, by tokwire's name.
        events: The whole body, cut between its server-sent events.
        text: The text of the answer.
        reasoning: The reasoning in front of it.
        calls: Its tool calls, in order.
        finish: Why it ended, in the word of the service.
    """

    name: str
    protocol: str
    events: list[bytes] = field(repr=False)
    text: str = field(default="", repr=False)
    reasoning: str = field(default="", repr=False)
    calls: tuple[Call, ...] = field(default=(), repr=False)
    finish: str = "stop"

    def reads(self, size: int | None) -> list[bytes]:
        """The body in reads of so many bytes, the last one shorter; None: one event per read."""
        if size is None:
            return list(self.events)
        body = b"".join(self.events)
        return [body[start : start + size] for start in range(0, len(body), size)]


def compact(value: object) -> str:
    """JSON as services write it: no spaces, no escapes that are not needed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fragments(lot: random.Random, count: int) -> list[str]:
    """Pieces of text about as long as the tokens that services send one by one."""
    words = (" " + lot.choice(WORDS) for _ in range(count))
    return [word[: lot.randint(3, 8)] if lot.random() < 0.9 else word + "\n" for word in words]


def arguments_of(lot: random.Random, size: int) -> str:
    """The arguments of a tool call: an object of about that many characters."""
    entries: list[dict[str, Any]] = []
    length = 0
    while length < size:
        note = " ".join(lot.choices(WORDS, k=6))
        entries.append({"port": lot.choice(WORDS), "depth": lot.randrange(10_000) / 100, "open": True, "note": note})
        length += len(compact(entries[-1])) + 1
    return compact({"log": "harbour", "entries": entries})


def pieces(text: str, count: int) -> Iterator[str]:
    """The text in that many parts of nearly equal length."""
    places = [len(text) * place // count for place in range(count + 1)]
    return (text[start:end] for start, end in pairwise(places))


class ChatWriter:
    """Writes chunks of Chat Completions.

    Args:
        model: The name of the model.
        lot: Where the `obfuscation` member of each chunk is drawn from; None leaves it out, as a client can ask for.
    """

    def __init__(self, model: str = "harbour-4-mini-2025-07-18", lot: random.Random | None = None) -> None:
        self.events: list[bytes] = []
        self._lot = lot
        self._head = {
            "id": "chatcmpl-D7harbourKq0Wz3nTtideYv5LmRfX2s",
            "object": "chat.completion.chunk",
            "created": 1764400000,
            "model": model,
            "service_tier": "default",
            "system_fingerprint": "fp_5c0ffee7a1",
        }

    def delta(self, delta: dict[str, Any], finish: str | None = None) -> None:
        """A chunk with one choice."""
        self._write([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], None)

    def end(self, finish: str, tokens: int) -> list[bytes]:
        """The finish reason, the usage and the end marker. Returns all events."""
        self.delta({}, finish)
        prompt = {"cached_tokens": 0, "audio_tokens": 0}
        completion = {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        }
        usage = {
            "prompt_tokens": 57,
            "completion_tokens": tokens,
            "total_tokens": tokens + 57,
            "prompt_tokens_details": prompt,
            "completion_tokens_details": completion,
        }
        self._write([], usage)
        self.events.append(DONE)
        return self.events

    def _write(self, choices: list[dict[str, Any]], usage: dict[str, Any] | None) -> None:
        chunk = self._head | {"choices": choices, "usage": usage}
        if self._lot is not None:
            letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
            chunk["obfuscation"] = "".join(self._lot.choices(letters, k=self._lot.randint(1, 12)))
        self.events.append(f"data: {compact(chunk)}\n\n".encode())


def openai_text(count: int = 2000, *, obfuscated: bool = False) -> Recording:
    """Text, one fragment per chunk; obfuscated: each chunk padded with noise, the default of OpenAI's own service."""
    lot = random.Random("text")
    text = fragments(lot, count)
    writer = ChatWriter(lot=lot if obfuscated else None)
    writer.delta({"role": "assistant", "content": "", "refusal": None})
    for fragment in text:
        writer.delta({"content": fragment})
    name = "OpenAI text, obfuscated" if obfuscated else "OpenAI text"
    return Recording(name, "openai-chat", writer.end("stop", count), text="".join(text))


def obfuscated_text(count: int = 2000) -> Recording:
    """Text with the noise."""
    return openai_text(count, obfuscated=True)


def openai_reasoning(count: int = 2500) -> Recording:
    """Four parts of `reasoning_content`, then one of text, as reasoning models behind this API send them."""
    lot = random.Random("reasoning")
    reasoning, text = fragments(lot, count - count // 5), fragments(lot, count // 5)
    writer = ChatWriter("harbour-reasoner")
    writer.events.append(b": keep-alive\n\n")
    writer.delta({"role": "assistant", "content": None, "reasoning_content": ""})
    for fragment in reasoning:
        writer.delta({"content": None, "reasoning_content": fragment})
    for fragment in text:
        writer.delta({"content": fragment, "reasoning_content": None})
    events = writer.end("stop", count)
    return Recording("OpenAI reasoning", "openai-chat", events, text="".join(text), reasoning="".join(reasoning))


def openai_tools(count: int = 3000, *, calls: int = 3, name: str = "OpenAI tool calls") -> Recording:
    """Tool calls one after the other, the arguments of each in many fragments of about a dozen characters."""
    lot = random.Random("tools")
    share = max(1, count // calls)
    made = tuple(
        Call(f"call_{index:024}", f"write_log_{index}", arguments_of(lot, 12 * share)) for index in range(calls)
    )
    writer = ChatWriter()
    writer.delta({"role": "assistant", "content": None, "refusal": None})
    for index, call in enumerate(made):
        function = {"name": call.name, "arguments": ""}
        writer.delta({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in pieces(call.arguments, share):
            writer.delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return Recording(name, "openai-chat", writer.end("tool_calls", count), calls=made, finish="tool_calls")


def big_tool_call(count: int = 50_000) -> Recording:
    """One tool call in that many fragments."""
    return openai_tools(count, calls=1, name="one big tool call")


def big_event(size: int = 8 << 20) -> Recording:
    """One event with so many characters of text in a single line."""
    sentence = "The keeper lights the lamp before the tide turns. "
    text = (sentence * (size // len(sentence) + 1))[:size]
    writer = ChatWriter()
    writer.delta({"role": "assistant", "content": "", "refusal": None})
    writer.delta({"content": text})
    return Recording("one big event", "openai-chat", writer.end("stop", 1), text=text)


def anthropic_mix(count: int = 2800, *, tools: int | None = None) -> Recording:
    """A thinking block with its signature, a text block, and a tool call; that has a tenth of the events by default."""
    lot = random.Random("anthropic")
    tools = max(1, count // 10) if tools is None else tools
    thinking, text = fragments(lot, count // 5), fragments(lot, count - count // 5 - tools)
    call = Call("toolu_01KeeperRope7Anchor3Pilot", "write_log", arguments_of(lot, 12 * tools))
    events: list[bytes] = []

    def write(kind: str, **members: Any) -> None:
        events.append(f"event: {kind}\ndata: {compact({'type': kind, **members})}\n\n".encode())

    def block(index: int, start: dict[str, Any], deltas: list[dict[str, str]]) -> None:
        write("content_block_start", index=index, content_block=start)
        for place, delta in enumerate(deltas):
            if place % 500 == 1:
                write("ping")
            write("content_block_delta", index=index, delta=delta)
        write("content_block_stop", index=index)

    usage = {"input_tokens": 210, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 3}
    message: dict[str, Any] = {
        "id": "msg_01HarbourTide0Lantern9Keeper",
        "type": "message",
        "role": "assistant",
        "model": "harbour-sonnet-4-5-20250929",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "service_tier": "standard"},
    }
    write("message_start", message=message)
    thoughts = [{"type": "thinking_delta", "thinking": fragment} for fragment in thinking]
    thoughts.append({"type": "signature_delta", "signature": "RqTiDe0a" * 64})
    block(0, {"type": "thinking", "thinking": "", "signature": ""}, thoughts)
    block(1, {"type": "text", "text": ""}, [{"type": "text_delta", "text": fragment} for fragment in text])
    inputs = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(call.arguments, tools)]]
    block(2, {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, inputs)
    write("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage=usage)
    write("message_stop")
    return Recording(
        "Anthropic mix",
        "anthropic",
        events,
        text="".join(text),
        reasoning="".join(thinking),
        calls=(call,),
        finish="tool_use",
    )


SPEED: tuple[Callable[..., Recording], ...] = (
    openai_text,
    obfuscated_text,
    openai_reasoning,
    openai_tools,
    anthropic_mix,
)
"""The recordings of the speed table, each with a default for about how many events it has."""
