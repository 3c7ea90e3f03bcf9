"""The command line: what can be asked, and how it is explained."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import tokwire
from tokwire_http import Timeouts

from . import _values as values
from ._exits import EXIT_CODES_HELP
from ._option_groups import (
    add_agent_options,
    add_decoding_options,
    add_display_options,
    add_event_options,
    add_request_options,
    add_tool_options,
)
from ._stream import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Arguments", "parse"]

DESCRIPTION = "Ask language models, and decode what they stream: raw bytes in, events out."
EXAMPLES = """\
examples:
  tokwire demo
  tokwire ask "What is a fathom?" --model gpt-5 --base-url https://api.openai.com/v1 --key-env OPENAI_API_KEY
  tokwire ask "Is the tide out?" --tool harbour:tide --auto
  tokwire chat --system "Answer in one sentence."
  tokwire stream URL --data @request.json --key-env OPENAI_API_KEY
  curl -N -s https://... | tokwire decode -
  tokwire decode answer.sse --include-reasoning --usage --summary
  tokwire decode answer.sse | jq -r 'select(.type == "block") | .block.text // empty'
  tokwire check answer.sse
  tokwire replay answer.sse --reads 37 --delay 0.01
"""
ASK_HELP = """\
Ask a model one thing and show its answer while it arrives. A PROMPT of - is
standard input, and so is none where that is no terminal. Tools are Python
functions; what the model calls is shown, and run only with --auto. A key is
best kept in an environment variable that --key-env names: it is sent, and
never shown.
"""
CHAT_HELP = """\
Talk with a model: each line of standard input is a prompt, with the turns
before it as its history. Ctrl-C interrupts an answer, Ctrl-D or /exit ends the
chat, /help lists the other commands. The exit code is that of the last turn
that failed, or 0.
"""
DECODE_HELP = """\
Decode a response body and show its events as they arrive. On a terminal they
are shown as text, with control characters escaped; everywhere else as JSON
lines. An error and the summary are the last JSON lines, with the types "error"
and "summary"; the error is explained on stderr as well. What curl -i printed
is read too, with the heads before the body.
"""
CHECK_HELP = """\
Decode a recorded body in one read, then once for every place where it can be
cut in two, and once byte by byte. Events, error and summary must be the same
every time; if not, that is a bug in tokwire, and the smallest cut that shows
it is reported with exit code 4. Of what curl -i printed, the body is cut, and
its head judges every time.
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
    prompt: list[str]
    image: list[str]
    model: str | None
    base_url: str | None
    protocol: str
    system: str | None
    max_tokens: int | None
    temperature: float | None
    settings: list[tuple[str, Any]]
    replay_thinking: bool
    attempts: int
    tools: list[str]
    auto: bool
    max_tool_iterations: int | None
    tool_timeout: float | None
    synthesize_tool_ids: bool
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
    key_file: str | None
    key_header: str | None
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
    _add_agent_commands(commands)
    _add_stream_commands(commands)

    check = _add_command(commands, "check", "prove that cuts do not change what a body means", CHECK_HELP)
    check.add_argument("file", metavar="FILE", help="the recorded body of a response; - reads stdin")
    check.add_argument(
        "--cuts",
        type=values.cuts,
        metavar="all|random:N",
        help="cut in two everywhere (the default), or at N random places: for large files",
    )
    add_decoding_options(check)

    demo = _add_command(commands, "demo", "watch an embedded recording being streamed", DEMO_HELP)
    demo.add_argument("--fast", action="store_true", help="do not wait between reads")
    add_event_options(demo)
    add_display_options(demo)
    demo.set_defaults(include_reasoning=True, usage=True, summary=True, max_event_bytes=None)

    # Never parsed here: the server has a command line of its own.
    commands.add_parser("replay", help="serve a recorded body over HTTP, with faults on demand", add_help=False)

    _add_command(commands, "protocols", "list the protocols and their other names", PROTOCOLS_HELP)
    return parser


def _add_agent_commands(commands: Commands) -> None:
    ask = _add_command(commands, "ask", "ask a model one thing, with tools", ASK_HELP)
    ask.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to ask; - reads stdin, words are joined")
    ask.add_argument(
        "--image", action="append", default=[], metavar="FILE|URL", help="show the model an image; may be given again"
    )
    chat = _add_command(commands, "chat", "talk with a model, in several turns", CHAT_HELP)
    for parser in (ask, chat):
        add_agent_options(parser)
        add_tool_options(parser)
        add_event_options(parser, tool_deltas=False)
        add_display_options(parser)


def _add_stream_commands(commands: Commands) -> None:
    decode = _add_command(commands, "decode", "show the events of a recorded or arriving body", DECODE_HELP)
    decode.add_argument("file", metavar="FILE", help="the body of a response; - reads stdin as it arrives")
    stream = _add_command(commands, "stream", "send a request and show the events of its answer", STREAM_HELP)
    stream.add_argument("url", metavar="URL", help="where the request goes; http or https")
    add_request_options(stream)
    for parser in (decode, stream):
        add_decoding_options(parser)
        add_event_options(parser)
        add_display_options(parser)


def _add_command(commands: Commands, name: str, purpose: str, description: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=purpose,
        description=description,
        epilog=EXIT_CODES_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
