"""What the tests of the command line share: synthetic bodies, and ways to run the command. Holds no tests."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokwire_cli import main

if TYPE_CHECKING:
    import pytest

DONE = b"data: [DONE]\n\n"


def sse(*payloads: object) -> bytes:
    """A body of server-sent events, one for each JSON payload."""
    return b"".join(b"data: %b\n\n" % json.dumps(payload, ensure_ascii=False).encode() for payload in payloads)


def chunk(delta: object = None, *, finish: str | None = None, choice: int = 0, **members: object) -> dict[str, object]:
    """A chunk of an answer on the openai-chat wire."""
    choices = [{"index": choice, "delta": delta or {}, "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m1", "choices": choices} | members


def text_chunk(text: str, choice: int = 0) -> dict[str, object]:
    """A chunk that carries a piece of text."""
    return chunk({"content": text}, choice=choice)


def call_chunk(index: int, arguments: str, call_id: str | None = None, name: str | None = None) -> dict[str, object]:
    """A chunk that carries a piece of a tool call."""
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})


HELLO = sse(text_chunk("Hel"), text_chunk("lo"), chunk(finish="stop")) + DONE


@dataclass(frozen=True)
class Result:
    """What one run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def types(self) -> list[str]:
        """The types of the JSON lines on stdout."""
        return [line["type"] for line in self.lines]

    @property
    def text(self) -> str:
        """The text of the answer in the JSON lines on stdout."""
        blocks = [line["block"] for line in self.lines if line["type"] == "block"]
        return "".join(block["text"] for block in blocks if block["type"] == "text")


class FakeTerminal(io.TextIOWrapper):
    """A stream that says it is a terminal and keeps what is written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, newline="\n")

    def isatty(self) -> bool:
        return True


class Cli:
    """Runs the command in this process, with stdin from bytes and stdout to a pipe or a terminal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("TERM", "xterm-256color")
        for name in ("NO_COLOR", "COLUMNS", "COLORTERM", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)

    def __call__(self, *argv: str, stdin: bytes = b"") -> Result:
        """Run with stdout and stderr to pipes."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
        return self._run(argv, stdin, out, err)

    def on_terminal(self, *argv: str, stdin: bytes = b"", encoding: str = "utf-8") -> Result:
        """Run with stdout and stderr to terminals."""
        return self._run(argv, stdin, FakeTerminal(encoding), FakeTerminal(encoding))

    def _run(self, argv: tuple[str, ...], stdin: bytes, out: io.TextIOWrapper, err: io.TextIOWrapper) -> Result:
        with self._monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main(argv)
            out.flush()
            err.flush()
        return Result(code, _written(out), _written(err))


def _written(stream: io.TextIOWrapper) -> str:
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(stream.encoding)
