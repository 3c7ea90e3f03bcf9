"""`--protocol auto`: the protocol is found from the first payloads, or the user is told what to do."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest
from tests.test_cli_support import DONE, HELLO, Cli, sse, text_chunk

from tokwire_cli._sniff import PREFIX_BYTES, UnsureError, settle_protocol
from tokwire_cli._stream import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

ANTHROPIC = b"".join(
    b"event: %b\ndata: %b\n\n" % (name, data)
    for name, data in [
        (b"message_start", b'{"type":"message_start","message":{"id":"m","type":"message","role":"assistant"}}'),
        (b"content_block_start", b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'),
        (b"content_block_delta", b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}'),
        (b"message_delta", b'{"type":"message_delta","delta":{"stop_reason":"end_turn"}}'),
        (b"message_stop", b'{"type":"message_stop"}'),
    ]
)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


def test_openai_chat_is_found(cli: Cli) -> None:
    result = cli("decode", "-", stdin=HELLO)
    assert (result.code, result.text) == (0, "Hello")


def test_anthropic_is_found(cli: Cli) -> None:
    result = cli("decode", "-", stdin=ANTHROPIC)
    assert (result.code, result.text) == (0, "Hi")


def test_heartbeats_before_the_first_payload_do_not_matter(cli: Cli) -> None:
    result = cli("decode", "-", stdin=b": ping\n\n" * 500 + ANTHROPIC)
    assert (result.code, result.text) == (0, "Hi")


def test_a_last_event_without_its_blank_line_is_enough(cli: Cli) -> None:
    result = cli("decode", "-", stdin=sse(text_chunk("Hi")).rstrip())
    assert (result.code, result.text) == (3, "Hi")


def found(chunks: Iterator[bytes]) -> str:
    """The name of the protocol that is found."""
    protocol, _ = settle_protocol("auto", chunks, StreamOptions())
    assert not isinstance(protocol, str)
    return protocol.name


def test_nothing_is_read_beyond_the_chunk_that_tells() -> None:
    def chunks() -> Iterator[bytes]:
        yield HELLO[:30]
        yield HELLO[30:]
        pytest.fail("one chunk too many was read")

    assert found(chunks()) == "openai-chat"


def test_all_chunks_are_given_back() -> None:
    source = iter([HELLO[:30], HELLO[30:90], HELLO[90:]])
    _, chunks = settle_protocol("auto", source, StreamOptions())
    assert b"".join(chunks) == HELLO


def test_a_named_protocol_reads_nothing_ahead() -> None:
    source = iter([HELLO])
    assert settle_protocol("anthropic", source, StreamOptions()) == ("anthropic", source)


# Bodies that mean the same in every protocol --------------------------------------------------------------------------


def test_an_error_payload(cli: Cli) -> None:
    result = cli("decode", "-", stdin=sse({"error": {"message": "no such model", "code": 404}}))
    assert (result.code, result.types) == (1, ["error"])
    assert "no such model" in result.err


def test_an_error_body_that_is_no_stream(cli: Cli) -> None:
    result = cli("decode", "-", stdin=b'{"error": {"message": "invalid key", "type": "authentication_error"}}')
    assert (result.code, result.lines[0]["error_type"]) == (1, "authentication_error")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"<!DOCTYPE html><html><body>502</body></html>", "an HTML or XML page, not a stream of a known protocol"),
        (b"<?xml version='1.0'?><Error/>", "XML"),
        (gzip.compress(HELLO, mtime=0), "gzip"),
        (b"upstream connect error", "plain text"),
    ],
)
def test_a_foreign_body_is_4_and_says_what_it_looks_like(cli: Cli, body: bytes, word: str) -> None:
    result = cli("decode", "-", stdin=body)
    assert (result.code, result.types) == (4, ["error"])
    assert word in result.err


@pytest.mark.parametrize("body", [b"", b": nothing but comments\n\n"], ids=["empty", "comments"])
def test_an_empty_body_is_3(cli: Cli, body: bytes) -> None:
    result = cli("decode", "-", stdin=body)
    assert (result.code, result.types) == (3, ["finish"])


def test_a_body_cut_in_its_first_event_is_3(cli: Cli) -> None:
    result = cli("decode", "-", stdin=HELLO[:20])
    assert (result.code, result.types) == (3, ["error"])


# Bodies whose protocol has to be named --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        sse({"weather": "fine"}),
        sse({"usage": {"prompt_tokens": 1}}),
        sse({"weather": "fine"}) * 5000,
        b'{"weather":"fine"}\n' * 3,
        b'[{"weather":"fine"}]',
        b'{"weather":"fine"}',
    ],
    ids=["one payload", "usage alone", "more than the prefix", "lines", "array", "object"],
)
def test_unknown_payloads_are_2_and_name_the_option(cli: Cli, body: bytes) -> None:
    result = cli("decode", "-", stdin=body)
    assert (result.code, result.out) == (2, "")
    assert "--protocol" in result.err


def test_check_says_the_same(cli: Cli) -> None:
    result = cli("check", "-", stdin=sse({"weather": "fine"}))
    assert (result.code, result.out) == (2, "")
    assert "--protocol" in result.err


def test_no_more_than_the_prefix_is_read() -> None:
    body = io.BytesIO(b": ping\n\n" * 100_000 + HELLO)
    chunks = iter(lambda: body.read(1000), b"")
    with pytest.raises(UnsureError, match="first 64 KiB"):
        settle_protocol("auto", chunks, StreamOptions())
    assert body.tell() == PREFIX_BYTES - PREFIX_BYTES % 1000 + 1000


def test_a_named_protocol_has_no_such_bound(cli: Cli) -> None:
    result = cli("decode", "-", "--protocol", "openai", stdin=b": ping\n\n" * 20_000 + HELLO)
    assert (result.code, result.text) == (0, "Hello")


def test_one_byte_per_read_gives_the_same() -> None:
    bodies = [HELLO, ANTHROPIC, sse({"error": "no"}), b"<html>", DONE]
    for body in bodies:
        assert found(body[at : at + 1] for at in range(len(body))) == found(iter([body]))
