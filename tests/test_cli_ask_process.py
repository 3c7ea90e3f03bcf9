"""`tokwire ask` as a process: events while the loop runs, and a real Ctrl-C."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest
from tests.cli_agent import HARBOUR, MODEL, calling, saying
from tests.support import PROTOCOLS

from tokwire_replay import Reply, serve

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("termios", reason="signals and terminals need POSIX")
from tests.cli_processes import HANGING, PATIENCE, SLOW, at_terminal, block_of, running

TIDE = ("call_1", "tide", {"port": "Skerry"})
WIND = ("call_2", "wind", {"knots": True})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_events_come_out_while_the_loop_runs(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "harbour.py").write_text(HARBOUR)
    bodies = [calling(protocol, TIDE, WIND), calling(protocol, TIDE), saying(protocol, "Out.")]
    server = serve(*(Reply(body=body, faults=["stall:0"]) for body in bodies))
    tools = ("--tool", "harbour:tide", "--tool", "harbour:wind", "--auto")
    with (
        server as url,
        running("ask", "Tide?", *MODEL, "--base-url", url, "--protocol", protocol, *tools, folder=tmp_path) as process,
    ):
        server.release()
        assert [block_of(process)["type"] for _ in range(4)] == ["tool_use"] * 2 + ["tool_result"] * 2
        server.wait(lambda: len(server.requests) == 2)
        server.release()
        assert [block_of(process)["type"] for _ in range(2)] == ["tool_use", "tool_result"]
        server.wait(lambda: len(server.requests) == 3)
        server.release()
        assert block_of(process) == {"type": "text", "text": "Out."}
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, json.loads(out)["type"], err) == (0, "finish", b"")


def test_ctrl_c_ends_ask(tmp_path: Path) -> None:
    server = serve(HANGING)
    with server as url, running("ask", "Hi", *MODEL, "--base-url", url, folder=tmp_path) as process:
        assert block_of(process)["text"] == "Hel"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (130, b"", b"")
        server.wait(lambda: server.closed_by_client == 1)


def test_ctrl_c_ends_ask_while_a_tool_runs(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    argv = ("--tool", "slow:wait", "--auto")
    with (
        serve(calling("openai-chat", ("call_1", "wait", {}))) as url,
        running("ask", "Hi", *MODEL, "--base-url", url, *argv, folder=tmp_path) as process,
    ):
        assert block_of(process)["type"] == "tool_use"
        assert process.stdout is not None
        assert process.stdout.read(8) == b"waiting\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (130, b"")


def test_a_question_needs_a_prompt_where_nothing_is_piped_in(tmp_path: Path) -> None:
    with at_terminal("ask", *MODEL, folder=tmp_path) as terminal:
        assert terminal.rest() == "error: there is no prompt: write one behind ask, or pipe one in\n"
        assert terminal.process.returncode == 2
