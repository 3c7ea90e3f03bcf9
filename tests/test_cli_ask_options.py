"""The options of `tokwire ask`: what they put into the request, and what is said where they mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.cli_agent import MODEL, clean_cli, saying, sent
from tests.sockets import closed_port
from tests.test_cli_support import HELLO, Cli

from tokwire_replay import ReplayServer, Reply, serve

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-harbour-4711"
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(8)
ERROR = b'{"error": {"message": "no"}}'


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return clean_cli(monkeypatch)


def asked(cli: Cli, *argv: str, body: bytes = HELLO) -> ReplayServer:
    """The server that one question went to."""
    server = serve(body)
    with server as url:
        result = cli("ask", "Hi", "--base-url", url, *argv)
    assert (result.code, result.err) == (0, "")
    return server


def body_of(cli: Cli, *argv: str) -> Any:
    """The body of the request for one question."""
    return sent(asked(cli, "--model", "m1", *argv))[0]


def test_what_is_not_said_is_not_sent(cli: Cli) -> None:
    assert body_of(cli) == {"model": "m1", "messages": [{"role": "user", "content": "Hi"}], "stream": True}


def test_the_fields_of_the_request(cli: Cli, tmp_path: Path) -> None:
    body = body_of(cli, "--system", "Be brief.", "--max-tokens", "9", "--temperature", "0.5")
    assert (body["messages"][0], body["max_tokens"], body["temperature"]) == (
        {"role": "system", "content": "Be brief."},
        9,
        0.5,
    )
    instructions = tmp_path / "system.txt"
    instructions.write_text("Be kind.")
    assert body_of(cli, "--system", f"@{instructions}")["messages"][0]["content"] == "Be kind."


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [((), 4096), (("--max-tokens", "9"), 9), (("--set", "max_tokens=9"), 9)],
)
@pytest.mark.parametrize("protocol", ["anthropic", "ANTHROPIC"])
def test_an_api_that_has_to_be_told_a_limit_is_told_one(
    cli: Cli, protocol: str, arguments: tuple[str, ...], limit: int
) -> None:
    server = serve(saying("anthropic", "Hello"))
    with server as url:
        result = cli("ask", "Hi", "--model", "m1", "--base-url", url, "--protocol", protocol, *arguments)
    assert (result.code, result.err) == (0, "")
    assert sent(server)[0]["max_tokens"] == limit


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ('stop=["a"]', "stop", ["a"]),
        ('user="two words"', "user", "two words"),
        ("reasoning_effort=high", "reasoning_effort", "high"),
        ("seed=7", "seed", 7),
        ("store=true", "store", True),
        ('response_format={"type": "json_object"}', "response_format", {"type": "json_object"}),
        ("temperature=null", "temperature", None),
    ],
)
def test_more_fields(cli: Cli, text: str, name: str, value: object) -> None:
    body = body_of(cli, "--temperature", "1", "--set", "seed=1", "--set", text)
    assert body.get(name) == value
    assert ("temperature" in body) == (value is not None)


def test_model_and_url_come_from_the_environment_where_the_line_has_none(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(HELLO)
    with server as url:
        monkeypatch.setenv("OPEN_AGENT_BASE_URL", url)
        monkeypatch.setenv("OPEN_AGENT_MODEL", "m2")
        assert cli("ask", "Hi").code == 0
        assert cli("ask", "Hi", "--model", "m3").code == 0
        nowhere = f"http://127.0.0.1:{closed_port()}"
        assert cli("ask", "Hi", "--base-url", nowhere).code == 5
    assert [body["model"] for body in sent(server)] == ["m2", "m3"]


def test_images_stand_behind_the_text(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "ship.png"
    file.write_bytes(PIXEL)
    body = body_of(cli, "--image", str(file), "--image", "https://harbour.example/ship.png")
    text, first, second = body["messages"][0]["content"]
    assert text == {"type": "text", "text": "Hi"}
    assert first["image_url"]["url"].startswith("data:image/png;base64,")
    assert second["image_url"]["url"] == "https://harbour.example/ship.png"


def test_an_image_alone_is_a_prompt(cli: Cli) -> None:
    server = serve(HELLO)
    with server as url:
        assert cli("ask", *MODEL, "--base-url", url, "--image", "https://harbour.example/a.png").code == 0
    assert [part["type"] for part in sent(server)[0]["messages"][0]["content"]] == ["image_url"]


def test_a_protocol_that_cannot_carry_the_prompt(cli: Cli) -> None:
    result = cli("ask", "Hi", *MODEL, "--protocol", "gemini-x")
    assert (result.code, "unknown protocol 'gemini-x'" in result.err) == (2, True)
    url = "https://harbour.example/a.png"
    result = cli("ask", "Hi", *MODEL, "--protocol", "ollama", "--image", url)
    assert result.code == 2
    assert f"an image by its URL, {url}" in result.err


# The key --------------------------------------------------------------------------------------------------------------


class Sent(NamedTuple):
    """The header in which a key is sent, and the one that stays away."""

    name: str
    value: str
    other: str


@pytest.mark.parametrize(
    ("protocol", "options", "header"),
    [
        ("openai-chat", (), Sent("authorization", f"Bearer {SECRET}", "x-api-key")),
        ("anthropic", (), Sent("x-api-key", SECRET, "authorization")),
        ("openai-chat", ("--key-header", "api-key"), Sent("api-key", SECRET, "authorization")),
        ("anthropic", ("--key-header", "Authorization"), Sent("authorization", f"Bearer {SECRET}", "x-api-key")),
    ],
)
def test_a_key_is_sent_and_never_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, protocol: str, options: tuple[str, ...], header: Sent
) -> None:
    monkeypatch.setenv("HARBOUR_KEY", f"{SECRET}\n")
    server = serve(
        Reply(body=saying(protocol, "Hi")), Reply(body=ERROR, status=500), Reply(body=b"data: {", status=200)
    )
    shown = ""
    with server as url:
        for base in (url, url, url, f"http://127.0.0.1:{closed_port()}", f"ftp://{SECRET}@harbour"):
            argv = (*MODEL, "--base-url", base, "--protocol", protocol, "--key-env", "HARBOUR_KEY", *options)
            result = cli("ask", "Hi", *argv, "--summary")
            shown += result.out + result.err
            result = cli("chat", *argv, stdin=b"/history\n")
            shown += result.out + result.err
    assert [request.header(header.name) for request in server.requests] == [header.value] * 3
    assert server.requests[0].header(header.other) is None
    assert SECRET not in shown


@pytest.mark.parametrize("command", [("ask", "Hi", *MODEL, "--base-url"), ("stream",)])
def test_a_key_may_come_from_a_file(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    server = serve(HELLO)
    with server as url:
        assert cli(*command, url, "--key-file", str(file)).code == 0
    assert server.requests[0].header("authorization") == f"Bearer {SECRET}"


def test_headers_replace_those_of_the_protocol(cli: Cli) -> None:
    server = asked(cli, *MODEL, "--header", "Accept: text/plain", "--header", "X-One: 1")
    assert (server.requests[0].header("accept"), server.requests[0].header("x-one")) == ("text/plain", "1")


def test_a_query_in_the_url_stays_behind_the_path(cli: Cli) -> None:
    server = serve(HELLO)
    with server as url:
        cli("ask", "Hi", *MODEL, "--base-url", f"{url}/v1?api-version=2")
    assert server.requests[0].target == "/v1/chat/completions?api-version=2"


# Wrong usage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Hi",), "error: no model is named: add --model NAME, or set the environment variable OPEN_AGENT_MODEL"),
        (("Hi", *MODEL, "--temperature", "3"), "error: --temperature 3.0: openai-chat takes a number from 0 to 2"),
        (("Hi", *MODEL, "--temperature", "hot"), "'hot' is not a number"),
        (("Hi", *MODEL, "--max-tokens", "0"), "'0' is not a whole number of at least 1"),
        (("Hi", *MODEL, "--max-tool-iterations", "-1"), "'-1' is not a whole number of at least 0"),
        (("Hi", *MODEL, "--base-url", "ftp://harbour"), "error: --base-url 'ftp://harbour': the url must begin"),
        (("Hi", *MODEL, "--base-url", "http://u:sk-harbour-4711@harbour"), "error: --base-url: "),
        (("Hi", *MODEL, "--header", "sk-harbour-4711"), "expected 'Name: value'"),
        (("Hi", *MODEL, "--header", "A B: sk-harbour-4711"), "error: --header 'A B': the name of a header"),
        (("Hi", *MODEL, "--set", "messages=[]"), "error: --set: 'messages' is filled in"),
        (("Hi", *MODEL, "--set", "sk-harbour-4711"), "expected NAME=JSON"),
        (("Hi", *MODEL, "--set", "=1"), "expected NAME=JSON"),
        (("Hi", *MODEL, "--set", "user=two sk-harbour-4711"), "the value of 'user' is not JSON"),
        (("Hi", *MODEL, "--key-env", "NO_SUCH_KEY"), "the environment variable NO_SUCH_KEY holds no key"),
        (("Hi", *MODEL, "--key-file", "missing"), "missing: No such file"),
        (("Hi", *MODEL, "--key-env", "A", "--key-file", "B"), "not allowed with argument --key-env"),
        (("Hi", *MODEL, "--image", "missing.png"), "missing.png: No such file"),
        (("Hi", *MODEL, "--image", "http://"), "error: --image: "),
        (("Hi", *MODEL, "--system", "@missing"), "missing: No such file"),
        (("Hi", *MODEL, "--timeout", "1e10"), "error: --timeout 10000000000.0: expected seconds above 0"),
        (("Hi", *MODEL, "--tool-deltas"), "unrecognized arguments: --tool-deltas"),
        ((*MODEL,), "error: the prompt is empty"),
        ((" ", *MODEL), "error: the prompt is empty"),
    ],
)
def test_wrong_usage_is_2_and_says_which_option(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    result = cli("ask", *arguments)
    assert result.code == 2
    assert said in result.err
    assert SECRET not in result.err + result.out


def test_a_key_that_no_header_can_carry(cli: Cli, tmp_path: Path) -> None:
    for content in (f"{SECRET}\nsecond".encode(), b"\xff" + SECRET.encode()):
        (tmp_path / "key").write_bytes(content)
        result = cli("ask", "Hi", *MODEL, "--key-file", str(tmp_path / "key"))
        assert (result.code, result.err) == (2, "error: the key: it holds characters that no header can carry\n")
    (tmp_path / "key").write_bytes(b"\n")
    assert "holds no key" in cli("ask", "Hi", *MODEL, "--key-file", str(tmp_path / "key")).err


def test_a_file_that_is_no_image(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no image")
    result = cli("ask", "Hi", *MODEL, "--image", str(file))
    assert (result.code, "--image" in result.err, "notes.txt" in result.err) == (2, True, True)


def test_a_prompt_that_is_no_text(cli: Cli) -> None:
    result = cli("ask", "-", *MODEL, stdin=b"caf\xe9")
    assert (result.code, result.err) == (2, "error: standard input: this is no text in UTF-8: byte 3 is strange\n")


def test_help_names_every_way_to_give_a_key_and_the_exit_codes(cli: Cli) -> None:
    for name in ("ask", "chat"):
        shown = cli(name, "--help").out
        assert {"--key-env", "--key-file", "--tool", "--auto", "--set"} <= {*shown.split()}
        assert "exit codes:" in shown
