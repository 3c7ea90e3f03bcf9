"""`RequestShape`: all that differs between the requests of one API and those of the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from ..._messages import Message
    from .._options import AgentOptions

__all__: list[str] = []


class RequestShape(Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """How one API wants its requests.

    Attributes:
        path: What follows the base URL, with its leading slash; it may hold a query.
        headers: Credentials and what else the API needs. Those that every request has are added, unless given here;
            the caller's replace both.
        body: The JSON object of the request, made anew each time from messages as `arranged` leaves them. A field of
            None is left out; the caller's `extra_body` is merged in afterwards.
    """

    path: Callable[[AgentOptions], str]
    headers: Callable[[AgentOptions], list[tuple[str, str]]]
    body: Callable[[AgentOptions, Sequence[Message]], dict[str, Any]]
