"""The parts that both socket transports are made of, without a socket."""

from __future__ import annotations

import ssl

import pytest
from tests.sockets import SECRET, STREAM, chunked, request_to

import tokwire
from tokwire_http import Timeouts
from tokwire_http._channel import Channel
from tokwire_http._deadlines import Deadlines
from tokwire_http._pool import KEEP_SECONDS, MAX_IDLE, Pool
from tokwire_http._route import Proxy, Route
from tokwire_http._tls import TLS

DIRECT = Route("http", "models.example", 80)


class Idle:
    """A connection that can only be dropped."""

    def __init__(self) -> None:
        self.is_dropped = False

    def abort(self) -> None:
        """Note it."""
        self.is_dropped = True


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        """What time it is."""
        return self.now


def test_the_pool_gives_the_latest_first_and_keeps_a_few() -> None:
    pool: Pool[Idle] = Pool(Clock())
    connections = [Idle() for _ in range(MAX_IDLE + 2)]
    for connection in connections:
        pool.put(DIRECT, connection)
    assert [connection.is_dropped for connection in connections] == [True, True] + [False] * MAX_IDLE
    assert [pool.take(DIRECT) for _ in range(MAX_IDLE + 1)] == [*connections[:1:-1], None]


def test_the_pool_tells_routes_apart() -> None:
    pool: Pool[Idle] = Pool(Clock())
    routes = [
        DIRECT,
        Route("https", "models.example", 80),
        Route("http", "models.example", 81),
        Route("http", "other.example", 80),
        Route("http", "models.example", 80, Proxy("proxy.example", 3128)),
        Route("http", "models.example", 80, Proxy("proxy.example", 3128, "Basic x")),
    ]
    for route in routes:
        pool.put(route, Idle())
    assert [pool.take(route) is not None for route in routes] == [True] * 6
    assert [pool.take(route) for route in routes] == [None] * 6


def test_the_pool_drops_what_waited_too_long() -> None:
    clock, old, young = Clock(), Idle(), Idle()
    pool: Pool[Idle] = Pool(clock)
    pool.put(DIRECT, old)
    clock.now = 1.0
    pool.put(DIRECT, young)
    clock.now = KEEP_SECONDS
    assert pool.take(DIRECT) is young
    assert pool.take(DIRECT) is None
    assert old.is_dropped


def test_a_closed_pool_keeps_nothing() -> None:
    pool: Pool[Idle] = Pool(Clock())
    before, after = Idle(), Idle()
    pool.put(DIRECT, before)
    pool.close()
    pool.put(DIRECT, after)
    assert (before.is_dropped, after.is_dropped, pool.take(DIRECT)) == (True, True, None)


@pytest.mark.parametrize(
    ("timeouts", "connecting", "end"),
    [
        (Timeouts(connect=1, idle=2, total=4), True, 101.0),
        (Timeouts(connect=9, idle=2, total=4), True, 104.0),
        (Timeouts(connect=None, idle=2, total=4), True, 104.0),
        (Timeouts(connect=1, idle=2, total=10), False, 105.0),
        (Timeouts(connect=1, idle=2, total=4), False, 104.0),
        (Timeouts(connect=1, idle=None, total=4), False, 104.0),
        (Timeouts(connect=1, idle=None, total=None), False, float("inf")),
    ],
)
def test_when_a_wait_ends(timeouts: Timeouts, *, connecting: bool, end: float) -> None:
    assert Deadlines(timeouts, 100.0, DIRECT).end_of_wait(103.0, connecting=connecting) == end


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://proxy.example:3128", Proxy("proxy.example", 3128)),
        ("http://proxy.example/", Proxy("proxy.example", 80)),
        ("http://[::1]:3128", Proxy("::1", 3128)),
        ("http://user:p%40ss@proxy.example", Proxy("proxy.example", 80, "Basic dXNlcjpwQHNz")),
        ("http://user@proxy.example", Proxy("proxy.example", 80, "Basic dXNlcg==")),
    ],
)
def test_the_url_of_a_proxy(url: str, proxy: Proxy) -> None:
    assert Proxy.from_url(url) == proxy
    assert "Basic" not in repr(Route("http", "models.example", 80, proxy))


