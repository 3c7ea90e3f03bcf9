"""The options of a decoder, in one object that is handed down."""

from __future__ import annotations

from msgspec import Struct

from ._arguments import Repair
from ._limits import Limits

__all__: list[str] = []


class DecodeOptions(Struct, frozen=True, kw_only=True, gc=False):
    """The options of a `StreamDecoder`, under the names that it documents."""

    include_reasoning: bool
    include_usage: bool
    include_tool_deltas: bool
    include_raw: bool
    keep_thinking: bool
    synthesize_tool_ids: bool
    repair_arguments: Repair | None
    limits: Limits
