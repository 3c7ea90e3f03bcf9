"""What an input means: four bytes say how to decode, the rest is the body.

Byte 0 names the protocol, byte 1 the options, byte 2 the limits and whether the transport cut the body, byte 3 where
the body is cut into reads. Every target reads the same header, so that inputs can be moved between them; `o@@0` is
Chat Completions with the options and limits that a decoder has by default.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tokwire import DecoderOptions, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEADER_BYTES: Final = 4
PROTOCOLS: Final[Mapping[int, str]] = {
    ord("o"): "openai-chat",
    ord("a"): "anthropic",
    ord("r"): "openai-responses",
    ord("g"): "gemini",
    ord("l"): "ollama",
    ord("b"): "bedrock",
    ord("c"): "cohere",
}
"""First byte of an input to protocol. A new protocol is a line here."""
OPTION_BITS: Final = (
    "include_reasoning",
    "include_usage",
    "include_tool_deltas",
    "include_raw",
    "keep_thinking",
    "synthesize_tool_ids",
)
REPAIR_BIT: Final = 0x80
CUT_BIT: Final = 0x20

LIMITS: Final = (
    Limits(),
    Limits(max_line_bytes=64),
    Limits(max_event_bytes=64),
    Limits(max_line_bytes=200, max_event_bytes=140, max_frame_bytes=150),
    Limits(max_line_bytes=140, max_event_bytes=200),
    Limits(max_json_depth=4),
    Limits(max_json_depth=8),
    Limits(max_tool_arguments_bytes=8),
    Limits(max_tool_arguments_bytes=40),
    Limits(max_tool_calls=1),
    Limits(max_tool_calls=3),
    Limits(max_line_bytes=250, max_event_bytes=250, max_tool_arguments_bytes=20, max_tool_calls=2, max_json_depth=7),
    Limits(max_line_bytes=None, max_event_bytes=None, max_tool_arguments_bytes=None, max_tool_calls=None),
    Limits(max_line_bytes=1, max_event_bytes=1),
    Limits(max_line_bytes=20, max_event_bytes=400, max_frame_bytes=60),
    Limits(max_tool_arguments_bytes=1, max_tool_calls=2),
)


class Plan(NamedTuple):
    """One input, read.

    Attributes:
        protocol: Name of the protocol.
        options: Options of the decoder, limits included.
        complete: False where the transport says that the body was cut.
        seed: Says where the body is cut into reads.
        body: The bytes of the body.
    """

    protocol: str
    options: DecoderOptions
    complete: bool
    seed: int
    body: bytes

    @property
    def limits(self) -> Limits:
        """The limits of the decoder."""
        return self.options["limits"]


def plan_of(data: bytes, protocol: str | None = None) -> Plan:
    """Read an input.

    Args:
        data: The input; what its header lacks is zero.
        protocol: The protocol, whatever the header says.
    """
    which, flags, limits, seed = data[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0")
    names = list(PROTOCOLS.values())
    chosen: Any = {name: bool(flags >> bit & 1) for bit, name in enumerate(OPTION_BITS)}
    options: DecoderOptions = chosen
    options["limits"] = LIMITS[limits % len(LIMITS)]
    if flags & REPAIR_BIT:
        options["repair_arguments"] = repair
    protocol = protocol or PROTOCOLS.get(which, names[which % len(names)])
    return Plan(protocol, options, not limits & CUT_BIT, seed, data[HEADER_BYTES:])


def repair(text: str) -> dict[str, str]:
    """A repair of arguments as a caller may bring it: some texts it mends, at others it fails.

    Raises:
        KeyError: The text does not begin like an object.
    """
    if not text.startswith("{"):
        raise KeyError(text)
    return {"repaired": text}


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """The body, cut at the places; equal places give empty reads."""
    return [body[start:end] for start, end in pairwise([0, *sorted(places), len(body)])]


def single_bytes(body: bytes) -> list[bytes]:
    """The body, one byte per read."""
    return [body[place : place + 1] for place in range(len(body))]


def by_events(body: bytes) -> list[bytes]:
    """The body, cut behind every blank line: the reads of a server that flushes each event."""
    return cut(body, [match.end() for match in re.finditer(rb"\n\n|\r\n\r\n|\r\r", body)])


def derived_cuts(body: bytes, seed: int) -> list[list[bytes]]:
    """Ways to cut the body that follow from the seed: a few random places, and places near line ends."""
    lot = random.Random(seed)
    near = [match.start() + lot.randrange(-1, 3) for match in re.finditer(rb"[\r\n]+", body)]
    near = [min(max(place, 0), len(body)) for place in near if lot.random() < 0.5]
    few = [lot.randrange(len(body) + 1) for _ in range(lot.choice((1, 2, 5)))]
    size = lot.choice((2, 3, 7, 16, 61))
    return [cut(body, few), cut(body, near), cut(body, range(size, len(body), size))]
