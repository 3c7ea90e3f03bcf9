"""The exceptions of tokwire: one tree, and the facts that each error carries.

Whoever embeds the decoder catches `TokwireError`, or one of its branches: `LocalProtocolError` is a mistake of the
program, `RemoteProtocolError` is bytes that break the protocol, `APIError` is a server that said no, `TransportError`
is a connection that failed. Nothing else leaves the core for any input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from ._events import StreamEvent
    from ._finish import FinishReason

__all__ = [
    "APIError",
    "ConnectError",
    "InvalidToolArguments",
    "InvalidToolCall",
    "LimitExceeded",
    "LocalProtocolError",
    "NoResponse",
    "PromptBlocked",
    "RemoteProtocolError",
    "StreamTruncated",
    "TokwireError",
    "TransportError",
    "TransportTimeout",
    "TurnInterrupted",
]

EXCERPT_BYTES = 64
RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})


class TokwireError(Exception):
    """Base of every exception that tokwire raises about a stream.

    `events` holds what `tokwire.decode` had decoded before the error; it is empty where the events were already
    handed out one by one.
    """

    events: tuple[StreamEvent, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[TokwireError], args: tuple[object, ...], state: dict[str, object]) -> TokwireError:
    """Rebuild a pickled error without calling its constructor, whose keyword arguments pickle cannot know."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class LocalProtocolError(TokwireError):
    """The calling program misused the API, for example by feeding data after `receive_eof`. Fix the caller."""


class RemoteProtocolError(TokwireError):
    """The peer sent bytes that break the protocol.

    Attributes:
        offset: First byte of the refused frame, counted from the start of the body, or None where no byte is to blame.
        excerpt: At most 64 bytes of what was refused.
    """

    def __init__(self, message: str, *, offset: int | None = None, excerpt: bytes = b"") -> None:
        self.offset = offset
        self.excerpt = bytes(excerpt[:EXCERPT_BYTES])
        where = "" if offset is None else f" (at byte {offset} of the body)"
        seen = f"; found {self.excerpt!r}" if self.excerpt else ""
        super().__init__(message + where + seen)


class LimitExceeded(RemoteProtocolError):
    """Something grew past one of the `Limits`.

    Attributes:
        limit: Name of the field of `Limits`.
        value: The limit that was set. What was found is not told: it would depend on how the bytes were cut.
    """

    def __init__(self, limit: str, value: int, *, offset: int | None = None) -> None:
        self.limit = limit
        self.value = value
        super().__init__(
            f"the stream exceeds {limit}={value}; if it is legitimate, raise it with Limits({limit}=...)",
            offset=offset,
        )


class StreamTruncated(RemoteProtocolError):
    """The body was cut before the server reported any end: what came is a prefix of the answer. Ask again."""


class InvalidToolCall(Struct, frozen=True, gc=False):
    """A tool call whose arguments cannot be used.

    Attributes:
        index: The label under which the server sent it, or None where it gave none.
        id: The call's id.
        name: The tool's name.
        arguments: The argument text as it came.
        detail: What is wrong with it.
    """

    index: int | None
    id: str
    name: str
    arguments: str
    detail: str


class InvalidToolArguments(RemoteProtocolError):
    """The stream is over and at least one tool call has arguments that are not valid JSON.

    It stands where `Finish` would: every valid call, late text and usage came before it.

    Attributes:
        calls: The calls that cannot be run, each with its raw argument text.
        finish_reason: Why the server stopped; `LENGTH` says that the token budget cut the arguments.
    """

    def __init__(self, calls: tuple[InvalidToolCall, ...], finish_reason: FinishReason) -> None:
        self.calls = calls
        self.finish_reason = finish_reason
        first = calls[0]
        more = f" and {len(calls) - 1} more" if len(calls) > 1 else ""
        advice = "raise the token limit" if finish_reason.is_truncated else "do not run it; ask the model again"
        super().__init__(
            f"arguments of tool call {first.name!r} (id {first.id!r}){more} cannot be used: {first.detail}; "
            f"the server finished with {str(finish_reason)!r}: {advice}",
            excerpt=first.arguments.encode("utf-8", "replace"),
        )


class APIError(TokwireError):
    """The server reported an error, inside the stream or by its HTTP status.

    Attributes:
        status_code: HTTP status, or the status that the error in the stream stands for, or None.
        type: The server's word for the kind of error.
        code: The server's error code, as it came.
        message: The server's own text, empty where it gave none.
        param: The request parameter that the server blames.
        request_id: The server's id of the request.
        retry_after: Seconds to wait before another attempt, where the server said so.
        body: The error object as it came, or the whole payload where the error is flat.
        retryable: Whether the same request may succeed later. Never without a status.
    """

    def __init__(
        self,
        message: str = "",
        *,
        status_code: int | None = None,
        type: str | None = None,  # noqa: A002 - the word that every server uses
        code: str | int | None = None,
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        body: Any = None,
    ) -> None:
        self.status_code = status_code
        self.type = type
        self.code = code
        self.message = message
        self.param = param
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body
        said = message or "the server reported an error without details"
        text = f"{type}: {said}" if type else said
        super().__init__(text if status_code is None else f"{text} (status {status_code})")

    @property
    def retryable(self) -> bool:
        """True for the statuses that pass by themselves: 408, 429, 500, 502, 503, 504 and 529."""
        return self.status_code in RETRYABLE_STATUSES


class TransportError(TokwireError):
    """The connection failed; `__cause__` keeps the error of the network layer."""


class ConnectError(TransportError):
    """No connection could be made: name resolution, TCP, TLS or proxy failed."""


class TransportTimeout(TransportError):
    """A time limit ran out.

    Attributes:
        phase: Which one: "connect", "idle" or "total".
    """

    def __init__(self, message: str, *, phase: str = "total") -> None:
        self.phase = phase
        super().__init__(message)


class NoResponse(TransportError):
    """The connection closed before a response began; on a reused connection the request may be sent again."""


class TurnInterrupted(TokwireError):
    """The caller interrupted the turn. Not a transport error: nobody who retries those wants to retry this."""


class PromptBlocked(TokwireError):
    """A hook refused the prompt, so nothing was sent.

    Attributes:
        reason: What the hook gave as its reason; empty where it gave none.
    """

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        super().__init__(f"a hook refused the prompt: {reason or 'no reason was given'}")
