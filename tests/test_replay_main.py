"""`tokwire replay` as a command: its arguments, its output, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tokwire
from tokwire_http import from_response
from tokwire_replay import main, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDING = Path(__file__).resolve().parent.parent / "examples" / "recordings" / "openai-chat" / "text.sse"
COMMAND = [sys.executable, "-c", "import sys, tokwire_replay; sys.exit(tokwire_replay.main(sys.argv[1:]))"]
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def replay(request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and its URL."""
    arguments = [str(RECORDING), *getattr(request, "param", [])]
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().rstrip("\n")
        finally:
            process.kill()


def test_it_prints_its_url_and_serves_until_ctrl_c(replay: tuple[subprocess.Popen[str], str]) -> None:
    process, url = replay
    assert url.startswith("http://127.0.0.1:")
    for _ in range(2):
        with OPENER.open(url + "/v1/chat/completions", b"{}") as response:
            events = list(from_response(response, "openai-chat"))
        assert events == tokwire.decode(RECORDING.read_bytes(), "openai-chat")
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert process.stdout is not None
    assert process.stdout.read() == ""


@pytest.mark.parametrize(
    "replay",
    [["--reads", "37", "--delay", "0.001", "--fault", "cut:400", "--header", "X-Request-Id: r-1", "--coding", "gzip"]],
    indirect=True,
)
def test_faults_and_headers(replay: tuple[subprocess.Popen[str], str]) -> None:
    with OPENER.open(replay[1]) as response, from_response(response, "openai-chat") as stream:
        assert stream.head.header("x-request-id") == "r-1"
        assert next(stream).as_text() == "The"
        with pytest.raises(tokwire.StreamTruncated):
            list(stream)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "FILE"),
        (["missing.sse"], "missing.sse: No such file"),
        ([str(RECORDING), "--fault", "explode"], "unknown fault 'explode'; known are cut"),
        ([str(RECORDING), "--fault", "cut:many"], "expected cut or cut:BYTES"),
        ([str(RECORDING), "--reads", "0"], "reads must be at least 1"),
        ([str(RECORDING), "--header", "nonsense"], "expected 'Name: value'"),
        ([str(RECORDING), "--status", "99"], "status must be from 200 to 599"),
        ([str(RECORDING), "--port", "99999"], "port must be 0-65535"),
    ],
)
def test_wrong_usage_says_what_is_wrong(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    server = serve(b"")
    with server:
        assert main([str(RECORDING), "--port", str(server.port)]) == 2
    assert f"port {server.port}" in capsys.readouterr().err


def test_help_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "slow-head[:SECONDS]" in capsys.readouterr().out
