"""What must hold for a decoder, whatever the body: the promises of the project as one function."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from fuzz._check import demand, same
from fuzz._plan import Plan, by_events, derived_cuts, single_bytes
from fuzz._runs import HABITS, Run, run, run_as
from fuzz._values import OPT_IN, check_error, check_events, check_summary
from tokwire import (
    ApiProtocol,
    Finish,
    LimitExceeded,
    TokwireError,
    collect,
    decode,
    detect,
)
from tokwire.framing._sse_body import SSEBody
from tokwire.framing.eventstream import prelude_of
from tokwire.protocols import find_protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

MARKS = 8
PLACE = re.compile(r" \(at byte \d+ of the body\)")


def check(plan: Plan) -> None:
    """Decode one body in many ways and require that all of them agree, and that what they give is sound."""
    body = plan.body
    lot = random.Random(plan.seed)
    derived = lot.choice(derived_cuts(body, plan.seed))
    flushed = by_events(body)
    places = boundaries(derived) + boundaries(flushed)
    marks_at = {len(body), *lot.sample(places, min(MARKS, len(places)))}

    whole = run(plan, [body], marks_at=marks_at)
    check_sound(plan, whole)
    single = run(plan, single_bytes(body), marks_at=marks_at)
    agree(whole, single, "one byte per read")
    for reads in (derived, flushed):
        agree(single, run(plan, reads, marks_at=marks_at), "reads cut elsewhere", reads)
    reads = lot.choice(([body], derived, flushed))
    agree(single, run(plan, reads, exact=True, marks_at=marks_at), "the exact path alone", reads)
    habit, reads = lot.choice(HABITS), lot.choice((derived, flushed))
    agree(single, run_as(plan, reads, habit), f"the habit {habit.__name__}", reads)
    check_shortcuts(plan, whole)
    check_options(plan, whole)
    check_line_ends(plan, whole, lot.choice((b"\r\n", b"\r")))


def boundaries(reads: Sequence[bytes]) -> list[int]:
    """The offsets at which the reads end."""
    ends, position = [], 0
    for read in reads:
        position += len(read)
        ends.append(position)
    return ends


def agree(expected: Run, found: Run, way: str, reads: object = "") -> None:
    """Require that two ways to decode a body gave the same, and knew the same after the same bytes."""
    kinds = " and ".join("none" if one.failure is None else one.failure[0] for one in (expected, found))
    same(expected.outcome, found.outcome, f"the same events, error and summary: {way} (errors: {kinds})", reads)
    for offset in expected.marks.keys() & found.marks.keys():
        one, other = expected.marks[offset], found.marks[offset]
        same(one[:2], other[:2], f"the same events after the same bytes: {way}", offset, reads)
        if one.summary and other.summary:
            same(one.summary, other.summary, f"the same summary after the same bytes: {way}", offset, reads)


def check_sound(plan: Plan, whole: Run) -> None:
    """Require of the result what holds for every stream."""
    check_events(whole.events, plan, failed=whole.error is not None)
    check_summary(whole.facts, plan)
    if whole.error is not None:
        check_error(whole.error, plan.body)
    if isinstance(whole.error, LimitExceeded):
        demand(getattr(plan.limits, whole.error.limit) == whole.error.value, "a limit tells its value", whole.error)
    if whole.error is None:
        reasons = [event.reason for event in whole.events if isinstance(event, Finish)]
        same(reasons, [whole.facts.finish_reason], "Finish and the summary tell the same reason")


def check_shortcuts(plan: Plan, whole: Run) -> None:
    """Require that the functions beside the decoder agree with it, and that none of them fails."""
    if plan.complete:
        try:
            events = decode(plan.body, plan.protocol, **plan.options)
        except TokwireError as error:
            same(whole.events, list(error.events), "decode() gives what came before its error")
            demand(whole.error is not None and str(whole.error) == str(error), "decode() raises the same error", error)
        else:
            same(whole.events, events, "decode() gives the same events")
    for choice in (0, 1):
        answer = collect(whole.events, choice=choice)
        text = "".join(event.as_text() or "" for event in whole.events if event.choice == choice)
        demand(answer.text == text, "collect() joins the text of a choice", answer)
    found = detect(plan.body)
    demand(found is None or isinstance(found, ApiProtocol), "detect() answers a protocol or None", found)


def check_options(plan: Plan, whole: Run) -> None:
    """Require that an option that adds events changes nothing else, and that thinking is only kept beside the rest."""
    options = plan.options.copy()
    for name in ("include_reasoning", "include_usage", "include_tool_deltas", "include_raw", "keep_thinking"):
        options[name] = False
    bare = plan._replace(options=options)
    found = run(bare, [plan.body], marks_at=())
    kept = [event for event in whole.events if type(event) not in OPT_IN]
    same(kept, found.events, "options add events and change none")
    same(whole.failure, found.failure, "options do not change the error")


def check_line_ends(plan: Plan, whole: Run, end: bytes) -> None:
    """Require that an event stream with other line ends means the same; its offsets differ.

    In the prelude of an AWS event stream a line feed is part of a number, and another byte in its place is damage.
    """
    is_binary = prelude_of(plan.body) is not None
    if is_binary or b"\r" in plan.body or find_protocol(plan.protocol).framing is not SSEBody:
        return
    body = plan.body.replace(b"\n", end)
    other = run(plan._replace(body=body), [body], marks_at=())
    same(whole.events, other.events, f"the same events with {end!r} as line end")
    same(without_places(whole), without_places(other), f"the same error with {end!r} as line end")


def without_places(found: Run) -> object:
    """An error without the offsets in it."""
    if found.failure is None:
        return None
    kind, text, facts = found.failure
    return kind, PLACE.sub("", text), {name: value for name, value in facts.items() if name not in ("offset", "args")}
