"""`Exchange`: one request and its response, with what of it the caller sees and what enters the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from .._blocks import ContentBlock, TextBlock, ToolUseBlock, coalesce_text_blocks
from .._decoder import StreamDecoder
from .._events import Block, Finish, Reasoning, Refusal, StreamEvent
from .._finish import FinishReason
from .._messages import Message
from .._response import ResponseDecoder
from ._history import copied_block
from ._options import AgentOptions

__all__: list[str] = []

CALL_SIGNATURE = "thought_signature"
"""Gemini signs calls, also behind gateways that speak another protocol, and refuses to go on without it."""


class Exchange:
    """Decodes one response and gathers its answer.

    Attributes:
        decoder: Takes the head and the body.
        reasoning: The fragments of reasoning that were handed out.
        has_given: Whether an event was handed out: from then on the request cannot be sent again unseen.
        finish: Why the server stopped, once the response is complete.
        is_broken: Whether its connection failed, or its body was cut.
    """

    def __init__(self, options: AgentOptions) -> None:
        self.decoder = ResponseDecoder(StreamDecoder(options.protocol, **options.decoder_options()))
        self.reasoning: list[str] = []
        self.has_given = False
        self.finish: FinishReason | None = None
        self.is_broken = False
        self._content: list[ContentBlock] = []
        self._keeps_thinking = options.replay_thinking
        self._thinking_kept = 0

    @property
    def has_response(self) -> bool:
        """Whether a response has begun."""
        return self.decoder.head is not None

    @property
    def is_reusable(self) -> bool:
        """Whether the end of the stream was seen on a connection that may serve another request."""
        return self.finish is not None and not self.is_broken

    def fail(self, error: Exception) -> None:
        """The source of the response failed."""
        self.is_broken = True
        self.decoder.receive_failure(error)

    def end(self, *, complete: bool) -> None:
        """The body is over."""
        self.is_broken |= not complete
        self.decoder.receive_eof(complete=complete)

    def events(self) -> Iterator[StreamEvent]:
        """Everything that is ready but the `Finish`, which goes to `finish`.

        Raises:
            TokwireError: What the decoder found, behind the events before it.
        """
        for event in self.decoder.events():
            kind = type(event)
            if kind is Finish:
                self._keep_thinking()
                self.finish = event.finish_reason()
                return
            self.has_given = True
            if event.choice == 0 and kind is not Reasoning:
                self._gather(event)
            elif kind is Reasoning:
                self.reasoning.append(event.as_reasoning() or "")
            yield event

    def answer(self) -> Message:
        """What the model said: neighbouring texts joined, and calls with what the provider wants back with them."""
        signatures = {
            signature.tool_use_id: signature.data
            for signature in self.decoder.summary.signatures
            if signature.choice == 0 and signature.kind == CALL_SIGNATURE
        }
        return Message("assistant", tuple(signed(block, signatures) for block in coalesce_text_blocks(self._content)))

    def _gather(self, event: StreamEvent) -> None:
        if self._keeps_thinking:
            self._keep_thinking()
        if isinstance(event, Block):
            self._content.append(copied_block(event.block))
        elif isinstance(event, Refusal):  # it is what the model said, and the next request should hold it
            self._content.append(TextBlock(event.text))

    def _keep_thinking(self) -> None:
        """Put the thinking that came since the last event where it came; it is there only with `keep_thinking`."""
        blocks = self.decoder.summary.thinking_blocks
        self._content += blocks[self._thinking_kept :]
        self._thinking_kept = len(blocks)


def signed(block: ContentBlock, signatures: Mapping[str | None, str]) -> ContentBlock:
    """The block, with its signature where it is a call that has one."""
    if isinstance(block, ToolUseBlock) and block.id in signatures:
        return replace(block, signature=signatures[block.id])
    return block
