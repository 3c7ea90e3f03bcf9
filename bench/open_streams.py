"""Open streams: what each one holds while it waits for the rest of its response, over real connections.

The server sends the first half of a response and is silent then. It runs in a process of its own, so that nothing of it
is counted.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_http import EventStream
from tokwire_replay import serve

from .memory import Held, traced
from .streams import Recording, openai_text

EVENTS = 40
MANY = 400
"""How many streams at most: their files stay below what systems allow by default."""


def measure_open_streams(*, scale: float = 1.0, say: Callable[[str], None]) -> list[Held]:
    """Open many streams with the decoder alone, over threads and over asyncio, and look at what they hold."""
    recording = openai_text(EVENTS)
    half = recording.events[: len(recording.events) // 2]
    many = max(5, int(MANY * scale))
    say(f"{many:,} open streams on connections")
    with silent_server(recording, half) as url:
        request = tokwire.HTTPRequest("POST", url)
        opened(request, recording.protocol, half).close()  # what the first one imports is not counted
        alone = traced(lambda: [fed(recording.protocol, half) for _ in range(many)])
        blocking = traced(lambda: [opened(request, recording.protocol, half) for _ in range(many)])
        waiting, peak = asyncio.run(tasks_that_wait(request, recording.protocol, half, many))
    return [
        Held("decoder alone", many, alone / many),
        Held("tokwire_threads", many, blocking / many),
        Held("tokwire_asyncio, with the task that waits", many, waiting / many),
        Held("the same, at most while all are opened at once", many, peak / many),
    ]


def fed(protocol: str, chunks: list[bytes]) -> tokwire.StreamDecoder:
    """A decoder in the middle of a response."""
    decoder = tokwire.StreamDecoder(protocol)
    for chunk in chunks:
        decoder.receive_data(chunk)
        for _ in decoder.events():
            pass
    return decoder


def texts_in(chunks: list[bytes]) -> int:
    """How many events a stream gives before it waits; the first chunk has only the role."""
    return len(chunks) - 1


def opened(request: tokwire.HTTPRequest, protocol: str, chunks: list[bytes]) -> EventStream:
    """A stream of threads, after all events that have come; it is closed where it is dropped."""
    stream = tokwire_threads.stream(request, protocol)
    for _ in range(texts_in(chunks)):
        next(stream)
    return stream


async def tasks_that_wait(
    request: tokwire.HTTPRequest, protocol: str, chunks: list[bytes], many: int
) -> tuple[int, int]:
    """Read many streams at once, each in a task of its own, until all of them wait.

    Returns:
        The bytes that stay allocated then, and the most that were allocated on the way.
    """
    begun = 0
    all_wait = asyncio.Event()

    async def read() -> None:
        nonlocal begun
        taken = 0
        async with tokwire_asyncio.stream(request, protocol) as stream:
            async for _ in stream:
                taken += 1
                if taken == texts_in(chunks):
                    begun += 1
                    if begun == many:
                        all_wait.set()

    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tasks = [asyncio.create_task(read()) for _ in range(many)]
        await all_wait.wait()
        await asyncio.sleep(0)  # the last one goes on to its wait
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return after - before, peak - before


@contextmanager
def silent_server(recording: Recording, half: list[bytes]) -> Iterator[str]:
    """The URL of a server in a process of its own that sends these events of a recording, one per chunk, and waits."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve_half, args=(theirs, recording.events, sum(map(len, half))), daemon=True
    )
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.join()


def serve_half(pipe: Connection, events: list[bytes], size: int) -> None:
    """What the process of the server runs: it tells its URL, and ends when the pipe is closed."""
    with serve(events, faults=[f"stall:{size}"]) as url:
        pipe.send(url)
        with suppress(EOFError):
            pipe.recv()
