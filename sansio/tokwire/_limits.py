"""`Limits`: how much of anything the decoder accepts. One frozen object, passed through by every adapter."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Limits"]

MIB = 1 << 20
NO_LIMIT = 1 << 62


class Limits(Struct, frozen=True, kw_only=True):
    """Upper bounds for what a peer may send; None switches one off. Crossing one raises `LimitExceeded`.

    A limit gives the same verdict however the bytes were cut into reads.

    Attributes:
        max_line_bytes: One line, without its line end. Image models send one line of about 30 MB.
        max_event_bytes: The joined data of one event, one JSON body, or one array element; same reason.
        max_tool_arguments_bytes: Argument characters of all tool calls that are pending together.
        max_tool_calls: Tool calls in one stream; also caps the lists of the summary.
        max_frame_bytes: One AWS event-stream frame: a legal one has 24 MiB of payload and its headers.
        max_json_depth: Nesting of one JSON text; far above any real schema, far below the interpreter's stack.
        max_head_bytes: One HTTP response head; servers and proxies agree on at most 64 KiB.
        max_error_body_bytes: Body of a response whose status is an error, which is kept whole to be read.
    """

    max_line_bytes: int | None = 32 * MIB
    max_event_bytes: int | None = 32 * MIB
    max_tool_arguments_bytes: int | None = 32 * MIB
    max_tool_calls: int | None = 4096
    max_frame_bytes: int | None = 25 * MIB
    max_json_depth: int | None = 512
    max_head_bytes: int | None = 64 << 10
    max_error_body_bytes: int | None = MIB

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(
                    f"Limits({name}={value!r}): expected a whole number of at least 1, or None for no limit"
                )


def comparable(limit: int | None) -> int:
    """A limit as a number; no stream reaches the one that stands for none."""
    return NO_LIMIT if limit is None else limit
