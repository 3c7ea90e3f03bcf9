"""Limits one under, at and one over, for every cut and on both paths: same verdict, same place, same value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support import (
    PROTOCOLS,
    START,
    Outcome,
    chunk,
    data,
    decoded,
    delta,
    marker_of,
    open_block,
    reason_of,
    text_stream,
    tool,
)

import tokwire
from tokwire import LimitExceeded, Limits

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = 400
OFF = Limits(
    max_line_bytes=None,
    max_event_bytes=None,
    max_tool_arguments_bytes=None,
    max_tool_calls=None,
    max_frame_bytes=None,
    max_json_depth=None,
    max_head_bytes=None,
    max_error_body_bytes=None,
)


def exceeds(found: Outcome, limit: str, value: int, offset: int) -> bool:
    """Whether the outcome is exactly this error; any other error is none that a limit may give."""
    assert found.failure is None or found.failure.kind == LimitExceeded.__name__, found.failure
    if found.failure is None:
        return False
    assert f"{limit}={value};" in found.failure.text
    assert f"Limits({limit}=...)" in found.failure.text
    assert found.failure.offset == offset
    return True


def padded(size: int) -> bytes:
    """A payload of exactly this size that every protocol takes for a heartbeat."""
    empty = b'{"type":"ping","pad":""}'
    return b'{"type":"ping","pad":"' + b"x" * (size - len(empty)) + b'"}'


LEADS = [b"data: ", b"data:", b"event: x\ndata: ", b"id: 7\ndata: "]
ENDS = [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b""]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_an_event(protocol: str, lead: bytes, end: bytes) -> None:
    for over in (-1, 0, 1, 60):
        for before in (b"", b"\n\n: c\n"):
            body = before + lead + padded(120 + over) + end
            found = decoded(protocol, body, limits=Limits(max_event_bytes=120))
            assert exceeds(found, "max_event_bytes", 120, len(before)) == (over > 0)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_a_line(protocol: str, end: bytes) -> None:
    for over in (-1, 0, 1, 60):
        lines = {b"data: " + padded(114 + over), b":" + b"c" * (119 + over), b"event: " + b"n" * (113 + over)}
        for line in lines:
            assert len(line) == 120 + over
            body = b": first\n\n" + line + end
            found = decoded(protocol, body, limits=Limits(max_line_bytes=120))
            assert exceeds(found, "max_line_bytes", 120, 9) == (over > 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_several_lines(protocol: str) -> None:
    for over in (-1, 0, 1):
        body = b'data: {"type":\ndata: "ping","n":' + b" " * (100 + over) + b"0\ndata: }\n\n"
        size = len(body) - len(b"data: " * 3) - 2
        found = decoded(protocol, body, limits=Limits(max_event_bytes=size - over))
        assert exceeds(found, "max_event_bytes", size - over, 0) == (over > 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_ordinary_events(protocol: str) -> None:
    """The quick path takes these without a look at a limit, as long as none can be near."""
    body = text_stream(protocol, "a", "b")
    last = body.rindex(b"\n\n", 0, -2) + 2
    long = body[last:].replace(b'"b"', b'"' + b"b" * 60 + b'"')
    payload = long.partition(b"data: ")[2].rstrip(b"\n")
    for limits, size in ((Limits(max_event_bytes=len(payload)), 0), (Limits(max_line_bytes=6 + len(payload)), 6)):
        assert decoded(protocol, body + long, limits=limits).text == "ab" + "b" * 60
        name = "max_line_bytes" if size else "max_event_bytes"
        smaller = Limits(**{name: size + len(payload) - 1})
        found = decoded(protocol, body + long, limits=smaller)
        place = len(body) + (long.index(b"data: ") if size else 0)
        assert exceeds(found, name, size + len(payload) - 1, place)
        assert found.text == "ab"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_json_without_framing(protocol: str) -> None:
    for over in (-1, 0, 1):
        text = b'{"n":\n' + b" " * (92 + over) + b"0\n}"
        assert len(text) == 101 + over
        found = decoded(protocol, text_stream(protocol, "a") + text + b"\n", limits=Limits(max_event_bytes=220))
        assert found.failure is None
        for before in (b"\n", b"\r\n"):
            small = decoded(protocol, before + text + b"\n", limits=Limits(max_event_bytes=101))
            if over > 0:
                assert exceeds(small, "max_event_bytes", 101, len(before))
            else:
                assert small.failure is not None
                assert "unknown" in small.failure.text


def call_stream(protocol: str, *calls: tuple[str, ...]) -> tuple[bytes, list[int]]:
    """A stream with these calls, each a tuple of argument fragments, and where its events begin."""
    parts = [] if protocol == "openai-chat" else [START]
    for index, fragments in enumerate(calls):
        if protocol == "openai-chat":
            parts.append(tool(index, f"c{index}", "f", fragments[0]))
            parts += [tool(index, None, None, fragment) for fragment in fragments[1:]]
        else:
            parts.append(open_block(index, type="tool_use", id=f"c{index}", name="f", input={}))
            parts += [delta(index, "input_json", fragment) for fragment in fragments]
    return b"".join(parts), [sum(map(len, parts[:place])) for place in range(len(parts) + 1)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_size_of_arguments(protocol: str) -> None:
    whole, starts = call_stream(protocol, ('{"a"', ':"12', '"}'), ('{"b":', "[1,2", "]}"))
    total = len('{"a":"12"}{"b":[1,2]}')
    for limit in (total + 1, total, total - 1, total - 2, total - 3, 11):
        found = decoded(protocol, whole + reason_of(protocol), limits=Limits(max_tool_arguments_bytes=limit))
        refused = {total - 1: -2, total - 2: -2, total - 3: -3, 11: -4}
        place = starts[refused.get(limit, -1)]
        assert exceeds(found, "max_tool_arguments_bytes", limit, place) == (limit < total)
        assert len(found.calls) == (0 if limit < total else 2)


def test_arguments_of_drained_calls_count_no_more() -> None:
    one = tool(0, "c1", "f", '{"a":1}') + chunk({}, "tool_calls")
    two = tool(0, "c2", "f", '{"a":2}') + chunk({}, "tool_calls")
    found = decoded("openai-chat", one + two, limits=Limits(max_tool_arguments_bytes=7))
    assert [call[0] for call in found.calls] == ["c1", "c2"]


def test_arguments_count_as_characters() -> None:
    body = tool(0, "c1", "f", '{"a":"') + tool(0, None, None, "äöü😀") + tool(0, None, None, '"}')
    assert decoded("openai-chat", body, limits=Limits(max_tool_arguments_bytes=12)).failure is None
    found = decoded("openai-chat", body, limits=Limits(max_tool_arguments_bytes=11))
    assert exceeds(found, "max_tool_arguments_bytes", 11, body.rindex(b"data: "))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_number_of_calls(protocol: str) -> None:
    whole, starts = call_stream(protocol, *[("{}",)] * 4)
    for limit in (5, 4, 3, 1):
        found = decoded(protocol, whole + reason_of(protocol), limits=Limits(max_tool_calls=limit))
        each = 1 if protocol == "openai-chat" else 2
        place = starts[len(starts) - 1 - each * (4 - limit)] if limit < 4 else 0
        assert exceeds(found, "max_tool_calls", limit, place) == (limit < 4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_depth_of_a_payload(protocol: str) -> None:
    body = text_stream(protocol, "a", "b")
    deep: Callable[[int], bytes] = lambda depth: b'{"error":null,"n":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"  # noqa: E731
    for depth in (7, 8, 9, 30):
        found = decoded(protocol, body + data(deep(depth)), limits=Limits(max_json_depth=8))
        assert exceeds(found, "max_json_depth", 8, len(body)) == (depth > 8)
        quoted = data(b'{"error":null,"n":"' + b"[" * depth + b'"}')
        assert decoded(protocol, body + quoted, limits=Limits(max_json_depth=8)).failure is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_depth_of_arguments(protocol: str) -> None:
    for depth in (7, 8, 9):
        text = '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"
        whole, _ = call_stream(protocol, (text[:5], text[5:]))
        found = decoded(protocol, whole + reason_of(protocol), limits=Limits(max_json_depth=8))
        assert (found.failure is None) == (depth <= 8)
    assert found.failure is not None
    assert found.failure.kind == "InvalidToolArguments"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_none_switches_every_limit_off(protocol: str) -> None:
    tiny: dict[str, Any] = dict.fromkeys(Limits.__struct_fields__[:4], 1)
    whole, _ = call_stream(protocol, *[('{"a":', "1}")] * 3)
    body = whole + b"data: " + padded(5000) + b"\n\n" + reason_of(protocol) + marker_of(protocol)
    assert len(decoded(protocol, body, limits=OFF).calls) == 3
    with pytest.raises(LimitExceeded):
        tokwire.decode(body, protocol, limits=Limits(**tiny))
