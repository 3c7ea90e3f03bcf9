"""`tokwire decode`: a recorded body, or one that is just arriving on stdin, as events.

What `curl -i` printed is a body with heads before it, which then judge it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokwire
from tokwire_http import ChunkResponse

from ._curl import take_heads
from ._display import open_display
from ._input import open_chunks
from ._response import open_stream
from ._sniff import settle_protocol
from ._stream import show_events, show_failure, show_stream

if TYPE_CHECKING:
    from ._arguments import Arguments
    from ._exits import ExitCode

__all__ = ["run"]


def run(arguments: Arguments) -> ExitCode:
    """Decode the body that the arguments name.

    Raises:
        OSError: The file cannot be read.
        UnsureError: The protocol has to be named.
    """
    options = arguments.stream_options()
    with open_chunks(arguments.file) as arriving:
        try:
            head, body = take_heads(arriving)
        except tokwire.RemoteProtocolError as error:
            return show_failure(error, open_display(json=arguments.json))
        if head is not None:
            with open_stream(ChunkResponse(head, body), arguments) as stream:
                return show_events(stream, stream, open_display(json=arguments.json), with_summary=arguments.summary)
        protocol, chunks = settle_protocol(arguments.protocol, body, options)
        display = open_display(json=arguments.json)
        return show_stream(options.decoder(protocol), chunks, display, with_summary=arguments.summary)
