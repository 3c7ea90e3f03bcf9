"""tokwire: the raw bytes of a streaming language-model response in, `StreamEvent` objects out.

A pure sans-IO core: it opens no socket, starts no thread, reads no clock. `StreamDecoder` decodes one response,
`decode` a recorded body, `SSEDecoder` the framing alone.
"""

from typing import TYPE_CHECKING, Any

from ._blocks import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock, coalesce_text_blocks
from ._buffers import StreamBuffers
from ._decoder import DecoderOptions, StreamDecoder, decode
from ._detect import detect
from ._errors import (
    APIError,
    ConnectError,
    InvalidToolArguments,
    InvalidToolCall,
    LimitExceeded,
    LocalProtocolError,
    NoResponse,
    PromptBlocked,
    RemoteProtocolError,
    StreamTruncated,
    TokwireError,
    TransportError,
    TransportTimeout,
    TurnInterrupted,
)
from ._events import (
    Block,
    CollectedResponse,
    Finish,
    RawPayload,
    Reasoning,
    Refusal,
    StreamEvent,
    ToolCallDelta,
    Usage,
    collect,
    event_from_json,
)
from ._finish import FinishReason
from ._http import Headers, HTTPRequest, ResponseHead
from ._limits import Limits
from ._partial_call import PartialToolCall
from ._response import ResponseDecoder
from ._summary import DroppedToolCall, RedactedThinkingBlock, Signature, StreamSummary, ThinkingBlock
from ._transitions import FINISHED, NEED_DATA, Need, StreamState
from .framing.eventstream import EventStreamDecoder, EventStreamMessage
from .framing.sse import ServerSentEvent, SSEDecoder
from .protocols import ApiProtocol, Verdict, protocols, register_protocol

if TYPE_CHECKING:
    from ._http11 import HTTPExchange

__version__ = "0.1.0"

__all__ = [
    "FINISHED",
    "NEED_DATA",
    "APIError",
    "ApiProtocol",
    "Block",
    "CollectedResponse",
    "ConnectError",
    "ContentBlock",
    "DecoderOptions",
    "DroppedToolCall",
    "EventStreamDecoder",
    "EventStreamMessage",
    "Finish",
    "FinishReason",
    "HTTPExchange",
    "HTTPRequest",
    "Headers",
    "ImageBlock",
    "InvalidToolArguments",
    "InvalidToolCall",
    "LimitExceeded",
    "Limits",
    "LocalProtocolError",
    "Need",
    "NoResponse",
    "PartialToolCall",
    "PromptBlocked",
    "RawPayload",
    "Reasoning",
    "RedactedThinkingBlock",
    "Refusal",
    "RemoteProtocolError",
    "ResponseDecoder",
    "ResponseHead",
    "SSEDecoder",
    "ServerSentEvent",
    "Signature",
    "StreamBuffers",
    "StreamDecoder",
    "StreamEvent",
    "StreamState",
    "StreamSummary",
    "StreamTruncated",
    "TextBlock",
    "ThinkingBlock",
    "TokwireError",
    "ToolCallDelta",
    "ToolResultBlock",
    "ToolUseBlock",
    "TransportError",
    "TransportTimeout",
    "TurnInterrupted",
    "Usage",
    "Verdict",
    "coalesce_text_blocks",
    "collect",
    "decode",
    "detect",
    "event_from_json",
    "protocols",
    "register_protocol",
]


def __getattr__(name: str) -> Any:
    """Load `HTTPExchange`, and with it h11, only for those who use it."""
    if name == "HTTPExchange":
        from ._http11 import HTTPExchange  # noqa: PLC0415

        return HTTPExchange
    raise AttributeError(f"module 'tokwire' has no attribute {name!r}")
