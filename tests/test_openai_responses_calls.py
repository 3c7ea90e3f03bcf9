"""OpenAI Responses: which item an event belongs to, what its arguments are, and which items the client runs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bodies import added, completed, decode, done, function, incomplete, invalid_calls, message, said, text_delta
from tests.bodies import written as fragment
from tests.wire import ABSENT, Row, dropped, rows

CALLED = ("finish", "tool_calls")


def final(arguments: object, index: object = ABSENT, **members: object) -> bytes:
    """The end of the arguments of a call."""
    return said("function_call_arguments.done", output_index=index, arguments=arguments, **members)


def called(*parts: bytes, end: bytes | None = None, **options: Any) -> list[Row]:
    """The rows of an answer that ends with calls, without its end."""
    found = rows(decode("openai-responses", *parts, completed() if end is None else end, **options))
    assert found[-1] == CALLED
    return found[:-1]


def run(call_id: str, value: str, name: str = "f") -> Row:
    """The row of a call."""
    return ("call", call_id, name, value)


# ---- which item ----------------------------------------------------------------------------------------------


def test_items_are_told_apart_by_their_index() -> None:
    parts = [added(function("a"), 1), added(function("b"), 0), fragment(1, "["), fragment(0, "7"), fragment(1, "]")]
    assert called(*parts) == [run("b", "7"), run("a", "[]")]


def test_ids_that_rotate_do_not_matter_beside_an_index() -> None:
    parts = [
        added(function("a", id="x1"), 0),
        fragment(0, "[", item_id="x2"),
        fragment(0, "]", item_id="x3"),
        done(function("a", id="x4", arguments="[]"), 0),
    ]
    assert called(*parts) == [run("a", "[]")]


@pytest.mark.parametrize("name", ["x1", "a"])
def test_without_an_index_the_id_or_the_call_id_decides(name: str) -> None:
    parts = [
        added(function("a", id="x1")),
        added(function("b", id="x2")),
        fragment(ABSENT, "7", item_id=name),
        fragment(ABSENT, "8", item_id="x2"),
    ]
    assert called(*parts) == [run("a", "7"), run("b", "8")]


@pytest.mark.parametrize("name", [ABSENT, None, "", "unknown"])
def test_without_index_and_known_id_it_is_the_last_item(name: object) -> None:
    parts = [added(function("a", id="x1")), added(function("b", id="x2")), fragment(ABSENT, "8", item_id=name)]
    assert called(*parts) == [run("a", "{}"), run("b", "8")]


def test_an_index_that_comes_later_belongs_to_the_item_with_the_id() -> None:
    parts = [added(function("a", id="x1")), fragment(3, "[", item_id="x1"), fragment(3, "1]")]
    assert called(*parts, done(function("a"), 3)) == [run("a", "[1]")]


def test_an_item_done_under_an_index_that_its_announcement_lacked() -> None:
    assert called(added(function("a")), done(function("a", arguments="7"), 0)) == [run("a", "7")]


def test_a_second_item_under_a_used_index() -> None:
    parts = [added(function("a"), 0), fragment(0, "1"), added(function("b"), 0), fragment(0, "2")]
    assert called(*parts) == [run("a", "1"), run("b", "2")]
    assert called(done(function("a", arguments="1"), 0), done(function("b", arguments="2"), 0)) == [
        run("a", "1"),
        run("b", "2"),
    ]


def test_an_item_announced_twice_is_one() -> None:
    parts = [added(function("a"), 0), fragment(0, "["), added(function("a"), 0), fragment(0, "]")]
    assert called(*parts) == [run("a", "[]")]
    assert called(added(function("a", id="x")), added(function("a", id="x")), fragment(ABSENT, "7")) == [run("a", "7")]


def test_one_item_id_and_two_call_ids_are_two_calls() -> None:
    parts = [added(function("a", id="x")), fragment(ABSENT, "1"), added(function("b", id="x")), fragment(ABSENT, "2")]
    assert called(*parts) == [run("a", "1"), run("b", "2")]


def test_an_item_that_is_done_without_having_been_announced() -> None:
    assert called(done(function("a", arguments="[1]"), 4), done(function("b"))) == [run("a", "[1]"), run("b", "{}")]


def test_an_item_done_that_matches_none_is_the_last_one_of_its_type() -> None:
    parts = [added(function("a")), added(function("b")), done(function(ABSENT, arguments="7"))]
    assert called(*parts) == [run("a", "{}"), run("b", "7")]
    assert called(*parts, done(function("c", arguments="8"))) == [run("a", "{}"), run("b", "7"), run("c", "8")]


# ---- arguments done by age -----------------------------------------------------------------------------------


def test_arguments_done_without_index_and_id_go_to_the_oldest_call_that_waits() -> None:
    parts = [added(function("a")), added(function("b")), final("1"), final("2")]
    assert called(*parts) == [run("a", "1"), run("b", "2")]
    assert called(*parts, final("3")) == [run("a", "1"), run("b", "3")]


def test_after_that_loose_fragments_without_an_own_end_are_not_trusted() -> None:
    parts = [added(function("a")), added(function("b")), fragment(ABSENT, '{"k":1}'), final("1")]
    assert invalid_calls("openai-responses", *parts, completed()) == [("b", "f", '{"k":1}')]
    assert called(*parts, done(function("b", arguments="2"))) == [run("a", "1"), run("b", "2")]
    assert called(*parts[:-1]) == [run("a", "{}"), run("b", '{"k":1}')]


def test_that_holds_without_a_last_event_too() -> None:
    parts = [added(function("a")), added(function("b")), fragment(ABSENT, "1"), final("1")]
    assert invalid_calls("openai-responses", *parts) == [("b", "f", "1")]


# ---- arguments -----------------------------------------------------------------------------------------------


def test_final_arguments_replace_the_fragments() -> None:
    parts = [added(function("a"), 0), fragment(0, '{"k":'), fragment(0, "1}"), final('{"k":2}', 0)]
    assert called(*parts) == [run("a", '{"k":2}')]
    assert called(*parts, done(function("a", arguments='{"k":3}'), 0)) == [run("a", '{"k":3}')]


@pytest.mark.parametrize("nothing", ["", None, 5, True])
def test_final_arguments_that_say_nothing_leave_the_fragments(nothing: object) -> None:
    parts = [added(function("a"), 0), fragment(0, "[1]"), final(nothing, 0), done(function("a", arguments=nothing), 0)]
    assert called(*parts) == [run("a", "[1]")]


@pytest.mark.parametrize("value", [{"k": [1]}, [1, 2], {}])
def test_arguments_that_are_no_text_are_taken_as_they_are(value: object) -> None:
    expected = [run("a", str(value).replace("'", '"').replace(" ", ""))]
    assert called(added(function("a"), 0), final(value, 0)) == expected
    assert called(done(function("a", arguments=value), 0)) == expected


def test_arguments_that_came_only_with_the_announcement() -> None:
    assert called(added(function("a", arguments='{"k":1}'), 0)) == [run("a", '{"k":1}')]
    assert called(added(function("a", arguments='{"k":1}'), 0), fragment(0, "7")) == [run("a", "7")]
    assert called(added(function("a", arguments='{"k":1}'), 0), final("8", 0)) == [run("a", "8")]


def test_a_name_that_comes_with_the_end_of_the_arguments() -> None:
    assert called(added(function("a", ABSENT), 0), final("7", 0, name="f")) == [run("a", "7")]
    assert called(added(function("a", "f"), 0), final("7", 0, name="g")) == [run("a", "7")]


def test_the_id_to_answer_with_may_come_late_or_not_at_all() -> None:
    first = added(function(ABSENT, id="item"), 0)
    assert called(first, done(function("a", id="item"), 0)) == [run("a", "{}")]
    assert called(first) == [run("item", "{}")]
    assert rows(decode("openai-responses", added(function(ABSENT), 0), completed())) == [CALLED]


def test_fragments_for_what_was_never_announced_are_recorded() -> None:
    parts = [fragment(0, "[1", item_id="x"), final("[1]", 0), done(function("a", id="x", arguments="[2]"), 0)]
    found = decode("openai-responses", *parts, completed())
    assert rows(found) == [run("a", "[2]"), CALLED]
    assert dropped(found) == [(0, None, None, "[1"), (0, None, None, "[1]")]


def test_fragments_for_an_item_of_the_server_are_nobodys() -> None:
    item = {"type": "mcp_call", "id": "x", "name": "f"}
    found = decode("openai-responses", added(item, 0), fragment(0, "{}"), final("{}", 0), done(item, 0), completed())
    assert (rows(found), dropped(found)) == ([("finish", "stop")], [])


# ---- calls that were cut -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_arguments_cut_in_the_middle(reason: str) -> None:
    parts = [added(function("a"), 0), fragment(0, '{"k":'), final('{"k":4', 0), incomplete(reason)]
    assert invalid_calls("openai-responses", *parts) == [("a", "f", '{"k":4')]


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
@pytest.mark.parametrize("by_item", [True, False])
def test_a_call_that_the_server_calls_incomplete_does_not_run_without_arguments(reason: str, *, by_item: bool) -> None:
    item = function("a", arguments="", status="incomplete")
    end = [done(item, 0), incomplete(reason)] if by_item else [incomplete(reason, item)]
    assert invalid_calls("openai-responses", added(function("a"), 0), *end) == [("a", "f", "")]


def test_at_the_token_limit_the_last_call_needs_arguments_unless_something_follows() -> None:
    call, limit = added(function("a"), 0), incomplete()
    assert invalid_calls("openai-responses", call, limit) == [("a", "f", "")]
    assert invalid_calls("openai-responses", call, added(function("a"), 0), limit) == [("a", "f", "")]
    early = added(message(id="m"), 1)
    assert invalid_calls("openai-responses", early, call, done(message(id="m"), 1), limit) == [("a", "f", "")]
    whole = done(function("a", status="completed"), 0)
    for after in (whole, text_delta("x", 1), added(message(), 1), done(message(), 1), added({"type": "x"}, 1)):
        found = rows(decode("openai-responses", call, after, limit))
        assert found[-2:] == [run("a", "{}"), ("finish", "length")]


def test_a_call_that_the_snapshot_calls_completed_may_have_no_arguments() -> None:
    parts = [added(function("a"), 0), final("", 0)]
    end = incomplete("max_output_tokens", function("a", status="completed"))
    assert rows(decode("openai-responses", *parts, end)) == [run("a", "{}"), ("finish", "length")]
    assert invalid_calls("openai-responses", *parts, incomplete()) == [("a", "f", "")]


# ---- the kinds of items --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "members", "value"),
    [
        ("local_shell_call", {"action": {"type": "exec", "command": ["ls"]}}, '{"type":"exec","command":["ls"]}'),
        ("computer_call", {"action": {"type": "click"}}, '{"type":"click"}'),
        ("apply_patch_call", {"operation": {"type": "delete_file"}}, '{"type":"delete_file"}'),
        ("tool_search_call", {"arguments": {"goal": "x"}, "execution": "client"}, '{"goal":"x"}'),
    ],
)
def test_items_that_the_client_runs(kind: str, members: dict[str, Any], value: str) -> None:
    item = {"type": kind, "id": "x", "call_id": "a", "status": "completed", **members}
    empty = {name: member for name, member in item.items() if name not in ("action", "operation", "arguments")}
    assert called(added(empty, 0), done(item, 0)) == [run("a", value, kind)]
    assert called(end=completed(item)) == [run("a", value, kind)]


@pytest.mark.parametrize(
    "kind",
    ["web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "shell_call", "tool_search_call"],
)
def test_items_that_the_server_runs(kind: str) -> None:
    item = {"type": kind, "id": "x", "call_id": "a", "name": "f", "arguments": "{}", "execution": "server"}
    assert rows(decode("openai-responses", added(item, 0), done(item, 0), completed(item))) == [("finish", "stop")]


@pytest.mark.parametrize("text", ["", "SELECT 1", '{"k":1}', "null", "{", ' "\\\n'])
def test_a_custom_tool_takes_text(text: str) -> None:
    item = {"type": "custom_tool_call", "call_id": "a", "name": "f"}
    deltas = [said("custom_tool_call_input.delta", output_index=0, delta=piece) for piece in (text[:3], text[3:])]
    for parts in (
        [added(item, 0), *deltas],
        [added(item, 0), said("custom_tool_call_input.done", output_index=0, input=text)],
        [done(item | {"input": text}, 0)],
    ):
        found = decode("openai-responses", *parts, completed())
        assert found.calls == [("a", "f", text)]
