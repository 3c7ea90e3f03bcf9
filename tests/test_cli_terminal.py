"""The command on a terminal: labels, colours, and nothing that a terminal would obey."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from tests.test_cli_support import DONE, HELLO, Cli, Result, call_chunk, chunk, sse, text_chunk

import tokwire
from tokwire_cli._screen import Screen
from tokwire_cli._text import TextDisplay

ANSI = re.compile(r"\x1b\[[0-9;]*m")
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
EVERYTHING = ("--include-reasoning", "--usage", "--summary")
HOSTILE = "a\x1b]0;owned\x07b\x1b[2Jc\x9bd\x7fe\u202ef\u2067g\rh\x00"
HARMLESS = "a\\x1b]0;owned\\x07b\\x1b[2Jc\\x9bd\\x7fe\\u202ef\\u2067g\\rh\\x00"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;]*m)")

ALL_KINDS = sse(
    chunk({"reasoning_content": "Think "}),
    chunk({"reasoning_content": "twice."}),
    text_chunk("I look "),
    text_chunk("it up."),
    call_chunk(0, '{"city":', "call_1", "weather"),
    call_chunk(0, '"Oslo"}'),
    chunk({"refusal": "I would rather not."}),
    chunk(finish="tool_calls", usage=USAGE),
)


@pytest.fixture(params=["rich", "without rich"])
def cli(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Cli:
    """The command with the extra, and without it."""
    if request.param == "rich":
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "tokwire_cli._rich", None)
    return Cli(monkeypatch)


def plain(result: Result) -> str:
    """What is read on the terminal, without colours and without blanks that fill a table."""
    return "\n".join(line.rstrip() for line in ANSI.sub("", result.out).splitlines())


def test_an_answer_of_text_alone_is_shown_as_it_is(cli: Cli) -> None:
    assert plain(cli.on_terminal("decode", "-", stdin=HELLO)) == "Hello\n[finish] stop"


def test_all_kinds_are_told_apart(cli: Cli) -> None:
    result = cli.on_terminal("decode", "-", *EVERYTHING, stdin=ALL_KINDS + DONE)
    shown, _, summary = plain(result).partition("[summary]")
    assert shown.splitlines() == [
        "[reasoning]",
        "Think twice.",
        "[text]",
        "I look it up.",
        "[refusal]",
        "I would rather not.",
        "[tool call] weather (call_1)",
        '  {"city":"Oslo"}',
        "[usage] 3 in, 2 out, 5 total",
        "[finish] tool_calls",
    ]
    assert re.search(r"^ *model +m1$", summary, re.MULTILINE)
    assert re.search(r"^ *end_marker +true$", summary, re.MULTILINE)
    assert "\x1b[" in result.out


def test_tool_arguments_are_shown_as_they_arrive(cli: Cli) -> None:
    body = sse(
        call_chunk(0, '{"a":', "call_1", "one"),
        call_chunk(1, "{", "call_2", "two"),
        call_chunk(1, "}"),
        call_chunk(0, "1}"),
        chunk(finish="tool_calls"),
    )
    assert plain(cli.on_terminal("decode", "-", "--tool-deltas", stdin=body)).splitlines() == [
        "[arguments] one (call 0)",
        '{"a":',
        "[arguments] two (call 1)",
        "{}",
        "[arguments] one (call 0)",
        "1}",
        "[tool call] one (call_1)",
        '  {"a":1}',
        "[tool call] two (call_2)",
        "  {}",
        "[finish] tool_calls",
    ]


def test_long_arguments_are_spread_over_lines(cli: Cli) -> None:
    arguments = {"query": "x" * 90, "limit": 3}
    body = sse(call_chunk(0, json.dumps(arguments), "call_1", "search"), chunk(finish="tool_calls"))
    shown = plain(cli.on_terminal("decode", "-", stdin=body)).splitlines()
    assert shown[0] == "[tool call] search (call_1)"
    assert json.loads("".join(shown[1:-1])) == arguments
    assert len(shown) == 6


def test_choices_are_labelled(cli: Cli) -> None:
    body = sse(text_chunk("left"), text_chunk("right", choice=1), chunk(finish="stop")) + DONE
    assert plain(cli.on_terminal("decode", "-", stdin=body)) == "left\n[text, choice 1]\nright\n[finish] stop"


def test_a_cut_by_the_token_limit_is_said(cli: Cli) -> None:
    body = sse(text_chunk("a"), chunk(finish="length"))
    assert plain(cli.on_terminal("decode", "-", stdin=body)) == "a\n[finish] length (cut by the token limit)"


@pytest.mark.parametrize("text", ["two\nlines\n", "blanks at the end   ", "a\ttab", "[bold]no[/bold]", "é 日本 🚆"])
def test_text_is_not_laid_out_anew(cli: Cli, text: str) -> None:
    body = sse(text_chunk(text), text_chunk("x" * 200 + " "), text_chunk("end"), chunk(finish="stop"))
    shown = ANSI.sub("", cli.on_terminal("decode", "-", stdin=body).out)
    assert shown == text + "x" * 200 + " end\n[finish] stop\n"


def test_reasoning_is_not_laid_out_anew(cli: Cli) -> None:
    pieces = ["x" * 100 + "  ", "\ty ", "\n\n", "[red]z"]
    body = sse(*(chunk({"reasoning_content": piece}) for piece in pieces), chunk(finish="stop"))
    shown = ANSI.sub("", cli.on_terminal("decode", "-", "--include-reasoning", stdin=body).out)
    assert shown == f"[reasoning]\n{''.join(pieces)}\n[finish] stop\n"


def test_an_error_is_on_stderr_below_what_came_before(cli: Cli) -> None:
    error = {"message": "try later", "type": "overloaded", "code": 503}
    result = cli.on_terminal("decode", "-", stdin=sse(text_chunk("Hel"), {"error": error}))
    assert (result.code, plain(result)) == (1, "Hel")
    assert result.out.endswith("\n")
    message, advice = ANSI.sub("", result.err).splitlines()
    assert message.startswith("error: overloaded: try later")
    assert advice.startswith("hint:")


def test_a_body_that_just_stops_is_said_below_the_text(cli: Cli) -> None:
    result = cli.on_terminal("decode", "-", stdin=sse(text_chunk("Hel")))
    assert plain(result) == "Hel\n[finish] unspecified"
    assert ANSI.sub("", result.err).startswith("error: the stream ended without an end marker")


def test_a_kind_of_event_that_is_new_is_shown_as_json() -> None:
    stream = io.StringIO()
    TextDisplay(Screen(stream)).event(tokwire.RawPayload(name="a\x1b", data=b"", choice=1))
    assert stream.getvalue() == '[event] {"type":"raw_payload","name":"a\\u001b","data":"","choice":1}\n'


# Control characters ---------------------------------------------------------------------------------------------------


def hostile_body(place: str) -> bytes:
    """A body with hostile text in one place."""
    match place:
        case "text":
            payload = text_chunk(HOSTILE)
        case "reasoning":
            payload = chunk({"reasoning_content": HOSTILE})
        case "refusal":
            payload = chunk({"refusal": HOSTILE})
        case "tool name":
            payload = call_chunk(0, "{}", "call_1", HOSTILE)
        case "tool id":
            payload = call_chunk(0, "{}", HOSTILE, "look")
        case "arguments":
            payload = call_chunk(0, json.dumps({HOSTILE: HOSTILE}), "call_1", "look")
        case "long arguments":
            payload = call_chunk(0, json.dumps({"q" * 100: [HOSTILE]}, ensure_ascii=False), "call_1", "look")
        case "finish":
            payload = chunk(finish=HOSTILE)
        case "model":
            payload = text_chunk("a") | {"model": HOSTILE}
        case "error":
            payload = {"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}}
        case _:
            return sse(text_chunk("a")) + f"data: {{{HOSTILE}\n\n".encode()
    return sse(payload, chunk(finish="stop"))


PLACES = ["text", "reasoning", "refusal", "tool name", "tool id", "arguments", "long arguments"]
PLACES += ["finish", "model", "error", "junk"]


@pytest.mark.parametrize("mode", ["--no-json", "--json"])
@pytest.mark.parametrize("place", PLACES)
def test_a_model_cannot_send_control_characters(cli: Cli, place: str, mode: str) -> None:
    result = cli.on_terminal("decode", "-", mode, "--tool-deltas", *EVERYTHING, stdin=hostile_body(place))
    assert "owned" in result.out + result.err
    assert not FORBIDDEN.findall(result.out)
    assert not FORBIDDEN.findall(result.err)


def test_escapes_are_readable(cli: Cli) -> None:
    result = cli.on_terminal("decode", "-", stdin=sse(text_chunk(HOSTILE + "\n\tok"), chunk(finish="stop")))
    assert plain(result) == f"{HARMLESS}\n\tok\n[finish] stop"


def test_a_name_stays_on_its_line(cli: Cli) -> None:
    body = sse(call_chunk(0, "{}", "call_1", "a\n[finish] stop"), chunk(finish="tool_calls"))
    assert "[tool call] a\\n[finish] stop (call_1)" in plain(cli.on_terminal("decode", "-", stdin=body))


def test_json_on_a_terminal_has_the_same_values(cli: Cli) -> None:
    body = hostile_body("text")
    assert cli.on_terminal("decode", "-", "--json", stdin=body).lines == cli("decode", "-", stdin=body).lines


def test_a_file_name_cannot_either(cli: Cli) -> None:
    result = cli.on_terminal("decode", "no\x1b[2Jfile")
    assert (result.code, ANSI.sub("", result.err)) == (2, "error: no\\x1b[2Jfile: No such file or directory\n")


# The terminal's abilities ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_escape_sequences_where_none_are_wanted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    broken = sse(text_chunk("a"), {"error": "no"})
    for result in [
        cli.on_terminal("decode", "-", *EVERYTHING, stdin=ALL_KINDS),
        cli.on_terminal("decode", "-", stdin=broken),
        cli.on_terminal("demo", "--fast"),
        cli.on_terminal("protocols"),
        cli.on_terminal("check", "-", stdin=HELLO),
    ]:
        assert result.out
        assert "\x1b" not in result.out + result.err


def test_an_empty_no_color_asks_for_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b[" in cli.on_terminal("decode", "-", stdin=HELLO).out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_that_the_terminal_cannot_show(cli: Cli, encoding: str) -> None:
    body = sse(text_chunk("日本"), chunk(finish="stop"))
    result = cli.on_terminal("decode", "-", "--summary", stdin=body, encoding=encoding)
    assert plain(result).startswith("\\u65e5\\u672c\n[finish] stop")
