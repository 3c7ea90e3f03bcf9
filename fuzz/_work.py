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
    from types import CodeType, FrameType

CORE: Final = str(Path(tokwire.__file__).parent)
WHOLE: Final = {"count", "decode", "find", "index", "insert", "partition", "pop", "remove", "replace", "rfind", "split"}
"""Methods that may look at all that they are called on."""


class Work:
    """Counts what the core does inside a `with` block."""

    def __enter__(self) -> Work:
        self.instructions = self.looked_at = 0
        self._profile_before = sys.getprofile()
        sys.setprofile(self._called)
        self._begin()
        return self

    def __exit__(self, *caught: object) -> None:
        self._end()
        sys.setprofile(self._profile_before)

    def _called(self, frame: FrameType, what: str, function: Any) -> None:
        if what == "c_call" and function.__name__ in WHOLE and isinstance(function.__self__, bytes | str | list):
            self.looked_at += len(function.__self__)

    if sys.version_info >= (3, 12):  # from here on tracing sees the instructions of some calls only

        def _begin(self) -> None:
            monitoring = sys.monitoring
            monitoring.use_tool_id(monitoring.PROFILER_ID + 1, "work")
            monitoring.register_callback(monitoring.PROFILER_ID + 1, monitoring.events.INSTRUCTION, self._instruction)
            monitoring.set_events(monitoring.PROFILER_ID + 1, monitoring.events.INSTRUCTION)

        def _end(self) -> None:
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID + 1, 0)
            sys.monitoring.free_tool_id(sys.monitoring.PROFILER_ID + 1)

        def _instruction(self, code: CodeType, offset: int) -> None:
            self.instructions += code.co_filename.startswith(CORE)

    else:

        def _begin(self) -> None:
            self._trace_before = sys.gettrace()
            sys.settrace(self._entered)

        def _end(self) -> None:
            sys.settrace(self._trace_before)

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
