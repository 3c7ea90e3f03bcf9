"""How to test code that consumes a stream: replay a recorded body, offline, whole and cut anywhere.

Run it from the root of the repository: `python -m pytest examples/replay_in_pytest.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECORDINGS = Path(__file__).parent / "recordings"


class Transcript:
    """Stands for the code under test: it keeps what a user would see."""

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[str] = []

    def show(self, events: Iterable[tokwire.StreamEvent]) -> None:
        """Take events as they come."""
        for event in events:
            match event:
                case tokwire.Block(tokwire.TextBlock(text)):
                    self.text += text
                case tokwire.Block(tokwire.ToolUseBlock() as call):
                    self.calls.append(call.name)
                case _:
                    pass


def replay(recording: str, *, read_size: int) -> Iterator[tokwire.StreamEvent]:
    """The events of a recorded body that arrives in reads of one size."""
    body = (RECORDINGS / recording).read_bytes()
    decoder = tokwire.StreamDecoder(recording.partition("/")[0])
    for start in range(0, len(body), read_size):
        decoder.receive_data(body[start : start + read_size])
        yield from decoder.events()
    decoder.receive_eof()
    yield from decoder.events()


@pytest.mark.parametrize("read_size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("recording", ["openai-chat/tools-parallel.sse", "anthropic/tools-parallel.sse"])
def test_the_transcript_does_not_depend_on_the_network(recording: str, read_size: int) -> None:
    """Text and calls are the same for every size of read."""
    transcript = Transcript()
    transcript.show(replay(recording, read_size=read_size))
    assert transcript.text == "Looking."
    assert transcript.calls == ["tide", "wind"]


def test_an_error_comes_after_what_was_said_before_it() -> None:
    """The error is raised by the loop that takes the events."""
    transcript = Transcript()
    with pytest.raises(tokwire.APIError, match="Too many ships") as caught:
        transcript.show(replay("anthropic/error-overloaded.sse", read_size=16))
    assert transcript.text == "Half"
    assert caught.value.retryable
