"""`tokwire stream` and `tokwire replay` as processes: a real Ctrl-C, and events while they arrive."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest
from tests.sockets import HOST
from tests.test_cli_support import DONE, chunk, sse, text_chunk

from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("termios", reason="signals need POSIX")

COMMAND = [sys.executable, "-c", "import sys; from tokwire_cli import main; sys.exit(main())"]
WORDS = [sse(text_chunk(word)) for word in ("one", "two")]
RECORDING = Path(__file__).resolve().parent.parent / "examples" / "recordings" / "openai-chat" / "tools-parallel.sse"


@contextmanager
def running(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command, with pipes."""
    process = subprocess.Popen([*COMMAND, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    with process:
        try:
            yield process
        finally:
            process.kill()


def line_of(stream: IO[bytes] | None) -> bytes:
    """The next line; waits until the process has written it."""
    assert stream is not None
    line = b""
    while not line.endswith(b"\n"):
        more = stream.read(1)
        assert more, line
        line += more
    return line


def text_of(line: bytes) -> str:
    """The text of an event."""
    text: str = json.loads(line)["block"]["text"]
    return text


def test_events_come_out_while_the_answer_arrives_and_ctrl_c_ends_it() -> None:
    server = serve(WORDS, faults=[f"stall:{len(WORDS[0])}", "stall"])
    with server as url, running("stream", url) as process:
        assert text_of(line_of(process.stdout)) == "one"
        server.release()
        assert text_of(line_of(process.stdout)) == "two"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert (process.returncode, out, err) == (130, b"", b"")
        server.wait(lambda: server.closed_by_client == 1)


@pytest.mark.parametrize("fault", ["slow-head", "stall:0"])
def test_ctrl_c_wakes_the_wait_for_the_answer(fault: str) -> None:
    server = serve(Reply(body=WORDS[0], faults=[fault]))
    with server as url, running("stream", url, "--summary") as process:
        server.wait(lambda: len(server.requests) == 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert (process.returncode, err) == (130, b"")


def test_ctrl_c_wakes_the_handshake() -> None:
    with socket.create_server((HOST, 0)) as listener:
        url = f"https://{HOST}:{listener.getsockname()[1]}"
        with running("stream", url, "--connect-timeout", "none") as process:
            peer, _ = listener.accept()
            with peer:
                assert peer.recv(1) == b"\x16"  # its hello, to which nobody answers
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=10)
            assert (process.returncode, out, err) == (130, b"", b"")


def test_a_summary_is_shown_after_ctrl_c() -> None:
    with serve(WORDS, faults=["stall"]) as url, running("stream", url, "--summary") as process:
        assert [text_of(line_of(process.stdout)) for _ in range(2)] == ["one", "two"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert process.returncode == 130
        assert json.loads(out)["type"] == "summary"


def test_the_two_ends_of_a_socket() -> None:
    with running("replay", str(RECORDING), "--reads", "37") as server:
        url = line_of(server.stdout).decode().strip()
        with running("stream", url, "--data", "{}") as client:
            out, err = client.communicate(timeout=10)
            assert (client.returncode, err) == (0, b"")
        with running("decode", str(RECORDING)) as decoding:
            assert decoding.communicate()[0] == out
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=10)
        assert server.returncode == 130


def test_a_server_that_dies() -> None:
    body = b"".join(WORDS) + sse(chunk(finish="stop")) + DONE
    server = serve(body, faults=[f"stall:{len(WORDS[0])}", f"reset:{len(WORDS[0])}"])
    with server as url, running("stream", url) as process:
        assert text_of(line_of(process.stdout)) == "one"
        server.release()
        out, err = process.communicate(timeout=10)
        assert process.returncode == 3
        assert json.loads(out)["kind"] == "StreamTruncated"
        assert b"ask again" in err
