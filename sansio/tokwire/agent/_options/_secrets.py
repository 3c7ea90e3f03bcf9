"""Values that are kept for requests and shown to nobody: the key, and the values of headers.

Neither type can be written as JSON, and `repr`, `str` and `format` of both hide what they hold: options that end up in
a log or in the message of an error give nothing away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from ..._http import SHOWN_HEADERS

__all__: list[str] = []


@runtime_checkable
class HidesText(Protocol):
    """An object that hides a text, such as pydantic's `SecretStr`."""

    def get_secret_value(self) -> str:
        """The text."""
        ...


class Secret:
    """A text that is never shown. It is deliberately no `str`: whatever takes text cannot take it by accident."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def get_secret_value(self) -> str:
        """The text."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "Secret('***')"


class HiddenHeaders(Mapping[str, str]):
    """Headers by name, without case, the last of a name. Their `repr` shows only values that tell nothing."""

    __slots__ = ("_headers",)

    def __init__(self, headers: Mapping[str, tuple[str, str]]) -> None:
        self._headers = dict(headers)

    def __getitem__(self, name: str) -> str:
        return self._headers[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._headers.values())

    def __len__(self) -> int:
        return len(self._headers)

    def __repr__(self) -> str:
        shown = (
            f"{name!r}: {value!r}" if name.lower() in SHOWN_HEADERS else f"{name!r}: ..."
            for name, value in self.items()
        )
        return f"{{{', '.join(shown)}}}"
