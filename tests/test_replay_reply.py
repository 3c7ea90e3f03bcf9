"""`Reply` and `Fault`: what is sent, in which steps, and which values are refused."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import pytest

from tokwire_replay import FAULTS, Fault, ReceivedRequest, Reply, guess_content_type


def test_every_fault_is_parsed_by_its_bare_name() -> None:
    for kind in FAULTS:
        assert Fault.parse(kind) == Fault(kind)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cut:10", Fault("cut", 10, "10")),
        ("reset:0", Fault("reset", 0, "0")),
        ("content-type:image/png", Fault("content-type", None, "image/png")),
        ("slow-head:0.5", Fault("slow-head", None, "0.5")),
    ],
)
def test_a_fault_with_a_value(text: str, fault: Fault) -> None:
    assert Fault.parse(text) == fault


@pytest.mark.parametrize(
    "text", ["", "cutt", "cut:x", "cut:-1", "cut:1.5", "slow-head:soon", "slow-head:nan", "slow-head:inf", "garbage:1"]
)
def test_a_wrong_fault_says_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|known are|takes no value"):
        Fault.parse(text)
    with pytest.raises(ValueError, match="fault"):
        Reply(faults=[text]).fault("cut")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"faults": "cut"}, "sequence"),
        ({"faults": ["nonsense"]}, "unknown fault"),
        ({"reads": 0}, "at least 1"),
        ({"status": 99}, "200 to 599"),
        ({"status": 101}, "200 to 599"),
        ({"framing": "none"}, "chunked, length or close"),
        ({"coding": "br"}, "gzip or deflate"),
        ({"delay": -1.0}, "delay"),
        ({"framing": "length", "faults": ["heartbeat"]}, "heartbeats"),
        ({"headers": [("X", "a\r\nb")]}, "header"),
        ({"headers": [("X Y", "a")]}, "header"),
    ],
)
def test_a_reply_that_cannot_be_sent_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reply(**fields)


def test_the_steps_are_the_reads_with_the_faults_between_them() -> None:
    cut, reset = Fault.parse("cut:4"), Fault.parse("reset")
    assert list(Reply(body=b"abcdefgh", reads=3).steps()) == [b"abc", b"def", b"gh"]
    assert list(Reply(body=b"abcdefgh", faults=["cut:4"]).steps()) == [b"abcd", cut, b"efgh"]
    assert list(Reply(body=b"abcdef", reads=4, faults=["reset", "cut:4"]).steps()) == [b"abcd", cut, b"ef", reset]
    assert list(Reply(body=b"abcdef", reads=3, faults=["cut:4", "reset:4"]).steps()) == [
        *(b"abc", b"d", cut),
        *(Fault.parse("reset:4"), b"ef"),
    ]
    assert list(Reply(body=b"", faults=["cut:4"]).steps()) == [cut]
    assert list(Reply(body=b"ab", faults=["stall:0"]).steps()) == [Fault.parse("stall:0"), b"ab"]


def test_recorded_reads_are_kept() -> None:
    reply = Reply(body=[b"ab", b"cde", b""])
    assert list(reply.steps()) == [b"ab", b"cde"]
    assert reply.whole_body() == b"abcde"
    assert list(Reply(body=[b"ab", b"cde"], reads=2).steps()) == [b"ab", b"cd", b"e"]


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_every_coded_read_can_be_inflated_by_itself(coding: Any) -> None:
    encode = Reply(coding=coding).encoder()
    inflate = zlib.decompressobj(wbits=47)
    assert [inflate.decompress(encode(read)) for read in (b"one", b"two")] == [b"one", b"two"]
    inflate.decompress(encode(b""))
    assert inflate.eof


def test_the_headers_say_how_the_body_is_sent() -> None:
    assert dict(Reply(body=b"data: 1\n\n").head()) == {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Transfer-Encoding": "chunked",
    }
    assert dict(Reply(body=b"{}", framing="length").head())["Content-Length"] == "2"
    assert dict(Reply(body=b"{}", framing="length", faults=["no-terminator"]).head())["Content-Length"] == "3"
    assert dict(Reply(body=b"{}", framing="close").head())["Connection"] == "close"
    assert dict(Reply(faults=["content-type"]).head())["Content-Type"] == "text/html"
    assert dict(Reply(faults=["content-type:image/png"]).head())["Content-Type"] == "image/png"


def test_a_given_header_replaces_ours_and_may_repeat() -> None:
    head = Reply(body=b"{}", headers=[("content-type", "a/b"), ("X", "1"), ("X", "2")]).head()
    assert head == [("Transfer-Encoding", "chunked"), ("content-type", "a/b"), ("X", "1"), ("X", "2")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"data: {}\n\n", "text/event-stream; charset=utf-8"),
        (b": ping\n\n", "text/event-stream; charset=utf-8"),
        (b"", "text/event-stream; charset=utf-8"),
        (b"\xef\xbb\xbf {}", "application/json"),
        (json.dumps({"a": [1]}, indent=1).encode(), "application/json"),
        (b'[{"a": 1}\n, {"b": 2}]', "application/json"),
        (b'{"a": 1}\n{"b": 2}\n', "application/x-ndjson"),
        (b"<!doctype html>", "text/html; charset=utf-8"),
        (
            struct.pack(">III", 16, 0, zlib.crc32(struct.pack(">II", 16, 0))) + b"\0" * 8,
            "application/vnd.amazon.eventstream",
        ),
    ],
)
def test_the_content_type_is_guessed_from_the_recording(body: bytes, kind: str) -> None:
    assert guess_content_type(body) == kind


def test_a_received_request_hides_its_secrets() -> None:
    request = ReceivedRequest("POST", "/v1?key=hidden", (("authorization", "hidden"),), b"hidden", 1)
    assert repr(request) == "<ReceivedRequest POST /v1?... [authorization] 6 bytes>"
    assert request.header("Authorization") == "hidden"
    assert request.header("x") is None
