"""The words of the protocols: what the mutators write into a body, and what the dictionary file is made of.

`fuzz/words.dict` holds the same words for libFuzzer; `python -m fuzz --write-dictionary` writes it anew.
"""

from __future__ import annotations

from typing import Any, Final

NAMES: Final = (
    *("id", "model", "object", "choices", "index", "delta", "message", "content", "role", "finish_reason", "usage"),
    *("tool_calls", "function", "name", "arguments", "function_call", "refusal", "reasoning", "reasoning_content"),
    *("reasoning_details", "reasoning_text", "reasoning_opaque", "thinking", "text", "type", "images", "audio"),
    *("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens"),
    *("completion_tokens_details", "reasoning_tokens", "x_groq", "extra_content", "google", "thought_signature"),
    *("error", "code", "status", "param", "detail", "request_id", "data", "signature", "summary"),
    *("content_block", "partial_json", "input", "stop_reason", "input_tokens", "output_tokens"),
    *("cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens_details", "thinking_tokens"),
    *("response", "item", "item_id", "call_id", "output", "output_index", "content_index", "summary_index", "part"),
    *("incomplete_details", "reason", "candidates", "parts", "finishReason", "promptFeedback", "blockReason"),
    *("usageMetadata", "promptTokenCount", "functionCall", "args", "partialArgs", "jsonPath", "stringValue"),
    *("willContinue", "thought", "thoughtSignature", "inlineData", "mimeType", "responseId", "modelVersion"),
    *("done", "done_reason", "eval_count", "tool_plan", "contentBlockIndex", "start", "toolUse", "toolUseId"),
    *("reasoningContent", "stopReason", "inputTokens", "bytes", "outputText", "completionReason"),
)
"""Names of members."""

VALUES: Final = (
    *("chat.completion.chunk", "chat.completion", "stop", "length", "tool_calls", "content_filter", "STOP", "eos"),
    *("function", "assistant", "null", "0", "-1", "429", "error", "call_a", "call_b", "lookup", "text", "output_text"),
    *("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"),
    *("message_stop", "message", "ping", "keepalive", "text_delta", "thinking_delta", "signature_delta"),
    *("input_json_delta", "tool_use", "server_tool_use", "thinking", "redacted_thinking", "end_turn", "max_tokens"),
    *("stop_sequence", "overloaded_error", "rate_limit_error", "reasoning.text", "reasoning.encrypted", "response.x"),
    *("response.completed", "response.incomplete", "response.failed", "response.output_text.delta", "incomplete"),
    *("response.output_item.added", "response.output_item.done", "response.function_call_arguments.delta"),
    *("response.function_call_arguments.done", "response.output_text.done", "response.refusal.delta", "completed"),
    *("function_call", "custom_tool_call", "max_output_tokens", "server_error", "STOP", "MAX_TOKENS", "SAFETY"),
    *("FINISH_REASON_UNSPECIFIED", "$.a", "$.a[0]", "$['b']", "$.a[9]", "$", "message-start", "content-delta"),
    *("tool-call-start", "tool-call-delta", "tool-plan-delta", "message-end", "COMPLETE", "TOOL_CALL"),
    *("{", "}", "{}", '{"a":', "1}", '{"a":1}', '"{}"', '{"a":"\\ud83d', '\\ude00"}', "[1]", "nul", " ", "\n", ""),
    *("\ud83d", "\ude00", "\ud83d\ude00", "\ufffd", "\u2028", "\0", "a\x01b", "data: x\n\n", "[DONE]", "1e999", "NaN"),
)
"""Texts that mean something somewhere."""

THINGS: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, 2, -1, 7, 0.0, 1.0, 1.5, 10**19, -(10**30), 2**63, float("inf"), float("nan")),
    *([], {}, [[]], [{}], {"type": "text", "text": "t"}, [{"type": "text", "text": "t"}], {"text": "t"}, [0, None]),
    *({"a": 1}, {"code": 429}, {"message": "no"}, [[[[[[[[[]]]]]]]]]),
)
"""Values that are no text."""

LINES: Final = (
    *(b"", b":", b": ping", b"data:", b"data: ", b"data", b"data: [DONE]", b"data:[DONE] ", b"[DONE]", b"data: : ping"),
    *(
        b"event: error",
        b"event: ping",
        b"event: message",
        b"event:",
        b"event: content_block_delta",
        b"id: 7",
        b"retry: 9",
    ),
    *(
        b"error: no",
        b'error: {"code":500}',
        b"data: {}",
        b"data: {",
        b"}",
        b"{",
        b"{}",
        b"[",
        b'{"error":{"code":429}}',
    ),
    *(
        b'{"error":{"code":429}}',
        b'data: {"error":"no"}',
        b"data: 1",
        b"data: null",
        b"data: x",
        b"text",
        b"<html>",
        b'{"a":',
        b"1}",
    ),
    *(b"foo: bar", b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b" ", b"\xe2\x80\xa8", b"\0"),
)
"""Whole lines."""

