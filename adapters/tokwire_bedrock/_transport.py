"""`SigningTransport`: any blocking transport, with signed requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._signing import Signer

if TYPE_CHECKING:
    from tokwire import HTTPRequest
    from tokwire_http import Interrupt, Response, Timeouts, Transport

    from ._credentials import AWSCredentials

__all__ = ["SigningTransport"]


class SigningTransport:
    """A `Transport` that signs each request and sends it with another transport, which its owner closes.

    Give the options no `api_key`. A request that is sent again is signed again.

    Args:
        transport: What sends the requests.
        region: The region of AWS whose host the URLs name, such as `us-east-1`.
        credentials: The keys: `Credentials`, or credentials of botocore or boto3. None for those that botocore finds
            in the environment, in files or on the machine; it looks for them when the first request is sent.
        service: The name of the service in signatures.

    Raises:
        ValueError: The region or the service is no such name.
    """

    def __init__(
        self,
        transport: Transport,
        region: str,
        credentials: AWSCredentials | None = None,
        service: str = "bedrock",
    ) -> None:
        self._transport = transport
        self._signer = Signer(region, credentials, service)

    def send(self, request: HTTPRequest, *, timeouts: Timeouts, interrupt: Interrupt) -> Response:
        """Sign a request, send it, and wait for the head of its response, whatever its status.

        Args:
            request: The request, unsigned.
            timeouts: How long to wait, without the time that looking for credentials, or renewing them, takes.
            interrupt: Ends this call, or any later read of the response; but not while credentials are renewed.

        Raises:
            TransportError: No response came, or the credentials could not be renewed.
            TurnInterrupted: The interrupt was set.
            LocalProtocolError: There are no credentials, or the request has others already.
        """
        return self._transport.send(self._signer.sign(request), timeouts=timeouts, interrupt=interrupt)

    def __repr__(self) -> str:
        return f"<SigningTransport {self._signer}>"
