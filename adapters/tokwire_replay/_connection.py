"""One connection of the server: requests in, replies out, on h11 and the streams of asyncio."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

import h11

from ._record import ReceivedRequest, Record
from ._reply import Fault, Reply, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Connection"]

READ_BYTES = 64 << 10
HEARTBEAT_SECONDS = 0.05
HEARTBEAT = b": heartbeat\n\n"
GARBAGE = b"\x00 this is no HTTP \xff\r\n\r\n"
LINGER_ZERO = struct.pack("ii", 1, 0)


class ClosedError(Exception):
    """The connection is over, by the client or by a fault."""


class Connection:
    """Serves one connection until either side closes it.

    Args:
        reader: Where requests come from.
        writer: Where replies go to.
        next_reply: Gives the reply to the next request.
        record: Where everything is noted.
        released: What a stalled reply waits for.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        next_reply: Callable[[], Reply],
        record: Record,
        released: asyncio.Semaphore,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._next_reply = next_reply
        self._record = record
        self._released = released
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        self._arrived = asyncio.Event()
        self._client_closed = asyncio.Event()
        self._is_ours = False
        self._number = 0

    async def run(self) -> None:
        """Answer requests until the connection is over."""
        self._record.change(connections=1, open_connections=1)
        self._number = self._record.connections
        # A write is done once the kernel has the bytes, so that a cut comes behind them. The transport for TLS takes a
        # limit of 0 for full even while it is empty.
        is_tls = self._writer.get_extra_info("ssl_object") is not None
        self._writer.transport.set_write_buffer_limits(high=int(is_tls), low=0)
        reading = asyncio.create_task(self._read())
        try:
            while True:
                await self._answer(self._next_reply)
                self._http.start_next_cycle()
        except OSError:
            self._client_left()  # a write found it out before the read did
        except (ClosedError, h11.ProtocolError):
            pass
        finally:
            self._is_ours = True
            reading.cancel()
            self._writer.transport.abort()
            with suppress(asyncio.CancelledError):
                await reading
            self._record.change(open_connections=-1)

    async def _read(self) -> None:
        """Read all the time, since only a read shows that the client closed."""
        with suppress(OSError):
            while data := await self._reader.read(READ_BYTES):
                self._http.receive_data(data)
                self._arrived.set()
        self._client_left()

    def _client_left(self) -> None:
        if not self._is_ours and not self._client_closed.is_set():
            self._client_closed.set()
            self._arrived.set()
            self._record.change(closed_by_client=1)

    async def _answer(self, next_reply: Callable[[], Reply]) -> None:
        request = await self._event()
        if not isinstance(request, h11.Request):
            raise ClosedError
        reply = next_reply()
        body = bytearray()
        while not reply.answers_early:
            event = await self._event()
            if not isinstance(event, h11.Data):
                break
            body += event.data
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers)
        method, target = request.method.decode("ascii"), request.target.decode("latin-1")
        self._record.add_request(ReceivedRequest(method, target, headers, bytes(body), self._number))
        await self._send(reply)
        if reply.answers_early or self._http.our_state is not h11.DONE:
            await self._close()

    async def _event(self) -> object:
        """The next event of the request."""
        while True:
            self._arrived.clear()
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if self._client_closed.is_set():
                    raise ClosedError
                await self._arrived.wait()
            elif event is h11.PAUSED:
                raise ClosedError
            else:
                return event

    async def _send(self, reply: Reply) -> None:
        head = self._head(reply)
        slow = reply.fault("slow-head")
        if slow is None:
            await self._write(head)
        else:
            await self._write(head[: len(head) // 2])
            await (self._pause(seconds_of(slow.value) or 0) if slow.value else self._stall())
            await self._write(head[len(head) // 2 :])
        encode = reply.encoder()
        for step in reply.steps():
            if isinstance(step, Fault):
                await self._happen(step, reply, encode)
                continue
            await self._write(self._framed(reply, encode(step)))
            if reply.delay:
                await self._pause(reply.delay)
        await self._write(self._framed(reply, encode(b"")))
        if reply.fault("no-terminator") is not None:
            raise ClosedError
        if reply.framing == "close":
            await self._close()
        await self._write(self._http.send(h11.EndOfMessage()))
        if reply.fault("garbage") is not None:
            await self._write(GARBAGE)

    def _head(self, reply: Reply) -> bytes:
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in reply.head()]
        if reply.framing != "close":
            return self._http.send(h11.Response(status_code=reply.status, headers=headers)) or b""
        # h11 frames every body for a client of HTTP/1.1; servers that do not are still met.
        lines = [b"HTTP/1.1 %d " % reply.status, *(name + b": " + value for name, value in headers)]
        return b"\r\n".join([*lines, b"", b""])

    def _framed(self, reply: Reply, data: bytes) -> bytes | None:
        if not data or reply.framing == "close":
            return data
        return self._http.send(h11.Data(data=data))

    async def _happen(self, fault: Fault, reply: Reply, encode: Callable[[bytes], bytes]) -> None:
        match fault.kind:
            case "cut":
                raise ClosedError
            case "reset":
                raw = self._writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
                raise ClosedError
            case "stall":
                await self._stall()
            case _:
                while True:
                    await self._write(self._framed(reply, encode(HEARTBEAT)))
                    await self._pause(reply.delay or HEARTBEAT_SECONDS)

    async def _write(self, data: bytes | None) -> None:
        if self._client_closed.is_set():
            raise ClosedError
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._client_closed.wait()
            raise ClosedError

    async def _stall(self) -> None:
        """Wait until somebody releases the reply, or the client closes."""
        released = asyncio.ensure_future(self._released.acquire())
        closed = asyncio.ensure_future(self._client_closed.wait())
        try:
            await asyncio.wait((released, closed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            released.cancel()
            closed.cancel()
        if self._client_closed.is_set():
            raise ClosedError

    async def _close(self) -> None:
        """Close the way that a peer expects: what was sent arrives, then the end."""
        self._is_ours = True
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()
        raise ClosedError
