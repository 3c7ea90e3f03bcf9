"""Interrupts of the blocking client: from other threads, from signal handlers and by Ctrl-C, wherever a turn waits."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from linecache import getline
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent_scripts import FakeTransport, answer
from tests.machine import called, options, said, told, unfit
from tests.sockets import BEGIN, HOST, STREAM, deaf

import tokwire
from tokwire import RetryConfig, Tool, ToolResultBlock, TurnInterrupted
from tokwire_replay import serve
from tokwire_threads import Client, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHAT = "openai-chat"
CALM, CALLS = said(CHAT, "Calm"), said(CHAT, "", called("a"))


def is_waiting(turn: Turn) -> bool:
    """Whether an interrupt would wake somebody."""
    return turn._interrupt._wake is not None


@contextmanager
def meanwhile(turn: Turn, act: Callable[[], object], *, when: Callable[[], bool]) -> Iterator[None]:
    """Do something in another thread, once the turn has come to a place and waits there."""

    def run() -> None:
        until = time.monotonic() + 10
        while not (when() and is_waiting(turn)) and time.monotonic() < until:
            time.sleep(0.001)
        act()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def send_signal(number: signal.Signals = signal.SIGUSR1) -> None:
    """Send a signal to the main thread."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, number)


@contextmanager
def handled_by(act: Callable[[], object]) -> Iterator[None]:
    """A signal handler."""
    before = signal.signal(signal.SIGUSR1, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


@contextmanager
def interrupted(way: str, client: Client, turn: Turn, *, when: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Interrupt a turn in one of the ways, once it waits, and see that it raises what it should."""
    acts: dict[str, Callable[[], object]] = {"thread": client.interrupt, "signal": send_signal, "ctrl-c": ctrl_c}
    expected = KeyboardInterrupt if way == "ctrl-c" else TurnInterrupted
    with handled_by(client.interrupt), meanwhile(turn, acts[way], when=when), pytest.raises(expected):
        yield
    for _ in range(2):
        with pytest.raises(TurnInterrupted):
            next(turn)
    assert unfit(client.history) == []


def ctrl_c() -> None:
    """Press it."""
    send_signal(signal.SIGINT)


WAYS = pytest.mark.parametrize("way", ["thread", "signal", "ctrl-c"])


def client_at(url: str, **changes: Any) -> Client:
    """A client over sockets."""
    return Client(options(base_url=url, **changes))


@WAYS
def test_while_connecting(way: str) -> None:
    with deaf() as port, client_at(f"http://{HOST}:{port}") as client:
        turn = client.send("Hello")
        with interrupted(way, client, turn):
            next(turn)
        assert client.history == ()


@WAYS
@pytest.mark.parametrize("fault", ["slow-head", f"stall:{len(BEGIN)}"])
def test_in_head_and_body(way: str, fault: str) -> None:
    server = serve(STREAM, faults=[fault])
    with server as url, client_at(url) as client:
        turn = client.send("Hello")
        with interrupted(way, client, turn, when=lambda: len(server.requests) == 1):
            list(turn)
        server.wait(lambda: server.open_connections == 0)
        assert client.history == ()


@WAYS
def test_while_a_tool_runs(way: str) -> None:
    begun, over = threading.Event(), threading.Event()

    def stuck(_: object) -> str:
        begun.set()
        over.wait(10)
        return "too late"

    transport = FakeTransport(CALLS, CALM)
    client = Client(options(tools=[Tool("a", "", {}, stuck)], auto_execute_tools=True), transport=transport)
    turn = client.send("Hello")
    with interrupted(way, client, turn, when=begun.is_set):
        list(turn)
    result = client.history[-1].content[0]
    assert isinstance(result, ToolResultBlock)
    assert "cancelled" in told(result)["error"]
    over.set()
    assert client.send("And?").collect().text == "Calm"


@WAYS
def test_in_the_pause_before_another_attempt(way: str) -> None:
    transport = FakeTransport(answer(refused=tokwire.ConnectError("nobody is there")), CALM)
    client = Client(options(retry=RetryConfig(initial_delay=60.0)), transport=transport)
    turn = client.send("Hello")
    assert isinstance(next(turn), tokwire.Retrying)
    with interrupted(way, client, turn):
        next(turn)
    assert client.history == ()
    assert client.send("Hello").collect().text == "Calm"


def test_a_signal_handler_while_nobody_waits() -> None:
    client = Client(options(), transport=FakeTransport(CALM, CALM))
    turn = client.send("Hello")
    with handled_by(client.interrupt):
        next(turn)
        send_signal()
        with pytest.raises(TurnInterrupted):
            next(turn)


def test_closing_in_a_signal_handler_while_a_tool_runs() -> None:
    over = threading.Event()

    def stuck(_: object) -> str:
        send_signal()
        over.wait(10)
        return "too late"

    transport = FakeTransport(CALLS)
    client = Client(options(tools=[Tool("a", "", {}, stuck)], auto_execute_tools=True), transport=transport)
    turn = client.send("Hello")
    with handled_by(client.close), pytest.raises(TurnInterrupted):
        list(turn)
    over.set()
    assert unfit(client.history) == []


SAFE = "self._inside.pop("
"""How the lines begin where Ctrl-C does not strike, as no call and no loop stands before them."""

DRIVER = ("tokwire_threads/_t", "tokwire_http/_agent")


class Strike:
    """Counts the lines of the driver that are run, from 1, and raises `KeyboardInterrupt` before one of them.

    Args:
        place: Which; None for none.

    Attributes:
        lines: What was run.
    """

    def __init__(self, place: int | None = None) -> None:
        self._place = place
        self.lines: list[tuple[str, int]] = []

    def __call__(self, frame: Any, event: str, _argument: object) -> Any:
        """What `sys.settrace` calls."""
        file, line = frame.f_code.co_filename, frame.f_lineno
        if not any(part in file for part in DRIVER):
            return None
        if event == "line" and not getline(file, line).strip().startswith(SAFE):
            self.lines.append((file, line))
            if len(self.lines) == self._place:
                raise KeyboardInterrupt
        return self

    def over(self, turn: Turn) -> bool:
        """Run a turn to its end, or until the stroke. Whether that fell."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            list(turn)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


def test_ctrl_c_between_any_two_lines() -> None:
    """Wherever it falls, the response is closed, the history is whole, and the client goes on."""
    asked = options(tools=[Tool("a", "", {}, lambda _: "b")], auto_execute_tools=True)

    def played(strike: Strike) -> bool:
        transport = FakeTransport(CALLS, CALM, CALM)
        client = Client(asked, transport=transport)
        turn = client.send("Hello")
        has_fallen = strike.over(turn)
        turn.close()
        assert all(response.closed for response in transport.responses)
        assert unfit(client.history) == []
        assert client.send("And?").collect().text == "Calm"
        return has_fallen

    whole = Strike()
    assert not played(whole)
    numbered = list(enumerate(whole.lines, 1))
    last = {line: place for place, line in numbered}
    first = {line: place for place, line in reversed(numbered)}
    assert len(first) > 50
    for place in sorted({*first.values(), *last.values()}):
        assert played(Strike(place)), place


def test_while_it_races_with_everything_else() -> None:
    """Wherever the interrupt falls, the turn ends: with its events, or interrupted, and the history is whole."""
    tools = [Tool("a", "", {}, lambda _: "b")]
    for number in range(100):
        transport = FakeTransport(CALLS, CALM, CALM)
        client = Client(options(tools=tools, auto_execute_tools=True), transport=transport)
        turn = client.send("Hello")
        seen: list[object] = []

        def read(turn: Turn = turn, seen: list[object] = seen) -> None:
            try:
                seen.extend(turn)
            except TurnInterrupted as error:
                seen.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        for _ in range(number * 100):  # a little later each time
            pass
        client.interrupt()
        thread.join(10)
        assert not thread.is_alive()
        assert isinstance(seen[-1], tokwire.Finish | TurnInterrupted)
        assert unfit(client.history) == []
        assert client.send("And?").collect().text == "Calm"
