"""The transports of `tokwire_bedrock`: each request is signed anew, with keys that are given or found."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.aws_signatures import ACCESS, KEYS, SECRET, SESSION, TOKEN, Refreshable, converse, signature_on_the_wire

import tokwire
import tokwire_http
from tokwire import HTTPRequest, ResponseHead
from tokwire_bedrock import AsyncSigningTransport, SigningTransport
from tokwire_http import AsyncChunkResponse, ChunkResponse, Interrupt, Timeouts

HEAD = ResponseHead(200)


class Recorder:
    """A transport that keeps what it was asked to send."""

    def __init__(self) -> None:
        self.calls: list[tuple[HTTPRequest, Timeouts, Interrupt]] = []

    def send(self, request: HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> tokwire_http.Response:
        """Keep the request."""
        self.calls.append((request, timeouts, interrupt))
        return ChunkResponse(HEAD, [b"answer"])


class AsyncRecorder:
    """The same, asynchronous."""

    def __init__(self) -> None:
        self.calls: list[tuple[HTTPRequest, Timeouts]] = []

    async def send(self, request: HTTPRequest, *, timeouts: Timeouts) -> tokwire_http.AsyncResponse:
        """Keep the request."""
        self.calls.append((request, timeouts))

        async def chunks() -> Any:
            yield b"answer"

        return AsyncChunkResponse(HEAD, chunks())


@pytest.mark.parametrize("name", ["", "EU West", "eu-west-1/x", None])
def test_names_that_aws_does_not_have_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=r"the region is .*expected a name of AWS such as us-east-1"):
        SigningTransport(Recorder(), name, KEYS)
    with pytest.raises(ValueError, match="the service is"):
        AsyncSigningTransport(AsyncRecorder(), "eu-west-1", KEYS, name)


def test_the_repr_shows_no_keys() -> None:
    assert repr(SigningTransport(Recorder(), "eu-west-1", SESSION)) == (
        "<SigningTransport region='eu-west-1' service='bedrock'>"
    )
    assert repr(AsyncSigningTransport(AsyncRecorder(), "eu-west-1", SESSION)) == (
        "<AsyncSigningTransport region='eu-west-1' service='bedrock'>"
    )


def test_a_transport_signs_each_request_and_passes_the_rest_on() -> None:
    inner, interrupt, timeouts = Recorder(), Interrupt(), Timeouts(idle=5)
    keys = Refreshable(KEYS, SESSION)
    transport: tokwire_http.Transport = SigningTransport(inner, "eu-west-1", keys)
    for _ in range(2):
        assert list(transport.send(converse(), timeouts=timeouts, interrupt=interrupt)) == [b"answer"]
    for sent, passed_timeouts, passed_interrupt in inner.calls:
        stated, computed = signature_on_the_wire(sent)
        assert stated == computed
        assert (passed_timeouts, passed_interrupt) == (timeouts, interrupt)
    assert [sent.header("x-amz-security-token") for sent, _, _ in inner.calls] == [None, TOKEN]


def test_the_asynchronous_transport_signs_in_a_thread() -> None:
    inner, timeouts = AsyncRecorder(), Timeouts(idle=5)
    keys = Refreshable(SESSION)
    transport: tokwire_http.AsyncTransport = AsyncSigningTransport(inner, "eu-west-1", keys)

    async def exchange() -> list[bytes]:
        response = await transport.send(converse(), timeouts=timeouts)
        return [chunk async for chunk in response]

    assert asyncio.run(exchange()) == [b"answer"]
    ((sent, passed),) = inner.calls
    stated, computed = signature_on_the_wire(sent)
    assert (stated, passed) == (computed, timeouts)
    assert keys.threads[0] is not threading.current_thread()


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine on which botocore finds no credentials."""
    for name in (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_DEFAULT_PROFILE",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_ROLE_ARN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "BOTO_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "missing"))
    return monkeypatch


def test_without_keys_those_that_botocore_finds_are_used(bare_machine: pytest.MonkeyPatch) -> None:
    inner = Recorder()
    transport = SigningTransport(inner, "eu-west-1")
    for access in (ACCESS, "AKIDSPRAT"):  # found with the first request, and kept
        bare_machine.setenv("AWS_ACCESS_KEY_ID", access)
        bare_machine.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        bare_machine.setenv("AWS_SESSION_TOKEN", TOKEN)
        transport.send(converse(), timeouts=Timeouts(), interrupt=Interrupt())
    for sent, _, _ in inner.calls:
        stated, computed = signature_on_the_wire(sent)
        assert stated == computed
        assert f"Credential={ACCESS}/" in (sent.header("authorization") or "")
        assert sent.header("x-amz-security-token") == TOKEN


@pytest.mark.usefixtures("bare_machine")
def test_a_machine_without_keys_is_told_what_to_do() -> None:
    inner = Recorder()
    with pytest.raises(tokwire.LocalProtocolError, match="no AWS credentials were found: set them up"):
        SigningTransport(inner, "eu-west-1").send(converse(), timeouts=Timeouts(), interrupt=Interrupt())
    assert inner.calls == []


def test_settings_that_cannot_be_read_are_told_with_their_cause(bare_machine: pytest.MonkeyPatch) -> None:
    bare_machine.setenv("AWS_PROFILE", "harbour")
    with pytest.raises(tokwire.LocalProtocolError, match="cannot be used; see the cause") as caught:
        SigningTransport(Recorder(), "eu-west-1").send(converse(), timeouts=Timeouts(), interrupt=Interrupt())
    assert "harbour" in str(caught.value.__cause__)
