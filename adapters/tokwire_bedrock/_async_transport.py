"""`AsyncSigningTransport`: any asynchronous transport, with signed requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ._signing import Signer

if TYPE_CHECKING:
    from tokwire import HTTPRequest
    from tokwire_http import AsyncResponse, AsyncTransport, Timeouts

    from ._credentials import AWSCredentials

__all__ = ["AsyncSigningTransport"]


class AsyncSigningTransport:
    """An `AsyncTransport` that signs each request and sends it with another transport, which its owner closes.

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
        transport: AsyncTransport,
        region: str,
        credentials: AWSCredentials | None = None,
        service: str = "bedrock",
    ) -> None:
        self._transport = transport
        self._signer = Signer(region, credentials, service)

    async def send(self, request: HTTPRequest, *, timeouts: Timeouts) -> AsyncResponse:
        """Sign a request, send it, and wait for the head of its response, whatever its status.

        Signing runs in a thread, since botocore blocks while it renews credentials.

        Args:
            request: The request, unsigned.
            timeouts: How long to wait, without the time that looking for credentials, or renewing them, takes.

        Raises:
            TransportError: No response came, or the credentials could not be renewed.
            LocalProtocolError: There are no credentials, or the request has others already.
        """
        signed = await asyncio.to_thread(self._signer.sign, request)
        return await self._transport.send(signed, timeouts=timeouts)

    def __repr__(self) -> str:
        return f"<AsyncSigningTransport {self._signer}>"
