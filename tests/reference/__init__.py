"""A slow and obvious decoder for two protocols, to compare the real one with.

It sees the whole body at once and never cares about reads, limits, speed or memory.
"""

from __future__ import annotations

from .decode import decode
from .outcome import Outcome
from .sse import ReferenceTruncated, decode_sse

__all__ = ["Outcome", "ReferenceTruncated", "decode", "decode_sse"]
