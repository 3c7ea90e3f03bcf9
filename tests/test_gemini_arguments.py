"""Gemini: arguments that come as values with paths, which call a fragment belongs to, and calls that were cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bodies import call, candidate, decode, events, invalid_calls
from tests.wire import ABSENT, Row, dropped, rows

from tokwire import InvalidToolArguments, LimitExceeded, Limits, StreamDecoder
from tokwire.protocols._gemini_arguments import ArgumentTree, PathError, parse_path

STOPPED = ("finish", "STOP")


def value(path: object, text: object = ABSENT, **members: object) -> dict[str, Any]:
    """One entry of `partialArgs`."""
    return {"jsonPath": path} | ({} if text is ABSENT else {"stringValue": text}) | members


def pieces(*entries: object, name: object = ABSENT, more: object = ABSENT, **members: object) -> dict[str, Any]:
    """A part with a fragment of a call; `more` is `willContinue`."""
    known = {} if more is ABSENT else {"willContinue": more}
    return call(name, **members, **({"partialArgs": list(entries)} if entries else {}), **known)


def called(*parts: dict[str, Any], reason: str = "STOP", **options: Any) -> list[tuple[str, Any]]:
    """Name and input of the calls in these parts, each part in a payload of its own."""
    found = decode("gemini", events(*map(candidate, parts), candidate(reason=reason)), **options)
    assert found.failure is None, found.failure
    return [(name, value) for _, name, value in found.calls]


def refused(*parts: dict[str, Any], reason: str = "STOP") -> list[tuple[str, str]]:
    """Name and raw arguments of the calls that cannot run."""
    body = events(*map(candidate, parts), candidate(reason=reason))
    return [(name, text) for _, name, text in invalid_calls("gemini", body)]


OPENED = pieces(name="f", more=True)
CLOSED = call()

# ---- paths ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.a", ["a"]),
        ("$.a.b", ["a", "b"]),
        ("$['a']", ["a"]),
        ('$["a"]', ["a"]),
        ("$.a[0]", ["a", 0]),
        ("$['a'][12].c[0]", ["a", 12, "c", 0]),
        ("$['it\\'s']", ["it's"]),
        ('$["it\'s"]', ["it's"]),
        ("$['\"']", ['"']),
        ('$["\\""]', ['"']),
        ("$['\\\\']", ["\\"]),
        ("$['\\u0041\\n']", ["A\n"]),
        ("$['\t\\n']", ["\t\n"]),
        ("$['a.b[0]']", ["a.b[0]"]),
        ("$['']", [""]),
        ("$.\u00e9 x-y", ["\u00e9 x-y"]),
    ],
)
def test_paths(path: str, steps: list[str | int]) -> None:
    assert parse_path(path) == steps


@pytest.mark.parametrize(
    "path",
    [
        *("", "a", "$", "$.", "$..a", "$a", "$[0]", "$.a[", "$.a[]", "$.a[-1]", "$.a[x]", "$.a[*]", "$['a", "$.a[0]b"),
        *("$['a'", "$['\\x']", "$['\\u00']", "$.a['b\"]", "$.a[1234567890]", "$.a[\u0661]", None, 5, ["$"], {}),
    ],
)
def test_paths_that_cannot_be_read(path: object) -> None:
    with pytest.raises(PathError):
        parse_path(path)
    assert refused(pieces(value(path, "x"), name="f")) == [("f", "{}")]


@pytest.mark.parametrize(
    ("paths", "so_far"),
    [
        (["$.a[1]"], '{"a":[]}'),
        (["$.a[0]", "$.a[2]"], '{"a":["x"]}'),
        (["$.a", "$.a.b"], '{"a":"x"}'),
        (["$.a", "$.a[0]"], '{"a":"x"}'),
        (["$.a.b", "$.a[0]"], '{"a":{"b":"x"}}'),
        (["$.a[0]", "$.a.b"], '{"a":["x"]}'),
    ],
)
def test_paths_that_lead_nowhere(paths: list[str], so_far: str) -> None:
    assert refused(pieces(*(value(path, "x") for path in paths), name="f")) == [("f", so_far)]


def test_a_path_longer_than_the_depth_limit() -> None:
    tree = ArgumentTree(3, {})
    tree.put(value("$.a.b.c", "x"))
    with pytest.raises(PathError):
        tree.put(value("$.a.b.c.d", "x"))
    assert tree.value() == {"a": {"b": {"c": "x"}}}


# ---- values --------------------------------------------------------------------------------------------------


def test_values_of_every_kind() -> None:
    entries = [
        value("$.s", "x"),
        value("$.n", numberValue=0.5),
        value("$.i", numberValue=7),
        value("$.t", boolValue=True),
        value("$.f", boolValue=False),
        value("$.z", nullValue="NULL_VALUE"),
        value("$.o", nullValue=None),
    ]
    (found,) = called(pieces(*entries, name="f"))
    expected = {"s": "x", "n": 0.5, "i": 7, "t": True, "f": False, "z": None, "o": None}
    assert json.dumps(found) == json.dumps(("f", expected))


def test_texts_under_one_path_are_pieces_of_one() -> None:
    parts = [pieces(value("$.a[0]", "x", willContinue=True), more=True), pieces(value("$.b", "1"), more=True)]
    parts += [pieces(value("$.a[0]", "y"), value("$.a[0]", ""), more=True), pieces(value("$.a[1]", "z"))]
    assert called(OPENED, *parts) == [("f", {"a": ["xy", "z"], "b": "1"})]


def test_a_later_value_replaces_one_of_another_kind() -> None:
    numbers = [value("$.a", "x"), value("$.a", numberValue=1), value("$.b[0]", numberValue=1), value("$.b[0]", "y")]
    assert called(pieces(*numbers, name="f")) == [("f", {"a": 1, "b": ["y"]})]


@pytest.mark.parametrize("entry", [value("$.a"), value("$.a", None), value("$.a", willContinue=False)])
def test_an_entry_without_a_value_changes_nothing(entry: dict[str, Any]) -> None:
    assert called(pieces(value("$.a", "x"), entry, value("$.a", "y"), name="f")) == [("f", {"a": "xy"})]
    assert called(pieces(value("$.b", 5), entry, name="f")) == [("f", {"b": ""})]


# ---- which call ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [CLOSED, call(args={}), pieces(value("$.b", numberValue=1))])
def test_a_call_goes_on_until_a_fragment_does_not_say_so(last: dict[str, Any]) -> None:
    ((name, arguments),) = called(OPENED, pieces(value("$.a", "x"), more=True), last)
    assert (name, arguments["a"]) == ("f", "x")


def test_fragments_of_two_calls_by_id() -> None:
    parts = [pieces(call_id=name, name="f", more=True) for name in "ab"]
    parts += [pieces(value("$.k", text), call_id=name, more=True) for name, text in ("a1", "b2", "a3")]
    parts += [pieces(value("$.k", "4"), call_id="b"), call(call_id="a")]
    found = decode("gemini", events(*map(candidate, parts), candidate(reason="STOP")))
    assert found.calls == [("a", "f", {"k": "13"}), ("b", "f", {"k": "24"})]


def test_a_fragment_without_id_and_name_belongs_to_the_call_continued_last() -> None:
    parts = [pieces(call_id="a", name="f", more=True), pieces(call_id="b", name="g", more=True)]
    parts += [pieces(call_id="a", more=True), pieces(value("$.k", "1")), pieces(value("$.k", "2")), CLOSED]
    assert called(*parts) == [("f", {"k": "1"}), ("g", {"k": "2"})]


def test_a_closed_call_may_be_continued_by_its_id() -> None:
    parts = [pieces(value("$.k", "a"), call_id="c", name="f"), pieces(value("$.k", "b"), call_id="c")]
    assert called(*parts) == [("f", {"k": "ab"})]


def test_whole_arguments_replace_and_fragments_continue_them() -> None:
    parts = [pieces(value("$.k", "a"), call_id="c", name="f"), call(call_id="c", args={"m": [1]})]
    assert called(*parts) == [("f", {"m": [1]})]
    assert called(*parts, pieces(value("$.m[1]", numberValue=2), call_id="c")) == [("f", {"m": [1, 2]})]


def test_nothing_to_continue() -> None:
    assert called(CLOSED, call(args={}), pieces()) == []
    found = decode("gemini", events(candidate(pieces(value("$.k", "a"), more=True)), candidate(reason="STOP")))
    assert (rows(found), dropped(found)) == ([("finish", "stop")], [(0, None, None, '{"k":"a"}')])


def test_choices_have_calls_of_their_own() -> None:
    payloads = [candidate(pieces(name=name, more=True), index=index) for index, name in enumerate("fg")]
    payloads += [candidate(pieces(value("$.k", str(index))), index=index) for index in (1, 0)]
    ends = [candidate(reason="STOP", index=index) for index in (0, 1)]
    found = [row for row in rows(decode("gemini", events(*payloads, *ends))) if row[0] == "call"]
    assert [(row[2], *row[3:]) for row in found] == [("f", '{"k":"0"}'), ("g", '{"k":"1"}', 1)]


# ---- calls that were cut -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["STOP", "MAX_TOKENS"])
def test_a_call_that_still_continues_at_the_drain(reason: str) -> None:
    assert refused(OPENED, reason=reason) == [("f", "")]
    assert refused(OPENED, pieces(value("$.k", "a"), more=True), reason=reason) == [("f", '{"k":"a"}')]
    whole = pieces(value("$.k", "b"), name="g")
    assert refused(OPENED, whole, pieces(more=True), reason=reason) == [("f", "")]


def test_a_call_that_still_continues_at_the_end_of_the_body() -> None:
    assert [name for _, name, _ in invalid_calls("gemini", events(candidate(OPENED)))] == ["f"]


def test_a_call_that_continues_behind_its_drain() -> None:
    body = events(candidate(OPENED, reason="STOP"), candidate(pieces(value("$.k", "a"))), candidate(reason="STOP"))
    found = decode("gemini", body)
    assert rows(found) == [("error", InvalidToolArguments.__name__)]
    assert dropped(found) == [(0, None, None, '{"k":"a"}')]


def test_what_fragments_hold_counts_against_the_limit_once() -> None:
    text = "x" * 40
    parts = [OPENED, *(pieces(value("$.k", text), more=True) for _ in range(10)), CLOSED]
    rounds = [candidate(part) for part in parts]
    body = events(*rounds, candidate(reason="STOP"), *rounds, candidate(reason="STOP"))
    found: list[Row] = rows(decode("gemini", body, limits=Limits(max_tool_arguments_bytes=450)))
    assert [row[0] for row in found] == ["call", "call", "finish"]
    assert rows(decode("gemini", body, limits=Limits(max_tool_arguments_bytes=390))) == [("error", "LimitExceeded")]


def test_names_in_paths_count_against_the_limit() -> None:
    decoder = StreamDecoder("gemini", limits=Limits(max_tool_arguments_bytes=1000))
    decoder.receive_data(events(candidate(pieces(value(f"$.{'n' * 2000}", numberValue=1), name="f", more=True))))
    with pytest.raises(LimitExceeded):
        list(decoder.events())


# ---- generated arguments -------------------------------------------------------------------------------------

KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)
LEAVES = st.text(st.characters(codec="utf-8"), max_size=5) | st.integers(-99, 99) | st.booleans() | st.none()
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3),
    max_leaves=6,
)


def entries_of(tree: Any, path: str) -> list[dict[str, Any]]:
    """The entries that build a tree, long texts in two pieces."""
    if isinstance(tree, dict):
        return [entry for key, member in tree.items() for entry in entries_of(member, f"{path}[{json.dumps(key)}]")]
    if isinstance(tree, list):
        return [entry for place, member in enumerate(tree) for entry in entries_of(member, f"{path}[{place}]")]
    if isinstance(tree, str):
        return [value(path, tree[:2]), value(path, tree[2:])]
    name = "nullValue" if tree is None else "boolValue" if isinstance(tree, bool) else "numberValue"
    return [value(path, **{name: tree})]


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=3))
def test_what_was_taken_apart_is_put_together(arguments: dict[str, Any]) -> None:
    tree = ArgumentTree(None, {})
    for entry in entries_of(arguments, "$"):
        tree.put(entry)
    assert json.dumps(tree.value()) == json.dumps(arguments)
    assert tree.characters > 0
