"""Real peers: the official clients read what the replay server serves, and see what the decoder sees."""

from __future__ import annotations

import json
from pathlib import Path

import anthropic
import openai
import pytest

import tokwire
import tokwire_threads
from tokwire_replay import serve

RECORDINGS = Path(__file__).resolve().parent.parent / "examples" / "recordings"
KEY = "sk-harbour-4711"

Seen = tuple[str, list[tuple[str, object]], str | None]
"""Text, calls with their input, and the server's word for why it stopped."""


def decoded(recording: Path, protocol: str) -> Seen:
    """What the decoder makes of a recording."""
    decoder = tokwire.StreamDecoder(protocol)
    decoder.receive_data(recording.read_bytes())
    decoder.receive_eof()
    answer = tokwire.collect(decoder.events())
    calls = [(call.name, call.input) for call in answer.tool_calls]
    return answer.text, calls, decoder.summary.raw_finish_reason


def read_by_openai(url: str) -> Seen:
    """What the client of OpenAI makes of it."""
    text, reason = "", None
    calls: dict[int, list[str]] = {}
    with openai.OpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
        stream = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}], stream=True)
        for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                reason = choice.finish_reason or reason
                for piece in choice.delta.tool_calls or ():
                    call = calls.setdefault(piece.index, ["", ""])
                    if piece.function is not None:
                        call[0] += piece.function.name or ""
                        call[1] += piece.function.arguments or ""
    return text, [(name, json.loads(arguments or "{}")) for name, arguments in calls.values()], reason


def read_by_anthropic(url: str) -> Seen:
    """What the client of Anthropic makes of it."""
    with (
        anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]) as stream,
    ):
        message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    return (
        text,
        [(block.name, block.input) for block in message.content if block.type == "tool_use"],
        message.stop_reason,
    )


OF_OPENAI = ("text", "tools-parallel", "finish-length", "usage-last-chunk", "framing-crlf", "reasoning-content")
OF_ANTHROPIC = ("text", "tools-parallel", "finish-max-tokens", "thinking-signed", "tools-no-arguments")
"""Streams as these servers send them. What others send, and what is broken, their clients need not read."""


@pytest.mark.parametrize("name", OF_OPENAI)
def test_the_client_of_openai_sees_the_same(name: str) -> None:
    recording = RECORDINGS / "openai-chat" / f"{name}.sse"
    with serve(recording.read_bytes()) as url:
        assert read_by_openai(url) == decoded(recording, "openai-chat")


@pytest.mark.parametrize("name", OF_ANTHROPIC)
def test_the_client_of_anthropic_sees_the_same(name: str) -> None:
    recording = RECORDINGS / "anthropic" / f"{name}.sse"
    with serve(recording.read_bytes()) as url:
        assert read_by_anthropic(url) == decoded(recording, "anthropic")


def test_a_request_is_that_of_the_client_of_anthropic() -> None:
    server = serve((RECORDINGS / "anthropic" / "text.sse").read_bytes())
    with server as url:
        read_by_anthropic(url)
        options = tokwire.AgentOptions(model="m", base_url=url + "/v1", protocol="anthropic", max_tokens=9, api_key=KEY)
        ask(options)
    theirs, ours = server.requests
    assert (ours.target, json.loads(ours.body)) == (theirs.target, json.loads(theirs.body))
    # Version and header of the key differ: the client moved on, and the API still takes both.
    assert (ours.header("x-api-key"), ours.header("anthropic-version")) == (KEY, "2023-06-01")


def test_a_request_is_that_of_the_client_of_openai() -> None:
    server = serve((RECORDINGS / "openai-chat" / "text.sse").read_bytes())
    with server as url:
        read_by_openai(url)
        ask(tokwire.AgentOptions(model="m", base_url=url, api_key=KEY))
    theirs, ours = server.requests
    assert (ours.target, json.loads(ours.body)) == (theirs.target, json.loads(theirs.body))
    assert ours.header("authorization") == theirs.header("authorization")


def ask(options: tokwire.AgentOptions) -> None:
    """One request, read to its end."""
    for _ in tokwire_threads.query("Hi", options):
        pass
