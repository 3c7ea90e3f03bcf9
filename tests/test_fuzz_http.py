"""The fuzz target for HTTP/1.1: its corpus meets every verdict, its mutations are responses, and it sees faults."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from fuzz import _mutate_http as http
from fuzz.__main__ import HERE, seeds_of
from fuzz._check import BrokenInvariantError
from fuzz._http import POST, SMALL_HEAD_BYTES, Outcome, Reading, case_of
from fuzz._mutate import mutated
from fuzz.targets import http11

import tokwire
from tokwire import HTTPExchange, ResponseDecoder
from tokwire._http11 import HeadCounter

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = b"tide " * 6
CORPUS = {path.name: path.read_bytes() for path in (HERE / "corpus" / "http11").iterdir()}


def outcome_of(name: str) -> Outcome:
    """What comes of an input of the corpus."""
    case = case_of(CORPUS[name])
    return Reading(case, [case.plan.body]).outcome


def broken_rule(name: str) -> str:
    """The rule that an input of the corpus breaks."""
    with pytest.raises(BrokenInvariantError) as caught:
        http11.one_input(CORPUS[name])
    return caught.value.rule


def test_a_header_says_what_was_asked_and_how_the_connection_ends() -> None:
    usual = case_of(b"o@@0HTTP/1.1")
    assert (usual.request, usual.closes, usual.is_sent) == (POST, True, True)
    assert usual.limits.max_head_bytes == tokwire.Limits().max_head_bytes
    other = case_of(b"o\0\xf0\x01HTTP/1.1")
    assert (other.request.method, other.closes, other.is_sent) == ("CONNECT", False, False)
    assert other.limits.max_head_bytes == SMALL_HEAD_BYTES
    assert case_of(b"o@\xc00").request.method == "HEAD"
    assert other.plan.options["limits"] is other.limits


def test_the_corpus_meets_every_verdict() -> None:
    outcomes = [outcome_of(name) for name in CORPUS]
    refusals = {outcome.refusal and outcome.refusal[0] for outcome in outcomes}
    assert refusals == {None, "NoResponse", "StreamTruncated", "RemoteProtocolError", "LimitExceeded"}
    failures = {outcome.failure and outcome.failure[0] for outcome in outcomes}
    assert failures >= {None, "APIError", "StreamTruncated", "RemoteProtocolError"}
    assert {outcome.keep_alive for outcome in outcomes} == {True, False}
    assert {outcome.ended for outcome in outcomes} == {True, False}
    assert sum(len(outcome.events) > 1 for outcome in outcomes) > 15


def test_an_input_beyond_the_bound_of_h11_is_left_out() -> None:
    http11.one_input(b"o@@0" + b"x" * http11.MOST_BYTES)


def test_a_body_that_was_framed_is_found_again() -> None:
    response = http.opened(b"HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc")
    assert response == ([b"HTTP/1.1 200 OK", b"X: 1", b"Content-Length: 3"], b"abc")
    assert http.closed(response) == b"HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 3\r\n\r\nabc"
    for number in range(60):
        found = http.framed(response, BODY, Random(number))
        assert found.lines[:2] == response.lines[:2]
        if found.lines[2:] == [b"Transfer-Encoding: chunked"]:
            assert http.unframed(found.body) == BODY
        elif found.lines[2:] == [b"Content-Length: 30"]:
            assert found.body == BODY
    assert http.unframed(b"no chunks") == b"no chunks"


def test_many_mutations_are_responses_that_can_be_read() -> None:
    wholes, kinds = 0, set[str | None]()
    for place, seed in enumerate(seeds_of("http11")):
        for number in range(8):
            case = case_of(mutated(seed, Random(100 * place + number), 2000))
            outcome = Reading(case, [case.plan.body]).outcome
            wholes += outcome.ended
            kinds.add(outcome.refusal and outcome.refusal[0])
    assert wholes > 100
    assert len(kinds) == 5


def test_a_head_that_is_measured_by_the_cuts_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    take = HeadCounter.take

    def greedy(self: HeadCounter, data: bytes) -> int:
        taken = take(self, data)
        self.size += len(data) - taken
        return taken

    monkeypatch.setattr(HeadCounter, "take", greedy)
    assert "every cut" in broken_rule("head-at-its-limit") or "one byte" in broken_rule("head-at-its-limit")


def test_a_body_that_comes_late_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    body = HTTPExchange.body

    def late(self: HTTPExchange) -> Any:
        if len(self._input) == 1 and self.response is not None and not self._eof:
            return iter(())
        return body(self)

    monkeypatch.setattr(HTTPExchange, "body", late)
    assert broken_rule("text-an-event-a-chunk") == "the same is known after the same bytes"


def changed(method: str, change: Callable[[Any], Any], patch: pytest.MonkeyPatch, owner: Any = HTTPExchange) -> None:
    """Change a method of the exchange or the decoder."""
    patch.setattr(owner, method, change(getattr(owner, method)))


def test_a_request_that_goes_out_twice_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(_: Any) -> Any:
        return lambda self: [b"POST / HTTP/1.1\r\n\r\n", self._request.body]

    changed("data_to_send", again, monkeypatch)
    assert broken_rule("text-chunked") == "the request goes out once"


def test_a_connection_that_is_kept_although_it_closed_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HTTPExchange, "keep_alive", property(lambda self: self.ended))
    assert broken_rule("text-chunked").startswith("a connection that is closed")


def test_an_error_that_is_not_ours_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    changed("_refusal", lambda _: lambda self: tokwire.APIError("no"), monkeypatch)
    assert broken_rule("tls-alert") == "an exchange fails only with the documented errors"


def test_an_error_that_repeats_the_key_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def loud(_: Any) -> Any:
        return lambda self: tokwire.RemoteProtocolError(f"refused {self._request.headers}")

    changed("_refusal", loud, monkeypatch)
    assert broken_rule("tls-alert") == "no error repeats a key"


def test_a_cut_body_that_passes_for_a_whole_one_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def trusting(receive: Any) -> Any:
        return lambda self, *, complete=True: receive(self, complete=True)

    changed("receive_eof", trusting, monkeypatch, ResponseDecoder)
    assert broken_rule("cut-in-a-chunk") == "the events of the decoder alone"


def test_events_of_a_response_that_is_an_error_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(receive: Any) -> Any:
        def change(self: ResponseDecoder, head: tokwire.ResponseHead) -> None:
            receive(self, tokwire.ResponseHead(200, head.headers))

        return change

    changed("receive_head", deaf, monkeypatch, ResponseDecoder)
    assert broken_rule("error-429") == "the status is told"
