"""`tokwire stream` and `tokwire replay`: requests over real sockets, and every way in which they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.sockets import closed_port, silent
from tests.test_cli_support import DONE, HELLO, Cli, chunk, sse, text_chunk

import tokwire
from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-harbour-4711"
ERROR = b'{"error": {"type": "overloaded_error", "message": "Too many ships"}}'


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


@pytest.mark.parametrize("protocol", ["auto", "openai-chat", "OpenAI"])
def test_the_events_of_an_answer(cli: Cli, protocol: str) -> None:
    with serve(HELLO, reads=7) as url:
        result = cli("stream", url, "--data", "{}", "--protocol", protocol)
    assert (result.code, result.err, result.text) == (0, "", "Hello")
    assert result.types[-1] == "finish"


def test_the_same_is_shown_as_by_decode(cli: Cli) -> None:
    options = ("--summary", "--usage", "--include-reasoning", "--tool-deltas")
    with serve(HELLO) as url:
        for more in ((), ("--no-json",)):
            assert cli("stream", url, *options, *more) == cli("decode", "-", *options, *more, stdin=HELLO)


def test_what_is_sent(cli: Cli, tmp_path: Path) -> None:
    body = tmp_path / "request.json"
    body.write_bytes(b'{"stream": true}')
    server = serve(HELLO)
    with server as url:
        cli("stream", f"{url}/v1?a=b", "--data", f"@{body}", "--header", "X-One: 1", "--header", "accept:text/plain")
        cli("stream", url, "--data", "@-", stdin=b"piped")
        cli("stream", url, "--data", "")
        cli("stream", url)
    first, second, third, fourth = server.requests
    assert (first.method, first.target, first.body) == ("POST", "/v1?a=b", b'{"stream": true}')
    assert (first.header("x-one"), first.header("accept")) == ("1", "text/plain")
    assert first.header("content-type") == "application/json"
    assert (second.header("user-agent"), second.body) == (f"tokwire/{tokwire.__version__}", b"piped")
    assert (third.method, third.body) == ("POST", b"")
    assert (fourth.method, fourth.header("content-type")) == ("GET", None)


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ((), "authorization", f"Bearer {SECRET}"),
        (("--key-header", "AUTHORIZATION"), "authorization", f"Bearer {SECRET}"),
        (("--key-header", "x-api-key"), "x-api-key", SECRET),
    ],
)
def test_a_key_is_sent_and_never_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], name: str, value: str
) -> None:
    monkeypatch.setenv("HARBOUR_KEY", f"{SECRET}\n")
    server = serve(Reply(body=HELLO), Reply(body=ERROR, status=500), Reply(body=HELLO, faults=["cut:30"]))
    shown = ""
    with server as url:
        for _ in range(3):
            result = cli("stream", f"{url}?key={SECRET}", "--key-env", "HARBOUR_KEY", *options, "--summary")
            shown += result.out + result.err
    for port in (closed_port(), 99999):
        result = cli("stream", f"http://127.0.0.1:{port}/?key={SECRET}", "--key-env", "HARBOUR_KEY", *options)
        shown += result.out + result.err
    assert [request.header(name) for request in server.requests] == [value] * 3
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ftp://harbour",), "must begin with http"),
        (("http://user:sk-harbour-4711@harbour",), "user or password"),
        (("http://harbour", "--key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY holds no key"),
        (("http://harbour", "--header", "sk-harbour-4711"), "expected 'Name: value'"),
        (("http://harbour", "--header", "A B: sk-harbour-4711"), "name of a header"),
        (("http://harbour", "--header", "A: sk-harbour-4711\x00"), "value of header 'A'"),
        (("http://harbour", "--data", "@missing.json"), "missing.json: No such file"),
        (("http://harbour", "--save", "missing/answer.sse"), "missing/answer.sse: No such file"),
        (("http://harbour", "--timeout", "0"), "neither a number of seconds above 0"),
        (("http://harbour", "--idle-timeout", "soon"), "neither a number of seconds above 0"),
        (("http://harbour", "--insecure"), "unrecognized arguments"),
        ((), "required: URL"),
    ],
)
def test_wrong_usage_is_2(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    result = cli("stream", *arguments)
    assert result.code == 2
    assert said in result.err
    assert SECRET not in result.err + result.out


def test_a_server_that_says_no_is_1(cli: Cli) -> None:
    with serve(ERROR, status=429, headers=[("Retry-After", "7"), ("X-Request-Id", "r-1")]) as url:
        result = cli("stream", url)
    assert result.code == 1
    assert result.lines[0] | {"body": None} == {
        "type": "error",
        "kind": "APIError",
        "message": "Too many ships",
        "status_code": 429,
        "error_type": "overloaded_error",
        "request_id": "r-1",
        "retry_after": 7.0,
        "retryable": True,
        "body": None,
    }
    assert "in 7 seconds" in result.err


def test_a_redirect_is_not_followed(cli: Cli) -> None:
    with serve(b"", status=302, headers=[("Location", "https://elsewhere.example/v1")]) as url:
        result = cli("stream", url)
    assert result.code == 1
    assert "elsewhere.example" in result.err


@pytest.mark.parametrize("named", [("--protocol", "openai-chat"), ()])
def test_a_server_that_dies_is_3(cli: Cli, named: tuple[str, ...]) -> None:
    with serve(HELLO, faults=["cut:150"], reads=20) as url:
        result = cli("stream", url, *named)
    assert (result.code, result.text) == (3, "Hel")
    assert result.lines[-1]["kind"] == "StreamTruncated"


def test_a_server_that_dies_before_the_protocol_is_known_is_3(cli: Cli) -> None:
    with serve(HELLO, faults=["cut:10"]) as url:
        result = cli("stream", url)
    assert (result.code, result.types) == (3, ["error"])


def test_a_body_without_any_end_is_3(cli: Cli) -> None:
    with serve(sse(text_chunk("a"))) as url:
        result = cli("stream", url)
    assert result.code == 3
    assert "without an end marker" in result.err


def test_bytes_that_are_no_stream_are_4(cli: Cli) -> None:
    with serve(b"<html>Sign in</html>") as url:
        assert cli("stream", url, "--protocol", "openai-chat").code == 4


def test_a_protocol_that_nobody_knows_has_to_be_named(cli: Cli) -> None:
    with serve(b'data: {"strange": 1}\n\n') as url:
        result = cli("stream", url)
    assert result.code == 2
    assert "--protocol" in result.err
    with serve(HELLO, coding="gzip") as url:
        assert "compressed" in cli("stream", url).err
        assert cli("stream", url, "--protocol", "openai-chat").text == "Hello"


def test_no_answer_is_5(cli: Cli) -> None:
    result = cli("stream", f"http://127.0.0.1:{closed_port()}")
    assert (result.code, result.lines[0]["kind"]) == (5, "ConnectError")
    assert "hint:  look at the URL" in result.err
    result = cli("stream", "http://nowhere.invalid/v1")
    assert (result.code, result.lines[0]["kind"]) == (5, "ConnectError")


@pytest.mark.parametrize("option", ["--timeout", "--idle-timeout", "--connect-timeout"])
def test_a_timeout_is_5_and_says_which(cli: Cli, option: str) -> None:
    scheme = "https" if "connect" in option else "http"
    with silent() as port:
        result = cli("stream", f"{scheme}://127.0.0.1:{port}", option, "0.1")
    assert (result.code, result.lines[0]["kind"]) == (5, "TransportTimeout")
    assert result.lines[0]["phase"] == {"--timeout": "total"}.get(option, option[2:].partition("-")[0])
    assert f"with {option}" in result.err


def test_events_before_a_timeout_are_shown(cli: Cli) -> None:
    with serve(HELLO, faults=["stall:160"]) as url:
        result = cli("stream", url, "--idle-timeout", "0.2", "--timeout", "none")
    assert (result.code, result.text) == (5, "Hel")


def test_the_body_is_saved_as_it_came(cli: Cli, tmp_path: Path) -> None:
    saved = tmp_path / "answer.sse"
    with serve(HELLO + b"late", reads=9) as url:
        assert cli("stream", url, "--save", str(saved)).code == 0
    assert saved.read_bytes().startswith(HELLO[: -len(DONE)])
    assert cli("decode", str(saved)).text == "Hello"
    with serve(ERROR, status=500) as url:
        cli("stream", url, "--save", str(saved))
    assert saved.read_bytes() == ERROR


def test_a_file_that_is_full_does_not_stop_the_stream(cli: Cli) -> None:
    with serve(HELLO) as url:
        result = cli("stream", url, "--save", "/dev/full")
    assert (result.code, result.text) == (2, "Hello")
    assert "/dev/full: No space left" in result.err


def test_the_other_end_of_ctrl_c_is_a_failed_send(cli: Cli) -> None:
    """Outside the main thread there are no signal handlers: `main` still works there."""
    with serve(sse(chunk(finish="stop")) + DONE) as url:
        assert cli("stream", url).code == 0


def test_replay_has_its_own_options(cli: Cli) -> None:
    shown = cli("replay", "--help").out
    assert "usage: tokwire replay" in shown
    assert "cut[:N]" in shown
    assert cli("replay", "missing.sse").code == 2
