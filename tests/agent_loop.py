"""A whole loop for real servers: three rounds, two tools, and a first body that waits in its middle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from tests.machine import called, options, said
from tests.support import text_stream

import tokwire
from tokwire_replay import ReplayServer, Reply, serve

if TYPE_CHECKING:
    from collections.abc import Sequence

KEY = "sk-harbour-4711"
QUESTION = "Can the ferry leave?"
TEXTS = ["I look.", "It leaves at noon."]
ROLES = {
    "openai-chat": ["user", "assistant", "tool", "tool", "assistant", "tool"],
    "anthropic": ["user", "assistant", "user", "assistant", "user"],
}


@tokwire.tool
def tide(port: Annotated[str, msgspec.Meta(description="Where")]) -> dict[str, Any]:
    """The height of the tide."""
    return {"port": port, "metres": 4}


@tokwire.tool
async def ferry(crates: int = 1) -> str:
    """Whether the ferry carries so many crates."""
    return "yes" if crates < 10 else "no"


def loop_options(protocol: str, url: str) -> tokwire.AgentOptions:
    """The options of the caller."""
    return options(protocol, base_url=url, api_key=KEY, tools=[tide, ferry], auto_execute_tools=True)


def loop_server(protocol: str) -> ReplayServer:
    """The server; `release` lets the first body go on behind its first text."""
    tide_in_ayr, few = called("tide", '{"port": "Ayr"}', "c1"), called("ferry", '{"crates": "3"}', "c2")
    first = said(protocol, TEXTS[0], tide_in_ayr, few)
    half = TEXTS[0][: (len(TEXTS[0]) + 1) // 2]
    return serve(
        Reply(body=first, faults=[f"stall:{len(text_stream(protocol, half))}"]),
        Reply(body=said(protocol, "", called("ferry", '{"crates": 30}', "c3"))),
        Reply(body=said(protocol, TEXTS[1]), reads=7),
    )


def check_loop(
    protocol: str, server: ReplayServer, events: Sequence[tokwire.StreamEvent], history: Sequence[tokwire.Message]
) -> None:
    """See that everything went as it should, on both sides."""
    blocks = [event.as_block() for event in events]
    results = [block.content for block in blocks if isinstance(block, tokwire.ToolResultBlock)]
    assert results == ['{"port":"Ayr","metres":4}', "yes", "no"]
    assert tokwire.collect(list(events)).text == "".join(TEXTS)
    assert events[-1] == tokwire.Finish(tokwire.FinishReason.STOP)
    assert [message.role for message in history] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert server.connections == 1
    assert len(server.requests) == 3
    sent = [json.loads(request.body) for request in server.requests]
    assert [message["role"] for message in sent[2]["messages"]] == ROLES[protocol]
    assert sent[1]["messages"] == sent[2]["messages"][: len(sent[1]["messages"])]
    assert KEY not in repr((events, history, sent))
