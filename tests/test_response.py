"""`ResponseDecoder`: status, redirects, what an error says of itself, and how a decoder may be used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.http_bodies import STREAM, answered, response_decoder
from tests.support import BODIES, CHAT, DONE, chunk, data, every_way

import tokwire

ERROR = {"error": {"type": "overloaded", "code": "too_many", "message": "Too many ships", "param": "model"}}
BODY = json.dumps(ERROR).encode()
JSON = ("Content-Type", "application/json")


def refused(body: bytes, status: int = 500, *headers: tuple[str, str], **options: Any) -> tokwire.APIError:
    """The error of a response, once it was shown to be the same for every way to cut its body."""
    expected = answered([body], status, headers, **options)
    assert isinstance(expected.error, tokwire.APIError)
    assert (expected.events, expected.state) == ([], tokwire.StreamState.FAILED)
    for reads in every_way(body):
        found = answered(reads, status, headers, **options)
        assert found == expected
        assert vars(found.error) == vars(expected.error)
    return expected.error


def test_a_stream_with_status_200() -> None:
    assert answered([CHAT]).events == tokwire.decode(CHAT, "openai-chat")
    assert answered([CHAT]).state is tokwire.StreamState.DONE


@pytest.mark.parametrize("status", [200, 201, 203, 206, 299])
@pytest.mark.parametrize(
    "headers", [(), (STREAM,), (("content-type", "text/html"),), (("Content-Encoding", "Identity"),)]
)
def test_every_good_status_is_decoded(status: int, headers: tuple[tuple[str, str], ...]) -> None:
    for reads in every_way(CHAT):
        assert answered(reads, status, headers).events == tokwire.decode(CHAT, "openai-chat")


def test_no_content_is_an_answer_without_content() -> None:
    assert answered([], 204, ()).events == [tokwire.Finish(tokwire.FinishReason.UNSPECIFIED)]


def test_a_cut_body_is_truncated() -> None:
    found = answered([chunk({"content": "a"})], complete=False)
    assert found.events == [tokwire.Block(tokwire.TextBlock("a"))]
    assert isinstance(found.error, tokwire.StreamTruncated)


def test_an_error_with_all_that_it_says() -> None:
    error = refused(BODY, 429, JSON, ("X-Request-Id", "r-9"), ("Retry-After", "7"))
    assert (error.status_code, error.type, error.code, error.message) == (
        429,
        "overloaded",
        "too_many",
        "Too many ships",
    )
    assert (error.param, error.request_id, error.retry_after, error.retryable) == ("model", "r-9", 7.0, True)
    assert error.body == ERROR["error"]
    assert str(error) == "overloaded: Too many ships (status 429)"


@pytest.mark.parametrize(
    ("body", "message", "kept"),
    [
        (b"", "", None),
        (b" \r\n", "", None),
        (b"null", "", None),
        (b"[]", "", []),
        (b"{}", "", {}),
        (b"[" + BODY + b"]", "Too many ships", ERROR["error"]),
        (b'"just text"', "just text", "just text"),
        (b"17", "", 17),
        (b'{"detail":"Not here"}', "Not here", {"detail": "Not here"}),
        (b'{"message":"No","status":"x"}', "No", {"message": "No", "status": "x"}),
        (b"<html>gateway</html>\n", "<html>gateway</html>", "<html>gateway</html>"),
        (b'{"error":{"message":"cu', '{"error":{"message":"cu', '{"error":{"message":"cu'),
        (b"\xff\xfe", "\ufffd\ufffd", "\ufffd\ufffd"),
        (b"x" * 1500, "x" * 1000, "x" * 1000),
        (b"[" * 3000, "[" * 1000, "[" * 1000),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, '{"a":' * 200, '{"a":' * 200),
    ],
)
def test_bodies_of_errors_in_every_shape(body: bytes, message: str, kept: object) -> None:
    error = refused(body, 502)
    assert (error.status_code, error.message, error.body, error.retryable) == (502, message, kept, True)


@pytest.mark.parametrize("complete", [True, False])
def test_an_error_status_wins_over_a_cut(complete: object) -> None:
    assert refused(BODY, 503, complete=complete).message == "Too many ships"
    assert refused(BODY[:-3], 503, complete=complete).message.startswith('{"error"')


def test_an_error_waits_for_its_body() -> None:
    decoder = response_decoder(500)
    decoder.receive_data(BODY)
    assert list(decoder.events()) == []
    assert decoder.next_event() is tokwire.NEED_DATA
    assert decoder.state is tokwire.StreamState.OPEN
    decoder.receive_eof()
    with pytest.raises(tokwire.APIError):
        decoder.next_event()


def test_an_error_body_over_the_limit_is_raised_at_once() -> None:
    limits = tokwire.Limits(max_error_body_bytes=len(BODY))
    for body in (BODY, BODY + b" " * 1000):
        error = refused(body, 400, limits=limits, complete=None)
        assert error.message == "Too many ships"
    assert refused(b"x" * 5000, limits=tokwire.Limits(max_error_body_bytes=10), complete=None).body == "x" * 10
    assert refused(b"x" * 200, limits=tokwire.Limits(max_error_body_bytes=None)).body == "x" * 200


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 418, 501, 600, 999, 0, -5])
def test_which_errors_are_not_retryable(status: int) -> None:
    assert not refused(BODY, status).retryable


@pytest.mark.parametrize(
    "name", ["X-Request-ID", "request-id", "x-amzn-RequestId", "apim-request-id", "x-goog-request-id", "CF-Ray"]
)
def test_ids_of_requests(name: str) -> None:
    assert refused(BODY, 500, (name, "r-1")).request_id == "r-1"


def test_the_id_in_the_body_is_that_of_the_api() -> None:
    body = b'{"type":"error","error":{"type":"api_error","message":"x"},"request_id":"req_1"}'
    assert refused(body, 500, ("x-request-id", "proxy")).request_id == "req_1"
    assert refused(BODY, 500, ("x-request-id", ""), ("cf-ray", "r-2")).request_id == "r-2"
    assert refused(BODY, 500).request_id is None


@pytest.mark.parametrize(
    ("location", "named"),
    [
        ("https://elsewhere.example/v1?key=hidden", "the host 'elsewhere.example'"),
        ("https://user:hidden@elsewhere.example:8443?key=hidden", "the host 'elsewhere.example:8443'"),
        ("HTTPS://elsewhere.example#hidden", "the host 'elsewhere.example'"),
        ("//elsewhere.example/v1", "the host 'elsewhere.example'"),
        ("https://h/?u=a@hidden", "the host 'h'"),
        ("/v2?key=hidden", "another path of the same host"),
        ("v2//hidden", "another path of the same host"),
        ("?next=https://hidden/", "another path of the same host"),
        ("https:///hidden", "another path of the same host"),
        ("", "another path of the same host"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_named_and_not_followed(status: int, location: str, named: str) -> None:
    error = refused(b"<html>moved</html>", status, ("Location", location))
    assert (error.status_code, error.retryable) == (status, False)
    assert named in str(error)
    assert "hidden" not in str(error)


def test_redirects_without_a_target_are_errors_too() -> None:
    assert refused(b"pick one", 300).message == "pick one"
    assert refused(b"no", 404, ("Location", "https://h/")).message == "no"


def test_interim_heads_are_skipped() -> None:
    decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder("openai-chat"))
    for status in (100, 102, 103, 101, 199):
        decoder.receive_head(tokwire.ResponseHead(status))
        assert decoder.head is None
    head = tokwire.ResponseHead(200, (STREAM,))
    decoder.receive_head(head)
    assert decoder.head is head


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("coding", ["identity", "gzip", "br"])
def test_misuse(status: int, coding: str) -> None:
    decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder("openai-chat"))
    with pytest.raises(tokwire.LocalProtocolError):
        decoder.receive_data(b"")
    with pytest.raises(tokwire.LocalProtocolError):
        decoder.receive_eof()
    decoder.receive_head(tokwire.ResponseHead(status, (("content-encoding", coding),)))
    with pytest.raises(tokwire.LocalProtocolError):
        decoder.receive_head(tokwire.ResponseHead(status))
    with pytest.raises(TypeError):
        decoder.receive_data("text")  # type: ignore[arg-type]  # what a caller without types may do
    if (status, coding) == (200, "br"):
        return
    decoder.receive_eof()
    with pytest.raises(tokwire.LocalProtocolError):
        decoder.receive_data(b"x")


def test_what_comes_once_the_stream_is_over_is_ignored() -> None:
    for decoder in (response_decoder(), response_decoder(500, limits=tokwire.Limits(max_error_body_bytes=1))):
        decoder.receive_data(DONE)
        try:
            list(decoder.events())
        except tokwire.APIError:
            assert decoder.state is tokwire.StreamState.FAILED
        decoder.receive_eof()
        decoder.receive_data(b"more")
        decoder.receive_eof(complete=False)
    assert decoder.state is tokwire.StreamState.FAILED


def test_the_first_end_stands() -> None:
    for status in (200, 500):
        decoder = response_decoder(status)
        decoder.receive_data(chunk({"content": "a"}))
        decoder.receive_eof(complete=False)
        decoder.receive_eof(complete=True)
        with pytest.raises(tokwire.TokwireError) as caught:
            list(decoder.events())
        assert isinstance(caught.value, tokwire.APIError if status == 500 else tokwire.StreamTruncated)


def test_errors_are_raised_again() -> None:
    for decoder in (response_decoder(500), response_decoder(200, [("content-encoding", "br")])):
        decoder.receive_data(b"x")
        decoder.receive_eof()
        raised = []
        for _ in range(3):
            with pytest.raises(tokwire.TokwireError) as caught:
                list(decoder.events())
            raised.append(caught.value)
        assert raised[0] is raised[1] is raised[2]


@pytest.mark.parametrize("headers", [(), (STREAM,), (("Content-Type", "text/html"),)])
def test_events_may_be_dropped_without_losing_any(headers: tuple[tuple[str, str], ...]) -> None:
    decoder = response_decoder(200, headers)
    decoder.receive_data(CHAT)
    taken = []
    while (event := decoder.next_event()) is not tokwire.FINISHED:
        taken.append(event)
        iter(decoder.events())
    assert taken == tokwire.decode(CHAT, "openai-chat")
    assert decoder.summary.end_marker


def test_an_odd_content_type_is_noted_beside_an_error() -> None:
    page = b"<html><body>Sign in</body></html>"
    found = answered([page], 200, [("Content-Type", "text/html; charset=utf-8" + "x" * 200)])
    assert isinstance(found.error, tokwire.RemoteProtocolError)
    assert found.failure is not None
    (note,) = found.error.__notes__
    assert "text/html" in note
    assert len(note) < 150
    assert answered([page]).failure is not None
    assert not hasattr(answered([page]).error, "__notes__")
    decoder = response_decoder(200, [("Content-Type", "text/plain")])
    decoder.receive_data(page)
    decoder.receive_eof()
    for _ in range(3):
        with pytest.raises(tokwire.RemoteProtocolError) as caught:
            list(decoder.events())
    assert len(caught.value.__notes__) == 1


@pytest.mark.parametrize(
    "kind", ["text/event-stream", "application/JSON", "application/x-ndjson", "application/vnd.amazon.eventstream"]
)
def test_content_types_of_streams_are_not_noted(kind: str) -> None:
    assert not hasattr(answered([b"<html>"], 200, [("content-type", kind)]).error, "__notes__")


def test_an_error_in_the_stream_is_that_of_the_stream() -> None:
    found = answered([chunk({"content": "a"}) + data(ERROR)])
    assert isinstance(found.error, tokwire.APIError)
    assert (len(found.events), found.error.message, found.state) == (1, "Too many ships", tokwire.StreamState.FAILED)


@pytest.mark.parametrize(("own", "told"), [({}, "r-1"), ({"request_id": "r-2"}, "r-2")])
def test_an_error_in_the_stream_has_the_id_of_its_response(own: dict[str, str], told: str) -> None:
    body = chunk({"content": "a"}) + data({"error": {"message": "no"}, **own})
    for reads in every_way(body):
        error = answered(reads, 200, [STREAM, ("x-request-id", "r-1")]).error
        assert isinstance(error, tokwire.APIError)
        assert (error.request_id, error.status_code) == (told, None)


@pytest.mark.parametrize("protocol", BODIES)
def test_the_decoder_keeps_its_options(protocol: str) -> None:
    decoder = tokwire.ResponseDecoder(tokwire.StreamDecoder(protocol, include_reasoning=True))
    decoder.receive_head(tokwire.ResponseHead(200))
    decoder.receive_data(BODIES[protocol])
    assert any(event.as_reasoning() for event in decoder.events())
    assert decoder.summary.model
