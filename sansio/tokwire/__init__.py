"""tokwire: the raw bytes of a streaming language-model response in, `StreamEvent` objects out.

A pure sans-IO core: it opens no socket, starts no thread, reads no clock. `StreamDecoder` decodes one response,
`decode` a recorded body, `SSEDecoder` the framing alone.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._blocks import (
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    coalesce_text_blocks,
)
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
    Retrying,
    StreamEvent,
    ToolCallDelta,
    Usage,
    collect,
    event_from_json,
)
from ._finish import FinishReason
from ._http import Headers, HTTPRequest, ResponseHead
from ._limits import Limits
from ._messages import Message, Role, history_from_json, history_to_json
from ._partial_call import PartialToolCall
from ._response import ResponseDecoder
from ._summary import DroppedToolCall, Signature, StreamSummary
from ._transitions import FINISHED, NEED_DATA, Need, StreamState
from .framing.eventstream import EventStreamDecoder, EventStreamMessage
from .framing.sse import ServerSentEvent, SSEDecoder
from .protocols import ApiProtocol, Verdict, protocols, register_protocol

if TYPE_CHECKING:
    from ._http11 import HTTPExchange
    from .agent._actions import (
        Action,
        AskHook,
        CallTools,
        CloseResponse,
        Done,
        ReadResponse,
        SendRequest,
        ToolCall,
        Wait,
    )
    from .agent._context import estimate_tokens, is_approaching_limit, truncate_messages
    from .agent._conversation import Conversation
    from .agent._hooks import Decision, HookHandler, Hooks, PostToolUse, PreToolUse, UserPromptSubmit
    from .agent._options import AgentOptions
    from .agent._presets import Provider
    from .agent._requests import build_request
    from .agent._retry import RetryConfig, is_retryable_error, next_retry_delay, retry_delay
    from .agent._tools import Tool, ToolInputError, tool

__version__ = "0.1.0"

__all__ = [
    "FINISHED",
    "NEED_DATA",
    "APIError",
    "Action",
    "AgentOptions",
    "ApiProtocol",
    "AskHook",
    "Block",
    "CallTools",
    "CloseResponse",
    "CollectedResponse",
    "ConnectError",
    "ContentBlock",
    "Conversation",
    "Decision",
    "DecoderOptions",
    "Done",
    "DroppedToolCall",
    "EventStreamDecoder",
    "EventStreamMessage",
    "Finish",
    "FinishReason",
    "HTTPExchange",
    "HTTPRequest",
    "Headers",
    "HookHandler",
    "Hooks",
    "ImageBlock",
    "InvalidToolArguments",
    "InvalidToolCall",
    "LimitExceeded",
    "Limits",
    "LocalProtocolError",
    "Message",
    "Need",
    "NoResponse",
    "PartialToolCall",
    "PostToolUse",
    "PreToolUse",
    "PromptBlocked",
    "Provider",
    "RawPayload",
    "ReadResponse",
    "Reasoning",
    "RedactedThinkingBlock",
    "Refusal",
    "RemoteProtocolError",
    "ResponseDecoder",
    "ResponseHead",
    "RetryConfig",
    "Retrying",
    "Role",
    "SSEDecoder",
    "SendRequest",
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
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolInputError",
    "ToolResultBlock",
    "ToolUseBlock",
    "TransportError",
    "TransportTimeout",
    "TurnInterrupted",
    "Usage",
    "UserPromptSubmit",
    "Verdict",
    "Wait",
    "build_request",
    "coalesce_text_blocks",
    "collect",
    "decode",
    "detect",
    "estimate_tokens",
    "event_from_json",
    "history_from_json",
    "history_to_json",
    "is_approaching_limit",
    "is_retryable_error",
    "next_retry_delay",
    "protocols",
    "register_protocol",
    "retry_delay",
    "tool",
    "truncate_messages",
]


_HOMES = {
    "_http11": ("HTTPExchange",),
    "agent._actions": (
        "Action",
        "AskHook",
        "CallTools",
        "CloseResponse",
        "Done",
        "ReadResponse",
        "SendRequest",
        "ToolCall",
        "Wait",
    ),
    "agent._context": (
        "estimate_tokens",
        "is_approaching_limit",
        "truncate_messages",
    ),
    "agent._conversation": ("Conversation",),
    "agent._hooks": (
        "Decision",
        "HookHandler",
        "Hooks",
        "PostToolUse",
        "PreToolUse",
        "UserPromptSubmit",
    ),
    "agent._options": ("AgentOptions",),
    "agent._presets": ("Provider",),
    "agent._requests": ("build_request",),
    "agent._retry": (
        "RetryConfig",
        "is_retryable_error",
        "next_retry_delay",
        "retry_delay",
    ),
    "agent._tools": (
        "Tool",
        "ToolInputError",
        "tool",
    ),
}
"""Modules that are loaded with the first use of one of their names: h11, and the agent layer, cost time to import."""

if not TYPE_CHECKING:  # a type checker would take any name for one that this function knows

    def __getattr__(name: str) -> Any:
        """Load the module of a name that the decoder does not need."""
        for module, names in _HOMES.items():
            if name in names:
                value = getattr(importlib.import_module(f".{module}", __name__), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'tokwire' has no attribute {name!r}")
