"""Findings: which inputs break what, the smallest of each, and the files they are kept in."""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from typing import TYPE_CHECKING, NamedTuple

from fuzz._check import BrokenInvariantError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOUND = "found: "
MAX_TRIES = 4000


class Finding(NamedTuple):
    """One input that broke something.

    Attributes:
        rule: What broke, in words that are the same for every input that breaks it: the rule, or the type of the
            exception and where it was raised.
        data: The input.
        text: What was found.
    """

    rule: str
    data: bytes
    text: str


class Findings:
    """The findings of a run: the smallest input of each rule."""

    def __init__(self, one_input: Callable[[bytes], None]) -> None:
        self._one_input = one_input
        self.by_rule: dict[str, Finding] = {}

    def try_input(self, data: bytes) -> Finding | None:
        """Run the target. Returns what was found where that is new, or smaller than what is known."""
        found = tried(self._one_input, data)
        if found is None:
            return None
        known = self.by_rule.get(found.rule)
        if known is not None and len(known.data) <= len(data):
            return None
        if known is None:
            print(f"{FOUND}{found.rule}", file=sys.stderr, flush=True)
        self.by_rule[found.rule] = found
        return found

    def smallest(self) -> list[Finding]:
        """Every finding, its input made as small as it will go."""
        return [minimised(self._one_input, found) for found in self.by_rule.values()]


def tried(one_input: Callable[[bytes], None], data: bytes) -> Finding | None:
    """What one input breaks, or None."""
    try:
        one_input(data)
    except BrokenInvariantError as error:
        return Finding(error.rule, data, str(error))
    except Exception as error:  # noqa: BLE001 - whatever leaves the core that should not is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].name}"
        return Finding(f"{type(error).__name__} in {place}", data, "".join(traceback.format_exception(error)))
    return None


def minimised(one_input: Callable[[bytes], None], found: Finding) -> Finding:
    """A smaller input that breaks the same rule: pieces are left out, from halves down to single bytes."""
    tries = 0
    size = max(len(found.data) // 2, 1)
    while size and tries < MAX_TRIES:
        place, is_smaller = 0, False
        while place < len(found.data) and tries < MAX_TRIES:
            tries += 1
            again = tried(one_input, found.data[:place] + found.data[place + size :])
            if again is not None and again.rule == found.rule:
                found, is_smaller = again, True
            else:
                place += size
        if not is_smaller:
            size //= 2
    return found


def file_name(found: Finding) -> str:
    """The name of the file of a finding: words of its rule, and a digest of it that keeps rules apart."""
    words = re.sub(r"[^a-z0-9]+", "-", found.rule.lower()).strip("-")[:60].strip("-")
    return f"{words}-{hashlib.sha256(found.rule.encode()).hexdigest()[:8]}"


def keep(found: Finding, folder: Path) -> Path:
    """Write the input of a finding into a folder, in the place of an earlier one that breaks the same rule."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(found)
    path.write_bytes(found.data)
    return path
