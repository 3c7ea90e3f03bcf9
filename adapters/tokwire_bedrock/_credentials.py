"""`Credentials`: keys of AWS, which are never shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["AWSCredentials", "Credentials"]


class AWSCredentials(Protocol):
    """What can sign: `Credentials`, or any credentials object of botocore or boto3, those that renew themselves too."""

    @property
    def access_key(self) -> str:
        """The id of the key."""
        ...

    @property
    def secret_key(self) -> str:
        """The key itself. It is never sent."""
        ...

    @property
    def token(self) -> str | None:
        """The token of the session, for credentials that expire."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """Keys of AWS that stay the same. Their `repr` hides them all.

    Attributes:
        access_key: The id of the key, such as `AKIA...`.
        secret_key: The key itself. It is never sent.
        token: The token of the session, for keys that expire.

    Raises:
        ValueError: A part is empty, or is not printable ASCII without blanks. What it is is never shown.
        TypeError: A part is no text.
    """

    access_key: str
    secret_key: str
    token: str | None = None

    def __post_init__(self) -> None:
        parts = {"access_key": self.access_key, "secret_key": self.secret_key}
        if self.token is not None:
            parts["token"] = self.token
        for name, value in parts.items():
            if not isinstance(value, str):
                raise TypeError(f"Credentials({name}): expected a text, not {type(value).__name__}")
            if not value:
                raise ValueError(f"Credentials({name}): it is empty")
            if not value.isascii() or not value.isprintable() or " " in value:
                raise ValueError(
                    f"Credentials({name}): it holds blanks, line ends or characters that are not ASCII; "
                    "take what came along when it was copied away"
                )

    def __repr__(self) -> str:
        return "Credentials('***')"
