"""All that is used of botocore, which has no types: its SigV4 signer, and its search for credentials."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import tokwire

try:
    from botocore.auth import SigV4Auth  # type: ignore[import-untyped]  # botocore has no types
    from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]  # as above
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]  # as above
    from botocore.session import get_session  # type: ignore[import-untyped]  # as above
except ImportError as error:
    raise ImportError("tokwire_bedrock needs botocore: pip install 'tokwire[bedrock]'") from error

if TYPE_CHECKING:
    from ._credentials import AWSCredentials, Credentials

__all__ = ["default_credentials", "frozen_keys", "signature_headers"]

NO_CREDENTIALS = (
    "no AWS credentials were found: set them up for botocore (environment variables, ~/.aws, or the role of the "
    "machine), or pass credentials=Credentials(access_key, secret_key)"
)


def default_credentials() -> AWSCredentials:
    """The credentials that botocore finds by itself. It reads the environment and files, and may ask the machine.

    Raises:
        LocalProtocolError: There are none, or the settings are broken.
    """
    try:
        found: AWSCredentials | None = get_session().get_credentials()
    except BotoCoreError as error:
        raise tokwire.LocalProtocolError("the settings for AWS credentials cannot be used; see the cause") from error
    if found is None:
        raise tokwire.LocalProtocolError(NO_CREDENTIALS)
    return found


def frozen_keys(credentials: AWSCredentials) -> AWSCredentials:
    """Keys that belong together. Those that expire are renewed first where they must be, over the network.

    Raises:
        ConnectError: They could not be renewed.
    """
    freeze = getattr(credentials, "get_frozen_credentials", None)
    if freeze is None:
        return credentials
    try:
        keys: AWSCredentials = freeze()
    except BotoCoreError as error:
        raise tokwire.ConnectError("the AWS credentials could not be renewed; see the cause") from error
    return keys


def signature_headers(
    request: tokwire.HTTPRequest, keys: Credentials, region: str, service: str, now: datetime
) -> tokwire.Headers:
    """The headers that make a request a signed one.

    The steps are those of the signer's `add_auth`, which would take the time from the clock, and write the session
    token into the log of a program that logs at the level DEBUG.
    """
    timestamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    dated = [("X-Amz-Date", timestamp)]
    if keys.token:
        dated.append(("X-Amz-Security-Token", keys.token))
    unsigned = AWSRequest(method=request.method, url=request.url, data=request.body)
    unsigned.context["timestamp"] = timestamp
    for name, value in (*request.headers, *dated):
        unsigned.headers[name] = value  # adds: a name may come twice
    signer = SigV4Auth(keys, service, region)
    signature = signer.signature(signer.string_to_sign(unsigned, signer.canonical_request(unsigned)), unsigned)
    names = signer.signed_headers(signer.headers_to_sign(unsigned))
    scope = signer.scope(unsigned)
    authorization = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={names}, Signature={signature}"
    return (*dated, ("Authorization", authorization))
