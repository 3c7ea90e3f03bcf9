"""Which protocol a body is in, found from its first bytes while they arrive."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import tokwire

from ._stream import StreamOptions, collect_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["AUTO", "UnsureError", "settle_protocol"]

AUTO = "auto"
# `tokwire.detect` looks no further either.
PREFIX_BYTES = 64 << 10


class UnsureError(Exception):
    """The first bytes fit no known protocol: the user has to name it."""


@dataclass(frozen=True, slots=True)
class _Prefix:
    data: bytes
    is_whole_body: bool
    protocol: tokwire.ApiProtocol | None


def settle_protocol(
    named: str, chunks: Iterator[bytes], options: StreamOptions
) -> tuple[str | tokwire.ApiProtocol, Iterator[bytes]]:
    """The protocol to decode with, and all the chunks, those included that had to be read to find it.

    A body that no protocol claims may still have one meaning in all of them: an error report, HTML, compressed
    bytes, nothing at all. Then a protocol that knows no payload is enough to say so.

    Raises:
        UnsureError: The protocol was not named, and the first bytes do not tell it.
    """
    if named != AUTO:
        return named, chunks
    prefix = _read_prefix(chunks)
    all_chunks = chain([prefix.data], chunks)
    if prefix.protocol is not None:
        return prefix.protocol, all_chunks
    complaint = _complaint(prefix, options)
    if complaint is None:
        return _witnesses()[0].protocol, all_chunks
    raise UnsureError(complaint)


def _read_prefix(chunks: Iterator[bytes]) -> _Prefix:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        protocol = tokwire.detect(bytes(data[:PREFIX_BYTES]))
        if protocol is not None or len(data) >= PREFIX_BYTES:
            return _Prefix(bytes(data), is_whole_body=False, protocol=protocol)
    return _Prefix(bytes(data), is_whole_body=True, protocol=None)


def _complaint(prefix: _Prefix, options: StreamOptions) -> str | None:
    """Why the protocol matters to what the prefix means, or None where all protocols say the same of it."""
    witnesses = _witnesses()
    error, *_ = [witness.hear(prefix, options) for witness in witnesses]
    match error:
        case tokwire.APIError() | tokwire.StreamTruncated() | tokwire.LimitExceeded():
            return None
        case None:
            return None if prefix.is_whole_body else f"nothing in its first {PREFIX_BYTES >> 10} KiB marks one"
        case _:
            return str(error) if any(witness.saw_payload for witness in witnesses) else None


def _witnesses() -> list[_Witness]:
    """One for each framing in use. The first speaks for all: server-sent events are framed in the most tolerant way."""
    one_of_each: dict[object, tokwire.ApiProtocol] = {}
    for protocol in tokwire.protocols():
        one_of_each.setdefault(protocol.framing, protocol)
    return [_Witness(protocol) for protocol in one_of_each.values()]


class _Witness:
    """Decodes as a protocol to which every payload is strange: what it says of a body, all with its framing say.

    Errors name it, as in "not a stream of a known protocol".
    """

    def __init__(self, framed_as: tokwire.ApiProtocol) -> None:
        self.saw_payload = False
        self.protocol = tokwire.ApiProtocol(
            name="a known protocol", framing=framed_as.framing, on_payload=self._on_payload, recognises=_never
        )

    def hear(self, prefix: _Prefix, options: StreamOptions) -> tokwire.TokwireError | None:
        """Decode the prefix, and return the error in which that ends."""
        return collect_events(options.decoder(self.protocol), [prefix.data], ends=prefix.is_whole_body)[1]

    def _on_payload(self, _state: object, _payload: dict[str, Any], _sse_name: str | None) -> tokwire.Verdict:
        self.saw_payload = True
        return tokwire.Verdict.UNKNOWN


def _never(_payload: Mapping[str, Any], _sse_name: str | None) -> bool:
    return False
