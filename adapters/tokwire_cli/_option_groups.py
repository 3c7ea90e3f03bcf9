"""Groups of options that commands share, so that each has them under the same names."""

from __future__ import annotations

import argparse

import tokwire
from tokwire_http import Timeouts
from tokwire_http._header_argument import header_argument

from . import _values as values
from ._sniff import AUTO

__all__ = [
    "USUAL_MAX_TOKENS",
    "add_agent_options",
    "add_decoding_options",
    "add_display_options",
    "add_event_options",
    "add_request_options",
    "add_tool_options",
]

USUAL_MAX_TOKENS = 4096
"""The limit of an answer, where the API has to be told one and the caller does not care."""


def add_request_options(parser: argparse.ArgumentParser) -> None:
    """What `stream` sends, and how long it waits."""
    group = parser.add_argument_group("request")
    group.add_argument(
        "--data", metavar="TEXT|@FILE", help="send it in a POST; @FILE reads a file, @- stdin (default: a GET)"
    )
    _add_header_options(group, key_header="Authorization, as a bearer token")
    group.add_argument("--save", metavar="FILE", help="keep the body as it came, for decode and replay")
    _add_timeouts(group)


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Whom `ask` and `chat` ask, and for what."""
    group = parser.add_argument_group("request")
    group.add_argument("--model", metavar="NAME", help="the model (default: what OPEN_AGENT_MODEL says)")
    group.add_argument(
        "--base-url",
        metavar="URL",
        help="where the API is, such as https://api.openai.com/v1 (default: what OPEN_AGENT_BASE_URL says, "
        f"or {tokwire.Provider.LM_STUDIO.base_url})",
    )
    group.add_argument(
        "--protocol",
        type=values.protocol,
        default="openai-chat",
        metavar="NAME",
        help="the API that the server speaks (default: openai-chat)",
    )
    group.add_argument("--system", metavar="TEXT|@FILE", help="instructions for the model; @FILE reads a file")
    group.add_argument(
        "--max-tokens",
        type=values.positive,
        metavar="N",
        help=f"how long the answer may be (default: {USUAL_MAX_TOKENS} where the API has to be told; "
        "else what the server takes)",
    )
    group.add_argument("--temperature", type=values.number, metavar="X", help="how freely the model chooses")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        type=values.setting,
        metavar="NAME=JSON",
        help="one more field of the request body, null to leave one out; may be given again",
    )
    group.add_argument(
        "--replay-thinking", action="store_true", help="send signed thinking back with the results of tools"
    )
    _add_header_options(group, key_header="where the protocol wants it")
    group.add_argument(
        "--attempts",
        type=values.positive,
        default=1,
        metavar="N",
        help="send a request so often where an error may pass (default: 1)",
    )
    _add_timeouts(group)
    _add_event_size(group)


def add_tool_options(parser: argparse.ArgumentParser) -> None:
    """What the model may call, and who runs it."""
    group = parser.add_argument_group("tools")
    group.add_argument(
        "--tool",
        action="append",
        default=[],
        dest="tools",
        metavar="MODULE:FUNCTION",
        help="let the model call a Python function of this folder, or of an installed module; may be given again",
    )
    group.add_argument("--auto", action="store_true", help="run what the model calls, and let it go on")
    group.add_argument(
        "--max-tool-iterations", type=values.whole_number, metavar="N", help="let it go on so often at most"
    )
    group.add_argument("--tool-timeout", type=values.seconds, metavar="SECONDS", help="wait so long for a tool")
    group.add_argument("--synthesize-tool-ids", action="store_true", help="take calls that come without an id")


def add_decoding_options(parser: argparse.ArgumentParser) -> None:
    """How a body is read."""
    group = parser.add_argument_group("decoding")
    group.add_argument(
        "--protocol",
        type=values.protocol_or_auto,
        default=AUTO,
        metavar="auto|NAME",
        help="what the body is written in; auto (the default) looks at its first payloads",
    )
    _add_event_size(group)


def add_event_options(parser: argparse.ArgumentParser, *, tool_deltas: bool = True) -> None:
    """Which events are shown."""
    group = parser.add_argument_group("events")
    group.add_argument(
        "--reasoning",
        "--include-reasoning",
        dest="include_reasoning",
        action="store_true",
        help="show what the model thinks before it answers",
    )
    group.add_argument("--usage", action="store_true", help="show the token counts that the server reports")
    if tool_deltas:
        group.add_argument(
            "--tool-deltas", action="store_true", help="show tool arguments as they arrive, piece by piece"
        )


def add_display_options(parser: argparse.ArgumentParser) -> None:
    """How events are shown."""
    group = parser.add_argument_group("display")
    group.add_argument(
        "--json",
        action=argparse.BooleanOptionalAction,
        help="one JSON object a line, or text for a person (default: JSON unless stdout is a terminal)",
    )
    group.add_argument("--summary", action="store_true", help="end with the facts about the whole stream")


def _add_header_options(group: argparse._ArgumentGroup, *, key_header: str) -> None:
    group.add_argument(
        "--header",
        action="append",
        default=[],
        type=header_argument,
        metavar="'NAME: VALUE'",
        help="may be given again",
    )
    keys = group.add_mutually_exclusive_group()
    keys.add_argument("--key-env", metavar="NAME", help="send the key that this environment variable holds")
    keys.add_argument("--key-file", metavar="FILE", help="send the key that this file holds")
    group.add_argument(
        "--key-header",
        metavar="NAME",
        help=f"the header for the key, for example x-api-key (default: {key_header})",
    )


def _add_timeouts(group: argparse._ArgumentGroup) -> None:
    for name, what in (("", "for all of it"), ("idle-", "for the next bytes"), ("connect-", "for a connection")):
        default = getattr(Timeouts(), name.removesuffix("-") or "total")
        group.add_argument(
            f"--{name}timeout",
            type=values.seconds,
            default=default,
            metavar="SECONDS",
            help=f"wait so long {what}, or none for no limit (default: {default:g})",
        )


def _add_event_size(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--max-event-bytes",
        type=values.positive,
        metavar="N",
        help=f"refuse a stream with an event of more bytes (default: {tokwire.Limits().max_event_bytes:,})",
    )
