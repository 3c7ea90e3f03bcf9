"""`tokwire chat` as a process: a real Ctrl-C, and a real terminal."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.cli_agent import MODEL, calling, sent
from tests.test_cli_support import HELLO

from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("termios", reason="signals and terminals need POSIX")
from tests.cli_processes import (
    HANGING,
    PATIENCE,
    SLOW,
    at_terminal,
    block_of,
    event_of,
    running,
    type_in,
)

ONCE_MORE = "note:  Ctrl-C once more, or Ctrl-D, ends the chat\n"


def test_ctrl_c_interrupts_the_answer_and_the_chat_goes_on(tmp_path: Path) -> None:
    server = serve(Reply(body=HELLO), HANGING, Reply(body=HELLO))
    with server as url, running("chat", *MODEL, "--base-url", url, folder=tmp_path) as process:
        type_in(process, "one\n")
        assert [event_of(process.stdout)["type"] for _ in range(3)] == ["block", "block", "finish"]
        type_in(process, "two\n")
        assert block_of(process)["text"] == "Hel"
        process.send_signal(signal.SIGINT)
        error = event_of(process.stdout)
        assert (error["type"], error["kind"]) == ("error", "TurnInterrupted")
        type_in(process, "/history\nthree\n")
        assert [message["role"] for message in event_of(process.stdout)["messages"]] == ["user", "assistant"]
        out, err = process.communicate(timeout=PATIENCE)
        assert [json.loads(line)["type"] for line in out.splitlines()] == ["block", "block", "finish"]
        assert (process.returncode, err) == (0, b"note:  the history keeps nothing of this turn\n")
    assert [message["content"] for message in sent(server)[2]["messages"]] == ["one", "Hello", "three"]


def test_ctrl_c_while_a_tool_runs_keeps_the_round(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    server = serve(Reply(body=calling("openai-chat", ("call_1", "wait", {}))), Reply(body=HELLO))
    argv = ("--tool", "slow:wait", "--auto")
    with server as url, running("chat", *MODEL, "--base-url", url, *argv, folder=tmp_path) as process:
        type_in(process, "Wait\n")
        assert block_of(process)["type"] == "tool_use"
        assert process.stdout is not None
        assert process.stdout.read(8) == b"waiting\n"
        process.send_signal(signal.SIGINT)
        assert event_of(process.stdout)["kind"] == "TurnInterrupted"
        out, err = process.communicate(b"And?\n", timeout=PATIENCE)
        assert [json.loads(line)["type"] for line in out.splitlines()] == ["block", "block", "finish"]
        assert (process.returncode, err) == (0, b"note:  the history keeps 3 messages of this turn\n")
    messages = sent(server)[1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    assert "cancelled" in messages[2]["content"]


def test_ctrl_c_between_the_lines_of_a_pipe_ends_the_chat(tmp_path: Path) -> None:
    with serve(HELLO) as url, running("chat", *MODEL, "--base-url", url, folder=tmp_path) as process:
        type_in(process, "one\n/history\n")
        assert [event_of(process.stdout)["type"] for _ in range(4)] == ["block", "block", "finish", "history"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130


# A real terminal ------------------------------------------------------------------------------------------------------


def test_a_chat_at_a_terminal(tmp_path: Path) -> None:
    server = serve(Reply(body=HELLO), HANGING, Reply(body=HELLO))
    with server as url, at_terminal("chat", *MODEL, "--base-url", f"{url}?key=secret", folder=tmp_path) as terminal:
        assert terminal.until("> ") == f"note:  m1 at {url}; /help lists the commands\n"
        terminal.press("one\n")
        assert terminal.until("> ").endswith("Hello\n[finish] stop\n")
        terminal.press("two\n")
        terminal.until("Hel")
        terminal.interrupt()
        assert terminal.until("> ") == "\n[interrupted]\nnote:  the history keeps nothing of this turn\n"
        terminal.press("three\n")
        assert terminal.until("> ").endswith("Hello\n[finish] stop\n")
        terminal.press("\x04")
        assert terminal.rest().endswith("\n")
        assert terminal.process.returncode == 0
    assert [message["content"] for message in sent(server)[2]["messages"]] == ["one", "Hello", "three"]


def test_ctrl_c_twice_at_the_prompt_ends_the_chat(tmp_path: Path) -> None:
    with serve(HELLO) as url, at_terminal("chat", *MODEL, "--base-url", url, folder=tmp_path) as terminal:
        terminal.until("> ")
        terminal.interrupt_prompt()
        terminal.until(ONCE_MORE)
        terminal.press("Hi\n")
        terminal.until("[finish] stop\n> ")
        terminal.interrupt_prompt()
        terminal.until(ONCE_MORE)
        terminal.interrupt_prompt()
        terminal.rest()
        assert terminal.process.returncode == 130


def test_half_a_line_is_gone_after_ctrl_c(tmp_path: Path) -> None:
    server = serve(HELLO)
    with server as url, at_terminal("chat", *MODEL, "--base-url", url, folder=tmp_path, echo=True) as terminal:
        terminal.until("> ")
        terminal.press("half")
        terminal.until("half")
        terminal.interrupt_prompt()
        terminal.until("ends the chat")
        terminal.press("Hi\n")
        terminal.until("[finish] stop\n")
    assert [message["content"] for message in sent(server)[0]["messages"]] == ["Hi"]


def test_the_prompt_stays_out_of_what_is_piped_on(tmp_path: Path) -> None:
    with (
        serve(HELLO) as url,
        at_terminal("chat", *MODEL, "--base-url", url, folder=tmp_path, stdout=subprocess.PIPE) as terminal,
    ):
        terminal.until("> ")
        terminal.press("Hi\n")
        assert [event_of(terminal.process.stdout)["type"] for _ in range(3)] == ["block", "block", "finish"]
        terminal.until("> ")
        terminal.press("/exit\n")
        assert terminal.process.stdout is not None
        assert terminal.process.stdout.read() == b""
        assert terminal.process.wait(timeout=PATIENCE) == 0
