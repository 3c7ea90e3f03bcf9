"""One turn of a client on a display, the same for `ask` and `chat`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tokwire

from ._problems import note
from ._signals import interrupted_by_ctrl_c
from ._stream import show_events
from ._usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokwire_threads import Client

    from ._display import Display
    from ._exits import ExitCode

__all__ = ["show_turn"]


def show_turn(
    client: Client, prompt: str | Sequence[tokwire.ContentBlock], display: Display, *, with_summary: bool
) -> ExitCode:
    """Send a prompt, show the events of the turn while they come, and say how it went. Ctrl-C interrupts the turn.

    Raises:
        UsageError: The protocol cannot carry what the history holds, or a tool left the program.
    """
    with client.send(prompt) as turn, interrupted_by_ctrl_c(turn.interrupt):
        try:
            exit_code = show_events(turn, turn, display, with_summary=with_summary)
        except ValueError as error:
            raise UsageError(str(error)) from None
        except SystemExit as stop:
            raise UsageError(f"a tool called sys.exit({stop.code!r}), which ended the turn") from None
    if client.finish_reason is tokwire.FinishReason.MAX_TOOL_ITERATIONS:
        rounds = client.options.max_tool_iterations
        note(f"the last calls were not run, after {rounds} rounds of tools; allow more with --max-tool-iterations")
    return exit_code
