"""`tokwire ask`: one turn with a model, with the tools that the arguments name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokwire_threads import Client

from ._agent import options_for, prompt_for
from ._display import open_display
from ._tools import loaded_tools
from ._turns import show_turn

if TYPE_CHECKING:
    from ._arguments import Arguments
    from ._exits import ExitCode

__all__ = ["run"]


def run(arguments: Arguments) -> ExitCode:
    """Ask what the arguments say, and show the answer.

    Raises:
        OSError: Something that the arguments name cannot be read.
        UsageError: The arguments describe no request.
    """
    with loaded_tools(arguments.tools) as tools:
        options = options_for(arguments, tools)
        prompt = prompt_for(arguments)
        with Client(options) as client:
            return show_turn(client, prompt, open_display(json=arguments.json), with_summary=arguments.summary)
