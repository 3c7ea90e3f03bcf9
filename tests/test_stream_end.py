"""How streams end: markers, reasons, rests behind them, clean ends and cuts. Each body for every cut on both paths."""

from __future__ import annotations

import pytest
from tests.support import (
    DONE,
    PROTOCOLS,
    START,
    STOP,
    Outcome,
    chunk,
    close_block,
    data,
    decoded,
    delta,
    end_of_content,
    event,
    marker_of,
    open_block,
    reason_of,
    text_stream,
    tool,
)

from tokwire import Finish, FinishReason, StreamTruncated, ToolUseBlock, Usage

OPENAI_CALL = tool(0, "c1", "f", '{"a":') + tool(0, None, None, "1}")
ANTHROPIC_CALL = (
    START
    + open_block(0, type="tool_use", id="c1", name="f", input={})
    + delta(0, "input_json", '{"a":')
    + delta(0, "input_json", "1}")
)
CALLS = {"openai-chat": OPENAI_CALL, "anthropic": ANTHROPIC_CALL}
CALL = ("c1", "f", {"a": 1})
STOPPED, UNSPECIFIED = Finish(FinishReason.STOP), Finish(FinishReason.UNSPECIFIED)


def truncated(found: Outcome) -> bool:
    return found.failure is not None and found.failure.kind == StreamTruncated.__name__


@pytest.mark.parametrize("complete", [True, False, None])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_marker_ends_the_stream_by_itself(protocol: str, complete: bool | None) -> None:  # noqa: FBT001
    body = text_stream(protocol, "a", "b") + reason_of(protocol) + marker_of(protocol)
    found = decoded(protocol, body, complete=complete)
    assert (found.text, found.events[-1], found.failure) == ("ab", STOPPED, None)
    assert found.summary.end_marker


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_marker_without_a_reason(protocol: str, complete: bool) -> None:  # noqa: FBT001
    found = decoded(protocol, CALLS[protocol] + marker_of(protocol), complete=complete)
    assert (found.calls, found.events[-1]) == ([CALL], UNSPECIFIED)
    assert found.summary.end_marker


@pytest.mark.parametrize("rest", [b"data: {", b"junk", b"\n\n", b'data: {"error":{"message":"late"}}\n\n', b"\xff\x00"])
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_follows_a_marker_is_ignored(protocol: str, complete: bool, rest: bytes) -> None:  # noqa: FBT001
    body = text_stream(protocol, "a") + reason_of(protocol) + marker_of(protocol)
    late = text_stream(protocol, "late") + marker_of(protocol)
    for behind in (rest, late, late + rest):
        found = decoded(protocol, body + behind, complete=complete)
        assert (found.text, found.events[-1], found.failure) == ("a", STOPPED, None)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_reason_alone_ends_nothing(protocol: str, complete: bool) -> None:  # noqa: FBT001
    late = chunk({"content": "late"}) if protocol == "openai-chat" else delta(0, "text", "late")
    body = text_stream(protocol, "a") + reason_of(protocol) + late
    assert decoded(protocol, body, complete=None).events[-1].as_text() == "late"
    found = decoded(protocol, body, complete=complete)
    assert (found.text, found.events[-1], found.failure) == ("alate", STOPPED, None)
    assert not found.summary.end_marker


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_calls_come_out_with_the_reason_and_late_ones_at_the_end(protocol: str) -> None:
    if protocol == "openai-chat":
        late = tool(1, "c2", "g", "{}")
    else:
        late = open_block(1, type="tool_use", id="c2", name="g", input={}) + close_block(1)
    body = CALLS[protocol] + reason_of(protocol)
    assert decoded(protocol, body + late, complete=None).calls == [CALL]
    assert decoded(protocol, body + late).calls == [CALL, ("c2", "g", {})]
    assert decoded(protocol, body + late + marker_of(protocol)).calls == [CALL, ("c2", "g", {})]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_usage_stands_before_the_finish(protocol: str) -> None:
    if protocol == "openai-chat":
        usage = data({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}})
        total: int | None = 7
    else:
        usage = end_of_content(None, usage={"input_tokens": 3, "output_tokens": 4})
        total = None
    body = text_stream(protocol, "a") + reason_of(protocol) + usage + marker_of(protocol)
    found = decoded(protocol, body, include_usage=True)
    said = found.events[-2]
    assert isinstance(said, Usage)
    assert (said.input_tokens, said.output_tokens, said.total_tokens) == (3, 4, total)
    assert found.events[-1] == STOPPED
    assert decoded(protocol, body).summary.usage == said


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_clean_end_without_marker_and_reason(protocol: str) -> None:
    found = decoded(protocol, CALLS[protocol])
    assert (found.calls, found.events[-1]) == ([CALL], UNSPECIFIED)
    assert not found.summary.end_marker


@pytest.mark.parametrize("trim", [1, 2])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_last_event_without_its_blank_line_counts(protocol: str, trim: int) -> None:
    for body in (text_stream(protocol, "a", "b"), text_stream(protocol, "ab") + reason_of(protocol)):
        found = decoded(protocol, body[:-trim])
        assert (found.text, found.failure) == ("ab", None)
    found = decoded(protocol, (text_stream(protocol, "a") + marker_of(protocol))[:-trim])
    assert found.summary.end_marker


