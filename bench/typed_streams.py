"""Recordings of text in the other protocols: OpenAI Responses, Gemini, Ollama, Bedrock and Cohere."""

from __future__ import annotations

import random
import zlib
from typing import Any

from .streams import DONE, Recording, compact, fragments


def responses_text(count: int = 2000) -> Recording:
    """Text of OpenAI Responses, padded with the noise that its service adds."""
    lot = random.Random("responses")
    text = fragments(lot, count)
    events: list[bytes] = []

    def write(kind: str, **members: Any) -> None:
        payload = {"type": kind, "sequence_number": len(events), **members}
        events.append(f"event: {kind}\ndata: {compact(payload)}\n\n".encode())

    response: dict[str, Any] = {"id": "resp_harbour0lantern", "object": "response", "model": "harbour-4-mini"}
    item: dict[str, Any] = {"id": "msg_68harbourtide0lantern9keeper", "type": "message", "role": "assistant"}
    part: dict[str, Any] = {"type": "output_text", "annotations": [], "logprobs": []}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    write("response.created", response=response | {"status": "in_progress", "output": []})
    write("response.output_item.added", output_index=0, item=item | {"status": "in_progress", "content": []})
    write("response.content_part.added", **place, part=part | {"text": ""})
    for fragment in text:
        noise = "".join(lot.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=lot.randint(1, 12)))
        write("response.output_text.delta", **place, delta=fragment, logprobs=[], obfuscation=noise)
    whole = part | {"text": "".join(text)}
    write("response.output_text.done", **place, text=whole["text"], logprobs=[])
    write("response.content_part.done", **place, part=whole)
    done = item | {"status": "completed", "content": [whole]}
    write("response.output_item.done", output_index=0, item=done)
    usage = {"input_tokens": 57, "output_tokens": count, "total_tokens": count + 57}
    write("response.completed", response=response | {"status": "completed", "output": [done], "usage": usage})
    return Recording("OpenAI Responses text", "openai-responses", events, text=whole["text"], finish="completed")


def gemini_text(count: int = 2000) -> Recording:
    """Text of Gemini, which counts in every event."""
    text = fragments(random.Random("gemini"), count)
    events = []
    for place, fragment in enumerate(text, 1):
        candidate: dict[str, Any] = {"content": {"parts": [{"text": fragment}], "role": "model"}, "index": 0}
        if place == count:
            candidate["finishReason"] = "STOP"
        usage = {
            "promptTokenCount": 57,
            "candidatesTokenCount": place,
            "totalTokenCount": place + 57,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 57}],
        }
        who = {"modelVersion": "harbour-2.5-flash", "responseId": "Yx0harbourOkqtsP1Y2HgQ4"}
        events.append(f"data: {compact({'candidates': [candidate], 'usageMetadata': usage, **who})}\r\n\r\n".encode())
    return Recording("Gemini text", "gemini", events, text="".join(text), finish="STOP")


def ollama_text(count: int = 2000) -> Recording:
    """Text of Ollama, a line each."""
    text = fragments(random.Random("ollama"), count)

    def line(place: int, content: str, **members: Any) -> bytes:
        when = f"2025-11-29T18:21:08.{place:09}Z"
        message = {"role": "assistant", "content": content}
        payload = {"model": "harbour3.2", "created_at": when, "message": message, "done": bool(members), **members}
        return f"{compact(payload)}\n".encode()

    events = [line(place, fragment) for place, fragment in enumerate(text)]
    events.append(
        line(count, "", done_reason="stop", total_duration=4883583458, prompt_eval_count=57, eval_count=count)
    )
    return Recording("Ollama text", "ollama", events, text="".join(text))


HEADERS = {":event-type": "", ":content-type": "application/json", ":message-type": "event"}


def message(kind: str, payload: dict[str, Any]) -> bytes:
    """One message of an AWS event stream."""
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2) + value.encode()
        for name, value in (HEADERS | {":event-type": kind}).items()
    )
    body = compact(payload).encode()
    prelude = (len(headers) + len(body) + 16).to_bytes(4) + len(headers).to_bytes(4)
    start = prelude + zlib.crc32(prelude).to_bytes(4) + headers + body
    return start + zlib.crc32(start).to_bytes(4)


def bedrock_text(count: int = 2000) -> Recording:
    """Text of Bedrock's ConverseStream, padded as its service does."""
    lot = random.Random("bedrock")
    text = fragments(lot, count)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    def write(kind: str, **members: Any) -> bytes:
        return message(kind, members | {"p": letters[: lot.randint(1, len(letters))]})

    events = [write("messageStart", role="assistant")]
    events += [write("contentBlockDelta", contentBlockIndex=0, delta={"text": fragment}) for fragment in text]
    events += [write("contentBlockStop", contentBlockIndex=0), write("messageStop", stopReason="end_turn")]
    usage = {"inputTokens": 57, "outputTokens": count, "totalTokens": count + 57}
    events.append(write("metadata", metrics={"latencyMs": 900}, usage=usage))
    return Recording("Bedrock text", "bedrock", events, text="".join(text), finish="end_turn")


def cohere_text(count: int = 2000) -> Recording:
    """Text of Cohere's second API."""
    text = fragments(random.Random("cohere"), count)

    def write(kind: str, **members: Any) -> bytes:
        return f"event: {kind}\ndata: {compact({'type': kind, **members})}\n\n".encode()

    start = {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}
    events = [write("message-start", id="7bharbour-3fac-4977-85fd-618d9c9a8cc7", delta=start)]
    events.append(write("content-start", index=0, delta={"message": {"content": {"type": "text", "text": ""}}}))
    contents = [{"message": {"content": {"text": fragment}}} for fragment in text]
    events += [write("content-delta", index=0, delta=delta) for delta in contents]
    events.append(write("content-end", index=0))
    usage = {"tokens": {"input_tokens": 57, "output_tokens": count}}
    events += [write("message-end", delta={"finish_reason": "COMPLETE", "usage": usage}), DONE]
    return Recording("Cohere text", "cohere", events, text="".join(text), finish="COMPLETE")


TYPED = (responses_text, gemini_text, ollama_text, bedrock_text, cohere_text)
"""The recordings, each with a default for about how many events it has."""
