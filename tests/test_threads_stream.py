"""`stream` of both adapters: when the request is sent, what can be seen of it, and what is left of it: nothing."""

from __future__ import annotations

import asyncio
import gc
import threading
import traceback
from contextlib import suppress

import pytest
from tests.sockets import BEGIN, END, HOST, PATIENT, SECRET, STREAM, closed_port, open_files, request_to, settled

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire_http import ChunkResponse, Interrupt, Timeouts
from tokwire_replay import Reply, serve

NOWHERE = f"http://{HOST}:1/v1?key={SECRET}"


def test_nothing_is_sent_before_the_first_event_is_asked_for() -> None:
    server = serve(STREAM)
    with server as url:
        with tokwire_threads.stream(request_to(url), "openai-chat") as stream:
            assert repr(stream) == "<EventStream without a response>"
        with pytest.raises(tokwire.LocalProtocolError, match="closed before its request was sent"):
            _ = stream.head
        assert list(stream) == []
    assert server.connections == 0


def test_the_head_can_be_had_before_the_events() -> None:
    with serve(Reply(body=STREAM, headers=[("X-Request-Id", "r1")])) as url:
        with tokwire_threads.stream(request_to(url), "openai-chat", include_usage=True) as stream:
            assert stream.head.header("x-request-id") == "r1"
            assert repr(stream) == "<EventStream status=200 OPEN>"
            assert len(list(stream)) == 3
        assert stream.summary.end_marker
        assert stream.head.status == 200


def test_a_failure_is_raised_again_and_the_request_not_sent_again() -> None:
    stream = tokwire_threads.stream(request_to(f"http://{HOST}:{closed_port()}"), "openai-chat")
    errors: list[tokwire.TokwireError] = []
    for _ in range(2):
        with pytest.raises(tokwire.ConnectError) as caught:
            next(stream)
        errors.append(caught.value)
    with pytest.raises(tokwire.ConnectError) as caught:
        _ = stream.head
    assert errors[0] is errors[1] is caught.value


