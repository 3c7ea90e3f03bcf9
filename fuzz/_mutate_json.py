"""Mutations of a JSON value: one change in it, with the words of the protocols."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fuzz._words import NAMES, THINGS, VALUES

if TYPE_CHECKING:
    from random import Random


def written(value: Any) -> bytes:
    """JSON without blanks. Surrogates are escaped, numbers out of range stay words."""
    return json.dumps(value, separators=(",", ":")).encode()


def changed(value: Any, lot: Random) -> Any:
    """A JSON value with one change in it."""
    holders: list[tuple[Any, Any]] = []
    collect_places(value, holders)
    if not holders or lot.random() < 0.03:
        return lot.choice(THINGS)
    holder, key = lot.choice(holders)
    match lot.randrange(8):
        case 0:
            del holder[key]
        case 1:
            holder[key] = lot.choice(THINGS)
        case 2:
            holder[key] = lot.choice(VALUES)
        case 3:
            other, place = lot.choice(holders)
            holder[key], other[place] = other[place], holder[key]
        case 4 if isinstance(holder, dict):
            holder[lot.choice(NAMES)] = holder[key] if lot.random() < 0.5 else holder.pop(key)
        case 4:
            holder.insert(key, holder[key])
        case 5 if isinstance(holder, dict):
            holder[lot.choice(NAMES)] = lot.choice((lot.choice(THINGS), lot.choice(VALUES)))
        case 6 if isinstance(holder[key], str):
            holder[key] = spliced(holder[key], lot.choice(VALUES), lot)
        case 6 if isinstance(holder[key], int):
            holder[key] = int(holder[key]) + lot.choice((-1, 1))
        case _:
            holder[key] = lot.choice(([holder[key]], {lot.choice(NAMES): holder[key]}, str(holder[key])))
    return cut_cycles(value)


def collect_places(value: Any, found: list[tuple[Any, Any]]) -> None:
    """Every place in a JSON value, as its holder and the key in it."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        keys: Any = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        found += [(item, key) for key in keys]
        waiting += [item[key] for key in keys]


def cut_cycles(value: Any) -> Any:
    """The value, or a plain one where a swap put something into itself or nested it beyond writing."""
    try:
        json.dumps(value)
    except (ValueError, RecursionError):
        return {}
    return value


def spliced(text: str, word: str, lot: Random) -> str:
    """Text with a word put in, or cut short."""
    place = lot.randrange(len(text) + 1)
    return text[:place] if lot.random() < 0.3 else text[:place] + word + text[place:]
