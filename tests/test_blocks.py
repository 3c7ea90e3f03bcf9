"""Content blocks: values that can be compared, matched, pickled and written as JSON; and joining text blocks."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    coalesce_text_blocks,
)

CALL = ToolUseBlock("k", "add", {"a": [1, 2.5, None, True], "\u00fc": "\U0001f600"})
BIG = ToolUseBlock("k", "add", {"n": 2**200, "m": -(2**64)})
RESULT = ToolResultBlock("k", "42")
PICTURE = ImageBlock("https://pictures.example/cat.png")
MIXED = ToolResultBlock("k", (TextBlock("see"), ImageBlock("data:image/png;base64,AA==", "low")), is_error=True)
THOUGHT, HIDDEN = ThinkingBlock("hm", "c2ln"), RedactedThinkingBlock("ZW5j")
TEXTS = [TextBlock(""), TextBlock("hi \u2028\U0001f600")]
SAMPLES: list[ContentBlock] = [*TEXTS, CALL, BIG, PICTURE, RESULT, MIXED, THOUGHT, HIDDEN]

blocks = st.one_of(
    st.text(max_size=3).map(TextBlock),
    st.sampled_from([CALL, RESULT, PICTURE]),
)


def test_fields_that_are_rarely_given_have_defaults() -> None:
    assert ImageBlock("http://p.example") == ImageBlock("http://p.example", "auto")
    assert ToolResultBlock("k", "x") == ToolResultBlock("k", "x", is_error=False)
    assert ThinkingBlock("hm") == ThinkingBlock("hm", "")


@pytest.mark.parametrize("block", SAMPLES, ids=repr)
def test_a_block_equals_its_copy_and_nothing_else(block: ContentBlock) -> None:
    copied = pickle.loads(pickle.dumps(block))
    assert copied == block
    assert copied is not block
    assert [other for other in SAMPLES if other == block] == [block]


@pytest.mark.parametrize("block", [TextBlock("a"), PICTURE, RESULT, MIXED], ids=repr)
def test_blocks_of_hashable_fields_can_be_hashed(block: ContentBlock) -> None:
    assert hash(block) == hash(pickle.loads(pickle.dumps(block)))
    assert len({block, pickle.loads(pickle.dumps(block))}) == 1


def test_a_call_hashes_where_its_input_does() -> None:
    assert hash(ToolUseBlock("k", "f", "text")) == hash(ToolUseBlock("k", "f", "text"))
    with pytest.raises(TypeError):
        hash(CALL)


@pytest.mark.parametrize("block", SAMPLES, ids=repr)
def test_a_block_cannot_be_changed(block: Any) -> None:
    name = block.__struct_fields__[0]
    with pytest.raises(AttributeError):
        setattr(block, name, "other")


@pytest.mark.parametrize("block", SAMPLES, ids=repr)
def test_a_block_survives_json(block: ContentBlock) -> None:
    read: Any = msgspec.json.decode(msgspec.json.encode(block), type=ContentBlock)
    assert read == block
    assert type(read) is type(block)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (TextBlock("a"), '{"type":"text","text":"a"}'),
        (ToolUseBlock("i", "f", {}), '{"type":"tool_use","id":"i","name":"f","input":{}}'),
        (ImageBlock("http://p.example"), '{"type":"image","url":"http://p.example","detail":"auto"}'),
        (ToolResultBlock("i", "r"), '{"type":"tool_result","tool_use_id":"i","content":"r","is_error":false}'),
    ],
)
def test_the_json_of_a_block_is_fixed(block: ContentBlock, text: str) -> None:
    assert msgspec.json.encode(block).decode() == text


def described(block: ContentBlock) -> str:
    """One line about a block, by pattern matching on positions."""
    match block:
        case TextBlock(text) | RedactedThinkingBlock(text):
            return text
        case ToolUseBlock(call_id, name, {"a": [first, *_]}):
            return f"{call_id} {name} {first}"
        case ToolUseBlock(_, name, _):
            return name
        case ImageBlock(one, other) | ThinkingBlock(one, other):
            return f"{one} {other}"
        case ToolResultBlock(call_id, str(text), is_error):
            return f"{call_id} {text} {is_error}"
        case ToolResultBlock(_, parts):
            return f"{len(parts)} parts"


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (TextBlock("hi"), "hi"),
        (CALL, "k add 1"),
        (BIG, "add"),
        (PICTURE, "https://pictures.example/cat.png auto"),
        (RESULT, "k 42 False"),
        (MIXED, "2 parts"),
        (THOUGHT, "hm c2ln"),
        (HIDDEN, "ZW5j"),
    ],
    ids=repr,
)
def test_a_block_can_be_matched_by_position(block: ContentBlock, line: str) -> None:
    assert described(block) == line


@pytest.mark.parametrize("block", SAMPLES, ids=repr)
def test_the_repr_of_a_block_names_its_fields(block: ContentBlock) -> None:
    shown = repr(block)
    assert shown.startswith(type(block).__name__ + "(")
    assert all(f"{name}=" in shown for name in block.__struct_fields__ if getattr(block, name) != "")


@pytest.mark.parametrize(
    ("given_blocks", "joined"),
    [
        ([], []),
        ([TextBlock("solo")], [TextBlock("solo")]),
        ([TextBlock("Good"), TextBlock(" eve"), TextBlock("ning")], [TextBlock("Good evening")]),
        ([TextBlock("a"), CALL, TextBlock("b"), TextBlock("c")], [TextBlock("a"), CALL, TextBlock("bc")]),
        ([CALL, RESULT], [CALL, RESULT]),
        ([CALL, CALL], [CALL, CALL]),
        ([TextBlock(""), TextBlock("x"), TextBlock("")], [TextBlock("x")]),
        ([TextBlock("a"), PICTURE, TextBlock("b")], [TextBlock("a"), PICTURE, TextBlock("b")]),
        ([TextBlock(""), CALL, TextBlock("")], [CALL]),
        ([TextBlock("")], []),
        ([TextBlock(" "), TextBlock("\n")], [TextBlock(" \n")]),
    ],
)
def test_text_joins_without_a_separator_and_all_else_stays(
    given_blocks: list[ContentBlock], joined: list[ContentBlock]
) -> None:
    before = list(given_blocks)
    assert coalesce_text_blocks(given_blocks) == joined
    assert given_blocks == before


def test_blocks_may_come_from_a_generator() -> None:
    assert coalesce_text_blocks(TextBlock(letter) for letter in "abc") == [TextBlock("abc")]


@given(st.lists(blocks))
def test_joining_loses_nothing_and_leaves_no_neighbours(sequence: list[ContentBlock]) -> None:
    joined = coalesce_text_blocks(sequence)
    assert [block for block in joined if block.__class__ is not TextBlock] == [
        block for block in sequence if block.__class__ is not TextBlock
    ]
    assert flattened(joined) == flattened(sequence)
    kinds = [type(block) for block in joined]
    assert not any(one is two is TextBlock for one, two in pairwise(kinds))
    assert TextBlock("") not in joined


@given(st.lists(blocks))
def test_joining_twice_changes_nothing_more(sequence: list[ContentBlock]) -> None:
    once = coalesce_text_blocks(sequence)
    assert coalesce_text_blocks(once) == once


def flattened(sequence: list[ContentBlock]) -> list[ContentBlock | str]:
    """The characters and other blocks, in order: what joining must keep."""
    flat: list[ContentBlock | str] = []
    for block in sequence:
        if isinstance(block, TextBlock):
            flat += block.text
        else:
            flat.append(block)
    return flat
