"""The command as a process: live input, pipes that close, Ctrl-C, and a real terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest
from tests.test_cli_support import DONE, HELLO, chunk, sse, text_chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

pty = pytest.importorskip("pty", reason="a terminal needs POSIX")
termios = pytest.importorskip("termios", reason="a terminal needs POSIX")

COMMAND = [sys.executable, "-c", "import sys; from tokwire_cli import main; sys.exit(main())"]


def environment(**changes: str) -> dict[str, str]:
    """The environment without settings that a developer may have made."""
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "PYTHONUNBUFFERED"}}
    return kept | {"TERM": "xterm-256color"} | changes


@contextmanager
def running(
    *argv: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, **changes: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The command, with stdin open."""
    process = subprocess.Popen(
        [*COMMAND, *argv], stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, bufsize=0, env=environment(**changes)
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    """A pipe of a process that was asked for."""
    assert stream is not None
    return stream


def read_line(process: subprocess.Popen[bytes]) -> dict[str, object]:
    """The next JSON line; waits until the process has written it."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = pipe(process.stdout).read(1)
        assert piece, line
        line += piece
    answer: dict[str, object] = json.loads(line)
    return answer


def test_events_come_out_while_the_body_is_still_arriving() -> None:
    with running("decode", "-") as process:
        source = pipe(process.stdin)
        for word in ("one", "two", "three"):
            source.write(sse(text_chunk(word)))
            assert read_line(process)["block"] == {"type": "text", "text": word}
        source.write(sse(chunk(finish="stop")) + DONE)
        assert read_line(process)["type"] == "finish"
        # The end marker is enough: stdin is still open.
        assert process.wait() == 0


def test_the_protocol_is_found_before_the_body_ends() -> None:
    with running("decode", "-") as process:
        source = pipe(process.stdin)
        source.write(b": wait\n\n" + HELLO[:20])
        source.write(HELLO[20:-10])
        assert read_line(process)["block"] == {"type": "text", "text": "Hel"}


def test_a_body_that_closes_early_is_3() -> None:
    with running("decode", "-") as process:
        _, err = process.communicate(sse(text_chunk("a")))
        assert process.returncode == 3
        assert b"without an end marker" in err


@pytest.mark.parametrize("mode", ["--json", "--no-json"])
def test_a_closed_pipe_ends_quietly(mode: str) -> None:
    with running("decode", "-", mode) as process:
        source = pipe(process.stdin)
        source.write(sse(text_chunk("one\n")))
        assert pipe(process.stdout).read(1)
        pipe(process.stdout).close()
        # The writes may outlive the reader of them.
        try:
            source.write(sse(text_chunk("two\n")))
            source.close()
        except BrokenPipeError:
            pass
        assert pipe(process.stderr).read() == b""
        assert process.wait() == 141


def test_help_into_a_closed_pipe_ends_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with running("--help", stdout=writing) as process:
        os.close(writing)
        assert pipe(process.stderr).read() == b""
        assert process.wait() == 141


def test_ctrl_c_ends_quietly_with_130() -> None:
    with running("decode", "-") as process:
        pipe(process.stdin).write(sse(text_chunk("one")))
        assert read_line(process)["type"] == "block"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert pipe(process.stderr).read() == b""
        assert pipe(process.stdout).read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said() -> None:
    with Path("/dev/full").open("wb") as full, running("decode", "-", stdout=full.fileno()) as process:
        _, err = process.communicate(HELLO)
        assert process.returncode == 2
        assert err.splitlines() == [b"error: standard output: No space left on device"]


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_stream_that_is_closed_gives_no_traceback(stream: str) -> None:
    script = f"import sys; sys.{stream} = None; from tokwire_cli import main; sys.exit(main(['decode', '-']))"
    answer = subprocess.run([sys.executable, "-c", script], input=b"<html>", capture_output=True, check=False)
    assert answer.returncode == (4 if stream == "stderr" else 2)
    assert answer.stderr == (
        b"" if stream == "stderr" else f"error: standard {stream[3:]}put: Bad file descriptor\n".encode()
    )


# A real terminal ------------------------------------------------------------------------------------------------------


def on_pty(*argv: str, stdin: bytes = b"", **changes: str) -> str:
    """What a terminal is sent, on stdout and stderr together."""
    primary, secondary = pty.openpty()
    settings = termios.tcgetattr(secondary)
    settings[1] &= ~termios.OPOST  # or the terminal would send CR LF for LF
    termios.tcsetattr(secondary, termios.TCSANOW, settings)
    with running(*argv, stdout=secondary, stderr=secondary, **changes) as process:
        os.close(secondary)
        source = pipe(process.stdin)
        source.write(stdin)
        source.close()
        shown = bytearray()
        # Linux reports the closed end of a terminal as an error of its own.
        try:
            while piece := os.read(primary, 1 << 16):
                shown += piece
        except OSError:
            pass
        os.close(primary)
        process.wait()
    return shown.decode()


def test_a_terminal_gets_text_and_colours() -> None:
    shown = on_pty("decode", "-", stdin=HELLO)
    assert shown.startswith("Hello\n\x1b[")
    assert "[finish]" in shown


def test_no_color_is_honoured() -> None:
    assert on_pty("decode", "-", stdin=HELLO, NO_COLOR="1") == "Hello\n[finish] stop\n"


def test_a_terminal_gets_no_control_characters_of_the_model() -> None:
    body = sse(text_chunk("\x1b[2J\x9b2J\u202e"), {"error": {"message": "\x1b[2J"}})
    shown = on_pty("decode", "-", stdin=body, NO_COLOR="1")
    assert shown.startswith("\\x1b[2J\\x9b2J\\u202e\nerror: \\x1b[2J\n")


def test_json_can_be_asked_for_on_a_terminal() -> None:
    shown = on_pty("decode", "-", "--json", stdin=HELLO)
    assert [json.loads(line)["type"] for line in shown.splitlines()] == ["block", "block", "finish"]
