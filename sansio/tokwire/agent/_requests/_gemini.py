"""Requests of Google's Gemini API, and of Gemini on Vertex AI.

For Vertex the base URL ends with `/publishers/google`, and its token goes into `headers`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..._blocks import ContentBlock, ImageBlock, TextBlock, ToolResultBlock, ToolUseBlock
from ..._messages import Message
from ._arrange import alternating, hoisted
from ._common import as_object, inline_image, key_header, result_images, result_text
from ._parts import names_called, percent_encoded
from ._shape import RequestShape

if TYPE_CHECKING:
    from .._options import AgentOptions
    from .._tools import Tool

__all__: list[str] = []

ROLES = {"user": "user", "assistant": "model"}
MEDIA_TYPES = {
    **{name: f"image/{name}" for name in ("avif", "bmp", "gif", "heic", "heif", "jpeg", "png", "webp")},
    "jpg": "image/jpeg",
}
_QUERY = re.compile("[?#]")
_MADE_ID = re.compile(r"call_.+_\d+")


def path(options: AgentOptions) -> str:
    """Where the model answers. A model with a slash in its name brings the collection that it is in."""
    model = options.model if "/" in options.model else f"models/{options.model}"
    return f"/{percent_encoded(model, safe='/')}:streamGenerateContent?alt=sse"


def headers(options: AgentOptions) -> list[tuple[str, str]]:
    """The key."""
    return key_header(options, "x-goog-api-key")


def body(options: AgentOptions, messages: Sequence[Message]) -> dict[str, Any]:
    """The request. The model stands in the path, and the counts of tokens come without being asked for."""
    system, spoken = hoisted(options.system_prompt, messages)
    config = {"maxOutputTokens": options.max_tokens, "temperature": options.temperature}
    declared = [wire_tool(tool) for tool in options.tools]
    return {
        "contents": wire_contents(alternating(spoken)),
        "systemInstruction": {"parts": [{"text": system}]} if system else None,
        "generationConfig": {name: value for name, value in config.items() if value is not None} or None,
        "tools": [{"functionDeclarations": declared}] if declared else None,
    }


def wire_contents(turns: Sequence[Message]) -> list[dict[str, Any]]:
    """What was said, in turns. Images of results stand behind them, since old models take none inside."""
    contents: list[dict[str, Any]] = []
    called: list[str] = []
    for turn in turns:
        results = [block for block in turn.content if isinstance(block, ToolResultBlock)]
        images = [image for result in results for image in result_images(result)]
        others = [block for block in turn.content if not isinstance(block, ToolResultBlock)]
        parts = [wire_result(result, name) for result, name in zip(results, called, strict=True)]
        parts += [wire_part(block) for block in (*images, *others)]
        contents.append({"role": ROLES[turn.role], "parts": parts})
        called = names_called(turn.content)
    return contents


def wire_part(block: ContentBlock) -> dict[str, Any]:
    """Text, an image or a call."""
    if isinstance(block, TextBlock):
        return {"text": block.text}
    if isinstance(block, ImageBlock):
        return wire_image(block)
    assert isinstance(block, ToolUseBlock)
    call = {"functionCall": {**wire_id(block.id), "name": block.name, "args": as_object(block.input)}}
    return {**call, "thoughtSignature": block.signature} if block.signature else call


def wire_result(result: ToolResultBlock, name: str) -> dict[str, Any]:
    """A tool's result, under one of the two names that the server knows inside the object."""
    response = {"error" if result.is_error else "output": result_text(result)}
    return {"functionResponse": {**wire_id(result.tool_use_id), "name": name, "response": response}}


def wire_id(call_id: str) -> dict[str, str]:
    """The id of a call where it is the server's: models that give none refuse, or fail to match, one of ours."""
    return {} if _MADE_ID.fullmatch(call_id) else {"id": call_id}


def wire_image(image: ImageBlock) -> dict[str, Any]:
    """An image: in the request, or by its URL, with the media type that the end of the URL tells."""
    inline = inline_image(image)
    if inline is not None:
        media_type, data = inline
        return {"inlineData": {"mimeType": media_type, "data": data}}
    ending = _QUERY.split(image.url, 1)[0].rpartition(".")[2].lower()
    media = {"mimeType": MEDIA_TYPES[ending]} if ending in MEDIA_TYPES else {}
    return {"fileData": {**media, "fileUri": image.url}}


def wire_tool(tool: Tool) -> dict[str, Any]:
    """A tool. Of the two fields for parameters this one takes all of JSON Schema."""
    described = tool.to_anthropic_format()
    schema = described.pop("input_schema")
    return {**described, "parametersJsonSchema": schema}


SHAPE = RequestShape(path=path, headers=headers, body=body)
