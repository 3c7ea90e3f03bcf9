"""Compact builders of synthetic bodies for OpenAI Responses, Gemini, Ollama, Bedrock and Cohere."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Unpack

from tests.support import data, outcome
from tests.wire import ABSENT, alike, present, rows

import tokwire

if TYPE_CHECKING:
    from tests.support import Outcome
    from tests.wire import Row


def decode(protocol: str, *parts: bytes, **options: Unpack[tokwire.DecoderOptions]) -> Outcome:
    """A body, decoded in every way, with reasoning and usage unless told otherwise."""
    asked: tokwire.DecoderOptions = {"include_reasoning": True, "include_usage": True, **options}
    return alike(protocol, b"".join(parts), **asked)


def cut_off(protocol: str, *parts: bytes, **options: Unpack[tokwire.DecoderOptions]) -> list[Row]:
    """The rows of a body that the transport cut; whole and one byte per read are the same."""
    body = b"".join(parts)
    found = [failing(protocol, reads, **options) for reads in ([body], [bytes([byte]) for byte in body])]
    assert found[0] == found[1]
    return found[0]


def failing(protocol: str, reads: list[bytes], **options: Unpack[tokwire.DecoderOptions]) -> list[Row]:
    """The rows of these reads before `receive_eof(complete=False)`, and the error at the end, if there is one."""
    asked: tokwire.DecoderOptions = {"include_reasoning": True, **options}
    return rows(outcome(lambda: tokwire.StreamDecoder(protocol, **asked), reads, complete=False))


def failed(protocol: str, body: bytes) -> tokwire.TokwireError:
    """The error with which a whole body ends."""
    try:
        tokwire.decode(body, protocol, include_reasoning=True)
    except tokwire.TokwireError as error:
        return error
    raise AssertionError("no error")


def api_error(protocol: str, *parts: bytes) -> tokwire.APIError:
    """The error that the server reports in a body."""
    assert rows(decode(protocol, *parts))[-1] == ("error", "APIError")
    error = failed(protocol, b"".join(parts))
    assert isinstance(error, tokwire.APIError)
    return error


def invalid_calls(protocol: str, *parts: bytes) -> list[tuple[str, str, str]]:
    """Id, name and raw arguments of the calls that cannot run."""
    assert rows(decode(protocol, *parts))[-1] == ("error", "InvalidToolArguments")
    error = failed(protocol, b"".join(parts))
    assert isinstance(error, tokwire.InvalidToolArguments)
    return [(call.id, call.name, call.arguments) for call in error.calls]


# ---- OpenAI Responses ----------------------------------------------------------------------------------------


def said(kind: str, **members: object) -> bytes:
    """One event; members that are ABSENT are not on the wire."""
    return data({"type": f"response.{kind}", **present(**members)}, name=f"response.{kind}")


def added(item: dict[str, Any], index: object = ABSENT) -> bytes:
    """The announcement of an item."""
    return said("output_item.added", output_index=index, item=item)


def done(item: dict[str, Any], index: object = ABSENT) -> bytes:
    """The end of an item."""
    return said("output_item.done", output_index=index, item=item)


def function(call_id: object = "a", name: object = "f", **members: object) -> dict[str, Any]:
    """An item that calls a function."""
    return present(type="function_call", call_id=call_id, name=name, **members)


def message(*parts: dict[str, Any], **members: object) -> dict[str, Any]:
    """An item that holds text."""
    return {"type": "message", **members, "content": list(parts)}


def written(index: object, text: object, **members: object) -> bytes:
    """A fragment of arguments."""
    return said("function_call_arguments.delta", output_index=index, delta=text, **members)


def text_delta(text: object, index: object = 0, **members: object) -> bytes:
    """A fragment of text."""
    return said("output_text.delta", **{"output_index": index, "content_index": 0, **members}, delta=text)


def completed(*output: dict[str, Any], **members: object) -> bytes:
    """The last event."""
    response = {"id": "r1", "model": "m1", "status": "completed", "output": list(output), **members}
    return said("completed", response=response)


def incomplete(reason: object = "max_output_tokens", *output: dict[str, Any]) -> bytes:
    """The last event of an answer that stopped early."""
    details = {"incomplete_details": {"reason": reason}, "output": list(output)}
    return said("incomplete", response={"status": "incomplete", **details})


# ---- Gemini --------------------------------------------------------------------------------------------------


def candidate(*parts: object, reason: object = ABSENT, index: object = 0, **more: object) -> dict[str, Any]:
    """One payload with one candidate."""
    content: object = {"role": "model", "parts": list(parts)} if parts else ABSENT
    return {"candidates": [present(content=content, finishReason=reason, index=index)], **more}


def call(name: object = ABSENT, args: object = ABSENT, call_id: object = ABSENT, **more: object) -> dict[str, Any]:
    """A part with a function call."""
    return {"functionCall": present(id=call_id, name=name, args=args, **more)}


def events(*payloads: object) -> bytes:
    """The payloads as server-sent events."""
    return b"".join(data(payload).replace(b"\n", b"\r\n") for payload in payloads)


def array(*payloads: object, end: str = "\n]") -> bytes:
    """The payloads as one JSON array, printed for people."""
    return ("[" + "\n,\r\n".join(json.dumps(payload, indent=1) for payload in payloads) + end).encode()


# ---- Ollama --------------------------------------------------------------------------------------------------


def line(text: str = "", *calls: object, done: object = False, **members: object) -> bytes:
    """One line of `/api/chat`."""
    answer = {"role": "assistant", "content": text} | ({"tool_calls": list(calls)} if calls else {})
    return json.dumps({"model": "m1", "message": answer, "done": done, **members}).encode() + b"\n"


def tool(name: object = "f", arguments: object = ABSENT, **members: object) -> dict[str, Any]:
    """One member of `tool_calls`."""
    return {"function": present(name=name, arguments=arguments), **members}


# ---- Bedrock -------------------------------------------------------------------------------------------------


def header(name: bytes, kind: int, value: bytes) -> bytes:
    """One header, its value already encoded."""
    return bytes([len(name)]) + name + bytes([kind]) + value


def text_header(name: str, value: str) -> bytes:
    """One header with text."""
    return header(name.encode(), 7, struct.pack(">H", len(value.encode())) + value.encode())


def packed(headers: bytes, payload: bytes = b"", *, total: int | None = None, size: int | None = None) -> bytes:
    """One frame with right checksums; `total` and `size` announce other lengths than it has."""
    length = len(headers) + len(payload) + 16 if total is None else total
    prelude = struct.pack(">II", length, len(headers) if size is None else size)
    start = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return start + struct.pack(">I", zlib.crc32(start))


def frame(name: str, *, raw: bytes | None = None, **payload: object) -> bytes:
    """One event of ConverseStream."""
    headers = text_header(":event-type", name) + text_header(":message-type", "event")
    return packed(headers, json.dumps(payload).encode() if raw is None else raw)


def exception(name: str, payload: object) -> bytes:
    """One exception; a payload that is not bytes becomes JSON."""
    headers = text_header(":exception-type", name) + text_header(":message-type", "exception")
    return packed(headers, payload if isinstance(payload, bytes) else json.dumps(payload).encode())


def block(index: object, **delta: object) -> bytes:
    """A delta of a content block."""
    return frame("contentBlockDelta", **present(contentBlockIndex=index), delta=delta)


def begun(index: object, call_id: object = "a", name: object = "f", **more: object) -> bytes:
    """The start of a tool call."""
    start = {"toolUse": present(toolUseId=call_id, name=name, **more)}
    return frame("contentBlockStart", **present(contentBlockIndex=index), start=start)


def stopped(reason: object = "end_turn") -> bytes:
    """The end marker."""
    return frame("messageStop", stopReason=reason)


def invoked(*payloads: object) -> bytes:
    """Chunks of InvokeModel; a payload that is not bytes becomes JSON."""
    inner = [payload if isinstance(payload, bytes) else json.dumps(payload).encode() for payload in payloads]
    return b"".join(frame("chunk", bytes=base64.b64encode(each).decode(), p="abc") for each in inner)


# ---- Cohere --------------------------------------------------------------------------------------------------


def part(kind: str, index: object = ABSENT, **message: object) -> bytes:
    """One event with something of the message."""
    return data({"type": kind, **present(index=index), "delta": {"message": message}}, name=kind)


def piece(
    index: object = 0, call_id: object = ABSENT, name: object = ABSENT, arguments: object = ABSENT, *, kind: str = ""
) -> bytes:
    """The start of a tool call, or with arguments alone a fragment of it."""
    entry = present(id=call_id, function=present(name=name, arguments=arguments))
    known = kind or ("tool-call-delta" if call_id is ABSENT and name is ABSENT else "tool-call-start")
    return part(known, index, tool_calls=entry)


def message_end(reason: object = "COMPLETE", **delta: object) -> bytes:
    """The last event."""
    return data({"type": "message-end", "delta": {"finish_reason": reason, **delta}}, name="message-end")
