"""The whole decoder: a body in, an Outcome out."""

from __future__ import annotations

import sys
from typing import Final

from .anthropic import WORDS as ANTHROPIC_WORDS
from .body import Engine
from .openai_chat import WORDS as OPENAI_WORDS
from .outcome import Outcome, StreamFailureError
from .state import State

WORDS: Final = {"openai-chat": OPENAI_WORDS, "anthropic": ANTHROPIC_WORDS}


def decode(
    protocol: str,
    body: bytes,
    *,
    complete: bool = True,
    eof: bool = True,
    include_reasoning: bool = False,
    include_usage: bool = False,
    synthesize_tool_ids: bool = False,
) -> Outcome:
    """Decode one whole body. `eof=False`: the caller never signals an end."""
    state = State(
        WORDS[protocol],
        include_reasoning=include_reasoning,
        include_usage=include_usage,
        synthesize_tool_ids=synthesize_tool_ids,
    )
    error, error_body, error_status = None, None, None
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 5000))  # arguments may be nested 512 deep, and the walks over them recurse
    try:
        Engine(protocol, state).run(body, complete=complete, eof=eof)
    except StreamFailureError as failure:
        for number in sorted(state.choices):
            state.release_halves(state.choices[number])
        error, error_body, error_status = failure.category, failure.body, failure.status
    finally:
        sys.setrecursionlimit(limit)
    return Outcome(
        events=state.events,
        error=error,
        error_body=error_body,
        error_status=error_status,
        dropped=state.dropped,
        response_id=state.response_id,
        model=state.model,
        end_marker=state.end_marker,
        raw_finish_reason=state.raw_reason,
        finish_reasons={n: c.raw_reason for n, c in state.choices.items() if c.raw_reason is not None},
        media=dict(state.media),
    )
