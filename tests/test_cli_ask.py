"""`tokwire ask`: answers and tools over real sockets, and every way in which a turn ends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.cli_agent import MODEL, calling, clean_cli, in_harbour, saying, sent
from tests.sockets import closed_port, silent
from tests.support import PROTOCOLS
from tests.test_cli_support import DONE, HELLO, Cli, chunk, sse, text_chunk

from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ERROR = b'{"error": {"type": "overloaded_error", "message": "Too many ships"}}'
TIDE = ("call_1", "tide", {"port": "Skerry"})
TOOLS = ("--tool", "harbour:tide", "--tool", "harbour:wind", "--auto")


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return clean_cli(monkeypatch)


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with in_harbour(tmp_path, monkeypatch):
        yield


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_question_and_its_answer(cli: Cli, protocol: str) -> None:
    server = serve(saying(protocol, "Six ", "feet."), reads=7)
    with server as url:
        result = cli("ask", "What is a fathom?", *MODEL, "--base-url", url, "--protocol", protocol)
    assert (result.code, result.err, result.text) == (0, "", "Six feet.")
    assert result.types[-1] == "finish"
    (body,) = sent(server)
    assert (body["model"], body["stream"]) == ("m1", True)
    assert "What is a fathom?" in json.dumps(body["messages"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.usefixtures("harbour")
def test_two_tools_in_three_rounds(cli: Cli, protocol: str) -> None:
    both = calling(protocol, TIDE, ("call_2", "wind", {"knots": False}))
    again = calling(protocol, ("call_3", "tide", {"port": "Stack"}))
    server = serve(Reply(body=both), Reply(body=again), Reply(body=saying(protocol, "Out.")))
    with server as url:
        result = cli("ask", "Tide?", *MODEL, "--base-url", url, "--protocol", protocol, *TOOLS)
    blocks = [line["block"] for line in result.lines if line["type"] == "block"]
    assert [block["type"] for block in blocks] == [
        *("tool_use", "tool_use", "tool_result", "tool_result"),
        *("tool_use", "tool_result", "text"),
    ]
    results = [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"]
    assert results == [
        ("call_1", '{"port":"Skerry","out":true}'),
        ("call_2", "a breeze"),
        ("call_3", '{"port":"Stack","out":true}'),
    ]
    assert (result.code, result.err, result.types.count("finish")) == (0, "", 1)
    assert [len(body["messages"]) for body in sent(server)] == sorted({len(body["messages"]) for body in sent(server)})
    assert server.connections == 1


@pytest.mark.usefixtures("harbour")
def test_a_turn_with_tools_as_a_person_reads_it(cli: Cli) -> None:
    first = sse(text_chunk("I look.")) + calling("openai-chat", TIDE, ("call_2", "broken", {}))
    with serve(Reply(body=first), Reply(body=HELLO)) as url:
        result = cli("ask", "Tide?", *MODEL, "--base-url", url, *TOOLS, "--tool", "harbour:broken", "--no-json")
    assert result.code == 0
    assert result.out.splitlines() == [
        "I look.",
        "[tool call] tide (call_1)",
        '  {"port":"Skerry"}',
        "[tool call] broken (call_2)",
        "  {}",
        "[tool result] tide (call_1)",
        '  {"port":"Skerry","out":true}',
        "[tool error] broken (call_2)",
        '  {"error":"no lamp","tool":"broken","id":"call_2"}',
        "[text]",
        "Hello",
        "[finish] stop",
    ]


def one_call(cli: Cli, name: str, *options: str) -> str:
    """What a person sees of a turn in which one tool is called, and then of the answer."""
    with serve(Reply(body=calling("openai-chat", ("call_1", name, {}))), Reply(body=HELLO)) as url:
        result = cli("ask", "Go", *MODEL, "--base-url", url, "--tool", f"harbour:{name}", "--auto", *options)
    assert result.code == 0
    return result.out


@pytest.mark.usefixtures("harbour")
def test_a_long_result_is_shortened_for_a_person_alone(cli: Cli) -> None:
    assert "  " + "x" * 500 + "... (100 more characters)\n" in one_call(cli, "long", "--no-json")
    assert "x" * 600 in one_call(cli, "long")


@pytest.mark.usefixtures("harbour")
def test_a_result_cannot_send_control_characters(cli: Cli) -> None:
    assert "\n  a\\x1b]0;owned\\x07b\n  [finish] stop\n" in one_call(cli, "hostile", "--no-json")


@pytest.mark.usefixtures("harbour")
def test_an_image_in_a_result_is_named(cli: Cli) -> None:
    shown = one_call(cli, "picture", "--no-json")
    assert "[tool result] picture (call_1)\n  a ship\n  ImageBlock(url='https://harbour.example/ship.png'" in shown


@pytest.mark.usefixtures("harbour")
def test_without_auto_a_call_is_shown_and_not_run(cli: Cli) -> None:
    server = serve(calling("openai-chat", TIDE))
    with server as url:
        result = cli("ask", "Tide?", *MODEL, "--base-url", url, "--tool", "harbour:tide", "--no-json")
    assert (result.code, result.err) == (0, "")
    assert result.out == '[tool call] tide (call_1)\n  {"port":"Skerry"}\n[finish] tool_calls\n'
    assert sent(server)[0]["tools"][0]["function"]["name"] == "tide"
    assert len(server.requests) == 1


@pytest.mark.usefixtures("harbour")
def test_a_loop_that_was_stopped_is_said(cli: Cli) -> None:
    server = serve(calling("openai-chat", TIDE))
    with server as url:
        result = cli("ask", "Tide?", *MODEL, "--base-url", url, *TOOLS, "--max-tool-iterations", "2")
    assert (result.code, len(server.requests)) == (0, 3)
    assert "not run, after 2 rounds of tools; allow more with --max-tool-iterations" in result.err


@pytest.mark.usefixtures("harbour")
def test_a_tool_that_leaves_the_program_ends_the_turn_alone(cli: Cli) -> None:
    with serve(calling("openai-chat", ("call_1", "leave", {}))) as url:
        result = cli("ask", "Go", *MODEL, "--base-url", url, "--tool", "harbour:leave", "--auto")
    assert (result.code, result.err) == (2, "error: a tool called sys.exit(7), which ended the turn\n")


def test_usage_reasoning_and_the_summary(cli: Cli) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    body = sse(chunk({"reasoning_content": "Hm."}), text_chunk("Hi"), chunk(finish="stop", usage=usage)) + DONE
    server = serve(body)
    with server as url:
        options = ("--reasoning", "--usage", "--summary")
        assert cli("ask", "Hi", *MODEL, "--base-url", url, *options).types == [
            *("reasoning", "block", "usage", "finish", "summary"),
        ]
        assert cli("ask", "Hi", *MODEL, "--base-url", url).types == ["block", "finish"]
    first, second = sent(server)
    assert first["stream_options"] == {"include_usage": True}
    assert "stream_options" not in second


@pytest.mark.parametrize("words", [["-"], []])
def test_the_prompt_comes_from_a_pipe(cli: Cli, words: list[str]) -> None:
    server = serve(HELLO)
    with server as url:
        assert cli("ask", *words, *MODEL, "--base-url", url, stdin="Wie spät?\n".encode()).code == 0
    assert sent(server)[0]["messages"] == [{"role": "user", "content": "Wie spät?"}]


def test_words_are_joined_and_stdin_stands_among_them(cli: Cli) -> None:
    server = serve(HELLO)
    with server as url:
        assert cli("ask", "Sum", "up:", "-", *MODEL, "--base-url", url, stdin=b"a\nb\n").code == 0
    assert sent(server)[0]["messages"] == [{"role": "user", "content": "Sum up: a\nb"}]


def test_a_server_that_says_no_is_1(cli: Cli) -> None:
    with serve(ERROR, status=429, headers=[("Retry-After", "7")]) as url:
        result = cli("ask", "Hi", *MODEL, "--base-url", url)
    assert (result.code, result.types, result.lines[0]["message"]) == (1, ["error"], "Too many ships")
    assert "in 7 seconds" in result.err


def test_another_attempt_is_shown(cli: Cli) -> None:
    refusal = Reply(body=ERROR, status=503, headers=[("Retry-After", "0.01")])
    for mode in ("--json", "--no-json"):
        with serve(refusal, Reply(body=HELLO)) as url:
            result = cli("ask", "Hi", *MODEL, "--base-url", url, "--attempts", "2", mode)
        assert (result.code, result.err) == (0, "")
        if mode == "--json":
            assert result.types == ["retrying", "block", "block", "finish"]
            assert (result.lines[0]["attempt"], result.lines[0]["error"]["status_code"]) == (1, 503)
        else:
            assert result.out.startswith("[retry] attempt 1 failed: overloaded_error: Too many ships (status 503); the")
            assert result.out.endswith("\n[text]\nHello\n[finish] stop\n")


def test_an_answer_that_is_cut_is_3(cli: Cli) -> None:
    with serve(HELLO, faults=["cut:150"]) as url:
        result = cli("ask", "Hi", *MODEL, "--base-url", url, "--summary")
    assert (result.code, result.text, result.types[-2:]) == (3, "Hel", ["error", "summary"])
    with serve(sse(text_chunk("a"))) as url:
        result = cli("ask", "Hi", *MODEL, "--base-url", url)
    assert (result.code, "without an end marker" in result.err) == (3, True)


def test_bytes_that_are_no_answer_are_4(cli: Cli) -> None:
    with serve(b"<html>Sign in</html>") as url:
        assert cli("ask", "Hi", *MODEL, "--base-url", url).code == 4


def test_no_answer_is_5(cli: Cli) -> None:
    result = cli("ask", "Hi", *MODEL, "--base-url", f"http://127.0.0.1:{closed_port()}")
    assert (result.code, result.lines[0]["kind"]) == (5, "ConnectError")


@pytest.mark.parametrize("option", ["--timeout", "--idle-timeout"])
def test_a_timeout_is_5_and_says_which(cli: Cli, option: str) -> None:
    with silent() as port:
        result = cli("ask", "Hi", *MODEL, "--base-url", f"http://127.0.0.1:{port}", option, "0.1")
    assert (result.code, result.lines[0]["kind"]) == (5, "TransportTimeout")
    assert f"with {option}" in result.err
