"""`tokwire stream`: send a request, and show the events of its response while they arrive."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import tokwire
from tokwire_http import Interrupt
from tokwire_threads import SocketTransport

from ._display import open_display
from ._request import request_for
from ._response import Copy, open_stream
from ._signals import interrupted_by_ctrl_c
from ._stream import show_events, show_failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._arguments import Arguments
    from ._exits import ExitCode

__all__ = ["run"]


def run(arguments: Arguments) -> ExitCode:
    """Send the request that the arguments describe.

    Raises:
        OSError: The body cannot be read, or the raw response cannot be saved.
        UnsureError: The protocol has to be named.
        UsageError: The arguments describe no request.
    """
    request = request_for(arguments)
    interrupt = Interrupt()
    display = open_display(json=arguments.json)
    with opened(arguments.save) as copy, SocketTransport() as transport, interrupted_by_ctrl_c(interrupt.set):
        try:
            response = transport.send(request, timeouts=arguments.timeouts(), interrupt=interrupt)
            stream = open_stream(response, arguments, interrupt, copy)
        except tokwire.TokwireError as error:
            return show_failure(error, display)
        with stream:
            exit_code = show_events(stream, stream, display, with_summary=arguments.summary)
        if copy is not None and copy.error is not None:
            raise copy.error
        return exit_code


@contextmanager
def opened(path: str | None) -> Iterator[Copy | None]:
    """The file that gets the body, where one is named."""
    if path is None:
        yield None
    else:
        with open(path, "wb", buffering=0) as file:
            yield Copy(file)
