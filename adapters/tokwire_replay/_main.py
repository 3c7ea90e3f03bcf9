"""The command `tokwire replay`: serve a recording until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tokwire_http._header_argument import header_argument

from ._reply import FAULTS, Fault, Reply
from ._server import serve

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

USAGE, INTERRUPTED = 2, 130
DESCRIPTION = """\
Serve a recorded response body over HTTP/1.1 on 127.0.0.1, in answer to every
request, until Ctrl-C. The first line of output is the URL.
"""
EPILOG = "faults, counted in bytes of the body before any coding:\n" + "".join(
    f"  {form}\n" for form in FAULTS.values()
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the arguments of the process, and return its exit code.

    Args:
        argv: The arguments behind `tokwire replay`.

    Returns:
        2 for wrong usage, a file that cannot be read or a port that is taken; 130 after Ctrl-C, which is how it ends.
    """
    try:
        return _run(argv)
    except SystemExit as stop:  # how argparse ends after --help and wrong usage
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        reply = _reply(arguments)
        asyncio.run(_serve(reply, arguments.port))
    except (ValueError, OverflowError) as error:
        parser.error(str(error))
    except OSError as error:
        where = arguments.file if error.filename else f"port {arguments.port}"
        parser.error(f"{where}: {error.strerror}")
    return 0


async def _serve(reply: Reply, port: int) -> None:
    async with serve(reply, port=port) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


def _reply(arguments: argparse.Namespace) -> Reply:
    return Reply(
        body=sys.stdin.buffer.read() if arguments.file == "-" else Path(arguments.file).read_bytes(),
        status=arguments.status,
        headers=arguments.header,
        content_type=arguments.content_type,
        framing=arguments.framing,
        coding=arguments.coding,
        reads=arguments.reads,
        delay=arguments.delay,
        faults=arguments.fault,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tokwire replay",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the recorded body; - reads standard input")
    add("--port", type=int, default=0, help="the port to listen on (default: one that is free)")
    add("--reads", type=int, metavar="N", help="send N bytes of the body at a time (default: all at once)")
    add("--delay", type=float, default=0.0, metavar="SECONDS", help="wait between two reads (default: 0)")
    add("--fault", action="append", default=[], type=_fault, metavar="FAULT", help="may be given again; see below")
    add("--status", type=int, default=200, help="the status code (default: 200)")
    add(
        "--header",
        action="append",
        default=[],
        type=header_argument,
        metavar="'NAME: VALUE'",
        help="may be given again",
    )
    add("--content-type", metavar="TYPE", help="default: guessed from the body")
    add("--framing", choices=("chunked", "length", "close"), default="chunked", help="default: chunked")
    add("--coding", choices=("gzip", "deflate"), help="compress the body")
    return parser


def _fault(text: str) -> str:
    try:
        Fault.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
