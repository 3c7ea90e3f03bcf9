"""How a target says that something is wrong."""

from __future__ import annotations


class BrokenInvariantError(AssertionError):
    """Something that must hold for every input does not hold for this one.

    Attributes:
        rule: What must hold, in a few words: the same for every input that breaks it.
    """

    def __init__(self, rule: str, found: object) -> None:
        self.rule = rule
        super().__init__(f"{rule}\n{found}")


def demand(holds: object, rule: str, *found: object) -> None:
    """Require that something holds.

    Raises:
        BrokenInvariantError: It does not; the message shows what was found.
    """
    if not holds:
        raise BrokenInvariantError(rule, "\n".join(map(shown, found)))


def shown(value: object) -> str:
    """A value for the message of a finding, cut to a length that can be read."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 2000 else f"{text[:2000]}..."


def same(expected: object, found: object, rule: str, *more: object) -> None:
    """Require that two things have one representation, which tells 1, 1.0 and true apart and knows that NaN is NaN."""
    left, right = repr(expected), repr(found)
    if left != right:
        pairs = enumerate(zip(left, right, strict=False))
        place = next((number for number, (one, other) in pairs if one != other), min(len(left), len(right)))
        around = slice(max(place - 60, 0), place + 60)
        difference = f"they part at character {place}: {left[around]!r} and {right[around]!r}"
        raise BrokenInvariantError(rule, "\n".join([difference, shown(left), shown(right), *map(shown, more)]))
