"""tokwire: the raw bytes of a streaming language-model response in, `StreamEvent` objects out.

A pure sans-IO core: it opens no socket, starts no thread, reads no clock. `StreamDecoder` decodes one response,
`decode` a recorded body, `SSEDecoder` the framing alone.
"""

from ._blocks import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock, coalesce_text_blocks
from ._buffers import StreamBuffers
from ._calls import PartialToolCall
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
from ._limits import Limits
from ._summary import DroppedToolCall, RedactedThinkingBlock, Signature, StreamSummary, ThinkingBlock
from ._transitions import FINISHED, NEED_DATA, Need, StreamState
from .framing.sse import ServerSentEvent, SSEDecoder
from .protocols import ApiProtocol, Verdict, protocols, register_protocol

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
    "Finish",
    "FinishReason",
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
