"""`Attempts`: the requests of a turn, one after the other, with what they cost and which of them are sent again."""

from __future__ import annotations

from collections.abc import Callable

from .._errors import TokwireError
from .._events import Retrying, Usage
from ._exchange import Exchange
from ._options import AgentOptions
from ._retry import next_retry_delay
from ._usage import sum_of_usage

__all__: list[str] = []


class Attempts:
    """Counts the attempts of one request after the other.

    Args:
        options: When to try again.
        random: Gives numbers from 0 up to 1, for the delays.

    Attributes:
        exchange: The last request and its response.
        retrying: What is known of the next attempt, while it is waited for.
    """

    def __init__(self, options: AgentOptions, random: Callable[[], float]) -> None:
        self.exchange = Exchange(options)
        self.retrying: Retrying | None = None
        self._options = options
        self._random = random
        self._failed = 0
        self._past_usage: Usage | None = None
        self._past_reasoning: list[str] = []

    @property
    def reasoning(self) -> str | None:
        """The reasoning of all responses, joined; None where there was none."""
        return "".join((*self._past_reasoning, *self.exchange.reasoning)) or None

    @property
    def usage(self) -> Usage | None:
        """The tokens of all responses, as far as the server said them."""
        return sum_of_usage(self._past_usage, self.exchange.decoder.summary.usage)

    def begin(self) -> None:
        """Another request: it has all its attempts."""
        self._failed = 0
        self._renew()

    def again(self) -> None:
        """The same request once more."""
        self.retrying = None
        self._renew()

    def failed(self, error: Exception) -> bool:
        """Whether the request is to be sent again: that is allowed, and nobody has seen any of its response."""
        delay = None
        if self._options.retry is not None and not self.exchange.has_given:
            delay = next_retry_delay(self._options.retry, self._failed + 1, error, self._random)
        if delay is None or not isinstance(error, TokwireError):
            return False
        self._failed += 1
        self.retrying = Retrying(self._failed, delay, error)
        return True

    def _renew(self) -> None:
        self._past_usage = self.usage
        self._past_reasoning += self.exchange.reasoning
        self.exchange = Exchange(self._options)
