"""What the arguments of `ask` and `chat` say to a client: options, and the prompt of `ask`."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import tokwire
from tokwire_http import get_base_url, get_model, image_from_file

from ._input import STDIN, read_whole
from ._keys import header_of, read_key
from ._option_groups import USUAL_MAX_TOKENS
from ._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._arguments import Arguments

__all__ = ["options_for", "prompt_for"]

OPTION = re.compile(r"AgentOptions\((\w+)(?:=(.*?)|\[(.*?)\])?\): (.*)", re.DOTALL)
"""How the core names an option that it refuses: with its value, or with the name of a header."""

NAMES = {
    "api_key": "the key",
    "headers": "--header",
    "extra_body": "--set",
    "tools": "--tool",
    "system_prompt": "--system",
}
"""The names here, where they are not the same with dashes."""


def options_for(arguments: Arguments, tools: Sequence[tokwire.Tool]) -> tokwire.AgentOptions:
    """The options of a client.

    Raises:
        OSError: The file with the key or with the instructions cannot be read.
        UsageError: A value breaks a rule, or the model is not named. The message never shows a key or a header.
    """
    model = arguments.model or get_model()
    if model is None:
        raise UsageError("no model is named: add --model NAME, or set the environment variable OPEN_AGENT_MODEL")
    key = read_key(arguments)
    headers = [*arguments.header]
    if key is not None and arguments.key_header is not None:
        headers.append(header_of(key, arguments.key_header))
        key = None
    given: dict[str, Any] = {"max_tokens": arguments.max_tokens}
    if arguments.max_tokens is None and tokwire.AgentOptions.needs_max_tokens(arguments.protocol):
        given["max_tokens"] = USUAL_MAX_TOKENS
    if arguments.max_tool_iterations is not None:
        given["max_tool_iterations"] = arguments.max_tool_iterations
    if arguments.attempts > 1:
        given["retry"] = tokwire.RetryConfig(max_attempts=arguments.attempts)
    try:
        return tokwire.AgentOptions(
            model=model,
            base_url=arguments.base_url or get_base_url(),
            api_key=key,
            protocol=arguments.protocol,
            system_prompt=system_prompt(arguments.system),
            temperature=arguments.temperature,
            tools=tools,
            auto_execute_tools=arguments.auto,
            include_reasoning=arguments.include_reasoning,
            include_usage=arguments.usage,
            replay_thinking=arguments.replay_thinking,
            timeout=arguments.timeout,
            connect_timeout=arguments.connect_timeout,
            idle_timeout=arguments.idle_timeout,
            tool_timeout=arguments.tool_timeout,
            headers=headers,
            extra_body=dict(arguments.settings),
            synthesize_tool_ids=arguments.synthesize_tool_ids,
            limits=arguments.limits(),
            **given,
        )
    except (TypeError, ValueError) as error:
        raise UsageError(OPTION.sub(in_our_words, str(error))) from None


def in_our_words(refusal: re.Match[str]) -> str:
    """What the core says of an option, with its name and its value as they are written here."""
    option, value, header, rule = refusal.groups()
    name = NAMES.get(option, f"--{option.replace('_', '-')}")
    shown = header if value is None else value
    return f"{name}: {rule}" if shown is None else f"{name} {shown}: {rule}"


def system_prompt(text: str | None) -> str | None:
    """The instructions: the contents of a file behind an @, else the text itself."""
    return text_of(text[1:]) if text is not None and text.startswith("@") else text


def prompt_for(arguments: Arguments) -> list[tokwire.ContentBlock]:
    """What `ask` asks: a text, and images behind it.

    Raises:
        OSError: Standard input, or an image, cannot be read.
        UsageError: There is no prompt, or a file is no image.
    """
    words = arguments.prompt
    if not words and not arguments.image:
        if sys.stdin is not None and sys.stdin.isatty():
            raise UsageError("there is no prompt: write one behind ask, or pipe one in")
        words = [STDIN]
    text = " ".join(text_of(STDIN).removesuffix("\n") if word == STDIN else word for word in words)
    if not text.strip() and not arguments.image:
        raise UsageError("the prompt is empty")
    return [tokwire.TextBlock(text), *map(image_at, arguments.image)]


def image_at(place: str) -> tokwire.ImageBlock:
    """The image in a file, or at a URL that the server fetches.

    Raises:
        OSError: The file cannot be read.
        UsageError: It is no image.
    """
    try:
        if place.startswith(("http://", "https://", "data:")):
            return tokwire.ImageBlock.from_url(place)
        return image_from_file(place)
    except ValueError as error:
        raise UsageError(f"--image: {str(error).removeprefix('ImageBlock: ')}") from None


def text_of(path: str) -> str:
    """The text of a file, or of stdin for `-`.

    Raises:
        OSError: It cannot be read.
        UsageError: It is no UTF-8.
    """
    try:
        return read_whole(path).decode()
    except UnicodeDecodeError as error:
        name = "standard input" if path == STDIN else path
        raise UsageError(f"{name}: this is no text in UTF-8: byte {error.start} is strange") from None