FRAME_WORDS: Final = (
    *(b"messageStart", b"contentBlockStart", b"contentBlockDelta", b"contentBlockStop", b"messageStop", b"metadata"),
    *(b"chunk", b"event", b"exception", b"error", b"throttlingException", b"modelStreamErrorException", b"other"),
)
"""What stands in the headers of a frame."""

STATUS_LINES: Final = (
    *(b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.0 200 OK", b"HTTP/1.1 100 Continue", b"HTTP/1.1 103 Early Hints"),
    *(b"HTTP/1.1 101 Switching Protocols", b"HTTP/1.1 204 No Content", b"HTTP/1.1 206 Part", b"HTTP/1.1 304 Same"),
    *(b"HTTP/1.1 302 Found", b"HTTP/1.1 401 No", b"HTTP/1.1 429 Too many", b"HTTP/1.1 500 Broken", b"HTTP/1.1 999 Odd"),
    *(b"HTTP/2 200", b"HTTP/1.1 20", b"HTTP/1.1 2000 OK", b"HTTP/1.1  200 OK", b"http/1.1 200 OK", b"ICY 200 OK", b""),
)
"""First lines of responses, right and wrong ones."""

HEADERS: Final = (
    *(
        b"Content-Length: 0",
        b"Content-Length: 2",
        b"Content-Length: 9999999",
        b"Content-Length: -1",
        b"Content-Length:",
    ),
    *(b"Content-Length: 2, 2", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
    *(b"Transfer-Encoding: identity", b"Connection: close", b"Connection: keep-alive", b"Content-Encoding: gzip"),
    *(b"Content-Encoding: deflate", b"Content-Encoding: br", b"Content-Encoding: GZIP ", b"Content-Encoding: identity"),
    *(b"Content-Type: application/json", b"Content-Type: text/event-stream", b"Content-Type: text/html", b"X"),
    *(b"Location: https://u:p@h.example/x", b"Location: /elsewhere", b"Location: //", b"Retry-After: 7"),
    *(b"Retry-After: -1", b"Retry-After: 1e400", b"Retry-After: Tue, 04 Nov 2025 10:00:30 GMT"),
    *(b"Date: Tue, 04 Nov 2025 10:00:00 GMT", b"retry-after-ms: 1500", b"x-ratelimit-reset-tokens: 6m0s"),
    *(b"x-ratelimit-reset: 99999999999", b"x-request-id: r-1", b"x-request-id:", b"X-Empty:", b": no name", b" folded"),
    *(b"\tfolded", b"X : blank", b"X-Latin: caf\xe9", b"X-Long: " + b"x" * 130),
)
"""Lines of heads, right and wrong ones."""

CHUNK_LINES: Final = (
    *(
        b"0\r\n",
        b"1\r\n",
        b"5\r\n",
        b"ff\r\n",
        b"-1\r\n",
        b"0x5\r\n",
        b"5_0\r\n",
        b"+5\r\n",
        b" 5\r\n",
        b"5 \r\n",
        b"\r\n",
    ),
    *(
        b"5;a\r\n",
        b"5\n",
        b"5\r",
        b"g\r\n",
        b"fffffffffffffffff\r\n",
        b"0000000000000000000000005\r\n",
        b'5;a="\r\n"\r\n',
    ),
)
"""Lines in front of chunks, right and wrong ones."""

ENDS: Final = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\r\r\n", b"")
"""What may stand between two lines."""


def dictionary() -> str:
    """The text of the dictionary file."""
    names = [f'"{name}":'.encode() for name in NAMES]
    values = [value.encode("utf-8", "replace") for value in VALUES]
    lines = (*LINES, *FRAME_WORDS, *STATUS_LINES, *HEADERS, *CHUNK_LINES, *ENDS)
    words = dict.fromkeys(word for word in (*names, *values, *lines) if word)
    quoted = ("".join(quoted_byte(byte) for byte in word) for word in words)
    return "# Written by python -m fuzz --write-dictionary\n" + "".join(f'"{word}"\n' for word in quoted)


def quoted_byte(byte: int) -> str:
    """One byte as it stands in a dictionary file."""
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"
