"""The ways of an event from the wire to a program: the decoder alone, the core by hand, and each adapter.

Each sends the same request and keeps all events of the response, over a network that is a list of reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tokwire
import tokwire_asyncio
import tokwire_threads

from .wire import AsyncBackend, BlockingBackend, ReadyLoop, blocking_sockets, response

if TYPE_CHECKING:
    from tokwire_http import AsyncTransport, Transport

Events = list[tokwire.StreamEvent]
Run = Callable[[], Events]
Prepare = Callable[[ExitStack, str, list[bytes]], Run]

REQUEST = tokwire.HTTPRequest(
    "POST", "http://adapter.invalid/v1/chat/completions", (("content-type", "application/json"),), b'{"stream":true}'
)
ALONE = "decoder alone"


@dataclass(frozen=True)
class Way:
    """One way for the bytes of a response to become events.

    Attributes:
        name: What the table calls it.
        prepare: Given what to close afterwards, a protocol and the chunks of a body, the function that is timed: it
            sends a request and reads all events of the response.
        beside: The name of the way that does the same without the adapter, where there is one.
    """

    name: str
    prepare: Prepare
    beside: str = ""


def known_ways() -> tuple[list[Way], list[str]]:
    """The ways that can be gone with what is installed, and a line for each adapter that cannot."""
    ways = [
        Way(ALONE, decoder_alone),
        Way("HTTPExchange and ResponseDecoder", by_hand),
        Way("tokwire_threads", over_threads),
        Way("tokwire_asyncio", over_asyncio),
    ]
    try:
        import tokwire_httpcore  # noqa: F401, PLC0415 - it says at once where there is no httpcore
    except ImportError as error:
        return ways, [f"tokwire_httpcore: {error}"]
    return [
        *ways,
        Way("httpcore, iter_stream", httpcore_alone),
        Way("tokwire_httpcore", over_httpcore, beside="httpcore, iter_stream"),
        Way("httpcore, aiter_stream", async_httpcore_alone),
        Way("tokwire_httpcore, async", over_async_httpcore, beside="httpcore, aiter_stream"),
    ], []


class Decoding:
    """A decoder and the events that it gave: what is done with each chunk where no adapter does it."""

    def __init__(self, protocol: str) -> None:
        self.found: Events = []
        self._decoder = tokwire.StreamDecoder(protocol, include_reasoning=True)

    def take(self, chunk: bytes) -> None:
        """Decode a chunk."""
        self._decoder.receive_data(chunk)
        self.found += self._decoder.events()

    def end(self) -> Events:
        """The end of the body. Returns all events."""
        self._decoder.receive_eof()
        self.found += self._decoder.events()
        return self.found


def decoder_alone(_: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """The chunks, already without HTTP."""

    def run() -> Events:
        decoding = Decoding(protocol)
        for chunk in chunks:
            decoding.take(chunk)
        return decoding.end()

    return run


def by_hand(_: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """The core as a transport of one's own uses it, with nothing to wait for."""
    reads = response(chunks)

    def run() -> Events:
        exchange = tokwire.HTTPExchange(REQUEST)
        exchange.data_to_send()
        decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, include_reasoning=True))
        found: Events = []
        for read in reads:
            exchange.receive_data(read)
            for chunk in exchange.body():
                if decoder.head is None and exchange.response is not None:
                    decoder.receive_head(exchange.response)
                decoder.receive_data(chunk)
                found += decoder.events()
        decoder.receive_eof()
        found += decoder.events()
        return found

    return run


def over_threads(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """`tokwire_threads.stream` on sockets of its own."""
    stack.enter_context(blocking_sockets(response(chunks)))
    return lambda: read_all(protocol, None)


def over_asyncio(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """`tokwire_asyncio.stream` on connections of its own."""
    runner = runner_for(stack, response(chunks))
    return lambda: runner.run(read_all_async(protocol, None))


def httpcore_alone(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """The `iter_stream` of httpcore, and the decoder."""
    pool = stack.enter_context(core().ConnectionPool(network_backend=BlockingBackend(response(chunks))))

    def run() -> Events:
        decoding = Decoding(protocol)
        with pool.stream(REQUEST.method, REQUEST.url, headers=headers(), content=REQUEST.body) as answer:
            for chunk in answer.iter_stream():
                decoding.take(chunk)
        return decoding.end()

    return run


def async_httpcore_alone(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """The same on its asynchronous pool."""
    runner = runner_for(stack, [])
    pool = core().AsyncConnectionPool(network_backend=AsyncBackend(response(chunks)))
    stack.callback(lambda: runner.run(pool.aclose()))

    async def read() -> Events:
        decoding = Decoding(protocol)
        async with pool.stream(REQUEST.method, REQUEST.url, headers=headers(), content=REQUEST.body) as answer:
            async for chunk in answer.aiter_stream():
                decoding.take(chunk)
        return decoding.end()

    return lambda: runner.run(read())


def over_httpcore(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """`tokwire_threads.stream` on a pool of httpcore."""
    from tokwire_httpcore import Backend, Transport  # noqa: PLC0415 - an extra

    backend = Backend(BlockingBackend(response(chunks)))
    transport = stack.enter_context(Transport(network_backend=backend))
    return lambda: read_all(protocol, transport)


def over_async_httpcore(stack: ExitStack, protocol: str, chunks: list[bytes]) -> Run:
    """`tokwire_asyncio.stream` on an asynchronous pool of httpcore."""
    from tokwire_httpcore import AsyncBackend as Backend  # noqa: PLC0415 - an extra
    from tokwire_httpcore import AsyncTransport  # noqa: PLC0415

    runner = runner_for(stack, [])
    transport = AsyncTransport(network_backend=Backend(AsyncBackend(response(chunks))))
    stack.callback(lambda: runner.run(transport.aclose()))
    return lambda: runner.run(read_all_async(protocol, transport))


def core() -> Any:
    """The httpcore that the adapter takes."""
    from tokwire_httpcore._core import installed_core  # noqa: PLC0415 - an extra

    return installed_core()


def headers() -> list[tuple[str, str]]:
    """Those of the request, for a client that adds no length."""
    return [*REQUEST.headers, ("content-length", str(len(REQUEST.body)))]


def runner_for(stack: ExitStack, reads: list[bytes]) -> asyncio.Runner:
    """What runs coroutines in a loop whose connections give the reads."""

    def new_loop() -> ReadyLoop:
        loop = ReadyLoop()
        loop.reads = reads
        return loop

    return stack.enter_context(asyncio.Runner(loop_factory=new_loop))


def read_all(protocol: str, transport: Transport | None) -> Events:
    """Send the request and read to the end, as a program does."""
    with tokwire_threads.stream(REQUEST, protocol, transport=transport, include_reasoning=True) as stream:
        return list(stream)


async def read_all_async(protocol: str, transport: AsyncTransport | None) -> Events:
    """The same in an event loop."""
    async with tokwire_asyncio.stream(REQUEST, protocol, transport=transport, include_reasoning=True) as stream:
        return [event async for event in stream]
