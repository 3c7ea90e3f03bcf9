"""`tokwire chat`: turns from a pipe, with one history, and what is left of a turn that failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli_agent import MODEL, calling, clean_cli, in_harbour, saying, sent
from tests.support import PROTOCOLS
from tests.test_cli_support import HELLO, Cli, sse, text_chunk

import tokwire
from tokwire_replay import ReplayServer, Reply, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ERROR = Reply(body=b'{"error": {"message": "Too many ships"}}', status=400)
TIDE = ("call_1", "tide", {"port": "Skerry"})
KEPT_NOTHING = "note:  the history keeps nothing of this turn\n"


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return clean_cli(monkeypatch)


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with in_harbour(tmp_path, monkeypatch):
        yield


def said(body: Any) -> list[tuple[str, str]]:
    """Who said what, in the request of a turn."""
    return [(message["role"], message["content"]) for message in body["messages"]]


def chat(cli: Cli, server: ReplayServer, stdin: str, *argv: str) -> Any:
    """A chat whose lines come from a pipe."""
    with server as url:
        return cli("chat", *MODEL, "--base-url", url, *argv, stdin=stdin.encode())


def test_each_line_is_a_turn_and_the_history_grows(cli: Cli) -> None:
    server = serve(Reply(body=saying("openai-chat", "Six feet.")), Reply(body=saying("openai-chat", "A mile.")))
    result = chat(cli, server, "A fathom?\n\n  \nAnd a league?", "--system", "Be brief.", "--no-json")
    assert (result.code, result.err) == (0, "")
    assert result.out == "Six feet.\n[finish] stop\nA mile.\n[finish] stop\n"
    assert said(sent(server)[1]) == [
        ("system", "Be brief."),
        ("user", "A fathom?"),
        ("assistant", "Six feet."),
        ("user", "And a league?"),
    ]
    assert server.connections == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.usefixtures("harbour")
def test_tools_run_in_every_turn(cli: Cli, protocol: str) -> None:
    rounds = [calling(protocol, TIDE), saying(protocol, "Out.")]
    server = serve(*(Reply(body=body) for body in (*rounds, *rounds)))
    options = ("--tool", "harbour:tide", "--auto", "--protocol", protocol, "--summary")
    result = chat(cli, server, "Tide?\nAnd now?\n", *options)
    assert (result.code, result.err) == (0, "")
    assert result.types == ["block", "block", "block", "finish", "summary"] * 2
    assert len(server.requests) == 4


def test_an_error_ends_its_turn_and_not_the_chat(cli: Cli) -> None:
    server = serve(Reply(body=HELLO), ERROR, Reply(body=HELLO))
    result = chat(cli, server, "one\ntwo\nthree\n")
    assert result.code == 1
    assert result.types == ["block", "block", "finish", "error", "block", "block", "finish"]
    assert result.err == f"error: Too many ships (status 400)\n{KEPT_NOTHING}"
    assert said(sent(server)[2]) == [("user", "one"), ("assistant", "Hello"), ("user", "three")]


def test_the_exit_code_is_that_of_the_last_turn_that_failed(cli: Cli) -> None:
    server = serve(ERROR, Reply(body=HELLO, faults=["cut:150"]), Reply(body=HELLO))
    assert chat(cli, server, "one\ntwo\nthree\n").code == 3
    assert chat(cli, serve(HELLO), "").code == 0


@pytest.mark.usefixtures("harbour")
def test_a_turn_that_fails_later_keeps_its_earlier_rounds(cli: Cli) -> None:
    server = serve(Reply(body=calling("openai-chat", TIDE)), ERROR, Reply(body=HELLO))
    result = chat(cli, server, "Tide?\nAgain?\n", "--tool", "harbour:tide", "--auto")
    assert (result.code, result.err.splitlines()[-1]) == (1, "note:  the history keeps 3 messages of this turn")
    assert [role for role, _ in said(sent(server)[2])] == ["user", "assistant", "tool", "user"]


def test_an_answer_without_any_end_is_said_and_kept(cli: Cli) -> None:
    result = chat(cli, serve(sse(text_chunk("a"))), "Hi\n")
    assert result.code == 3
    assert "without an end marker" in result.err
    assert result.err.endswith("note:  the history keeps 2 messages of this turn\n")


@pytest.mark.usefixtures("harbour")
def test_the_model_is_told_of_calls_that_were_not_run(cli: Cli) -> None:
    calls = calling("openai-chat", TIDE, ("call_2", "tide", {"port": "Stack"}))
    server = serve(Reply(body=calls), Reply(body=HELLO))
    result = chat(cli, server, "Tide?\nNever mind.\n", "--tool", "harbour:tide")
    assert (result.code, result.err) == (0, "")
    messages = sent(server)[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert json.loads(messages[2]["content"]) == {
        "error": "the user did not run the tool",
        "tool": "tide",
        "id": "call_1",
    }


@pytest.mark.usefixtures("harbour")
def test_a_tool_that_leaves_the_program_does_not_end_the_chat(cli: Cli) -> None:
    server = serve(Reply(body=calling("openai-chat", ("call_1", "leave", {}))), Reply(body=HELLO))
    result = chat(cli, server, "Go\nHi\n", "--tool", "harbour:leave", "--auto")
    assert (result.code, result.text) == (2, "Hello")
    assert "error: a tool called sys.exit(7)" in result.err


def test_a_line_that_is_no_text_is_not_sent(cli: Cli) -> None:
    server = serve(HELLO)
    with server as url:
        result = cli("chat", *MODEL, "--base-url", url, stdin=b"caf\xe9\nHi\n")
    assert (result.code, result.err) == (2, "error: this line is no text in UTF-8; it was not sent\n")
    assert [said(body) for body in sent(server)] == [[("user", "Hi")]]


# Commands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["/exit", "/quit", "  /exit  ", "/exit\r"])
def test_exit_ends_the_chat(cli: Cli, word: str) -> None:
    server = serve(HELLO)
    assert chat(cli, server, f"Hi\n{word}\nmore\n").code == 0
    assert [said(body) for body in sent(server)] == [[("user", "Hi")]]


def test_clear_forgets_what_was_said(cli: Cli) -> None:
    server = serve(HELLO)
    result = chat(cli, server, "one\n/clear\ntwo\n")
    assert (result.code, result.err) == (0, "note:  the history is empty\n")
    assert said(sent(server)[1]) == [("user", "two")]


def test_the_history_as_json_can_be_read_back(cli: Cli) -> None:
    result = chat(cli, serve(HELLO), "/history\nHi\n/history\n")
    assert result.types == ["history", "block", "block", "finish", "history"]
    assert result.lines[0]["messages"] == []
    messages = tokwire.history_from_json(json.dumps(result.lines[-1]["messages"]))
    assert messages == (tokwire.Message.user("Hi"), tokwire.Message.assistant("Hello"))


def test_the_history_for_a_person_is_json_too(cli: Cli) -> None:
    hostile = saying("openai-chat", "a\x1b[2J\x9bb")
    shown = chat(cli, serve(hostile), "Hi\n/history\n", "--no-json").out
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    _, _, history = shown.partition("[finish] stop\n")
    assert tokwire.history_from_json(history)[1] == tokwire.Message.assistant("a\x1b[2J\x9bb")


def test_commands_that_are_none_are_not_sent(cli: Cli) -> None:
    server = serve(HELLO)
    result = chat(cli, server, "/hepl\n/help\n//clear is a command\n")
    assert "there is no command /hepl; /help lists them" in result.err
    assert {"/history", "/clear", "/exit"} <= {*result.err.split()}
    assert [said(body) for body in sent(server)] == [[("user", "/clear is a command")]]


def test_wrong_usage_is_2(cli: Cli) -> None:
    assert cli("chat", stdin=b"Hi\n").err.startswith("error: no model is named")
    assert cli("chat", "Hi", *MODEL).code == 2


def test_an_api_that_has_to_be_told_a_limit_is_told_one(cli: Cli) -> None:
    server = serve(saying("anthropic", "Hello"))
    with server as url:
        result = cli("chat", "--model", "m1", "--base-url", url, "--protocol", "anthropic", stdin=b"Hi\n")
    assert (result.code, result.err) == (0, "")
    assert sent(server)[0]["max_tokens"] == 4096
