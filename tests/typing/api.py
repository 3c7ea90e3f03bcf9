"""Code as users write it, for the type checker: `tests/test_typing.py` runs mypy over it, nothing runs the code."""

from __future__ import annotations

from typing import assert_never, assert_type

import tokwire
from tokwire import Block, Finish, FinishReason, Need, Reasoning, StreamEvent, TextBlock, ToolUseBlock


def construct() -> None:
    """The decoder and its options."""
    decoder = tokwire.StreamDecoder(
        "openai-chat",
        include_reasoning=True,
        include_usage=True,
        include_tool_deltas=True,
        include_raw=True,
        keep_thinking=True,
        synthesize_tool_ids=True,
        repair_arguments=None,
        limits=tokwire.Limits(max_line_bytes=1 << 20, max_tool_calls=None),
    )
    assert_type(decoder.state, tokwire.StreamState)
    assert_type(decoder.summary, tokwire.StreamSummary)
    for protocol in tokwire.protocols():
        assert_type(protocol, tokwire.ApiProtocol)
        tokwire.StreamDecoder(protocol)


def feed(decoder: tokwire.StreamDecoder) -> None:
    """Every kind of buffer that a read may come in."""
    decoder.receive_data(b"data: {}\n\n")
    decoder.receive_data(bytearray(b""))
    decoder.receive_data(memoryview(b""))
    decoder.receive_eof()
    decoder.receive_eof(complete=False)


def pull(decoder: tokwire.StreamDecoder) -> str | None:
    """One event at a time: the two members of `Need` narrow by identity, and what is left is an event."""
    event = decoder.next_event()
    assert_type(event, StreamEvent | Need)
    if event is tokwire.NEED_DATA:
        return None
    if event is tokwire.FINISHED:
        return ""
    assert_type(event, StreamEvent)
    return event.as_text()


def need(answer: Need) -> str:
    """`Need` is closed."""
    match answer:
        case tokwire.Need.NEED_DATA:
            return "read"
        case tokwire.Need.FINISHED:
            return "stop"
        case _:
            assert_never(answer)


def state(decoder: tokwire.StreamDecoder) -> bool:
    """`StreamState` is closed."""
    match decoder.state:
        case tokwire.StreamState.OPEN:
            return True
        case tokwire.StreamState.DONE | tokwire.StreamState.FAILED:
            return False
        case unreachable:
            assert_never(unreachable)


def block(event: Block) -> str:
    """What a `Block` holds is closed."""
    match event.block:
        case TextBlock(text):
            assert_type(text, str)
            return text
        case ToolUseBlock(call_id, name):
            assert_type(call_id, str)
            assert_type(name, str)
            return name
        case tokwire.ToolResultBlock(call_id):
            assert_type(call_id, str)
            return call_id
        case unreachable:
            assert_never(unreachable)


def dispatch(decoder: tokwire.StreamDecoder) -> None:
    """The kinds of events are open: a match ends with `case _`."""
    for event in decoder.events():
        assert_type(event, StreamEvent)
        match event:
            case Block(TextBlock(text)):
                assert_type(text, str)
            case Block(ToolUseBlock() as call):
                assert_type(call, ToolUseBlock)
            case Reasoning(text) | tokwire.Refusal(text):
                assert_type(text, str)
            case tokwire.Usage(input_tokens=count):
                assert_type(count, int | None)
            case tokwire.ToolCallDelta(index, call_id, name, arguments):
                assert_type((index, call_id, name, arguments), tuple[int, str | None, str | None, str])
            case tokwire.RawPayload(label, data):
                assert_type((label, data), tuple[str | None, bytes])
            case Finish(reason):
                assert_type(reason, FinishReason)
                assert_type(str(reason), str)
            case _:
                assert_type(event.choice, int)


def accessors(event: StreamEvent) -> None:
    """Every event answers every accessor."""
    assert_type(event.as_block(), tokwire.ContentBlock | None)
    assert_type(event.into_block(), tokwire.ContentBlock | None)
    assert_type(event.as_text(), str | None)
    assert_type(event.as_reasoning(), str | None)
    assert_type(event.finish_reason(), FinishReason | None)


def reasons(reason: FinishReason) -> None:
    """The reason of a finish."""
    assert_type(FinishReason.other("eos"), FinishReason)
    assert_type(FinishReason.from_wire("stop"), FinishReason)
    assert_type(reason.is_truncated, bool)
    assert_type(reason.as_str(), str)
    assert_type(reason == FinishReason.LENGTH, bool)


def recorded(body: bytes) -> None:
    """Whole bodies, and JSON both ways."""
    events = tokwire.decode(body, "anthropic", include_usage=True)
    assert_type(events, list[StreamEvent])
    answer = tokwire.collect(events)
    assert_type(answer.text, str)
    assert_type(answer.tool_calls, tuple[ToolUseBlock, ...])
    assert_type(answer.usage, tokwire.Usage | None)
    assert_type(answer.finish, FinishReason | None)
    assert_type(tokwire.event_from_json(body), StreamEvent)
    assert_type(tokwire.detect(body), tokwire.ApiProtocol | None)


def errors(decoder: tokwire.StreamDecoder) -> None:
    """What an error carries."""
    try:
        dispatch(decoder)
    except tokwire.APIError as error:
        assert_type(error.retryable, bool)
        assert_type(error.status_code, int | None)
    except tokwire.InvalidToolArguments as error:
        assert_type(error.calls, tuple[tokwire.InvalidToolCall, ...])
        assert_type(error.finish_reason, FinishReason)
    except tokwire.LimitExceeded as error:
        assert_type(error.limit, str)
        assert_type(error.value, int)
    except tokwire.RemoteProtocolError as error:
        assert_type(error.offset, int | None)
        assert_type(error.excerpt, bytes)


def framing(decoder: tokwire.SSEDecoder) -> None:
    """Server-sent events alone."""
    for event in decoder.events():
        assert_type(event, tokwire.ServerSentEvent)
        assert_type(event.event, str)
        assert_type(event.data, str)
        assert_type(event.retry, int | None)


def buffers() -> None:
    """The draining rules alone, for a protocol of one's own."""
    held = tokwire.StreamBuffers(include_reasoning=True)
    assert_type(held.push_text("a"), StreamEvent | None)
    held.tool_call(0).append("{}")
    assert_type(held.open_tool_call(0), tokwire.PartialToolCall | None)
    held.record_finish(FinishReason.STOP)
    assert_type(held.flush(), list[StreamEvent])
    assert_type(held.finalize(), list[StreamEvent])
