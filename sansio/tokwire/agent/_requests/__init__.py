"""`build_request`: options and a history in, the HTTP request of one turn out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._http import HTTPRequest
from ..._messages import Message
from ._anthropic import SHAPE as ANTHROPIC
from ._arrange import arranged
from ._bedrock import SHAPE as BEDROCK
from ._cohere import SHAPE as COHERE
from ._common import all_headers, join_url, json_body
from ._gemini import SHAPE as GEMINI
from ._ollama import SHAPE as OLLAMA
from ._openai_chat import SHAPE as OPENAI_CHAT
from ._openai_responses import SHAPE as OPENAI_RESPONSES
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions

__all__ = ["build_request"]

SHAPES: dict[str, RequestShape] = {
    "openai-chat": OPENAI_CHAT,
    "anthropic": ANTHROPIC,
    "openai-responses": OPENAI_RESPONSES,
    "gemini": GEMINI,
    "ollama": OLLAMA,
    "bedrock": BEDROCK,
    "cohere": COHERE,
}


def build_request(options: AgentOptions, messages: Sequence[Message]) -> HTTPRequest:
    """The request that asks the model to go on from `messages`. Pure: nothing is sent.

    Args:
        options: Where to, as whom, and how the model shall answer.
        messages: The history, the prompt last. It is not changed.

    Returns:
        A POST with a JSON body that asks for a stream. Its `repr` shows neither credentials nor body.

    Raises:
        LocalProtocolError: A tool call in the history has no result, a result no call, or nothing is left to send.
        ValueError: The protocol can be decoded, and nobody has said how its requests look.
    """
    shape = SHAPES.get(options.protocol)
    if shape is None:
        known = ", ".join(sorted(SHAPES))
        raise ValueError(
            f"no requests can be built for the protocol {options.protocol!r}, only for {known}; "
            "build an HTTPRequest yourself and decode its response with StreamDecoder"
        )
    body = shape.body(options, arranged(messages))
    return HTTPRequest(
        method="POST",
        url=join_url(options.base_url, shape.path(options)),
        headers=all_headers(options, shape.headers(options)),
        body=json_body(body, options.extra_body),
    )