RESTS = [
    b'data: {"ty',
    b"data: {",
    b'event: x\ndata: {"a',
    b"junk",
    b"dat",
    b'{"a":',
    b'{"a":[1,\n2',
    b"[DON",
    b"data: [DO",
]


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_clean_end_inside_an_event_is_a_cut(protocol: str, rest: bytes) -> None:
    body = text_stream(protocol, "a")
    found = decoded(protocol, body + rest)
    assert found.text == "a"
    assert truncated(found)
    assert found.failure is not None
    assert found.failure.offset is not None
    assert found.failure.offset >= len(body)
    for complete in (True, False):
        found = decoded(protocol, body + reason_of(protocol) + rest, complete=complete)
        assert (found.events[-1], found.failure) == (STOPPED, None)


@pytest.mark.parametrize(
    "rest", [b"", b": comm", b"event: x", b"event: x\n", b"id: 4", b"data:", b"data: \n", b"\n", b"retry: 1"]
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_clean_end_inside_a_heartbeat_is_an_end(protocol: str, rest: bytes) -> None:
    found = decoded(protocol, text_stream(protocol, "a") + rest)
    assert (found.text, found.events[-1], found.failure) == ("a", UNSPECIFIED, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_body_that_the_transport_cut(protocol: str) -> None:
    body = CALLS[protocol]
    for end in (b"", b"\n", b"data: ", b'data: {"x":1', b"[DONE]", b": c", b'{"a":1}', b"<p>"):
        found = decoded(protocol, body + end, complete=False)
        assert found.calls == []
        assert truncated(found)
    found = decoded(protocol, body + reason_of(protocol), complete=False)
    assert (found.calls, found.failure) == ([CALL], None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_zero_bytes_that_the_transport_cut(protocol: str) -> None:
    for body in (b"", b"\n", b": c\n", b"some text", b"data"):
        found = decoded(protocol, body, complete=False)
        assert found.events == []
        assert truncated(found)


def test_a_pending_marker_of_a_body_that_was_cut() -> None:
    body = text_stream("openai-chat", "a")
    for whole in (b"data: [DONE]\n", b"[DONE]\n", b" [DONE] \r"):
        found = decoded("openai-chat", body + whole, complete=False)
        assert (found.events[-1], found.summary.end_marker) == (UNSPECIFIED, True)
    for unfinished in (b"data: [DONE]", b"[DONE]"):
        assert truncated(decoded("openai-chat", body + unfinished, complete=False))
        after_reason = decoded("openai-chat", body + chunk({}, "stop") + unfinished, complete=False)
        assert (after_reason.events[-1], after_reason.summary.end_marker) == (STOPPED, False)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "body", [b"", b"\n", b": ping\n\n: ping\n\n", b":", b"\xef\xbb\xbf", b"\r\n\r\n", b"data:\n\n"]
)
def test_nothing_but_comments(protocol: str, body: bytes) -> None:
    found = decoded(protocol, body)
    assert (found.events, found.failure) == ([UNSPECIFIED], None)


MARKS = [
    b"data: [DONE]\n\n",
    b"data:[DONE]\n\n",
    b"data:  [DONE] \n\n",
    b"[DONE]\n",
    b" [DONE]\t\n",
    b"[DONE]",
    b"data: [DONE]",
]


@pytest.mark.parametrize("mark", MARKS)
def test_the_mark_in_every_form(mark: bytes) -> None:
    found = decoded("openai-chat", OPENAI_CALL + chunk({}, "tool_calls") + mark)
    assert found.calls == [CALL]
    assert found.events[-1] == Finish(FinishReason.TOOL_CALLS)
    assert found.summary.end_marker


@pytest.mark.parametrize("mark", MARKS)
def test_the_mark_ends_nothing_elsewhere_but_counts_at_the_end(mark: bytes) -> None:
    body = text_stream("anthropic", "a") + mark
    found = decoded("anthropic", body)
    assert (found.text, found.events[-1], found.summary.end_marker) == ("a", UNSPECIFIED, True)
    if mark.endswith(b"\n\n"):
        assert decoded("anthropic", body + delta(0, "text", "b") + STOP).text == "ab"
        assert decoded("anthropic", body, complete=False).failure is None


def test_a_mark_alone_is_a_whole_stream() -> None:
    assert decoded("openai-chat", DONE).events == [UNSPECIFIED]


def test_an_error_behind_a_reason() -> None:
    body = text_stream("openai-chat", "a") + chunk({}, "stop")
    for rest in (
        b'data: {"error":{"message":"m"}}\n\n',
        b'data: {"error":{"message":"m"}}',
        b'{"error":{"message":"m"}}',
    ):
        found = decoded("openai-chat", body + rest)
        assert found.failure is not None
        assert (found.failure.kind, found.failure.text) == ("APIError", "m")
        assert decoded("openai-chat", body + DONE + rest).failure is None


def test_a_whole_call_is_not_run_where_an_error_ends_the_stream() -> None:
    found = decoded("anthropic", ANTHROPIC_CALL + event("error", error={"type": "overloaded_error", "message": "m"}))
    assert found.calls == []
    assert found.failure is not None
    assert found.failure.text == "overloaded_error: m (status 529)"


def test_the_first_reason_wins_and_its_word_is_kept() -> None:
    found = decoded("openai-chat", chunk({"content": "a"}, "EoS") + chunk({}, "stop") + DONE)
    assert found.finish == FinishReason.other("EoS")
    assert found.summary.raw_finish_reason == "EoS"
    assert not any(isinstance(each.as_block(), ToolUseBlock) for each in found.events)
