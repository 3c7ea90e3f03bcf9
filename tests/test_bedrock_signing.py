"""`tokwire_bedrock.sign`: signatures that AWS would take, and keys that are never shown."""

from __future__ import annotations

import importlib
import logging
import re
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import botocore.auth  # type: ignore[import-untyped]  # botocore has no types
import pytest
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]  # as above
from botocore.exceptions import CredentialRetrievalError  # type: ignore[import-untyped]  # as above
from tests.agent_bodies import KEY
from tests.aws_signatures import ACCESS, KEYS, SECRET, SESSION, TOKEN, Refreshable, converse, signature_on_the_wire

import tokwire
import tokwire_bedrock
from tokwire import HTTPRequest
from tokwire_bedrock import Credentials, sign

NOON = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)


def signed(request: HTTPRequest, keys: Any = KEYS, now: datetime = NOON) -> HTTPRequest:
    """The request, signed at noon."""
    return sign(request, region="eu-west-1", credentials=keys, now=now)


@pytest.mark.parametrize(
    ("method", "signature"),
    [
        ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ],
)
def test_the_examples_that_aws_published(method: str, signature: str) -> None:
    made = sign(
        HTTPRequest(method, "https://example.amazonaws.com/"),
        region="us-east-1",
        service="service",
        credentials=Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        now=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )
    assert made.headers == (
        ("X-Amz-Date", "20150830T123600Z"),
        (
            "Authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            f"SignedHeaders=host;x-amz-date, Signature={signature}",
        ),
    )


@pytest.mark.parametrize(
    "request_",
    [
        converse(),
        converse(model="gull.tern-v1:0", max_tokens=9),
        converse(model="a/b%c d~ü"),
        converse(base_url="http://127.0.0.1:8080/gate?b=2&a=1"),
        converse(headers={"X-Amzn-Note": "two  words", "User-Agent": "gull/1"}),
        HTTPRequest("POST", "https://[::1]:443/x", (("X-Twice", "a"), ("X-Twice", "b")), b"\x00"),
    ],
    ids=lambda request: request.target,
)
@pytest.mark.parametrize("keys", [KEYS, SESSION], ids=["keys", "session"])
def test_a_server_computes_the_same_signature_from_the_bytes_on_the_wire(request_: HTTPRequest, keys: Any) -> None:
    made = signed(request_, keys)
    stated, computed = signature_on_the_wire(made)
    assert stated == computed
    assert (made.method, made.url, made.body) == (request_.method, request_.url, request_.body)
    assert made.headers[: len(request_.headers)] == request_.headers
    assert made.header("x-amz-security-token") == keys.token
    tampered = HTTPRequest(made.method, made.url, made.headers, made.body + b" ")
    assert signature_on_the_wire(tampered)[1] != stated


def test_the_signature_is_the_one_of_botocore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: NOON)
    request = converse()
    theirs = AWSRequest(request.method, request.url, dict(request.headers), request.body)
    botocore.auth.SigV4Auth(SESSION, "bedrock", "eu-west-1").add_auth(theirs)
    ours = signed(request, SESSION)
    assert {name.lower(): value for name, value in ours.headers} == {
        name.lower(): value for name, value in theirs.headers.items()
    }


def test_the_time_is_told_in_utc_and_is_the_present_by_default() -> None:
    local = NOON.astimezone(timezone(timedelta(hours=-9)))
    assert signed(converse(), now=local) == signed(converse())
    assert signed(converse()).header("x-amz-date") == "20260301T120005Z"
    before = datetime.now(UTC).replace(microsecond=0)
    stamp = sign(converse(), region="eu-west-1", credentials=KEYS).header("x-amz-date") or ""
    assert before <= datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) <= datetime.now(UTC)


def test_signing_again_replaces_the_signature() -> None:
    later = NOON + timedelta(minutes=10)
    once = signed(converse(), SESSION)
    again = signed(once, KEYS, later)
    assert again == signed(converse(), KEYS, later)
    assert again.header("x-amz-security-token") is None
    assert again.header("authorization") != once.header("authorization")


def test_a_request_with_a_bearer_key_is_refused_without_showing_it() -> None:
    with pytest.raises(tokwire.LocalProtocolError, match="leave api_key out") as caught:
        signed(converse(api_key=KEY))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("name", ["", "EU West", "eu-west-1/x", None])
def test_names_that_aws_does_not_have_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match=r"the region is .*expected a name of AWS such as us-east-1"):
        sign(converse(), region=name, credentials=KEYS)
    with pytest.raises(ValueError, match="the service is"):
        sign(converse(), region="eu-west-1", credentials=KEYS, service=name)


def test_a_time_without_its_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="now has no time zone"):
        signed(converse(), now=NOON.replace(tzinfo=None))


@pytest.mark.parametrize("part", ["access_key", "secret_key", "token"])
@pytest.mark.parametrize("value", ["", "herring 4711", "herring\n", "häring"])
def test_keys_that_cannot_be_right_are_refused_without_being_shown(part: str, value: str) -> None:
    parts = {"access_key": ACCESS, "secret_key": SECRET, "token": TOKEN}
    with pytest.raises(ValueError, match=re.escape(f"Credentials({part}): it ")) as caught:
        Credentials(**parts | {part: value})
    assert not any(key in str(caught.value) for key in (ACCESS, SECRET, TOKEN, "herring", "häring"))
    wrong: Any = {part: 5}
    with pytest.raises(TypeError, match="expected a text, not int"):
        Credentials(**parts | wrong)


def test_nothing_shows_the_keys(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = signed(converse(), SESSION)
    assert repr(SESSION) == "Credentials('***')"
    shown = caplog.text + repr([SESSION, made]) + str(SESSION)
    assert not any(key in shown for key in (ACCESS, SECRET, TOKEN))


def test_keys_that_expire_are_taken_anew_for_each_request() -> None:
    keys = Refreshable(SESSION, Credentials("AKIDSPRAT", SECRET))
    first, second = signed(converse(), keys), signed(converse(), keys)
    assert (first, second) == (signed(converse(), SESSION), signed(converse(), Credentials("AKIDSPRAT", SECRET)))


def test_keys_that_cannot_be_renewed_are_a_failed_connection() -> None:
    cause = CredentialRetrievalError(provider="harbour", error_msg="no answer")
    with pytest.raises(tokwire.ConnectError, match="could not be renewed") as caught:
        signed(converse(), Refreshable(cause))
    assert caught.value.__cause__ is cause


def test_where_botocore_is_missing_the_import_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "tokwire_bedrock"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'tokwire[bedrock]'")):
        importlib.import_module("tokwire_bedrock")


def test_the_names_of_the_package() -> None:
    assert sorted(tokwire_bedrock.__all__) == [
        *("AWSCredentials", "AsyncSigningTransport", "Credentials", "SigningTransport", "sign"),
    ]
