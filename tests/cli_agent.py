"""What the tests of `tokwire ask` and `tokwire chat` share: rounds on the wire, a file with tools, and the command."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support import START, STOP, close_block, delta, end_of_content, marker_of, open_block, reason_of, text_stream
from tests.support import chunk as chat_chunk
from tests.support import tool as call_chunk
from tests.test_cli_support import Cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from tokwire_replay import ReplayServer

HARBOUR = '''\
"""Tools of a harbour."""

import asyncio
import sys

import tokwire


def tide(port: str) -> dict[str, object]:
    """Whether the tide is out at a port."""
    return {"port": port, "out": True}


async def wind(knots: bool = True) -> str:
    """How strong the wind is."""
    await asyncio.sleep(0)
    return "5 knots" if knots else "a breeze"


def broken() -> str:
    """Fail."""
    raise RuntimeError("no lamp")


def long() -> str:
    """Say much."""
    return "x" * 600


def hostile() -> str:
    """Say what a terminal would obey."""
    return "a\\x1b]0;owned\\x07b\\n[finish] stop"


def picture() -> list[object]:
    """See a ship."""
    return [tokwire.TextBlock("a ship"), tokwire.ImageBlock.from_url("https://harbour.example/ship.png")]


def leave() -> None:
    """End the program."""
    sys.exit(7)


@tokwire.tool(name="lamp", description="Light a lamp.")
def light() -> str:
    return "lit"


class Pier:
    @staticmethod
    def length(metres: int) -> int:
        """How long the pier is."""
        return metres


def unreachable(*ships: str) -> None:
    """Takes any number."""


NUMBER = 3
'''

MODEL = ("--model", "m1", "--max-tokens", "64")


def saying(protocol: str, *words: str) -> bytes:
    """An answer of text alone."""
    return text_stream(protocol, *words) + reason_of(protocol) + marker_of(protocol)


def calling(protocol: str, *calls: tuple[str, str, dict[str, Any]]) -> bytes:
    """An answer of tool calls, each with id, name and input."""
    if protocol == "openai-chat":
        parts = [call_chunk(index, *call[:2], json.dumps(call[2])) for index, call in enumerate(calls)]
        return b"".join(parts) + chat_chunk({}, "tool_calls") + marker_of(protocol)
    blocks = [
        open_block(index, type="tool_use", id=call_id, name=name, input={})
        + delta(index, "input_json", json.dumps(given))
        + close_block(index)
        for index, (call_id, name, given) in enumerate(calls)
    ]
    return START + b"".join(blocks) + end_of_content("tool_use") + STOP


def clean_cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command, without what a developer may have in the environment."""
    for name in ("OPEN_AGENT_BASE_URL", "OPEN_AGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return Cli(monkeypatch)


@contextmanager
def in_harbour(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder with tools, and forget them afterwards."""
    (folder / "harbour.py").write_text(HARBOUR)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "harbour", raising=False)
    modules = {*sys.modules}
    try:
        yield
    finally:
        for name in {*sys.modules} - modules:
            if folder in Path(getattr(sys.modules[name], "__file__", None) or "/").parents:
                del sys.modules[name]


def sent(server: ReplayServer) -> list[Any]:
    """The bodies of the requests that a server got."""
    return [json.loads(request.body) for request in server.requests]
