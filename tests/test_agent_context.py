"""Estimating how much of a context a history takes, and cutting it where no call is parted from its result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    ContentBlock,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    estimate_tokens,
    is_approaching_limit,
    truncate_messages,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

PICTURE = "https://pictures.example/" + "x" * 3000


def call(*ids: str) -> Message:
    """A message of the model that calls one tool for each id."""
    return Message.assistant([ToolUseBlock(call_id, "look", {}) for call_id in ids])


def answer(*ids: str) -> Message:
    """The results of those calls, in one message."""
    return Message.user_with_blocks([ToolResultBlock(call_id, "seen") for call_id in ids])


def of_bytes(count: int) -> Message:
    """A message of so many bytes, as the estimate counts them."""
    return Message.user("x" * (count - 8))


def tokens_of(*blocks: ContentBlock) -> int:
    """The estimate for one message of these blocks."""
    return estimate_tokens([Message("assistant", blocks)])


@pytest.mark.parametrize(
    ("history", "tokens"),
    [
        ([], 0),
        ([Message("user")], 6),
        ([of_bytes(8), of_bytes(8)], 8),
        ([of_bytes(16)], 8),
        ([of_bytes(17)], 9),
        ([of_bytes(20)], 9),
        ([of_bytes(4000)] * 10, 10_004),
    ],
)
def test_four_bytes_are_a_token_and_every_message_has_a_frame(history: list[Message], tokens: int) -> None:
    assert estimate_tokens(history) == tokens
    assert estimate_tokens(iter(history)) == tokens


@pytest.mark.parametrize(
    ("block", "size"),
    [
        (TextBlock(""), 0),
        (TextBlock("abcd"), 4),
        (TextBlock("\u00fc\u20ac\U0001f600"), 9),
        (TextBlock("\ud800"), 3),
        (ImageBlock(PICTURE, "low"), 340),
        (ImageBlock(PICTURE, "high"), 1200),
        (ImageBlock(PICTURE), 800),
        (ToolUseBlock("k1", "look", {"at": [1, "\u00fc"]}), 2 + 4 + 15),
        (ToolUseBlock("k1", "look", "x"), 2 + 4 + 3),
        (ToolResultBlock("k1", 'say "hi"'), 2 + 8),
        (ToolResultBlock("k1", ()), 2),
        (ToolResultBlock("k1", (TextBlock("a map"), ImageBlock(PICTURE, "low")), is_error=True), 2 + 5 + 340),
        (ThinkingBlock("hm", "c2ln"), 6),
        (ThinkingBlock("hm"), 2),
        (RedactedThinkingBlock("opaque"), 6),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_block_counts_by_the_bytes_that_are_sent(block: ContentBlock, size: int) -> None:
    assert tokens_of(block) == -(-(16 + 8 + size) // 4)
    assert tokens_of(block, TextBlock("x" * 4)) == -(-(16 + 8 + size + 4) // 4)


def test_a_large_image_counts_no_more_than_a_small_one() -> None:
    large = ImageBlock.from_bytes(bytes(300_000), "image/png")
    assert tokens_of(large) == tokens_of(ImageBlock("https://p.example"))


def test_an_input_that_is_no_json_cannot_be_estimated() -> None:
    with pytest.raises(TypeError):
        tokens_of(ToolUseBlock("k", "f", {"x": object()}))


@pytest.mark.parametrize(
    ("tokens", "limit", "margin", "approaching"),
    [
        (91, 100, 0.9, True),
        (90, 100, 0.9, False),
        (89, 100, 0.9, False),
        (50, 99, 0.5, True),
        (49, 99, 0.5, False),
        (101, 100, 1, True),
        (100, 100, 1.0, False),
        (10, 100, 0, True),
        (10, 0, 0.9, True),
    ],
)
def test_the_limit_is_near_once_the_margin_is_passed(
    tokens: int, limit: int, margin: float, *, approaching: bool
) -> None:
    history = [of_bytes(4 * tokens - 16)]
    assert estimate_tokens(history) == tokens
    assert is_approaching_limit(history, limit, margin) is approaching


def test_the_margin_is_nine_tenths_unless_told_otherwise() -> None:
    assert not is_approaching_limit([of_bytes(3584)], 1000)
    assert is_approaching_limit([of_bytes(3585)], 1000)
    assert not is_approaching_limit([], 0)


@pytest.mark.parametrize("margin", [-0.1, 1.1, float("nan")])
def test_a_margin_is_a_part_of_the_limit(margin: float) -> None:
    with pytest.raises(ValueError, match=r"margin is .*; expected a number from 0 to 1"):
        is_approaching_limit([], 100, margin)


def test_a_limit_is_not_negative() -> None:
    with pytest.raises(ValueError, match="limit is -1; expected tokens, 0 or more"):
        is_approaching_limit([], -1)


RULES, ONE, TWO, THREE = Message.system("rules"), Message.user("one"), Message.assistant("two"), Message.user("three")


@pytest.mark.parametrize(
    ("history", "keep", "kept"),
    [
        ([], 0, []),
        ([], 3, []),
        ([ONE, TWO, THREE], 3, [ONE, TWO, THREE]),
        ([ONE, TWO, THREE], 9, [ONE, TWO, THREE]),
        ([ONE, TWO, THREE], 2, [TWO, THREE]),
        ([ONE, TWO, THREE], 0, []),
        ([RULES, ONE, TWO, THREE], 0, [RULES]),
        ([RULES, ONE, TWO, THREE], 1, [RULES, THREE]),
        ([RULES, ONE, TWO, THREE], 3, [RULES, ONE, TWO, THREE]),
        ([RULES, ONE, TWO, THREE], 4, [RULES, ONE, TWO, THREE]),
        ([ONE, RULES, TWO, THREE], 2, [TWO, THREE]),
        ([RULES], 0, [RULES]),
    ],
)
def test_the_latest_messages_stay_and_the_rules_before_them(
    history: list[Message], keep: int, kept: list[Message]
) -> None:
    before = list(history)
    assert truncate_messages(history, keep) == tuple(kept)
    assert truncate_messages(tuple(history), keep) == tuple(kept)
    assert history == before


@pytest.mark.parametrize(
    ("keep", "kept"), [(0, []), (1, [THREE]), (3, [ONE, TWO, THREE]), (4, [RULES, ONE, TWO, THREE])]
)
def test_the_rules_go_where_they_need_not_stay(keep: int, kept: list[Message]) -> None:
    assert truncate_messages([RULES, ONE, TWO, THREE], keep, preserve_system=False) == tuple(kept)
    assert truncate_messages([RULES, ONE, TWO, THREE], keep, False) == tuple(kept)  # noqa: FBT003 - by position too


@pytest.mark.parametrize(
    ("history", "keep", "count"),
    [
        ([ONE, call("a"), answer("a")], 1, 2),
        ([ONE, call("a"), answer("a"), TWO], 2, 3),
        ([ONE, call("a"), answer("a"), TWO], 1, 1),
        ([ONE, call("a"), answer("a"), TWO], 3, 3),
        ([ONE, call("a", "b"), answer("a"), answer("b")], 1, 3),
        ([ONE, call("a", "b"), answer("b"), answer("a"), THREE], 2, 4),
        ([call("a"), answer("a"), call("b"), answer("b")], 1, 2),
        ([call("a"), answer("a"), call("b"), answer("b")], 3, 4),
        ([call("a"), call("b"), answer("a"), answer("b")], 1, 4),
        ([RULES, call("a"), answer("a")], 1, 3),
    ],
)
def test_a_cut_between_a_call_and_its_result_moves_before_the_call(
    history: list[Message], keep: int, count: int
) -> None:
    assert truncate_messages(history, keep) == tuple(history[len(history) - count :])


def test_a_call_without_a_result_yet_stays_as_the_last_message() -> None:
    assert truncate_messages([ONE, TWO, THREE, call("a", "b")], 1) == (call("a", "b"),)
    assert truncate_messages([ONE, call("a", "b"), answer("a")], 1) == (call("a", "b"), answer("a"))


def test_ids_that_servers_use_again_in_every_round_are_told_apart_by_their_order() -> None:
    history = [ONE, call("call_0"), answer("call_0"), call("call_0"), answer("call_0"), TWO]
    assert truncate_messages(history, 2) == tuple(history[3:])
    assert truncate_messages(history, 4) == tuple(history[1:])
    doubled = [ONE, call("x", "x"), answer("x"), answer("x"), THREE]
    assert truncate_messages(doubled, 2) == tuple(doubled[1:])


def test_a_result_that_had_no_call_before_moves_nothing() -> None:
    history = [ONE, TWO, answer("gone"), THREE]
    assert truncate_messages(history, 2) == tuple(history[2:])


def test_a_negative_number_of_messages_is_refused() -> None:
    with pytest.raises(ValueError, match="truncate_messages: keep is -1; expected a number of messages, 0 or more"):
        truncate_messages([ONE], -1)


def orphans_of(history: Sequence[Message]) -> Counter[str]:
    """How many results of each id have no call before them."""
    calls: Counter[str] = Counter()
    orphans: Counter[str] = Counter()
    for message in history:
        for block in message.content:
            if isinstance(block, ToolUseBlock):
                calls[block.id] += 1
            elif isinstance(block, ToolResultBlock):
                (calls if calls[block.tool_use_id] > 0 else orphans)[block.tool_use_id] -= 1
    return orphans


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Histories of rounds, as a conversation keeps them, with the results of a round in one message or in several."""
    history: list[Message] = [RULES] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 5))):
        history.append(ONE)
        for _ in range(draw(st.integers(0, 2))):
            ids = draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=3))
            history += [call(*ids), *([answer(*ids)] if draw(st.booleans()) else [answer(one) for one in ids])]
        history.append(TWO)
    return history


@given(conversations(), st.integers(0, 12), st.booleans())
def test_whatever_the_cut_calls_and_results_stay_together(
    history: list[Message],
    keep: int,
    preserve_system: bool,  # noqa: FBT001 - drawn by position
) -> None:
    kept = truncate_messages(history, keep, preserve_system=preserve_system)
    assert not orphans_of(kept)
    rest = kept[1:] if kept[:1] == (RULES,) else kept
    assert rest == tuple(history[len(history) - len(rest) :])
    if keep:
        assert min(keep, len(history)) <= len(kept) <= keep + 1 + 3
    else:
        assert rest == ()
