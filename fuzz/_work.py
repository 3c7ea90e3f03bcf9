"""Counting the work of the core: instructions executed, and what the methods that it calls have to look at.

Both are the same in every run and on every machine, so a test can say that twice the input is twice the work, and
nothing needs to be timed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tokwire

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

CORE: Final = str(Path(tokwire.__file__).parent)
WHOLE: Final = {"count", "decode", "find", "index", "insert", "partition", "pop", "remove", "replace", "rfind", "split"}
"""Methods that may look at all that they are called on."""


class Work:
    """Counts what the core does inside a `with` block."""

    def __enter__(self) -> Work:
        self.instructions = self.looked_at = 0
        self._before = sys.gettrace(), sys.getprofile()
        sys.setprofile(self._called)
        sys.settrace(self._entered)
        return self

    def __exit__(self, *caught: object) -> None:
        trace, profile = self._before
        sys.settrace(trace)
        sys.setprofile(profile)

    def _called(self, frame: FrameType, what: str, function: Any) -> None:
        if what == "c_call" and function.__name__ in WHOLE and isinstance(function.__self__, bytes | str | list):
            self.looked_at += len(function.__self__)

    def _entered(self, frame: FrameType, what: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(CORE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._executed

    def _executed(self, frame: FrameType, what: str, argument: object) -> Any:
        self.instructions += what == "opcode"
        return self._executed


def work_for(protocol: str, reads: Iterable[bytes], **options: Any) -> Work:
    """The work of decoding the reads."""
    decoder = tokwire.StreamDecoder(protocol, **options)
    with Work() as work:
        try:
            for read in reads:
                decoder.receive_data(read)
                list(decoder.events())
            decoder.receive_eof()
            list(decoder.events())
        except tokwire.TokwireError:
            pass
    return work
