"""The way from chunks to a display and an exit code, the same for every command that shows a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import tokwire

from ._exits import ExitCode, exit_code_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._display import Display

__all__ = ["Decoder", "StreamOptions", "collect_events", "iter_events", "show_events", "show_failure", "show_stream"]


class HasSummary(Protocol):
    """A decoder, or a stream around one."""

    @property
    def summary(self) -> tokwire.StreamSummary | None:
        """The facts about the stream, as of now; None before it begins."""


Decoder = tokwire.StreamDecoder | tokwire.ResponseDecoder
"""Of a body alone, or of one behind its head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """Which events a decoder shall hand out, and how much it accepts."""

    include_reasoning: bool = False
    include_usage: bool = False
    include_tool_deltas: bool = False
    limits: tokwire.Limits = field(default_factory=tokwire.Limits)

    def decoder(self, protocol: str | tokwire.ApiProtocol) -> tokwire.StreamDecoder:
        """A fresh decoder for one body."""
        return tokwire.StreamDecoder(
            protocol,
            include_reasoning=self.include_reasoning,
            include_usage=self.include_usage,
            include_tool_deltas=self.include_tool_deltas,
            limits=self.limits,
        )


def iter_events(
    decoder: Decoder, chunks: Iterable[bytes], *, ends: bool = True, failure: Exception | None = None
) -> Iterator[tokwire.StreamEvent]:
    """All events of a body; stops at the terminal marker, without waiting for the end of the chunks.

    Args:
        decoder: A fresh decoder.
        chunks: The body.
        ends: Whether the body ends with the last chunk; if not, what is pending stays so.
        failure: Why it was cut there, for a decoder that has its head.

    Raises:
        tokwire.TokwireError: The stream ends in an error; the events before it were handed out.
    """
    for chunk in chunks:
        decoder.receive_data(chunk)
        yield from decoder.events()
        if decoder.state is tokwire.StreamState.DONE:
            return
    if ends:
        if failure is not None and isinstance(decoder, tokwire.ResponseDecoder):
            decoder.receive_failure(failure)
        else:
            decoder.receive_eof()
        yield from decoder.events()


def collect_events(
    decoder: Decoder, chunks: Iterable[bytes], *, ends: bool = True, failure: Exception | None = None
) -> tuple[list[tokwire.StreamEvent], tokwire.TokwireError | None]:
    """All events of a body that is there already, and the error in which it ends, if it does."""
    events: list[tokwire.StreamEvent] = []
    try:
        for event in iter_events(decoder, chunks, ends=ends, failure=failure):
            events.append(event)  # noqa: PERF402 - what came before an error must be kept
    except tokwire.TokwireError as error:
        return events, error
    return events, None


def show_stream(
    decoder: tokwire.StreamDecoder, chunks: Iterable[bytes], display: Display, *, with_summary: bool
) -> ExitCode:
    """Decode chunks to their end, show what they hold, and say how it went."""
    return show_events(iter_events(decoder, chunks), decoder, display, with_summary=with_summary)


def show_events(
    events: Iterable[tokwire.StreamEvent], decoder: HasSummary, display: Display, *, with_summary: bool
) -> ExitCode:
    """Show events while they come, and say how it went."""
    exit_code = ExitCode.COMPLETE
    try:
        for event in events:
            display.event(event)
    except tokwire.TurnInterrupted:
        exit_code = ExitCode.INTERRUPTED  # by the person who looks on, who need not be told
    except tokwire.TokwireError as error:
        exit_code = exit_code_for(error)
        display.error(error)
    summary = decoder.summary
    if exit_code is ExitCode.COMPLETE and summary is not None and not has_end(summary):
        exit_code = ExitCode.TRUNCATED
        display.no_end()
    if with_summary and summary is not None:
        display.summary(summary)
    display.close()
    return exit_code


def show_failure(error: tokwire.TokwireError, display: Display) -> ExitCode:
    """Show the error of a request to which no response came, and say how it went."""
    return show_events(_raise(error), tokwire.StreamDecoder("openai-chat"), display, with_summary=False)


def _raise(error: tokwire.TokwireError) -> Iterator[tokwire.StreamEvent]:
    yield from ()
    raise error


def has_end(summary: tokwire.StreamSummary) -> bool:
    """Whether the server said in any way that the answer was over."""
    return summary.end_marker or summary.finish_reason != tokwire.FinishReason.UNSPECIFIED
