"""OpenAI Responses: text, refusals and reasoning, what `.done` events fill in, and what only the snapshot says."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bodies import added, completed, decode, done, function, message, said, text_delta
from tests.wire import ABSENT, Row, rows

STOPPED = ("finish", "stop")


def output(text: str) -> dict[str, Any]:
    """A part with text."""
    return {"type": "output_text", "text": text}


def refusal(text: str) -> dict[str, Any]:
    """A part with a refusal."""
    return {"type": "refusal", "refusal": text}


def thinking(summary: tuple[str, ...] = (), raw: tuple[str, ...] = (), **members: object) -> dict[str, Any]:
    """An item with reasoning."""
    parts = {
        "summary": [{"type": "summary_text", "text": text} for text in summary],
        "content": [{"type": "reasoning_text", "text": text} for text in raw],
    }
    return {"type": "reasoning", **parts, **members}


def summarised(text: object, part: int = 0, ending: str = "delta", index: object = 0) -> bytes:
    """Text of a summary of the reasoning."""
    name = "delta" if ending == "delta" else "text"
    return said(f"reasoning_summary_text.{ending}", output_index=index, summary_index=part, **{name: text})


def thought(text: object, part: int = 0, ending: str = "delta", index: object = 0) -> bytes:
    """Text of the reasoning itself."""
    name = "delta" if ending == "delta" else "text"
    return said(f"reasoning_text.{ending}", output_index=index, content_index=part, **{name: text})


def shown(*parts: bytes, end: bytes | None = None, **options: Any) -> list[Row]:
    """The rows of an answer, without its end."""
    found = rows(decode("openai-responses", *parts, completed() if end is None else end, **options))
    assert found[-1] == STOPPED
    return found[:-1]


def test_text_goes_out_as_it_lands() -> None:
    parts = [
        added(message(), 0),
        text_delta("a"),
        text_delta(""),
        text_delta("b"),
        text_delta("\u00e9\n"),
        text_delta("c", 1),
    ]
    assert shown(*parts) == [("text", "a"), ("text", "b"), ("text", "\u00e9\n"), ("text", "c")]


def test_text_without_index_without_items_and_of_several_parts() -> None:
    assert shown(text_delta("a", ABSENT), text_delta("b", ABSENT, content_index=1)) == [("text", "a"), ("text", "b")]
    assert shown(text_delta("a", 70), text_delta("b", 70), text_delta("c", 70)) == [(("text"), each) for each in "abc"]
    assert shown(text_delta("a", -1), text_delta("b", -1)) == [("text", "a"), ("text", "b")]
    assert shown(text_delta("a", content_index=1), text_delta("b", content_index=1)) == [("text", "a"), ("text", "b")]


@pytest.mark.parametrize("wrong", [None, 5, [], {"text": "x"}, True])
def test_a_delta_that_is_no_text_is_nothing(wrong: object) -> None:
    assert shown(text_delta("a"), text_delta(wrong), text_delta("b"), text_delta(ABSENT)) == [
        ("text", "a"),
        ("text", "b"),
    ]


def test_payloads_without_type_go_by_their_name() -> None:
    body = b'event: response.output_text.delta\ndata: {"delta":"a","output_index":0}\n\n'
    assert shown(body, body) == [("text", "a"), ("text", "a")]


def test_a_surrogate_pair_in_two_deltas() -> None:
    halves = [text_delta("\ud83d"), text_delta("\ude00x"), text_delta("y"), text_delta("\ud83d"), text_delta("z")]
    assert "".join(text for _, text in shown(*halves)) == "\U0001f600xy\ufffdz"


# ---- what .done fills in -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        [said("output_text.done", output_index=0, content_index=0, text="ab")],
        [said("content_part.done", output_index=0, content_index=0, part=output("ab"))],
        [done(message(output("ab")), 0)],
    ],
)
def test_text_done_is_used_only_for_a_part_that_had_none(parts: list[bytes]) -> None:
    assert shown(added(message(), 0), *parts, *parts) == [("text", "ab")]
    assert shown(added(message(), 0), text_delta("a"), text_delta("b"), *parts) == [("text", "a"), ("text", "b")]
    assert shown(added(message(), 0), text_delta("a"), text_delta("b"), *parts, text_delta("c"))[2:] == [("text", "c")]


def test_a_part_that_only_the_item_has() -> None:
    item = message(output("a"), refusal("no"), {"type": "later"}, output("c"))
    assert shown(text_delta("a"), done(item, 0)) == [("text", "a"), ("refusal", "no"), ("text", "c")]
    assert shown(done(item, 0)) == [("text", "a"), ("refusal", "no"), ("text", "c")]


def test_positions_of_an_item_need_not_be_those_of_its_deltas() -> None:
    assert shown(text_delta("a", content_index=5), done(message(output("a")), 0)) == [("text", "a")]


def test_parts_of_an_item_come_in_wire_order() -> None:
    assert shown(done(message(refusal("no"), output("a")), 0)) == [("refusal", "no"), ("text", "a")]


def test_text_before_its_item_was_announced() -> None:
    item = message(output("a"), id="m")
    assert shown(text_delta("a"), added(message(id="m"), 0), done(item, 0)) == [("text", "a")]


def test_a_second_message_under_a_used_index() -> None:
    first = [added(message(id="m"), 0), text_delta("a"), done(message(output("a"), id="m"), 0)]
    assert shown(*first, added(message(id="n"), 0), done(message(output("b"), id="n"), 0)) == [
        ("text", "a"),
        ("text", "b"),
    ]


def test_refusals() -> None:
    parts = [said("refusal.delta", output_index=0, content_index=0, delta=text) for text in ("I ", "", "won't")]
    end = said("refusal.done", output_index=0, content_index=0, refusal="I won't")
    assert shown(*parts, end, done(message(refusal("I won't")), 0)) == [("refusal", "I "), ("refusal", "won't")]
    assert shown(end, end) == [("refusal", "I won't")]
    assert shown(said("content_part.done", output_index=0, part=refusal("no"))) == [("refusal", "no")]


def test_text_of_every_phase_is_text() -> None:
    parts = [added(message(phase="commentary"), 0), text_delta("a"), added(message(phase="final_answer"), 1)]
    assert shown(*parts, text_delta("a", 1)) == [("text", "a"), ("text", "a")]


@pytest.mark.parametrize(
    "kind", ["output_text.annotation.added", "output_text.other", "later.thing", "content_part.added"]
)
def test_events_that_nobody_knows(kind: str) -> None:
    assert shown(text_delta("a"), said(kind, output_index=0, delta="x", text="y", part=output("z"))) == [("text", "a")]


def test_parts_of_unknown_types_and_shapes() -> None:
    shapes: list[object] = [{"type": "x", "text": "y"}, None, [], {}]
    odd = [said("content_part.done", output_index=0, part=part) for part in shapes]
    assert (
        shown(
            *odd,
            done({"type": "message", "content": "text"}, 0),
            done(message(output("")) | {"summary": ["x", None]}, 1),
        )
        == []
    )


# ---- reasoning -----------------------------------------------------------------------------------------------


def test_reasoning_has_a_channel_of_its_own() -> None:
    parts = [summarised("a"), summarised("b"), summarised("c", 1), text_delta("d", 1)]
    assert shown(*parts) == [("reasoning", "a"), ("reasoning", "b"), ("reasoning", "c"), ("text", "d")]
    assert shown(*parts, include_reasoning=False) == [("text", "d")]
    assert shown(thought("a"), thought("b", 1)) == [("reasoning", "a"), ("reasoning", "b")]


@pytest.mark.parametrize("done_kind", ["reasoning_summary_part.done", "reasoning_part.done"])
def test_reasoning_done_is_used_only_for_a_part_that_had_none(done_kind: str) -> None:
    part = {"type": "summary_text", "text": "a"}
    ends = [
        summarised("a", ending="done"),
        said(done_kind, output_index=0, summary_index=0, part=part),
        done(thinking(("a", "b")), 0),
    ]
    assert shown(summarised("a"), *ends) == [("reasoning", "a"), ("reasoning", "b")]
    assert shown(*ends) == [("reasoning", "a"), ("reasoning", "b")]
    assert shown(*ends[1:]) == [("reasoning", "a"), ("reasoning", "b")]


def test_of_two_spellings_in_one_item_the_first_counts() -> None:
    assert shown(thought("raw"), summarised("sum"), thought("!")) == [("reasoning", "raw"), ("reasoning", "!")]
    assert shown(summarised("sum"), thought("raw")) == [("reasoning", "sum")]
    assert shown(thought("raw"), summarised("sum", index=1)) == [("reasoning", "raw"), ("reasoning", "sum")]
    assert shown(done(thinking(("sum",), ("raw",)), 0)) == [("reasoning", "sum")]
    wire = {"type": "reasoning", "content": thinking((), ("raw",))["content"], "summary": thinking(("sum",))["summary"]}
    assert shown(done(wire, 0)) == [("reasoning", "raw")]
    assert shown(summarised("sum"), done(thinking(("sum",), ("raw",)), 0)) == [("reasoning", "sum")]


def test_encrypted_reasoning_is_kept_for_sending_back() -> None:
    items = [done(thinking(id="x", encrypted_content="s1"), 0), done(thinking(id="y", encrypted_content=""), 1)]
    snapshot = completed(thinking(id="x", encrypted_content="s1"))
    for body, index in (([*items, snapshot], 0), ([snapshot], None)):
        (kept,) = decode("openai-responses", *body).summary.signatures
        assert (kept.kind, kept.data, kept.item_id, kept.block_index) == ("encrypted_content", "s1", "x", index)


# ---- the snapshot --------------------------------------------------------------------------------------------

SNAPSHOT = completed(
    thinking(("sum",), ("raw",)),
    message(output("a"), refusal("no"), output("b")),
    function("c1", arguments='{"k":1}'),
    {"type": "image_generation_call", "id": "i", "status": "completed", "result": "AA"},
)
WHOLE = [("reasoning", "sum"), ("text", "a"), ("refusal", "no"), ("text", "b"), ("call", "c1", "f", '{"k":1}')]


def test_what_only_the_snapshot_says() -> None:
    found = decode("openai-responses", SNAPSHOT)
    assert rows(found) == [*WHOLE, ("finish", "tool_calls")]
    assert found.summary.media == {"image": 1}


@pytest.mark.parametrize(
    ("seen", "channel"),
    [
        (text_delta("a", 7), "text"),
        (summarised("x", index=7), "reasoning"),
        (said("refusal.delta", output_index=7, delta="x"), "refusal"),
    ],
)
def test_the_snapshot_gives_of_a_channel_only_what_none_came_of(seen: bytes, channel: str) -> None:
    first, *others = rows(decode("openai-responses", seen, SNAPSHOT))[:-1]
    assert first[0] == channel
    assert others == [row for row in WHOLE if row[0] != channel]


def test_the_snapshot_gives_calls_by_unseen_id() -> None:
    parts = [added(function("c1"), 5), said("function_call_arguments.done", output_index=5, arguments="7")]
    end = completed(function("c1", arguments="8"), function("c2", arguments="9"), function(ABSENT, arguments="1"))
    found = decode("openai-responses", *parts, end)
    assert found.calls == [("c1", "f", 7), ("c2", "f", 9)]
    assert [call.arguments for call in found.summary.dropped_tool_calls] == ["1"]


def test_the_snapshot_alone_may_say_what_the_arguments_of_a_call_are() -> None:
    end = completed(function("c1", arguments='{"k":1}'))
    assert decode("openai-responses", added(function("c1"), 0), end).calls == [("c1", "f", {"k": 1})]


def test_output_beside_the_response() -> None:
    end = said("completed", response={"status": "completed"}, output=[message(output("a"))])
    assert shown(end=end) == [("text", "a")]
    assert shown(end=said("completed", output=[message(output("a"))])) == [("text", "a")]
    assert shown(end=said("completed", response={"output": [5, None, "x", {}, {"type": "message"}]})) == []


def test_finished_images_are_counted() -> None:
    item = {"type": "image_generation_call", "id": "i", "result": "AA"}
    body = [added(item, 0), done(item, 0), done(item, 0), done(item | {"id": "j"}, 1), completed(item)]
    assert decode("openai-responses", *body).summary.media == {"image": 2}
