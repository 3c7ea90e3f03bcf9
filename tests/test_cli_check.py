"""`tokwire check`: it says how much it compared, and it would see a decoder that depends on the cuts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.test_cli_support import DONE, HELLO, Cli, call_chunk, chunk, sse, text_chunk

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BODY = sse(
    chunk({"reasoning_content": "hm, né"}),
    text_chunk("日本 🚆"),
    call_chunk(0, '{"a":', "call_1", "look"),
    call_chunk(0, "1}"),
    chunk(finish="tool_calls", usage={"prompt_tokens": 3}),
).replace(b"\n", b"\r\n")


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


def test_every_cut_is_compared(cli: Cli, tmp_path: Path) -> None:
    recording = tmp_path / "answer.sse"
    recording.write_bytes(BODY + DONE)
    result = cli("check", str(recording))
    size = len(BODY + DONE)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"same: {size - 1:,} cuts in two and one byte per read")
    assert f"({size:,} bytes, openai-chat, 3 events)" in result.out


@pytest.mark.parametrize(
    "body",
    [
        HELLO,
        HELLO.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + HELLO,
        HELLO.rstrip(),
        HELLO[:-40],
        sse(text_chunk("a"), {"error": {"message": "no", "code": 500}}),
        sse(text_chunk("a")) + b"data: {nonsense\n\n" + DONE,
        sse(call_chunk(0, "{", "call_1", "look"), chunk(finish="length")) + DONE,
        b'{"error": {"message": "invalid key"}}',
        b"<html></html>",
        b"\xff\xfe\x00",
        b": ping\n",
        b"x",
        b"",
    ],
)
def test_bodies_of_every_fate_are_the_same_for_all_cuts(cli: Cli, body: bytes) -> None:
    result = cli("check", "-", "--protocol", "openai", stdin=body)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("same:")


def test_an_error_is_compared_too_and_said(cli: Cli) -> None:
    result = cli("check", "-", stdin=sse(text_chunk("a"), {"error": "no"}))
    assert (result.code, result.err) == (0, "")
    assert "1 event and an error" in result.out


@pytest.mark.parametrize(
    ("cuts", "number"), [("all", len(HELLO) - 1), ("random:7", 7), ("random:99999", len(HELLO) - 1)]
)
def test_the_number_of_cuts(cli: Cli, cuts: str, number: int) -> None:
    result = cli("check", "-", "--cuts", cuts, stdin=HELLO)
    assert (result.code, result.out.startswith(f"same: {number:,} cuts in two")) == (0, True)


def test_progress_is_shown_on_a_terminal_and_gone_at_the_end(cli: Cli) -> None:
    result = cli.on_terminal("check", "-", stdin=HELLO)
    assert "\r0 of " in result.err
    assert re.search(r"\r +\r$", result.err)


class Forgetful(tokwire.StreamDecoder):
    """A decoder with the bug that `check` is for: it forgets what it holds whenever a read ends in a comma."""

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        super().receive_data(bytes(data).removesuffix(b","))


class Impatient(tokwire.StreamDecoder):
    """A decoder that spoils only its summary, and only if it is read byte by byte."""

    reads = 0

    def receive_data(self, data: bytes | bytearray | memoryview) -> None:
        super().receive_data(data)
        self.reads += 1

    def events(self) -> Iterator[tokwire.StreamEvent]:
        yield from super().events()
        if self.reads == 100:
            yield tokwire.Reasoning("too many reads")


def test_the_smallest_cut_that_differs_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokwire, "StreamDecoder", Forgetful)
    result = cli("check", "-", stdin=HELLO)
    assert (result.code, result.out) == (4, "")
    place = HELLO.index(b",") + 1
    assert result.err.startswith(f"error: cut in two at byte {place}, the body means something else")
    assert '  whole: {"type":"block"' in result.err
    assert '  cut:   {"type":"error"' in result.err


def test_a_difference_in_single_bytes_alone_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokwire, "StreamDecoder", Impatient)
    result = cli("check", "-", stdin=HELLO)
    assert result.code == 4
    assert result.err.startswith("error: read byte by byte, the body means something else")
