"""What the tests of `tokwire_bedrock` share: keys, requests, and the other side, which computes signatures itself."""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from typing import Any
from urllib.parse import quote

from tests.agent_bodies import HELLO
from tests.agent_bodies import request as request_of

import tokwire
from tokwire import HTTPRequest
from tokwire_bedrock import Credentials

ACCESS, SECRET, TOKEN = "AKIDHERRING", "herring/SECRET+4711", "herring-TOKEN=="
KEYS = Credentials(ACCESS, SECRET)
SESSION = Credentials(ACCESS, SECRET, TOKEN)
ARN = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.gull-v1:0"


def converse(**changes: Any) -> HTTPRequest:
    """A request of bedrock."""
    return request_of(
        "bedrock", HELLO, **{"base_url": "https://bedrock-runtime.eu-west-1.example", "model": ARN} | changes
    )


def signature_on_the_wire(request: HTTPRequest, secret: str = SECRET) -> tuple[str, str]:
    """The signature that a request carries, and the one that a server computes from the bytes that it receives."""
    head, _, payload = b"".join(tokwire.HTTPExchange(request).data_to_send()).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), []).append(" ".join(value.split()))
    path, _, query = target.partition("?")
    stated = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=[^/]+/(\S+), SignedHeaders=(\S+), Signature=(\S+)", headers["authorization"][0]
    )
    assert stated is not None
    scope, names, signature = stated.groups()
    canonical = "\n".join(
        [
            *(method, quote(path), "&".join(sorted(query.split("&")))),
            *(f"{name}:{','.join(headers[name])}" for name in names.split(";")),
            *("", names, hashlib.sha256(payload).hexdigest()),
        ]
    )
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    stamp = headers["x-amz-date"][0]
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}"
    return signature, hmac.digest(key, text.encode(), "sha256").hex()


class Refreshable:
    """Credentials as botocore's, which change and are taken together."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.threads: list[threading.Thread] = []

    access_key = secret_key = token = "must not be read one by one"

    def get_frozen_credentials(self) -> Any:
        """The next keys, or the next error."""
        self.threads.append(threading.current_thread())
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
