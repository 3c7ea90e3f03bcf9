"""`tokwire demo`: an embedded recording, served on this machine and streamed at the pace of a live answer.

The recording is synthetic. It holds what a chat client meets: reasoning, text, two tool calls whose arguments come
interleaved, usage, a finish reason and the end marker.
"""

from __future__ import annotations

import sys
from importlib import resources
from typing import TYPE_CHECKING

import tokwire
from tokwire_replay import serve
from tokwire_threads import stream

from ._display import open_display
from ._stream import show_events

if TYPE_CHECKING:
    from ._arguments import Arguments
    from ._exits import ExitCode

__all__ = ["run"]

PROTOCOL = "openai-chat"
# Cuts that fall anywhere, also inside a character, as those of a network do.
CHUNK_BYTES = 100
CHUNK_SECONDS = 0.03


def run(arguments: Arguments) -> ExitCode:
    """Show the recording and then its summary."""
    recording = resources.files(__package__).joinpath("demo.sse").read_bytes()
    pause = CHUNK_SECONDS if sys.stdout.isatty() and not arguments.fast else 0.0
    display = open_display(json=arguments.json)
    decoder = arguments.stream_options().decoder(PROTOCOL)
    with serve(recording, reads=CHUNK_BYTES, delay=pause) as url:
        request = tokwire.HTTPRequest("POST", f"{url}/v1/chat/completions", (), b"{}")
        with stream(request, decoder) as events:
            return show_events(events, events, display, with_summary=True)
