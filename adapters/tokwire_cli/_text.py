"""`TextDisplay`: a stream as a person reads it, each kind of event under its own label and colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

import tokwire

from ._escape import escape, escape_json, escape_line
from ._problems import report_error, report_no_end, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._screen import Screen

__all__ = ["TextDisplay"]

TEXT = "text"
INLINE_JSON_CHARS = 100
# A tool may give back a whole file; `--json` has all of it.
MAX_RESULT_CHARS = 500
NOTHING: tuple[object, ...] = (None, "", (), {})
USAGE_WORDS = {
    "input_tokens": "in",
    "output_tokens": "out",
    "total_tokens": "total",
    "cached_tokens": "read from cache",
    "cache_write_tokens": "written to cache",
    "reasoning_tokens": "reasoning",
}


class TextDisplay:
    """Labels sections as `[reasoning]` or `[tool call]`; text that opens the stream goes without a label.

    Everything that came off the wire is escaped, also where stdout is no terminal: the output may still be shown on
    one. The exact text is what `--json` is for.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._section: tuple[object, ...] = (TEXT, 0)
        self._names: dict[str, str] = {}

    def event(self, event: tokwire.StreamEvent) -> None:
        """Show one event; fragments of the same kind flow on in one section."""
        choice = event.choice
        match event:
            case tokwire.Block(tokwire.TextBlock(text)):
                self._flow((TEXT, choice), _label(TEXT, choice), text, label_style="bold")
            case tokwire.Reasoning(text):
                self._flow(("reasoning", choice), _label("reasoning", choice), text, "bold magenta", "dim italic")
            case tokwire.Refusal(text):
                self._flow(("refusal", choice), _label("refusal", choice), text, "bold red", "red")
            case tokwire.ToolCallDelta():
                label = f"{_label('arguments', choice)} {escape_line(event.name or '?')} (call {event.index})"
                self._flow(("arguments", choice, event.index), label, event.arguments, "cyan", "dim")
            case tokwire.Block(tokwire.ToolUseBlock() as call):
                self._tool_call(call, choice)
            case tokwire.Block(tokwire.ToolResultBlock() as result):
                self._tool_result(result)
            case tokwire.Retrying(attempt, delay, error):
                self._item("retry", _retry_words(attempt, delay, error), "bold yellow")
            case tokwire.Usage():
                self._item("usage", _usage_words(event), "bold blue")
            case tokwire.Finish(reason):
                self._finish(reason)
            case _:
                self._item("event", _json_text(event), "bold")

    def error(self, error: tokwire.TokwireError) -> None:
        """Show the error on stderr, below what came before it."""
        self._screen.end_line()
        report_error(error)

    def interrupted(self) -> None:
        """Show it below what came before it."""
        self._item("interrupted", "", "bold yellow")

    def no_end(self) -> None:
        """Say on stderr that the stream just stopped."""
        self._screen.end_line()
        report_no_end()

    def history(self, messages: Sequence[tokwire.Message]) -> None:
        """Show the messages, spread over lines."""
        self._screen.end_line()
        self._screen.write(f"{_pretty(messages)}\n")

    def summary(self, summary: tokwire.StreamSummary) -> None:
        """Show the fields of the summary that hold something."""
        self._item("summary", "", "bold")
        fields = ((name, getattr(summary, name)) for name in summary.__struct_fields__)
        self._screen.rows([(name, _summary_value(value)) for name, value in fields if value not in NOTHING])

    def close(self) -> None:
        """End the last line."""
        self._screen.end_line()

    def _flow(
        self, section: tuple[object, ...], label: str, text: str, label_style: str = "", text_style: str = ""
    ) -> None:
        if section != self._section:
            self._section = section
            self._screen.end_line()
            self._screen.write(label, label_style)
            self._screen.write("\n")
        self._screen.write(escape(text), text_style)

    def _item(self, name: str, value: str, style: str) -> None:
        self._section = (name,)
        self._screen.end_line()
        self._screen.write(f"[{name}]", style)
        self._screen.write(f" {value}\n" if value else "\n")

    def _tool_call(self, call: tokwire.ToolUseBlock, choice: int) -> None:
        self._names[call.id] = call.name
        self._named_item(_label("tool call", choice), call.id, "bold cyan", _arguments(call.input))

    def _tool_result(self, result: tokwire.ToolResultBlock) -> None:
        label, style = ("[tool error]", "bold red") if result.is_error else ("[tool result]", "bold cyan")
        text = shortened(_result_text(result), MAX_RESULT_CHARS)
        self._named_item(label, result.tool_use_id, style, _indented(escape(text)))

    def _named_item(self, label: str, call_id: str, style: str, value: str) -> None:
        self._section = (label,)
        self._screen.end_line()
        self._screen.write(label, style)
        self._screen.write(f" {escape_line(self._names.get(call_id, ''))}", "bold")
        self._screen.write(f" ({escape_line(call_id)})\n", "dim")
        self._screen.write(f"{value}\n")

    def _finish(self, reason: tokwire.FinishReason) -> None:
        cut = " (cut by the token limit)" if reason.is_truncated else ""
        good = reason in (tokwire.FinishReason.STOP, tokwire.FinishReason.TOOL_CALLS)
        self._item("finish", escape_line(str(reason)) + cut, "bold green" if good else "bold yellow")


def _label(name: str, choice: int) -> str:
    return f"[{name}, choice {choice}]" if choice else f"[{name}]"


def _retry_words(attempt: int, delay: float, error: tokwire.TokwireError) -> str:
    return f"attempt {attempt} failed: {escape(shortened(str(error)))}; the next one in {delay:.1f} seconds"


def _arguments(value: object) -> str:
    line = _json_text(value)
    if len(line) <= INLINE_JSON_CHARS:
        return f"  {line}"
    return _indented(_pretty(value))


def _pretty(value: object) -> str:
    return escape_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _indented(text: str) -> str:
    return "\n".join(f"  {row}" for row in text.split("\n"))


def _result_text(result: tokwire.ToolResultBlock) -> str:
    if isinstance(result.content, str):
        return result.content
    return "\n".join(block.text if isinstance(block, tokwire.TextBlock) else repr(block) for block in result.content)


def _json_text(value: object) -> str:
    return escape_json(msgspec.json.encode(value).decode())


def _usage_words(usage: tokwire.Usage) -> str:
    counts = ((getattr(usage, field), word) for field, word in USAGE_WORDS.items())
    return ", ".join(f"{count} {word}" for count, word in counts if count is not None)


def _summary_value(value: object) -> str:
    match value:
        case str() | tokwire.FinishReason():
            return escape_line(str(value))
        case tokwire.Usage():
            return _usage_words(value)
        case _:
            return _json_text(value)
