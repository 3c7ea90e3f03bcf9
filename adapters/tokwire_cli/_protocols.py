"""`tokwire protocols`: the names that `--protocol` takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import tokwire

from ._exits import ExitCode
from ._screen import open_screen

if TYPE_CHECKING:
    from ._arguments import Arguments

__all__ = ["run"]


def run(_arguments: Arguments) -> ExitCode:
    """Write each protocol with its other names."""
    open_screen(sys.stdout).rows([(protocol.name, ", ".join(protocol.aliases)) for protocol in tokwire.protocols()])
    return ExitCode.COMPLETE
