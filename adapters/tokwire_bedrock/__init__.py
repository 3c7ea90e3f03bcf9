"""Requests to Amazon Bedrock, signed with AWS credentials (SigV4) instead of a bearer key.

`SigningTransport` and `AsyncSigningTransport` wrap any transport and sign each request when it is sent, since a
signature holds for minutes only. `sign` signs one request. The signer, and the search for credentials in the
environment, in files and on the machine, are those of botocore.
"""

from ._async_transport import AsyncSigningTransport
from ._credentials import AWSCredentials, Credentials
from ._signing import sign
from ._transport import SigningTransport

__all__ = ["AWSCredentials", "AsyncSigningTransport", "Credentials", "SigningTransport", "sign"]
