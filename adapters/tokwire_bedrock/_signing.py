"""`sign`: one request, signed. `Signer`: what both transports sign with."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import tokwire

from ._botocore import default_credentials, frozen_keys, signature_headers
from ._credentials import Credentials

if TYPE_CHECKING:
    from ._credentials import AWSCredentials

__all__ = ["Signer", "sign"]

SCHEME = "AWS4-HMAC-SHA256 "
REPLACED = {"authorization", "x-amz-date", "x-amz-security-token"}
_NAME = re.compile(r"[a-z0-9-]+")


def sign(
    request: tokwire.HTTPRequest,
    *,
    region: str,
    credentials: AWSCredentials,
    service: str = "bedrock",
    now: datetime | None = None,
) -> tokwire.HTTPRequest:
    """The request with a signature of SigV4, in place of the one that it may have. Send it within five minutes.

    The signature covers all of it: nobody on the way may change the path, the body, or a header that it has now.

    Args:
        request: The request, without a bearer key.
        region: The region of AWS whose host the URL names, such as `us-east-1`.
        credentials: The keys. Those of botocore that have to be renewed are, and that takes its time.
        service: The name of the service in signatures.
        now: The time of signing, with its time zone; by default the present.

    Raises:
        LocalProtocolError: The request has another credential already.
        ConnectError: The credentials could not be renewed.
        ValueError: The region, the service, the keys or the time cannot be used.
    """
    check_names(region, service)
    if now is not None and now.tzinfo is None:
        raise ValueError("sign: now has no time zone; give datetime.now(UTC), or leave it out")
    if not (request.header("authorization") or SCHEME).startswith(SCHEME):
        raise tokwire.LocalProtocolError(
            "the request has an authorization header, which the signature would replace; leave api_key out"
        )
    held = frozen_keys(credentials)
    keys = Credentials(held.access_key, held.secret_key, held.token or None)
    bare = tokwire.HTTPRequest(
        method=request.method,
        url=request.url,
        headers=tuple(header for header in request.headers if header[0].lower() not in REPLACED),
        body=request.body,
    )
    added = signature_headers(bare, keys, region, service, now or datetime.now(UTC))
    return tokwire.HTTPRequest(method=bare.method, url=bare.url, headers=bare.headers + added, body=bare.body)


def check_names(region: object, service: object) -> None:
    """See that the names of region and service are such names.

    Raises:
        ValueError: One is not.
    """
    for part, name in (("region", region), ("service", service)):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"the {part} is {name!r:.60}; expected a name of AWS such as us-east-1 or bedrock")


class Signer:
    """Signs requests for one region.

    Args:
        region: The region of AWS.
        credentials: The keys; None for those that botocore finds, looked for when the first request is signed.
        service: The name of the service in signatures.

    Raises:
        ValueError: The region or the service cannot be used.
    """

    def __init__(self, region: str, credentials: AWSCredentials | None, service: str) -> None:
        check_names(region, service)
        self._region = region
        self._credentials = credentials
        self._service = service

    def sign(self, request: tokwire.HTTPRequest) -> tokwire.HTTPRequest:
        """The request, signed now. It may wait for the network, where credentials are looked for or renewed.

        Raises:
            LocalProtocolError: There are no credentials, or the request has others already.
            ConnectError: The credentials could not be renewed.
        """
        if self._credentials is None:
            self._credentials = default_credentials()
        return sign(request, region=self._region, credentials=self._credentials, service=self._service)

    def __repr__(self) -> str:
        return f"region={self._region!r} service={self._service!r}"
