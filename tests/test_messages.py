"""`Message`, its constructors, and the JSON of a history."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokwire import (
    ContentBlock,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    history_from_json,
    history_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PHOTO = "https://photos.example/harbour.jpg"
CALL = ToolUseBlock("k1", "weather", {"city": "K\u00f6ln", "days": [1, 2.5, None, True], "big": 2**100})
RESULT = ToolResultBlock("k1", "rain")
SEEN = ToolResultBlock("k1", (TextBlock("a map"), ImageBlock(PHOTO, "low")), is_error=True)
THOUGHT = ThinkingBlock("hm", "c2ln")
HIDDEN = RedactedThinkingBlock("opaque")

ALL_BLOCKS: list[ContentBlock] = [TextBlock(""), CALL, RESULT, SEEN, THOUGHT, HIDDEN, ImageBlock(PHOTO)]

HISTORY = (
    Message.system("be brief"),
    Message.user_with_image("what is this?", PHOTO, "high"),
    Message("assistant", (THOUGHT, HIDDEN, TextBlock("let me look"), CALL)),
    Message("user", (SEEN, TextBlock("go on \U0001f600"))),
    Message.assistant("A harbour."),
    Message("tool", (RESULT,)),
    Message("user"),
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
blocks = st.one_of(
    st.text(max_size=5).map(TextBlock),
    st.builds(ToolUseBlock, st.text(max_size=3), st.text(max_size=3), json_values),
    st.sampled_from(ALL_BLOCKS),
)
messages = st.builds(Message, st.sampled_from(get_args(Role)), st.lists(blocks, max_size=3).map(tuple))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (Message.system("be kind"), Message("system", (TextBlock("be kind"),))),
        (Message.user("hello"), Message("user", (TextBlock("hello"),))),
        (Message.user(""), Message("user", (TextBlock(""),))),
        (Message.assistant("hello"), Message("assistant", (TextBlock("hello"),))),
        (Message.assistant([CALL, TextBlock("x")]), Message("assistant", (CALL, TextBlock("x")))),
        (Message.assistant([]), Message("assistant", ())),
        (Message.user_with_blocks([RESULT, TextBlock("x")]), Message("user", (RESULT, TextBlock("x")))),
        (Message.user_with_image("see", PHOTO), Message("user", (TextBlock("see"), ImageBlock(PHOTO, "auto")))),
        (Message.user_with_image("see", PHOTO, "low"), Message("user", (TextBlock("see"), ImageBlock(PHOTO, "low")))),
        (
            Message.user_with_base64_image("see", "AAA=", "image/png", "high"),
            Message("user", (TextBlock("see"), ImageBlock("data:image/png;base64,AAA=", "high"))),
        ),
    ],
)
def test_constructors_say_who_speaks_and_put_text_before_images(made: Message, expected: Message) -> None:
    assert made == expected


def test_blocks_may_come_from_anything_iterable_and_are_kept_as_a_tuple() -> None:
    def generated() -> Iterator[ContentBlock]:
        yield from ALL_BLOCKS

    make: Any = Message
    listed = list(ALL_BLOCKS)
    for given_blocks in (listed, tuple(listed), generated()):
        assert make("user", given_blocks).content == tuple(ALL_BLOCKS)
    message = make("user", listed)
    listed.clear()
    assert message.content == tuple(ALL_BLOCKS)
    assert Message.user_with_blocks(generated()).content == tuple(ALL_BLOCKS)


def test_the_text_of_a_message_is_that_of_its_text_blocks() -> None:
    assert Message("assistant", (TextBlock("Good"), THOUGHT, CALL, TextBlock(" day"))).text == "Good day"
    assert Message("user", (RESULT,)).text == ""


@pytest.mark.parametrize("role", ["", "User", "developer", "model", None, ["user"]])
def test_an_unknown_role_is_refused(role: Any) -> None:
    with pytest.raises(ValueError, match=r"the role is .*; expected one of system, user, assistant, tool"):
        Message(role, (TextBlock("x"),))


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("hello", r"content is of type str; expected content blocks, or Message\.user\(text\)"),
        (b"hello", "content is of type bytes"),
        (TextBlock("x"), "content is of type TextBlock"),
        (None, "content is of type NoneType"),
        (["hello"], "content holds an object of type str; expected content blocks"),
        ([TextBlock("x"), {"type": "text", "text": "x"}], "content holds an object of type dict"),
        ([Message.user("x")], "content holds an object of type Message"),
    ],
)
def test_content_is_blocks(content: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        Message("user", content)


@pytest.mark.parametrize(
    "make",
    [
        Message.user,
        Message.system,
        lambda text: Message.user_with_image(text, PHOTO),
        lambda text: Message.user_with_base64_image(text, "AAA=", "image/png"),
    ],
)
@pytest.mark.parametrize("text", [None, 5, b"hello", TextBlock("hello")])
def test_text_is_text(make: Callable[[Any], Message], text: object) -> None:
    with pytest.raises(TypeError, match="Message: the text must be a str, not "):
        make(text)


def test_images_obey_their_rules() -> None:
    with pytest.raises(ValueError, match="ImageBlock: the url"):
        Message.user_with_image("see", "harbour.jpg")
    with pytest.raises(ValueError, match="ImageBlock: the detail"):
        Message.user_with_image("see", PHOTO, "sharp")
    with pytest.raises(ValueError, match="ImageBlock: the base64 data"):
        Message.user_with_base64_image("see", "?", "image/png")


def test_a_message_is_a_value() -> None:
    message = Message.user_with_image("see", PHOTO)
    assert pickle.loads(pickle.dumps(message)) == message
    assert hash(message) == hash(Message.user_with_image("see", PHOTO))
    frozen: Any = message
    with pytest.raises(AttributeError):
        frozen.role = "assistant"
    match message:
        case Message("user", (TextBlock(text), ImageBlock(url))):
            assert (text, url) == ("see", PHOTO)
        case _:
            pytest.fail("the message did not match")


def test_a_history_survives_json() -> None:
    assert history_from_json(history_to_json(HISTORY)) == HISTORY
    assert history_from_json(history_to_json(list(HISTORY)).decode()) == HISTORY
    assert history_from_json(history_to_json([])) == ()


@given(st.lists(messages, max_size=4))
def test_every_history_survives_json(history: list[Message]) -> None:
    assert history_from_json(history_to_json(history)) == tuple(history)


def test_the_json_of_a_history_is_plain() -> None:
    assert json.loads(history_to_json([Message.user("hi"), Message("assistant", (CALL,))])) == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "k1", "name": "weather", "input": CALL.input}],
        },
    ]


def test_what_has_a_default_may_be_absent_and_unknown_members_are_ignored() -> None:
    text = """[{"role": "user", "at": 5}, {"role": "user", "content": [
        {"type": "image", "url": "https://photos.example/1.png"},
        {"type": "tool_result", "tool_use_id": "k", "content": "x", "cache": true},
        {"type": "thinking", "text": "hm"}
    ]}]"""
    image = ImageBlock("https://photos.example/1.png", "auto")
    assert history_from_json(text) == (
        Message("user"),
        Message("user", (image, ToolResultBlock("k", "x", is_error=False), ThinkingBlock("hm", ""))),
    )


def one_block(block: str) -> str:
    """The JSON of a history with one block."""
    return f'[{{"role":"user","content":[{block}]}}]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        ("{}", "Expected `array`"),
        ("null", "Expected `array`"),
        ('[{"role":"user"}', "truncated"),
        ("[5]", r"\$\[0\]"),
        ('[{"content":[]}]', "role"),
        ('[{"role":"model","content":[]}]', r"'model' - at `\$\[0\]\.role`"),
        ('[{"role":"user","content":"hi"}]', r"\$\[0\]\.content"),
        (one_block('{"type":"video","url":"x"}'), r"'video' - at `\$\[0\]\.content\[0\]\.type`"),
        (one_block('{"text":"x"}'), "type"),
        (one_block('{"type":"text"}'), "text"),
        (one_block('{"type":"text","text":5}'), "Expected `str`"),
        (one_block('{"type":"tool_use","id":"k","name":"f","input":NaN}'), "malformed"),
        (one_block('{"type":"tool_use","id":"k","name":"f","input":' + "[" * 100_000), "recursion"),
        (one_block('{"type":"image","url":"harbour.jpg"}'), r"ImageBlock: the url begins with 'harbour\.jpg'"),
        (one_block('{"type":"image","url":"https://photos.example","detail":"x"}'), "ImageBlock: the detail is 'x'"),
        (one_block('{"type":"tool_result","tool_use_id":"k","content":[{"type":"image","url":"u"}]}'), "ImageBlock"),
        (one_block('{"type":"tool_result","tool_use_id":"k","content":{"a":1}}'), "content"),
        (b'"\xff"', ""),
        ("\ud800", "surrogates"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_text_that_is_no_history_is_refused_with_the_place(text: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"not the JSON of a history: .*{reason}") as caught:
        history_from_json(text)
    assert not isinstance(caught.value, msgspec.MsgspecError)
    assert caught.value.__suppress_context__


def test_what_json_cannot_hold_is_no_history() -> None:
    with pytest.raises(TypeError, match="object"):
        history_to_json([Message.assistant([ToolUseBlock("k", "f", {"x": object()})])])
    with pytest.raises(ValueError, match="surrogates"):
        history_to_json([Message.user("\ud800")])
