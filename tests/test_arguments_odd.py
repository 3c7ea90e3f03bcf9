"""Arguments and ids in rare shapes, each of which once came out wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.test_arguments import is_invalid
from tests.test_buffers import fill
from tests.test_calls import assemble

from tokwire import InvalidToolArguments, Limits, StreamBuffers, ToolUseBlock, decode
from tokwire._drain import StreamRecord
from tokwire._json import JSONError, parse_arguments, parse_payload

ITSELF: dict[str, Any] = {}
ITSELF["x"] = ITSELF


@pytest.mark.parametrize(
    "text", ['{"a": "\\ud8zz"}', '{"a": "\\uD8"}, "}', '"\\ud8  "', '{"a": "\\udfg!"}', '"\\ud83d\\udezz"']
)
def test_a_broken_escape_of_half_a_pair_is_invalid(text: str) -> None:
    with pytest.raises(JSONError):
        parse_arguments(text, 512)


@pytest.mark.parametrize(
    "answer", [{1: 2}, {"x": object()}, {"x": 10**5000}, ITSELF], ids=["key", "object", "huge", "itself"]
)
def test_a_repair_that_returns_no_json_means_no(answer: Any) -> None:
    buffers = StreamBuffers(record=StreamRecord(Limits(), repair=lambda _: answer))
    fill(buffers, 0, "i", "f", "{")
    assert buffers.flush() == []
    with pytest.raises(InvalidToolArguments):
        buffers.finalize()


@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_in_a_payload_are_exact_up_to_4300_digits(sign: str) -> None:
    assert str(parse_payload(f'{{"n": {sign}{"9" * 4300}}}'.encode(), 512)["n"]) == sign + "9" * 4300


@pytest.mark.parametrize("fragments", [("null", "null"), ("nul", "null")])
def test_null_is_no_object_that_was_sent_again(fragments: tuple[str, ...]) -> None:
    assert is_invalid(*fragments)


def test_a_half_meets_its_other_half_in_a_fragment_that_waits() -> None:
    assert assemble((0, "a", "f", '["\ud83d'), (7, None, None, '\ude00"]')) == [(0, "a", "f", '["\U0001f600"]')]


def test_the_text_null_is_no_argument_so_the_call_is_an_echo() -> None:
    body = (
        b'data: {"object":"chat.completion.chunk","choices":[{"delta":{"tool_calls":['
        b'{"index":0,"id":"a","function":{"name":"f","arguments":"{\\"x\\":1}"}},'
        b'{"index":1,"id":"a","function":{"name":"f","arguments":"null"}}]},"finish_reason":"tool_calls"}]}\n\n'
    )
    assert next(event.as_block() for event in decode(body, "openai-chat")) == ToolUseBlock("a", "f", {"x": 1})
    assert len(decode(body, "openai-chat")) == 2


def test_a_made_id_avoids_the_ids_of_other_choices() -> None:
    body = (
        b'data: {"id":"R","object":"chat.completion.chunk","choices":['
        b'{"index":1,"delta":{"tool_calls":[{"index":0,"id":"call_R_0","function":{"name":"f"}}]}},'
        b'{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}\n\ndata: [DONE]\n\n'
    )
    blocks = [event.as_block() for event in decode(body, "openai-chat", synthesize_tool_ids=True)]
    ids = [block.id for block in blocks if isinstance(block, ToolUseBlock)]
    assert sorted(ids) == ["call_R_0", "call_R_1"]
