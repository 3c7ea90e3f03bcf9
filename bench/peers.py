"""Other packages that read these streams, each used as its documentation shows, without a network."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .contestants import BOTH, Answer, Contestant, version_of
from .offline import Piece, Wire, contestant, http_of, joined, read_block, read_chunk, read_json
from .streams import Recording

QUIET = {
    "ANTHROPIC_API_KEY": "none",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_KEY": "none",
    "OTEL_SDK_DISABLED": "true",
}
"""Keeps peers from asking for keys, fetching price lists and reporting home."""

CHAT, MESSAGES = frozenset({"openai-chat"}), frozenset({"anthropic"})
PROMPT: list[dict[str, str]] = [{"role": "user", "content": "When does the ferry leave?"}]
MODEL = "gpt-4o"
CLAUDE = "claude-sonnet-4-5"
URL = "http://peer.invalid/v1"


def openai() -> Iterator[Contestant]:
    """The official client: `chat.completions.create(stream=True)`."""
    package = importlib.import_module("openai")
    wire = Wire(http_of(package))
    client = package.OpenAI(base_url=URL, max_retries=0, http_client=wire.client())

    def stream(_: str, reads: list[bytes]) -> Iterable[Any]:
        wire.reads = reads
        answer: Iterable[Any] = client.chat.completions.create(model=MODEL, messages=PROMPT, stream=True)
        return answer

    yield contestant("openai", CHAT, stream, read_chunk)


def anthropic() -> Iterator[Contestant]:
    """The official client: `messages.create(stream=True)`."""
    package = importlib.import_module("anthropic")
    wire = Wire(http_of(package))
    client = package.Anthropic(base_url=URL, max_retries=0, http_client=wire.client())

    def stream(_: str, reads: list[bytes]) -> Iterable[Any]:
        wire.reads = reads
        answer: Iterable[Any] = client.messages.create(model=CLAUDE, max_tokens=999, messages=PROMPT, stream=True)
        return answer

    yield contestant("anthropic", MESSAGES, stream, read_block)


def httpx_sse() -> Iterator[Contestant]:
    """Server-sent events over httpx, and `json.loads` of each: what one writes by hand."""
    package = importlib.import_module("httpx_sse")
    wire = Wire(importlib.import_module("httpx"))
    client = wire.client()

    def stream(_: str, reads: list[bytes]) -> Iterator[Any]:
        wire.reads = reads
        with package.connect_sse(client, "POST", URL) as source:
            for event in source.iter_sse():
                if event.data != "[DONE]":
                    yield json.loads(event.data)

    yield contestant("httpx-sse + json", BOTH, stream, read_json)


def llmstream() -> Iterator[Contestant]:
    """A parser for streams of several providers: `iter_events`."""
    package = importlib.import_module("llmstream")
    providers = {"openai-chat": "openai", "anthropic": "anthropic"}

    def stream(protocol: str, reads: list[bytes]) -> Iterable[Any]:
        events: Iterable[Any] = package.iter_events(reads, provider=providers[protocol])
        return events

    def piece(event: Any) -> Piece:
        text = event.text if event.type == "delta" else ""
        return text, event.arguments_delta if event.type == "tool_call_delta" else ""

    yield contestant("llmstream", BOTH, stream, piece)


def litellm() -> Iterator[Contestant]:
    """A client for many providers: `completion(stream=True)` on its OpenAI and its Anthropic side."""
    package: Any = importlib.import_module("litellm")
    package.telemetry = False
    package.suppress_debug_info = True
    inner = importlib.import_module("openai")
    chat_wire, messages_wire = Wire(http_of(inner)), Wire(importlib.import_module("httpx"))
    handler = importlib.import_module("litellm.llms.custom_httpx.http_handler").HTTPHandler
    chat = {
        "model": f"openai/{MODEL}",
        "client": inner.OpenAI(base_url=URL, max_retries=0, http_client=chat_wire.client()),
    }
    messages = {
        "model": f"anthropic/{CLAUDE}",
        "client": handler(client=messages_wire.client()),
        "api_base": URL,
    }

    def stream(protocol: str, reads: list[bytes]) -> Iterable[Any]:
        is_chat = protocol == "openai-chat"
        (chat_wire if is_chat else messages_wire).reads = reads
        options = chat if is_chat else messages
        answer: Iterable[Any] = package.completion(messages=PROMPT, stream=True, **options)
        return answer

    yield contestant("litellm", BOTH, stream, read_chunk)


def pydantic_ai() -> Iterator[Contestant]:
    """The model layer of an agent framework, asynchronous: `direct.model_request_stream`."""
    direct = importlib.import_module("pydantic_ai.direct")
    messages = importlib.import_module("pydantic_ai.messages")
    kinds = (messages.TextPart, messages.TextPartDelta, messages.ToolCallPart, messages.ToolCallPartDelta)
    models = {"openai-chat": _pydantic_openai(), "anthropic": _pydantic_anthropic()}
    prompt = [messages.ModelRequest.user_text_prompt(PROMPT[0]["content"])]
    loop = asyncio.new_event_loop()

    async def each(protocol: str, reads: list[bytes], take: Callable[[Any], object] | None) -> int:
        wire, model = models[protocol]
        wire.reads = reads
        number = 0
        async with direct.model_request_stream(model, prompt) as events:
            async for event in events:
                number += 1
                if take is not None:
                    take(event)
        return number

    def piece(event: Any) -> Piece:
        change = {"part_start": "part", "part_delta": "delta"}.get(event.event_kind, "")
        part = getattr(event, change, None)
        if not isinstance(part, kinds):
            return "", ""
        text = getattr(part, "content_delta", None) or getattr(part, "content", None)
        arguments = getattr(part, "args_delta", None) or getattr(part, "args", None)
        return text or "", arguments or ""

    def prepare(recording: Recording, _: int | None) -> Callable[[list[bytes]], int]:
        return lambda reads: loop.run_until_complete(each(recording.protocol, reads, None))

    def answer(recording: Recording, _: int | None, reads: list[bytes]) -> Answer:
        found: list[Piece] = []
        loop.run_until_complete(each(recording.protocol, reads, lambda event: found.append(piece(event))))
        return joined(found)

    yield Contestant("pydantic-ai", BOTH, prepare, answer, is_client=True)


def _pydantic_openai() -> tuple[Wire, Any]:
    inner = importlib.import_module("openai")
    wire = Wire(http_of(inner))
    client = inner.AsyncOpenAI(base_url=URL, max_retries=0, http_client=wire.async_client())
    provider = importlib.import_module("pydantic_ai.providers.openai").OpenAIProvider(openai_client=client)
    return wire, importlib.import_module("pydantic_ai.models.openai").OpenAIChatModel(MODEL, provider=provider)


def _pydantic_anthropic() -> tuple[Wire, Any]:
    inner = importlib.import_module("anthropic")
    wire = Wire(http_of(inner))
    client = inner.AsyncAnthropic(base_url=URL, max_retries=0, http_client=wire.async_client())
    provider = importlib.import_module("pydantic_ai.providers.anthropic").AnthropicProvider(anthropic_client=client)
    return wire, importlib.import_module("pydantic_ai.models.anthropic").AnthropicModel(CLAUDE, provider=provider)


class Peer(NamedTuple):
    """A package that may be installed.

    Attributes:
        distribution: Its name for pip.
        module: What one imports.
        make: Builds its contestants.
        extras: The extras of it that are needed here.
        beside: What it needs as well and does not ask for.
    """

    distribution: str
    module: str
    make: Callable[[], Iterator[Contestant]]
    extras: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


PEERS = (
    Peer("openai", "openai", openai),
    Peer("anthropic", "anthropic", anthropic),
    Peer("httpx-sse", "httpx_sse", httpx_sse, beside=("httpx",)),
    Peer("llmstream", "llmstream", llmstream),
    Peer("litellm", "litellm", litellm),
    Peer("pydantic-ai-slim", "pydantic_ai", pydantic_ai, ("openai", "anthropic")),
)


def installed_peers() -> tuple[list[Contestant], list[str]]:
    """The contestants of all peers that are there, and a line for each that is not or does not start."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    contestants: list[Contestant] = []
    skipped: list[str] = []
    for peer in PEERS:
        if version_of(peer.distribution) is None:
            skipped.append(f"{peer.distribution}: not installed")
            continue
        try:
            contestants.extend(peer.make())
        except Exception as error:  # noqa: BLE001  # whatever a foreign package raises, the others go on
            skipped.append(f"{peer.distribution}: {type(error).__name__}: {error}")
    return contestants, skipped
