"""The quick machine of deltas: streams of events that are almost equal, on both paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.alike import COHERE_START, KINDS, noisy, server_input
from tests.quick import OPTIONS, check, respelled, ways
from tests.support import START
from tests.wire import begin, piece, tool_use

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGINS: dict[str, Sequence[bytes]] = {
    "openai-chat": [piece(1, "a", "f", "")],
    "anthropic": [
        START,
        begin(0, "text", text=""),
        tool_use(1),
        begin(2, "server_tool_use", id="s", name="w", input={}),
    ],
    "cohere": [COHERE_START],
}
LETTERS = st.text(st.sampled_from('ab"\\\n\u00e9\U0001f600'), max_size=3)
CHANGES = st.sampled_from(
    [
        (b"", b""),
        (b"", b""),
        (b"", b""),
        (b"null", b"0"),
        (b"null", b'""'),
        (b'"}', b'" }'),
        (b'":"', b'": "'),
        (b'":"', b'":\n"'),
        (b'"}', b'"\r}'),
        (b'"}', b'","x":"y"}'),
        (b'"a', b'"\\ud83d'),
        (b'"a', b'"\xff'),
        (b"}\n\n", b"  }\n\n"),
        (b"}\n\n", b"   }\n\n"),
        (b"}\n\n", b" \t}\n\n"),
        (b"}\n\n", b" \x0b}\n\n"),
        (b"}\n\n", b"z}\n\n"),
        (b"data: ", b"data:"),
        (b"\n\n", b"\r\n\r\n"),
        (b"\n\n", b"\nid: 7\n\n"),
        (b'"r1"', b'"r2"'),
        (b'"index":1', b'"index":0'),
        (b'"index":2', b'"index":1'),
        (b'"index":2', b'"index":3'),
        (b'"word"', b'"w"'),
        (b'"word"', b'""'),
        (b'"word"', b'"a","error":{"message":"x"}'),
        (b'"word"}', b'"w"} '),
        (b'"choices"', b'"choices":[],"choices"'),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_streams_of_almost_equal_events(draw: st.DataObject) -> None:
    protocol = draw.draw(st.sampled_from(["openai-chat", "openai-chat", "anthropic", "cohere"]))
    makers = [make for name, _, make in KINDS if name == protocol]
    makers += {"openai-chat": [noisy], "anthropic": [server_input]}.get(protocol, [])
    events = list(BEGINS[protocol])
    for _ in range(draw.draw(st.integers(1, 4))):
        make = draw.draw(st.sampled_from(makers))
        for _ in range(draw.draw(st.integers(1, 8))):
            old, new = draw.draw(CHANGES)
            events.append(make(draw.draw(LETTERS)).replace(old, new) if old else make(draw.draw(LETTERS)))
    if draw.draw(st.booleans()):
        last = make(draw.draw(LETTERS))
        events.append(last[: draw.draw(st.integers(0, len(last)))])
    check(protocol, ways(respelled(events, draw), draw), complete=draw.draw(st.booleans()), **draw.draw(OPTIONS))