def test_the_tunnel_to_an_address_in_brackets() -> None:
    route = Route.of(tokwire.HTTPRequest("POST", "https://[::1]:8443/v1"), Proxy("proxy.example", 3128))
    channel = Channel(route, None, tokwire.Limits())
    assert bytes(channel.outgoing()).startswith(b"CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n")
    assert not channel.is_open


def begun(body: bytes = b"{}") -> Channel:
    """A channel on which a request was sent."""
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.begin(request_to("http://models.example/v1", body))
    while piece := channel.outgoing():
        channel.sent(min(len(piece), 10_000))
    return channel


def body_of(channel: Channel) -> bytes:
    """The head must be there; the chunks that are ready."""
    assert channel.head() is not None
    return b"".join(iter(channel.next_chunk, None))


def test_every_cut_of_a_response_has_the_same_body() -> None:
    wire = chunked(STREAM[:40], STREAM[40:])
    for cut in range(len(wire)):
        channel = begun()
        channel.receive_data(wire[:cut])
        seen = body_of(channel) if channel.head() else b""
        channel.receive_data(wire[cut:])
        assert seen + body_of(channel) == STREAM
        assert channel.is_ended
        assert channel.is_reusable


def test_a_small_request_goes_out_in_one_piece_and_a_large_one_is_not_copied() -> None:
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.begin(request_to("http://models.example/v1", b"{}"))
    assert bytes(channel.outgoing()).endswith(b"\r\n\r\n{}")
    body = bytes(1_000_000)
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.begin(request_to("http://models.example/v1", body))
    channel.sent(len(channel.outgoing()))
    assert channel.outgoing().obj is body


def test_what_comes_before_a_request_spoils_the_connection() -> None:
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.receive_data(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert channel.head() is None
    assert not channel.is_reusable
    assert not channel.may_become_reusable


def test_a_request_that_was_not_sent_whole_spoils_the_connection() -> None:
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.begin(request_to("http://models.example/v1", bytes(1_000_000)))
    channel.receive_data(chunked(STREAM))
    assert body_of(channel) == STREAM
    assert channel.is_ended
    assert not channel.may_become_reusable


def test_the_cause_of_a_failed_send_is_told_where_there_is_no_answer() -> None:
    channel, cause = begun(), BrokenPipeError()
    channel.stop_sending(cause)
    channel.receive_eof()
    with pytest.raises(tokwire.NoResponse) as caught:
        channel.head()
    assert caught.value.__cause__ is cause


def test_a_host_that_no_certificate_can_be_for() -> None:
    with pytest.raises(tokwire.ConnectError) as caught:
        Channel(Route("https", ".example", 443), ssl.create_default_context(), tokwire.Limits())
    assert isinstance(caught.value.__cause__, ValueError)
    assert SECRET not in str(caught.value)


class Stubborn:
    """TLS whose encryption fails, or wants something else first."""

    is_closed = False

    def __init__(self, failure: ssl.SSLError | None) -> None:
        self.failure = failure

    def encrypt(self, data: memoryview) -> int:
        """Take nothing."""
        assert data
        return 0

    def pending(self) -> bytes:
        """Nothing to send."""
        return b""


@pytest.mark.parametrize("failure", [None, ssl.SSLError("broken")])
def test_encryption_that_does_not_go_on(failure: ssl.SSLError | None, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel(DIRECT, None, tokwire.Limits())
    channel.begin(request_to("http://models.example/v1"))
    monkeypatch.setattr(channel, "_tls", Stubborn(failure))
    assert not channel.outgoing()
    monkeypatch.setattr(channel, "_tls", None)
    assert bool(channel.outgoing()) is (failure is None)


def test_tls_that_fails_to_encrypt_says_why() -> None:
    tls = TLS(ssl.create_default_context(), "models.example")
    with pytest.raises(ssl.SSLError):
        tls.handshake(b"no handshake at all\r\n\r\n")
    assert tls.encrypt(memoryview(b"x")) == 0
    assert tls.failure is not None
