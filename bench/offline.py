"""A transport that is a list, and readers of what clients give: what the peers have in common.

What belongs to a peer is `Any`: none of them has to be installed, not even for the type checker.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from .contestants import Answer, Contestant
from .streams import Recording

Piece = tuple[str, str]
"""Text and argument text of one event of a peer."""


class Wire:
    """A transport of a peer's HTTP library that answers every request with the reads of the moment."""

    def __init__(self, http: Any) -> None:
        self.http = http
        self.reads: list[bytes] = []

    def client(self) -> Any:
        """A blocking client."""
        body = type("Body", (self.http.SyncByteStream,), {"__iter__": lambda _: iter(self.reads)})
        return self.http.Client(transport=self.http.MockTransport(lambda _: self._response(body())))

    def async_client(self) -> Any:
        """An asynchronous client."""

        async def each(_: object) -> AsyncIterator[bytes]:
            for read in self.reads:
                yield read

        async def handle(_: object) -> Any:
            return self._response(body())

        body = type("Body", (self.http.AsyncByteStream,), {"__aiter__": each})
        return self.http.AsyncClient(transport=self.http.MockTransport(handle))

    def _response(self, body: Any) -> Any:
        return self.http.Response(200, headers={"content-type": "text/event-stream"}, stream=body)


def http_of(package: Any) -> Any:
    """The HTTP library that a client package of today is built on: httpx, or httpx2."""
    roots = [base.__module__.partition(".")[0] for base in package.DefaultHttpxClient.__mro__]
    return importlib.import_module(next(root for root in roots if root in {"httpx", "httpx2"}))


def contestant(
    name: str,
    protocols: frozenset[str],
    stream: Callable[[str, list[bytes]], Iterable[Any]],
    piece: Callable[[Any], Piece],
) -> Contestant:
    """A contestant from a function that gives a peer's events and one that reads such an event."""

    def count(protocol: str, reads: list[bytes]) -> int:
        number = 0
        for _ in stream(protocol, reads):
            number += 1
        return number

    def prepare(recording: Recording, _: int | None) -> Callable[[list[bytes]], int]:
        return lambda reads: count(recording.protocol, reads)

    def answer(recording: Recording, _: int | None, reads: list[bytes]) -> Answer:
        return joined(piece(event) for event in stream(recording.protocol, reads))

    return Contestant(name, protocols, prepare, answer, is_client=True)


def joined(found: Iterable[Piece]) -> Answer:
    """The answer that pieces make."""
    texts, arguments = zip(*found, strict=True)
    return Answer("".join(texts), None, "".join(arguments))


def read_chunk(chunk: Any) -> Piece:
    """A chunk of Chat Completions as an object."""
    if not chunk.choices:
        return "", ""
    delta = chunk.choices[0].delta
    return delta.content or "", "".join(call.function.arguments or "" for call in delta.tool_calls or ())


def read_block(event: Any) -> Piece:
    """An event of Anthropic Messages as an object."""
    if event.type != "content_block_delta":
        return "", ""
    return getattr(event.delta, "text", ""), getattr(event.delta, "partial_json", "")


def read_json(payload: dict[str, Any]) -> Piece:
    """A payload of either protocol as plain JSON."""
    delta: dict[str, Any] = payload["choices"][0]["delta"] if payload.get("choices") else payload.get("delta") or {}
    calls = delta.get("tool_calls") or ()
    arguments = "".join(call["function"].get("arguments") or "" for call in calls)
    return delta.get("content") or delta.get("text") or "", arguments or delta.get("partial_json") or ""
