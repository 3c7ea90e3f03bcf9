"""Reading the payloads of OpenAI chat completions and their many relatives (P5, P11, P13, P14, P15)."""

from __future__ import annotations

from typing import Final

from .state import State
from .text import fields, items, whole_number, word

WORDS: Final = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


class OpenAIChatReader:
    """Feeds one stream's payloads into a state."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.audio_ids: set[str] = set()

    # ---- what is it -----------------------------------------------------------------------------------------------

    def recognises(self, payload: dict[str, object], name: str) -> bool:
        """P13: whether the payload belongs to this protocol."""
        kind = payload.get("object")
        if isinstance(kind, str) and kind.startswith("chat.completion"):
            return True
        if "choices" in payload:
            members = payload["choices"]
            if members is None or members == []:
                return True
            if any("delta" in fields(member) or "message" in fields(member) for member in items(members)):
                return True
        return isinstance(payload.get("usage"), dict) and payload.get("type") is None and kind is None

    def is_answer(self, payload: dict[str, object]) -> bool:
        """P13: whether a JSON body is a whole answer."""
        return self.recognises(payload, "")

    def is_readable(self, payload: dict[str, object]) -> bool:
        """P14: choices without delta in a payload that does not claim to be something else."""
        return isinstance(payload.get("choices"), list) and word(payload.get("object")) is None

    # ---- reading --------------------------------------------------------------------------------------------------

    def read(self, payload: dict[str, object], name: str, *, failing: bool) -> bool:
        """One payload. `failing` says that it holds an error too: then its reasons count for nothing (P8)."""
        self.state.identify(payload.get("id"), payload.get("model"))
        choices = items(payload.get("choices"))
        first_choice = fields(choices[0]) if choices else {}
        groq = fields(payload.get("x_groq"))
        for holder in (payload, first_choice, groq):
            usage = fields(holder.get("usage"))
            if usage:
                self._usage(usage)
                break
        for position, member in enumerate(choices):
            if not isinstance(member, dict):
                continue
            index = whole_number(member.get("index"))
            number = position if index is None else index
            self._choice(number, member)
            if not failing:
                self.state.report_reason(member.get("finish_reason"), number)
        return False

    def read_answer(self, payload: dict[str, object], *, failing: bool) -> None:
        """A JSON body that is one whole answer."""
        self.read(payload, "", failing=failing)

    def _usage(self, usage: dict[str, object]) -> None:
        """Some servers write two of the details beside the sums."""
        prompt = fields(usage.get("prompt_tokens_details"))
        completion = fields(usage.get("completion_tokens_details"))
        cached, reasoning = prompt.get("cached_tokens"), completion.get("reasoning_tokens")
        self.state.merge_usage(
            {
                "input_tokens": usage.get("prompt_tokens"),
                "output_tokens": usage.get("completion_tokens"),
                "total_tokens": usage.get("total_tokens"),
                "cached_tokens": usage.get("cached_tokens") if cached is None else cached,
                "cache_write_tokens": prompt.get("cache_write_tokens"),
                "reasoning_tokens": usage.get("reasoning_tokens") if reasoning is None else reasoning,
            }
        )

    def _choice(self, number: int, member: dict[str, object]) -> None:
        """P14: `message` stands in for a delta that carries nothing, as long as no text came."""
        choice = self.state.choice(number)
        delta = fields(member.get("delta"))
        if not carries_something(delta) and not choice.text_came:
            message = fields(member.get("message"))
            delta = message or delta
        self._delta(number, delta)

    def _delta(self, number: int, delta: dict[str, object]) -> None:
        """P11: reasoning comes before text; calls come after both."""
        state = self.state
        state.emit("reasoning", reasoning_text(delta), number)
        for text in content_texts(delta.get("content")):
            state.emit("text", text, number)
        state.emit("refusal", delta.get("refusal"), number)
        calls = state.choice(number).calls
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            calls.legacy_fragment(state.tick(), legacy)
        for entry in items(delta.get("tool_calls")):
            if isinstance(entry, dict):
                calls.fragment(state.tick(), entry)
        self._media(delta)

    def _media(self, delta: dict[str, object]) -> None:
        """P14: media is counted and gives no event."""
        images = items(delta.get("images"))
        if images:
            self.state.media["image"] += len(images)
        audio_id = word(fields(delta.get("audio")).get("id"))
        if audio_id is not None and audio_id not in self.audio_ids:
            self.audio_ids.add(audio_id)
            self.state.media["audio"] += 1


def content_texts(content: object) -> list[str]:
    """P14: the text fragments of a content member: a string, or a list of typed parts."""
    if isinstance(content, str):
        return [content]
    texts = []
    for part in items(content):
        if isinstance(part, str):
            texts.append(part)
            continue
        members = fields(part)
        text = members.get("text")
        if members.get("type") in ("text", None) and isinstance(text, str):
            texts.append(text)
    return [text for text in texts if text]


def _thinking_parts(content: object) -> str:
    """P11: the thinking parts of a content list."""
    texts = []
    for part in items(content):
        members = fields(part)
        if members.get("type") != "thinking":
            continue
        thinking = members.get("thinking")
        texts += [thinking] if isinstance(thinking, str) else content_texts(thinking)
    return "".join(texts)


def reasoning_text(delta: dict[str, object]) -> str:
    """P11: one spelling per delta, so that mirrored copies count once."""
    thinking = _thinking_parts(delta.get("content"))
    if thinking:
        return thinking
    for name in REASONING_FIELDS:
        value = delta.get(name)
        text = word(fields(value).get("text")) if isinstance(value, dict) else word(value)
        if text is not None:
            return text
    details = [fields(detail) for detail in items(delta.get("reasoning_details"))]
    return "".join(word(detail.get("text")) or word(detail.get("summary")) or "" for detail in details)


def carries_something(delta: dict[str, object]) -> bool:
    """Whether a delta holds anything that could give an event (or is counted as media)."""
    if any(content_texts(delta.get("content"))) or reasoning_text(delta) or word(delta.get("refusal")):
        return True
    function = fields(delta.get("function_call"))
    if word(function.get("name")) or function.get("arguments"):
        return True
    return bool(items(delta.get("tool_calls")) or items(delta.get("images")) or fields(delta.get("audio")))
