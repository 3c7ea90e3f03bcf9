"""The command line: what can be asked, and how it is explained.

Options stand in groups that commands share, so that a new command has them under the same names.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import tokwire
from tokwire_http import Timeouts

from ._exits import EXIT_CODES_HELP
from ._sniff import AUTO
from ._stream import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Arguments", "parse"]

DESCRIPTION = "Decode streaming responses of language models: raw bytes in, events out."
EXAMPLES = """\
examples:
  tokwire demo
  curl -N -s https://... | tokwire decode -
  tokwire decode answer.sse --include-reasoning --usage --summary
  tokwire decode answer.sse | jq -r 'select(.type == "block") | .block.text // empty'
  tokwire check answer.sse
  tokwire replay answer.sse --reads 37 --delay 0.01
  tokwire stream URL --data @request.json --key-env OPENAI_API_KEY
"""
DECODE_HELP = """\
Decode a response body and show its events as they arrive. On a terminal they
are shown as text, with control characters escaped; everywhere else as JSON
lines. An error and the summary are the last JSON lines, with the types "error"
and "summary"; the error is explained on stderr as well. What curl -i printed is read too, with the heads before the
body.
"""
CHECK_HELP = """\
Decode a recorded body in one read, then once for every place where it can be
cut in two, and once byte by byte. Events, error and summary must be the same
every time; if not, that is a bug in tokwire, and the smallest cut that shows
it is reported with exit code 4.
"""
STREAM_HELP = """\
Send a request and show the events of its answer as they arrive. The status is
judged, redirects are not followed, and Ctrl-C ends the stream at once. A key
is best kept in an environment variable that --key-env names: it is sent, and
never shown.
"""
DEMO_HELP = """\
Serve a recording that is part of tokwire on this machine and stream it:
reasoning, text, two parallel tool calls, usage and the finish, at the pace of
a live answer.
"""
PROTOCOLS_HELP = "List the names that --protocol takes, in any case."


class Arguments(argparse.Namespace):
    """The parsed command line. A command reads only what its own parser defines."""

    command: str
    file: str
    protocol: str
    json: bool | None
    summary: bool
    include_reasoning: bool
    usage: bool
    tool_deltas: bool
    max_event_bytes: int | None
    cuts: int | None
    fast: bool
    url: str
    data: str | None
    header: list[tuple[str, str]]
    key_env: str | None
    key_header: str
    save: str | None
    timeout: float | None
    idle_timeout: float | None
    connect_timeout: float | None

    def stream_options(self) -> StreamOptions:
        """What the arguments ask of a decoder."""
        return StreamOptions(
            include_reasoning=self.include_reasoning,
            include_usage=self.usage,
            include_tool_deltas=self.tool_deltas,
            limits=self.limits(),
        )

    def timeouts(self) -> Timeouts:
        """How long the arguments let a request wait."""
        return Timeouts(connect=self.connect_timeout, idle=self.idle_timeout, total=self.timeout)

    def limits(self) -> tokwire.Limits:
        """The default limits, with the one that was given; a line has to hold an event of that size."""
        limits = tokwire.Limits()
        if self.max_event_bytes is None:
            return limits
        line_bytes = max(limits.max_line_bytes or 0, self.max_event_bytes + len("data: "))
        return tokwire.Limits(max_event_bytes=self.max_event_bytes, max_line_bytes=line_bytes)


def parse(argv: Sequence[str] | None) -> Arguments:
    """Parse a command line.

    Raises:
        SystemExit: After help or version was shown, and for wrong usage.
    """
    return _parser().parse_args(argv, namespace=Arguments())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tokwire",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES}\n{EXIT_CODES_HELP}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"tokwire {tokwire.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)

    decode = _add_command(commands, "decode", "show the events of a recorded or arriving body", DECODE_HELP)
    decode.add_argument("file", metavar="FILE", help="the body of a response; - reads stdin as it arrives")
    _add_decoding_options(decode)
    _add_event_options(decode)
    _add_display_options(decode)

    stream = _add_command(commands, "stream", "send a request and show the events of its answer", STREAM_HELP)
    stream.add_argument("url", metavar="URL", help="where the request goes; http or https")
    _add_request_options(stream)
    _add_decoding_options(stream)
    _add_event_options(stream)
    _add_display_options(stream)

    check = _add_command(commands, "check", "prove that cuts do not change what a body means", CHECK_HELP)
    check.add_argument("file", metavar="FILE", help="the recorded body of a response; - reads stdin")
    check.add_argument(
        "--cuts",
        type=_cuts,
        metavar="all|random:N",
        help="cut in two everywhere (the default), or at N random places: for large files",
    )
    _add_decoding_options(check)

    demo = _add_command(commands, "demo", "watch an embedded recording being streamed", DEMO_HELP)
    demo.add_argument("--fast", action="store_true", help="do not wait between reads")
    _add_event_options(demo)
    _add_display_options(demo)
    demo.set_defaults(include_reasoning=True, usage=True, summary=True, max_event_bytes=None)

    # Never parsed here: the server has a command line of its own.
    commands.add_parser("replay", help="serve a recorded body over HTTP, with faults on demand", add_help=False)

    _add_command(commands, "protocols", "list the protocols and their other names", PROTOCOLS_HELP)
    return parser


def _add_command(commands: Commands, name: str, purpose: str, description: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=purpose,
        description=description,
        epilog=EXIT_CODES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_request_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("request")
    group.add_argument(
        "--data", metavar="TEXT|@FILE", help="send it in a POST; @FILE reads a file, @- stdin (default: a GET)"
    )
    group.add_argument(
        "--header", action="append", default=[], type=_header, metavar="'NAME: VALUE'", help="may be given again"
    )
    group.add_argument("--key-env", metavar="NAME", help="send the key that this environment variable holds")
    group.add_argument(
        "--key-header",
        default="Authorization",
        metavar="NAME",
        help="the header for the key, for example x-api-key (default: Authorization, as a bearer token)",
    )
    group.add_argument("--save", metavar="FILE", help="keep the body as it came, for decode and replay")
    for name, what in (("", "for all of it"), ("idle-", "for the next bytes"), ("connect-", "for a connection")):
        default = getattr(Timeouts(), name.removesuffix("-") or "total")
        group.add_argument(
            f"--{name}timeout",
            type=_seconds,
            default=default,
            metavar="SECONDS",
            help=f"wait so long {what}, or none for no limit (default: {default:g})",
        )


def _add_decoding_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("decoding")
    group.add_argument(
        "--protocol",
        type=_protocol,
        default=AUTO,
        metavar="auto|NAME",
        help="what the body is written in; auto (the default) looks at its first payloads",
    )
    group.add_argument(
        "--max-event-bytes",
        type=_positive,
        metavar="N",
        help=f"refuse a stream with an event of more bytes (default: {tokwire.Limits().max_event_bytes:,})",
    )


def _add_event_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("events")
    group.add_argument("--include-reasoning", action="store_true", help="show what the model thinks before it answers")
    group.add_argument("--usage", action="store_true", help="show the token counts that the server reports")
    group.add_argument("--tool-deltas", action="store_true", help="show tool arguments as they arrive, piece by piece")


def _add_display_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("display")
    group.add_argument(
        "--json",
        action=argparse.BooleanOptionalAction,
        help="one JSON object a line, or text for a person (default: JSON unless stdout is a terminal)",
    )
    group.add_argument("--summary", action="store_true", help="end with the facts about the whole stream")


def _protocol(text: str) -> str:
    if text.lower() == AUTO:
        return AUTO
    try:
        tokwire.StreamDecoder(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError("expected 'Name: value'")  # the text may hold a key: it is not repeated
    return name.strip(), value.strip()


def _seconds(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of seconds above 0 nor none")
    return seconds


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _cuts(text: str) -> int | None:
    """The number of random cuts, or None for all."""
    if text == "all":
        return None
    kind, _, number = text.partition(":")
    if kind != "random":
        raise argparse.ArgumentTypeError(f"{text!r} is neither all nor random:N")
    return _positive(number)
