"""`Exchange`: what of a response the caller sees, and what enters the history."""

from __future__ import annotations

import json

from tests.machine import DONE, OK, options
from tests.support import START, STOP, chunk, close_block, data, delta, end_of_content, event, open_block

import tokwire
from tokwire import Message, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from tokwire.agent._exchange import Exchange


def exchange(body: bytes, protocol: str = "openai-chat", **changes: object) -> Exchange:
    """An exchange whose response has come."""
    made = Exchange(options(protocol, **changes))
    made.decoder.receive_head(OK)
    made.decoder.receive_data(body)
    return made


def test_other_choices_are_handed_out_and_stay_out_of_the_answer() -> None:
    body = chunk({"content": "a"}) + chunk({"content": "b"}, choice=1) + chunk({}, "stop") + DONE
    made = exchange(body)
    assert [(event.choice, event.as_text()) for event in made.events()] == [(0, "a"), (1, "b")]
    assert made.answer() == Message.assistant("a")


def test_a_refusal_is_what_the_model_said() -> None:
    made = exchange(chunk({"refusal": "I will "}) + chunk({"refusal": "not."}) + chunk({}, "stop") + DONE)
    assert [type(event).__name__ for event in made.events()] == ["Refusal", "Refusal"]
    assert made.answer() == Message.assistant("I will not.")


def test_it_tells_whether_anything_was_seen_and_why_the_server_stopped() -> None:
    made = Exchange(options())
    assert not made.has_response
    made.decoder.receive_head(OK)
    assert made.has_response
    assert list(made.events()) == []
    assert not made.has_given
    made.decoder.receive_data(chunk({"content": "a"}))
    list(made.events())
    assert made.has_given
    assert made.finish is None
    made.decoder.receive_data(chunk({}, "length") + DONE)
    list(made.events())
    assert made.finish == tokwire.FinishReason.LENGTH


def function_call(name: str, **more: object) -> dict[str, object]:
    """A part of Gemini's answer: a call without an id."""
    return {"functionCall": {"name": name, "args": {}}, **more}


def candidate(*parts: dict[str, object], **more: object) -> bytes:
    """A payload of Gemini."""
    return data({"candidates": [{"content": {"parts": parts}, **more}]})


GEMINI_CALLS = candidate(function_call("f", thoughtSignature="S1")) + candidate(function_call("g"), finishReason="STOP")


def test_a_signed_call_enters_the_history_with_its_signature_though_its_id_was_made() -> None:
    made = exchange(GEMINI_CALLS, "gemini")
    calls = [event.as_block() for event in made.events()]
    first, second = made.answer().content
    assert isinstance(first, ToolUseBlock)
    assert first.signature == "S1"
    assert calls == [ToolUseBlock(first.id, "f", {}), second]
    assert isinstance(second, ToolUseBlock)
    results = Message("user", (ToolResultBlock(first.id, "1"), ToolResultBlock(second.id, "2")))
    request = tokwire.build_request(options("gemini"), [Message.user("Go"), made.answer(), results])
    parts = json.loads(request.body)["contents"][1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == ["S1", None]


def test_a_gateway_to_gemini_gets_the_signature_in_its_own_place() -> None:
    extra = {"google": {"thought_signature": "S1"}}
    entry = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    made = exchange(chunk({"tool_calls": [entry]}) + chunk({}, "tool_calls") + DONE)
    list(made.events())
    history = [Message.user("Go"), made.answer(), Message("user", (ToolResultBlock("a", "1"),))]
    body = json.loads(tokwire.build_request(options(), history).body)
    assert body["messages"][1]["tool_calls"][0]["extra_content"] == extra


def thought(index: int, text: str, signature: str) -> bytes:
    """A block of thinking."""
    start = open_block(index, type="thinking", thinking="")
    return start + delta(index, "thinking", text) + delta(index, "signature", signature) + close_block(index)


def spoken(index: int, text: str) -> bytes:
    """A block of text."""
    return open_block(index, type="text", text="") + delta(index, "text", text) + close_block(index)


THINKING = (
    START
    + thought(0, "first", "s1")
    + spoken(1, "So.")
    + event("content_block_start", index=2, content_block={"type": "redacted_thinking", "data": "zzz"})
    + close_block(2)
    + spoken(3, " Then.")
    + thought(4, "last", "s2")
    + open_block(5, type="tool_use", id="t1", name="f", input={})
    + close_block(5)
    + end_of_content("tool_use")
    + STOP
)


def test_thinking_is_kept_where_it_came_if_it_shall_be_sent_back() -> None:
    made = exchange(THINKING, "anthropic", replay_thinking=True)
    list(made.events())
    assert made.answer().content == (
        ThinkingBlock("first", "s1"),
        TextBlock("So."),
        RedactedThinkingBlock("zzz"),
        TextBlock(" Then."),
        ThinkingBlock("last", "s2"),
        ToolUseBlock("t1", "f", {}),
    )


def test_thinking_is_left_out_otherwise() -> None:
    made = exchange(THINKING, "anthropic", include_reasoning=True)
    assert [event.as_reasoning() for event in made.events() if event.as_reasoning()] == ["first", "last"]
    assert made.reasoning == ["first", "last"]
    assert made.answer().content == (TextBlock("So. Then."), ToolUseBlock("t1", "f", {}))


def test_thinking_behind_the_last_text_is_kept_too() -> None:
    body = START + spoken(0, "So.") + thought(1, "last", "s") + end_of_content() + STOP
    made = exchange(body, "anthropic", replay_thinking=True)
    list(made.events())
    assert made.answer().content == (TextBlock("So."), ThinkingBlock("last", "s"))
