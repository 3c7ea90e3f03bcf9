"""The exceptions: one tree, the facts each carries, what they say, and that they survive pickling and copying."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tokwire
from tokwire import (
    APIError,
    Block,
    ConnectError,
    FinishReason,
    InvalidToolArguments,
    InvalidToolCall,
    LimitExceeded,
    Limits,
    LocalProtocolError,
    NoResponse,
    PromptBlocked,
    RemoteProtocolError,
    StreamTruncated,
    TextBlock,
    TokwireError,
    ToolInputError,
    TransportError,
    TransportTimeout,
    TurnInterrupted,
)

FIRST = InvalidToolCall(0, "call_a", "lookup", '{"q": "unfin', "Unterminated string")
SECOND = InvalidToolCall(None, "call_b", "store", "{}{}", "Extra data")

PARENTS = {
    TokwireError: Exception,
    LocalProtocolError: TokwireError,
    RemoteProtocolError: TokwireError,
    LimitExceeded: RemoteProtocolError,
    StreamTruncated: RemoteProtocolError,
    InvalidToolArguments: RemoteProtocolError,
    TransportError: TokwireError,
    ConnectError: TransportError,
    TransportTimeout: TransportError,
    NoResponse: TransportError,
    TurnInterrupted: TokwireError,
    PromptBlocked: TokwireError,
    APIError: TokwireError,
    ToolInputError: ValueError,  # what a tool says of its arguments, for the model to read
}

SAMPLES: dict[str, TokwireError] = {
    "base": TokwireError("anything"),
    "local": LocalProtocolError("data after the end"),
    "remote, plain": RemoteProtocolError("not a frame"),
    "remote, full": RemoteProtocolError("not a frame", offset=17, excerpt=b"\x00junk"),
    "limit": LimitExceeded("max_line_bytes", 1024, offset=3),
    "truncated": StreamTruncated("cut", offset=99, excerpt=b"data: {"),
    "arguments": InvalidToolArguments((FIRST, SECOND), FinishReason.LENGTH),
    "arguments, unknown word": InvalidToolArguments((SECOND,), FinishReason.other("eos")),
    "api, empty": APIError(),
    "api, full": APIError(
        "slow down",
        status_code=429,
        type="rate_limit",
        code="r1",
        param="model",
        request_id="req_9",
        retry_after=2.5,
        body={"message": "slow down", "nested": [1, None]},
    ),
    "transport": TransportError("reset"),
    "connect": ConnectError("no route"),
    "timeout": TransportTimeout("nothing came", phase="idle"),
    "no response": NoResponse("closed"),
    "interrupted": TurnInterrupted("stopped by the user"),
    "blocked": PromptBlocked("refused by a hook"),
}


def facts(error: TokwireError) -> tuple[Any, ...]:
    """All that a reader of an error can see."""
    return type(error), str(error), repr(error), error.args, error.events, vars(error)


@pytest.mark.parametrize(("kind", "parent"), PARENTS.items(), ids=lambda kind: kind.__name__)
def test_the_tree_is_as_documented(kind: type[Exception], parent: type[Exception]) -> None:
    assert kind.__bases__ == (parent,)
    assert getattr(tokwire, kind.__name__) is kind


def test_the_tree_holds_every_public_exception() -> None:
    public = [getattr(tokwire, name) for name in tokwire.__all__]
    exceptions = {item for item in public if isinstance(item, type) and issubclass(item, Exception)}
    assert exceptions == set(PARENTS)
    assert {kind for kind in exceptions if not issubclass(kind, TokwireError)} == {ToolInputError}


@pytest.mark.parametrize("kind", [TransportError, TurnInterrupted, PromptBlocked, APIError, LocalProtocolError])
def test_what_is_no_fault_of_the_bytes_is_no_remote_protocol_error(kind: type[Exception]) -> None:
    assert not issubclass(kind, RemoteProtocolError)


@pytest.mark.parametrize("kind", [TurnInterrupted, PromptBlocked])
def test_an_interruption_is_no_transport_error(kind: type[Exception]) -> None:
    assert not issubclass(kind, TransportError)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", SAMPLES)
def test_every_error_survives_pickling_with_its_attributes(name: str, protocol: int) -> None:
    error = SAMPLES[name]
    assert facts(pickle.loads(pickle.dumps(error, protocol))) == facts(error)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_error_survives_copying(name: str) -> None:
    error = SAMPLES[name]
    assert facts(copy.copy(error)) == facts(error)
    assert facts(copy.deepcopy(error)) == facts(error)


def test_the_events_before_an_error_survive_pickling() -> None:
    error = StreamTruncated("cut")
    error.events = (Block(TextBlock("half an ans")),)
    assert pickle.loads(pickle.dumps(error)).events == (Block(TextBlock("half an ans")),)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_error_has_no_events_of_its_own(name: str) -> None:
    assert SAMPLES[name].events == ()


def test_the_notes_of_an_error_survive_pickling() -> None:
    error = APIError("overloaded", status_code=529)
    error.add_note("third attempt")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["third attempt"]


def test_a_remote_error_says_where_and_what() -> None:
    error = RemoteProtocolError("a payload that is not JSON", offset=40, excerpt=b"<html>")
    assert str(error) == "a payload that is not JSON (at byte 40 of the body); found b'<html>'"
    assert (error.offset, error.excerpt) == (40, b"<html>")


def test_a_remote_error_without_a_place_says_only_what() -> None:
    error = RemoteProtocolError("no payload was recognised")
    assert str(error) == "no payload was recognised"
    assert (error.offset, error.excerpt) == (None, b"")


def test_the_first_byte_of_the_body_is_a_place_too() -> None:
    assert "at byte 0 " in str(RemoteProtocolError("not frames", offset=0))


@pytest.mark.parametrize(("size", "kept"), [(63, 63), (64, 64), (65, 64), (5000, 64)])
def test_an_excerpt_holds_at_most_64_bytes(size: int, kept: int) -> None:
    error = RemoteProtocolError("refused", excerpt=b"k" * size)
    assert error.excerpt == b"k" * kept
    assert str(error).count("k") == kept


def test_a_limit_names_itself_and_how_to_raise_it() -> None:
    error = LimitExceeded("max_event_bytes", 4096, offset=12)
    assert (error.limit, error.value, error.offset) == ("max_event_bytes", 4096, 12)
    assert "max_event_bytes=4096" in str(error)
    assert "Limits(max_event_bytes=...)" in str(error)
    assert "byte 12" in str(error)


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_a_limit_error_names_a_field_that_limits_takes(name: str) -> None:
    error = LimitExceeded(name, 7)
    assert getattr(Limits(**{error.limit: error.value}), name) == 7


def test_bad_arguments_name_the_first_call_and_count_the_others() -> None:
    error = InvalidToolArguments((FIRST, SECOND, SECOND), FinishReason.TOOL_CALLS)
    assert error.calls == (FIRST, SECOND, SECOND)
    assert error.finish_reason is FinishReason.TOOL_CALLS
    for word in ("'lookup'", "'call_a'", "and 2 more", "Unterminated string", "'tool_calls'"):
        assert word in str(error)


def test_one_bad_call_counts_no_others() -> None:
    assert "more" not in str(InvalidToolArguments((FIRST,), FinishReason.STOP))


def test_a_cut_by_the_token_limit_is_told_from_corruption() -> None:
    cut, corrupt = (InvalidToolArguments((FIRST,), reason) for reason in (FinishReason.LENGTH, FinishReason.STOP))
    assert "raise the token limit" in str(cut)
    assert "raise the token limit" not in str(corrupt)
    assert cut.finish_reason.is_truncated
    assert not corrupt.finish_reason.is_truncated


def test_the_excerpt_of_bad_arguments_is_their_beginning() -> None:
    long = InvalidToolCall(0, "a", "f", '{"text": "' + "é" * 100, "cut")
    error = InvalidToolArguments((long,), FinishReason.STOP)
    assert error.excerpt == long.arguments.encode()[:64]
    assert error.calls[0].arguments == long.arguments


def test_an_invalid_call_is_a_value() -> None:
    same = InvalidToolCall(0, "call_a", "lookup", '{"q": "unfin', "Unterminated string")
    assert same == FIRST
    assert hash(same) == hash(FIRST)
    assert FIRST != SECOND
    assert pickle.loads(pickle.dumps(FIRST)) == FIRST
    match FIRST:
        case InvalidToolCall(index, call_id, name, arguments, detail):
            assert (index, call_id, name) == (0, "call_a", "lookup")
            assert (arguments, detail) == ('{"q": "unfin', "Unterminated string")


def test_an_api_error_keeps_all_that_the_server_said() -> None:
    error = SAMPLES["api, full"]
    assert isinstance(error, APIError)
    assert (error.message, error.type, error.code, error.param) == ("slow down", "rate_limit", "r1", "model")
    assert (error.status_code, error.request_id, error.retry_after) == (429, "req_9", 2.5)
    assert error.body == {"message": "slow down", "nested": [1, None]}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (APIError("no quota"), "no quota"),
        (APIError("no quota", type="billing"), "billing: no quota"),
        (APIError("no quota", type="billing", status_code=402), "billing: no quota (status 402)"),
        (APIError("no quota", status_code=402), "no quota (status 402)"),
    ],
)
def test_an_api_error_reads_type_message_status(error: APIError, text: str) -> None:
    assert str(error) == text


def test_an_api_error_without_a_message_still_says_something() -> None:
    error = APIError(type="server_error")
    assert error.message == ""
    assert str(error).startswith("server_error: ")
    assert len(str(error)) > len("server_error: ")


def test_an_api_error_shows_no_body() -> None:
    error = APIError("denied", body={"authorization": "Bearer sk-very-secret"})
    assert "sk-very-secret" not in str(error) + repr(error)


RETRYABLE = {408, 429, 500, 502, 503, 504, 529}


@pytest.mark.parametrize("status", range(399, 601))
def test_only_statuses_that_pass_by_themselves_are_retryable(status: int) -> None:
    assert APIError("x", status_code=status).retryable == (status in RETRYABLE)


def test_without_a_status_nothing_is_retryable() -> None:
    assert not APIError("try again later", type="overloaded_error", code="503").retryable


@pytest.mark.parametrize("phase", ["connect", "idle", "total"])
def test_a_timeout_says_which_one(phase: str) -> None:
    assert TransportTimeout("ran out", phase=phase).phase == phase


def test_a_timeout_is_about_the_total_unless_said() -> None:
    assert TransportTimeout("ran out").phase == "total"
