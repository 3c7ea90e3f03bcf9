"""Histories for the tests of the agent layer: hypothesis draws them, and what a server demands is written down here."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tokwire import (
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

TEXTS = st.one_of(st.sampled_from(["", " ", "\n\t", "hello ", "grüße"]), st.text(max_size=12))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
IMAGES = st.sampled_from(
    [
        ImageBlock("https://images.example/quay.png"),
        ImageBlock("data:image/png;base64,iVBORw0K", "high"),
        ImageBlock("data:image/webp;charset=utf-8;base64,UklGRg==", "low"),
    ]
)
TEXT_BLOCKS = st.builds(TextBlock, TEXTS)
THINKING = st.builds(ThinkingBlock, TEXTS, st.sampled_from(["", "c2ln"])) | st.builds(
    RedactedThinkingBlock, st.just("ZW5j")
)
CALLS = st.builds(
    ToolUseBlock,
    id=st.sampled_from(["call_1", "call_2", "toolu_3"]),
    name=st.sampled_from(["tide", "ferry"]),
    input=st.one_of(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3), JSON_VALUES),
)
RESULT_CONTENTS = TEXTS | st.lists(TEXT_BLOCKS | IMAGES, max_size=3).map(tuple)


@st.composite
def answers(draw: st.DrawFn, calls: list[ToolUseBlock]) -> list[Message]:
    """Every call answered once, in any order, in one message or several, with other things said beside."""
    results = [
        ToolResultBlock(call.id, draw(RESULT_CONTENTS), draw(st.booleans())) for call in draw(st.permutations(calls))
    ]
    messages = []
    while results:
        taken = draw(st.integers(1, len(results)))
        beside = draw(st.lists(TEXT_BLOCKS | IMAGES, max_size=2))
        blocks = draw(st.permutations([*results[:taken], *beside]))
        messages.append(Message(draw(st.sampled_from(["user", "tool"])), tuple(blocks)))
        messages += draw(st.lists(st.builds(Message.user, TEXTS) | st.builds(Message.system, TEXTS), max_size=1))
        results = results[taken:]
    return messages


@st.composite
def rounds(draw: st.DrawFn) -> list[Message]:
    """What the model said, its calls answered, and perhaps what the user said then."""
    content = draw(st.lists(TEXT_BLOCKS | THINKING | CALLS, max_size=4))
    calls = [block for block in content if isinstance(block, ToolUseBlock)]
    prompts = st.lists(st.builds(Message.user, TEXTS), max_size=2)
    return [Message.assistant(content), *draw(answers(calls)), *draw(prompts)]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """A history that a conversation can have: it begins with a prompt, and every call has its result."""
    system = draw(st.lists(st.builds(Message.system, TEXTS), max_size=1))
    prompt = Message("user", (TextBlock("What is the tide?"), *draw(st.lists(IMAGES, max_size=1))))
    later = draw(st.lists(rounds(), max_size=3))
    return [*system, prompt, *(message for several in later for message in several)]


def unfit_for_openai(messages: list[dict[str, Any]]) -> list[str]:
    """What OpenAI's server would say against the messages of a request."""
    faults = []
    waiting: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            expected = waiting.pop(0) if waiting else None
            if message["tool_call_id"] != expected:
                faults.append(f"{position}: answers {message['tool_call_id']}, not {expected}")
        elif waiting:
            faults.append(f"{position}: comes before the results of {waiting}")
        waiting = [call["id"] for call in message.get("tool_calls", ())] or waiting
        if message["content"] is None or message["content"] == []:
            faults.append(f"{position}: has no content")
    return faults + [f"no result for {call}" for call in waiting]


def unfit_for_anthropic(messages: list[dict[str, Any]]) -> list[str]:
    """What Anthropic's server would say against the messages of a request."""
    faults = [] if messages and messages[0]["role"] == "user" else ["the first message is not the user's"]
    waiting: list[str] = []
    before = "assistant"
    for position, message in enumerate(messages):
        blocks = message["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        kinds = [block["type"] for block in blocks]
        texts = [block["text"] for block in all_blocks(blocks) if block["type"] == "text"]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if message["role"] == before:
            faults.append(f"{position}: a second {before} message")
        if not blocks or not all(map(str.strip, texts)):
            faults.append(f"{position}: empty")
        if answered != waiting or kinds[: len(answered)] != ["tool_result"] * len(answered):
            faults.append(f"{position}: answers {answered}, not {waiting}, or not at once")
        if kinds[-1:] in (["thinking"], ["redacted_thinking"]):
            faults.append(f"{position}: ends with thinking")
        if not all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use"):
            faults.append(f"{position}: an input is no object")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        before = message["role"]
    return faults + [f"no result for {call}" for call in waiting]


def all_blocks(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks of a message and those inside of its results."""
    inner = [block["content"] for block in blocks if block["type"] == "tool_result"]
    return blocks + [block for content in inner if isinstance(content, list) for block in content]
