"""A hostile server: whatever it sends gives a clear error or an answer, in bounded memory and in linear work.

Work is counted, never timed: the instructions that the core executes, and the bytes and items that the methods of
`bytes`, `str` and `list` which it calls have to look at. Both are the same in every run.
"""

from __future__ import annotations

import tracemalloc
from itertools import chain, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fuzz._work import Work, work_for
from tests.support import DONE, START, chunk, data, decoded, delta, end_of_content, event, open_block, tool

import tokwire
from tokwire import LimitExceeded, Limits, TokwireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KIB, MIB = 1 << 10, 1 << 20


class Attack(NamedTuple):
    """A body of `n` units, and how it is decoded."""

    make: Callable[[int], Sequence[bytes]]
    protocol: str = "openai-chat"
    options: Mapping[str, Any] = MappingProxyType({})


def thinking(index: int, **delta_members: str) -> bytes:
    """A delta of a thinking block."""
    return event("content_block_delta", index=index, delta=delta_members)


ANY = {"limits": Limits(max_tool_calls=None)}
ATTACKS = {
    "text": Attack(lambda n: [chunk({"content": "x"})] * n),
    "text in one read": Attack(lambda n: [chunk({"content": "x"}) * n]),
    "fragments of one call": Attack(lambda n: [tool(0, "c", "f"), *[tool(0, arguments="1")] * n]),
    "calls": Attack(lambda n: [tool(i, f"c{i}", "f", "{}") for i in range(n)], options=ANY),
    "calls under one index": Attack(lambda n: [tool(0, f"c{i}", "f", "{}") for i in range(n)], options=ANY),
    "calls without ids": Attack(
        lambda n: [tool(i, None, "f") for i in range(n)], options=ANY | {"synthesize_tool_ids": True}
    ),
    "fragments without index": Attack(
        lambda n: [*(tool(None, f"c{i}", "f") for i in range(n)), *[tool(arguments="1")] * n], options=ANY
    ),
    "indexes that wait": Attack(
        lambda n: [tool(0, "c", "f"), *(tool(i, arguments="1") for i in range(n))], options=ANY
    ),
    "choices": Attack(lambda n: [chunk({"content": "x"}, choice=i) for i in range(n)]),
    "reasons": Attack(lambda n: [tool(0, "c", "f"), *(chunk({}, "stop", choice=i) for i in range(n))]),
    "usage with new names": Attack(lambda n: [chunk(usage={f"name{i}": 1}) for i in range(n)]),
    "halves of pairs": Attack(lambda n: [chunk({"content": "\ud83d"})] * n),
    "pictures": Attack(lambda n: [chunk({"images": [{}]})] * n),
    "signatures": Attack(lambda n: [chunk({"reasoning_details": [{"type": "t", "data": "x"}]})] * n),
    "payloads shown": Attack(lambda n: [chunk({"content": "x"})] * n, options={"include_raw": True}),
    "comments": Attack(lambda n: [b": x\n"] * n),
    "comments as events": Attack(lambda n: [b": x\n\n"] * n),
    "blank lines": Attack(lambda n: [b"\n"] * n),
    "carriage returns": Attack(lambda n: [b"\r"] * n),
    "data lines": Attack(lambda n: [*[b"data: 1\n"] * n, b"\n"]),
    "data lines in one read": Attack(lambda n: [b"data: 1\r\n" * n]),
    "end marks that end nothing": Attack(lambda n: [b"data: x\n", *[b"data: [DONE]\n"] * n]),
    "events of two payloads": Attack(lambda n: [b"data: 1\r\ndata: 2\r\n\r\n" * n]),
    "text that is no stream": Attack(lambda n: [b"text\n"] * n),
    "a body over lines": Attack(lambda n: [b'{"a":[\n', *[b"1,\n"] * n]),
    "a body in bytes": Attack(lambda n: [b'{"a":"', *[b"x"] * n]),
    "JSON behind an event": Attack(lambda n: [chunk({}), b'{"a":\n', *[b"1\n"] * n]),
    "an event in small reads": Attack(lambda n: [b'data: {"a":"', *[b"x" * 64] * n, b'"}\n\n']),
    "an event in bytes": Attack(lambda n: [b"event: message\ndata: ", *[b"1"] * n, b"\n\n"]),
    "deltas": Attack(lambda n: [START, *[delta(0, "text", "x")] * n], "anthropic"),
    "deltas of many blocks": Attack(lambda n: [START, *(delta(i, "text", "x") for i in range(n))], "anthropic"),
    "input of lost blocks": Attack(lambda n: [START, *(delta(i, "input_json", "1") for i in range(n))], "anthropic"),
    "blocks": Attack(
        lambda n: [START, *(open_block(i, type="tool_use", id=f"t{i}", name="f", input={"a": 1}) for i in range(n))],
        "anthropic",
        ANY,
    ),
    "unknown blocks": Attack(lambda n: [START, *(open_block(i, type="odd") for i in range(n))], "anthropic"),
    "thinking that is kept": Attack(
        lambda n: [START, *[thinking(0, type="thinking_delta", thinking="x")] * n], "anthropic", {"keep_thinking": True}
    ),
    "stop reasons": Attack(lambda n: [START, *[end_of_content("end_turn", usage={"a": 1})] * n], "anthropic"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_twice_the_input_is_at_most_twice_the_work(name: str) -> None:
    attack = ATTACKS[name]
    small, large = (work_for(attack.protocol, attack.make(count), **attack.options) for count in (60, 120))
    assert small.instructions > 60
    assert large.instructions <= 2.1 * small.instructions
    assert large.looked_at <= 2.2 * small.looked_at + KIB


def test_work_that_grows_faster_is_seen() -> None:
    def work(count: int) -> Work:
        with Work() as found:
            tokwire.coalesce_text_blocks([tokwire.TextBlock("x")] * count**2)
        return found

    assert work(20).instructions > 3 * work(10).instructions
    text = b"x" * 1000
    with Work() as found:
        text.find(b"y")
    assert found.looked_at == 1000


def fed_forever(protocol: str, start: bytes, unit: bytes, limits: Limits, times: int) -> tuple[str, int]:
    """Feed one unit again and again. Returns the limit that stopped it, and the most memory that was in use."""
    decoder = tokwire.StreamDecoder(protocol, limits=limits)
    stopped = ""
    tracemalloc.start()
    try:
        for read in chain([start], repeat(unit, times)):
            decoder.receive_data(read)
            list(decoder.events())
    except LimitExceeded as error:
        stopped = error.limit
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return stopped, most


SMALL = Limits(max_line_bytes=8 * KIB, max_event_bytes=16 * KIB, max_tool_arguments_bytes=4 * KIB, max_tool_calls=16)
ENDLESS: dict[str, tuple[str, bytes, bytes, str]] = {
    "a line": ("openai-chat", b"data: ", b"x" * 512, "max_line_bytes"),
    "a comment": ("openai-chat", b": ", b"x" * 512, "max_line_bytes"),
    "a line of no stream": ("openai-chat", b"", b"x" * 512, "max_line_bytes"),
    "an event": ("openai-chat", b"", b"data: " + b"1" * 500 + b"\n", "max_event_bytes"),
    "a body": ("openai-chat", b"{\n", b'"a": 1,\n', "max_event_bytes"),
    "arguments": ("openai-chat", tool(0, "c", "f"), tool(0, arguments="x" * 100), "max_tool_arguments_bytes"),
    "arguments that wait": ("openai-chat", tool(0, "c", "f"), tool(1, arguments="x" * 100), "max_tool_arguments_bytes"),
    "an event name": ("anthropic", b"event: ", b"x" * 512, "max_line_bytes"),
    "comments": ("openai-chat", b"", b": keep waiting\n", ""),
    "comments as events": ("openai-chat", b"", b": keep waiting\n\n", ""),
    "blank lines": ("anthropic", b"", b"\r\n\n", ""),
    "heartbeats": ("anthropic", START, event("ping"), ""),
    "text": ("openai-chat", b"", chunk({"content": "x" * 100}), ""),
    "reasoning": ("anthropic", START, thinking(0, type="thinking_delta", thinking="x" * 100), ""),
    "signatures": ("anthropic", START, thinking(0, type="signature_delta", signature="x" * 100), ""),
    "lost fragments": ("anthropic", START, delta(7, "input_json", "x" * 100), ""),
    "echoes of usage": ("anthropic", START, end_of_content("end_turn", usage={"output_tokens": 1}), ""),
    "unknown payloads": ("openai-chat", b"", data({"a": "x" * 100}), ""),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_stays_within_bounds(name: str) -> None:
    protocol, start, unit, limit = ENDLESS[name]
    times = 3000
    stopped, most = fed_forever(protocol, start, unit, SMALL, times)
    assert stopped == limit
    assert most < 256 * KIB
    if not limit:
        assert fed_forever(protocol, start, unit, SMALL, 2 * times)[1] < most + 4 * KIB


def nested(depth: int) -> str:
    """JSON text nested so deep."""
    return "[" * depth + "]" * depth


BOTH_SIDES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "a line": ("max_line_bytes", lambda size: b"data: 1\n:" + b"x" * (size - 1) + b"\n\n"),
    "a line without an end": ("max_line_bytes", lambda size: b": a\n:" + b"x" * (size - 1)),
    "the data of an event": ("max_event_bytes", lambda size: b"data: 1\ndata: " + b"2" * (size - 2) + b"\n\n"),
    "a body": ("max_event_bytes", lambda size: b'{"' + b"a" * (size - 6) + b'":1}'),
    "arguments": ("max_tool_arguments_bytes", lambda size: tool(0, "c", "f", '"' + "x" * (size - 2) + '"')),
    "arguments in fragments": (
        "max_tool_arguments_bytes",
        lambda size: tool(0, "c", "f") + tool(0, arguments="1") * size,
    ),
    "calls": ("max_tool_calls", lambda size: b"".join(tool(place, f"c{place}", "f") for place in range(size))),
    "a payload's depth": ("max_json_depth", lambda size: data(f'{{"choices":[],"a":{nested(size - 1)}}}'.encode())),
}


@pytest.mark.parametrize("name", BOTH_SIDES)
@pytest.mark.parametrize("size", [40, 130])
def test_a_limit_holds_from_both_sides(name: str, size: int) -> None:
    limit, make = BOTH_SIDES[name]
    limits = Limits(**{limit: size})
    within = decoded("openai-chat", make(size), limits=limits)
    assert within.failure is None or within.failure.kind != "LimitExceeded"
    beyond = decoded("openai-chat", make(size + 1), limits=limits)
    assert beyond.failure is not None
    assert (beyond.failure.kind, f"{limit}={size}" in beyond.failure.text) == ("LimitExceeded", True)
    unlimited = decoded("openai-chat", make(size + 1), limits=Limits(**{limit: None}))
    assert unlimited.failure is None or unlimited.failure.kind != "LimitExceeded"


@pytest.mark.parametrize("depth", [513, 100_000])
def test_deep_nesting_is_refused_and_never_reaches_the_stack(depth: int) -> None:
    deep = nested(depth)
    for body in (data(deep.encode()), deep.encode(), b"data: {}\n\n" + deep.encode() + b"\n\n"):
        with pytest.raises(TokwireError):
            tokwire.decode(body, "openai-chat")
        with pytest.raises(TokwireError):
            tokwire.decode(body, "openai-chat", limits=Limits(max_json_depth=None))
    with pytest.raises(tokwire.InvalidToolArguments, match="deep"):
        tokwire.decode(tool(0, "c", "f", deep) + DONE, "openai-chat")


def test_a_million_calls_stop_at_the_default_limit() -> None:
    decoder = tokwire.StreamDecoder("openai-chat")
    for opened in range(4096):
        decoder.receive_data(tool(opened, f"c{opened}", "f"))
        assert not list(decoder.events())
    for _ in range(2):
        decoder.receive_data(tool(4096, "c4096", "f") * 3)
        with pytest.raises(LimitExceeded, match="max_tool_calls=4096"):
            list(decoder.events())


def test_indexes_of_any_size_and_sign_are_labels() -> None:
    labels = [0, 10**40, -1, 7, -(10**40), 2**63]
    body = b"".join(tool(label, f"c{label}", "f", "{}") for label in labels) + DONE
    assert [call[0] for call in decoded("openai-chat", body).calls] == [f"c{label}" for label in sorted(labels)]


def test_an_id_of_megabytes_is_an_id() -> None:
    call_id = "i" * (2 * MIB)
    events = tokwire.decode(tool(0, call_id, "f") + tool(None, call_id, None, "{}") + DONE, "openai-chat")
    assert events[0] == tokwire.Block(tokwire.ToolUseBlock(call_id, "f", {}))


@pytest.mark.parametrize(("digits", "is_valid"), [(4300, True), (4301, False), (1_000_000, False)])
def test_numbers_of_thousands_of_digits_are_exact_or_invalid(digits: int, *, is_valid: bool) -> None:
    number = "7" * digits
    unread = data(f'{{"id":"r1","choices":[],"usage":{{"a":{number}}},"b":{number}}}'.encode())
    assert tokwire.decode(unread + DONE, "openai-chat") == [tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)]
    body = tool(0, "c", "f", f'{{"n":{number}}}') + DONE
    if is_valid:
        block = tokwire.decode(body, "openai-chat")[0].as_block()
        assert isinstance(block, tokwire.ToolUseBlock)
        assert block.input["n"] % 10**9 == 777_777_777
    else:
        with pytest.raises(tokwire.InvalidToolArguments):
            tokwire.decode(body, "openai-chat")


def test_choices_of_any_number_have_a_stream_each() -> None:
    body = b"".join(chunk({"content": "x"}, choice=choice) for choice in (*range(2000), -5, 10**30)) + DONE
    assert len({found.choice for found in tokwire.decode(body, "openai-chat")}) == 2002
