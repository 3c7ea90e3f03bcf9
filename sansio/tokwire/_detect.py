"""Detection: which protocol a body speaks, from its first payloads. Never a guess: None when unsure.

The marks of a protocol stand with the protocol. An event stream of AWS is told by its frames, before any payload.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ._json import JSONError, parse_payload
from .framing.eventstream import PRELUDE_BYTES, prelude_of
from .framing.sse import BYTE_ORDER_MARK, split_field
from .protocols import protocols
from .protocols._protocol import ApiProtocol

__all__ = ["detect"]

MAX_PAYLOADS = 64
MAX_BYTES = 64 << 10
EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream"
BEDROCK_NAMES = (b"messageStart", b"contentBlockStart", b"contentBlockDelta", b"metadata", b"chunk", b"Exception")


def name_of_payload(payload: object, sse_name: str | None) -> str | None:
    """The one protocol whose marks a payload has, or None. Of a list, as some bodies are, the first payload counts."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        return None
    name = None if sse_name in ("message", "error") else sse_name
    found = [protocol.name for protocol in protocols() if protocol.marks(payload, name)]
    return found[0] if len(found) == 1 else None


def detect(prefix: bytes, content_type: str | None = None) -> ApiProtocol | None:
    """The protocol of a body, from how it begins.

    Only whole payloads are looked at, at most 64 of them and 64 KiB. Call it again with more bytes when it answers
    None and more may come.

    Args:
        prefix: The first bytes of the body.
        content_type: Value of the `content-type` header, where there is one. It only decides for AWS event streams.

    Returns:
        The protocol, or None when unsure, or when the stream is of a kind that tokwire cannot decode.
    """
    name = detect_name(bytes(prefix[:MAX_BYTES]), content_type)
    return next((protocol for protocol in protocols() if protocol.name == name), None)


def detect_name(prefix: bytes, content_type: str | None = None) -> str | None:
    """The name of the protocol of a body, also of one that cannot be decoded yet; None when unsure."""
    if (content_type or "").split(";")[0].strip().lower() == EVENT_STREAM_TYPE or _is_bedrock(prefix):
        return "bedrock"
    names = (name_of_payload(payload, sse_name) for payload, sse_name in _payloads(prefix))
    return next((name for name in names if name is not None), None)


def _is_bedrock(prefix: bytes) -> bool:
    prelude = prelude_of(prefix)
    if prelude is None:
        return False
    headers = prefix[PRELUDE_BYTES : PRELUDE_BYTES + prelude[1]]
    return any(name in headers for name in BEDROCK_NAMES)


def _payloads(prefix: bytes) -> Iterator[tuple[Any, str | None]]:
    """The whole payloads of a prefix, with the SSE name of each."""
    text = prefix.removeprefix(BYTE_ORDER_MARK)
    start = text.lstrip(b" \t\r\n")
    if start[:1] in (b"{", b"["):
        yield from ((payload, None) for payload in _json_payloads(start))
        return
    sse_name: str | None = None
    count = 0
    for line in re.split(rb"\r\n|\r|\n", text):
        field, value = split_field(line)
        if not line:
            sse_name = None
        elif field == b"event":
            sse_name = value.decode("utf-8", "replace")
        elif field == b"data" and count < MAX_PAYLOADS:
            count += 1
            try:
                yield parse_payload(value, None), sse_name
            except JSONError:
                continue


def _json_payloads(text: bytes) -> Iterator[Any]:
    """The first JSON value of a body without fields: an object, a line, or the first element of an array."""
    body = text.decode("utf-8", "replace")
    position = len(body) - len(body[1:].lstrip()) if body[0] == "[" else 0
    for _ in range(MAX_PAYLOADS):
        try:
            payload, position = json.JSONDecoder(strict=False).raw_decode(body, position)
        except (ValueError, RecursionError):
            return
        yield payload
        position = len(body) - len(body[position:].lstrip(" \t\r\n,"))