def test_any_transport_will_do() -> None:
    class Canned:
        def send(self, request: tokwire.HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> ChunkResponse:
            assert (request.header("authorization"), timeouts, interrupt.is_set) == (f"Bearer {SECRET}", PATIENT, False)
            return ChunkResponse(tokwire.ResponseHead(200), [STREAM])

    decoder = tokwire.StreamDecoder("openai-chat")
    assert len(list(tokwire_threads.stream(request_to(NOWHERE), decoder, transport=Canned(), timeouts=PATIENT))) == 3


@pytest.mark.parametrize("status", [200, 401])
def test_without_a_transport_no_connection_is_kept(status: int) -> None:
    """Neither after an end marker, nor after a body that was read to its end."""

    async def main() -> None:
        async with tokwire_asyncio.stream(request_to(url), "openai-chat") as stream:
            assert await anext(stream, None) is not None

    server = serve(Reply(body=STREAM, status=status))
    with server as url:
        for _ in range(2):
            with suppress(tokwire.APIError):
                list(tokwire_threads.stream(request_to(url), "openai-chat"))
            with suppress(tokwire.APIError):
                asyncio.run(main(), debug=True)
        server.wait(lambda: server.closed_by_client == 4)
    gc.collect()  # a warning about something unclosed is an error


def test_a_stream_that_is_dropped_closes_its_connection() -> None:
    server = serve(STREAM, faults=["stall"])
    with server as url:
        for event in tokwire_threads.stream(request_to(url), "openai-chat"):
            assert event.as_text() == "one"
            break
        server.wait(lambda: server.closed_by_client == 1)


def test_a_closed_transport_sends_nothing() -> None:
    with tokwire_threads.SocketTransport() as transport:
        pass
    with pytest.raises(tokwire.LocalProtocolError, match="closed"):
        transport.send(request_to(NOWHERE), timeouts=PATIENT, interrupt=Interrupt())

    async def send() -> None:
        with tokwire_asyncio.SocketTransport() as transport:
            pass
        await transport.send(request_to(NOWHERE), timeouts=PATIENT)

    with pytest.raises(tokwire.LocalProtocolError, match="closed"):
        asyncio.run(send())


def test_a_response_that_is_read_when_its_transport_closes_goes_on() -> None:
    server = serve(BEGIN + END)
    with server as url:
        with tokwire_threads.SocketTransport() as transport:
            response = transport.send(request_to(url), timeouts=PATIENT, interrupt=Interrupt())
        assert repr(response) == "<SocketResponse status=200>"
        assert b"".join(response) == STREAM
        response.close()
        assert list(response) == []
        server.wait(lambda: server.closed_by_client == 1)


def test_the_asynchronous_one_has_its_head_with_the_first_event() -> None:
    async def main() -> None:
        async with tokwire_asyncio.stream(request_to(url), "openai-chat") as stream:
            assert repr(stream) == "<AsyncEventStream without a response>"
            with pytest.raises(tokwire.LocalProtocolError, match="with the first event"):
                _ = stream.head
            assert (await anext(stream)).as_text() == "one"
            assert (stream.head.status, repr(stream)) == (200, "<AsyncEventStream status=200 OPEN>")
        async with tokwire_asyncio.stream(request_to(url), "openai-chat") as stream:
            pass
        with pytest.raises(tokwire.LocalProtocolError, match="closed before"):
            _ = stream.head
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        await settled()

    server = serve(STREAM)
    with server as url:
        asyncio.run(main(), debug=True)
        server.wait(lambda: server.closed_by_client == 1)
    assert server.connections == 1


def test_nothing_else_can_be_had_of_a_response_that_has_not_begun() -> None:
    for module in (tokwire_threads, tokwire_asyncio):
        stream = module.stream(request_to(NOWHERE), "openai-chat")
        with pytest.raises(AttributeError, match="'PendingResponse' object has no attribute 'body'"):
            _ = stream._pending.body


def test_two_hundred_streams_leave_nothing() -> None:
    """Read to the end, left early, and failed, one after the other."""

    def one(number: int) -> None:
        with tokwire_threads.stream(request_to(url), "openai-chat", transport=transport) as stream:
            for _ in zip(range(number % 4 or 9), stream, strict=False):
                pass

    async def one_async(number: int, transport: tokwire_asyncio.SocketTransport) -> None:
        async with tokwire_asyncio.stream(request_to(url), "openai-chat", transport=transport) as stream:
            count = 0
            async for _ in stream:
                count += 1
                if count == (number % 4 or 9):
                    break

    async def all_async() -> None:
        with tokwire_asyncio.SocketTransport() as transport:
            for number in range(200):
                await one_async(number, transport)
        await settled()

    server = serve(STREAM)
    gc.collect()
    files, threads = open_files(), threading.active_count()
    with server as url:
        with tokwire_threads.SocketTransport() as transport:
            for number in range(200):
                one(number)
        asyncio.run(all_async(), debug=True)
        server.wait(lambda: server.open_connections == 0)
        assert len(server.requests) == 400
    gc.collect()
    assert (open_files(), threading.active_count()) == (files, threads)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b'{"error": {"message": "No such key"}}', status=401),
        Reply(body=BEGIN, faults=["no-terminator"]),
        Reply(body=BEGIN, faults=["reset"]),
        Reply(body=BEGIN, faults=["slow-head"]),
    ],
    ids=["status", "cut", "reset", "timeout"],
)
def test_nothing_secret_is_shown(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    shown: list[str] = []
    timeouts = Timeouts(idle=0.1)

    async def main() -> None:
        stream = tokwire_asyncio.stream(request, "openai-chat", timeouts=timeouts)
        async with stream:
            with pytest.raises(tokwire.TokwireError) as caught:
                [event async for event in stream]
            shown.extend((repr(stream), *traceback.format_exception(caught.value)))
        await settled()

    with serve(reply) as url, caplog.at_level(0):
        request = request_to(f"{url}/v1?key={SECRET}", SECRET.encode())
        stream = tokwire_threads.stream(request, "openai-chat", timeouts=timeouts)
        with stream, pytest.raises(tokwire.TokwireError) as caught:
            list(stream)
        shown.extend((repr(stream), *traceback.format_exception(caught.value)))
        asyncio.run(main(), debug=True)
    assert len(shown) > 4
    assert SECRET not in "".join(shown) + caplog.text
