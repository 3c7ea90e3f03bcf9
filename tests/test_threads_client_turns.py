"""The turns of a `Client` of `tokwire_threads`, over scripts: what they give, and how they begin and end."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

import pytest
from tests.agent_scripts import answer, threads_client
from tests.http_fakes import HEAD, ReadTooFarError
from tests.machine import called, said
from tests.support import chunk

import tokwire
from tokwire import Hooks, LocalProtocolError, Message, ToolUseBlock, TurnInterrupted
from tokwire_threads import Turn

if TYPE_CHECKING:
    pass

CHAT = "openai-chat"
CALM = said(CHAT, "Calm")
ASKED, ANSWERED = Message.user("Hello"), Message.assistant("Calm")


def text_of(turn: Turn) -> str:
    """The text of a turn that is read to its end."""
    return tokwire.collect(list(turn)).text


def test_a_turn() -> None:
    client, transport = threads_client(said(CHAT, "Calm", tokens=3))
    turn = client.send("Hello")
    assert transport.requests == []
    assert turn.head is None
    assert [event.as_text() for event in turn] == ["Ca", "lm", None]
    assert client.history == (ASKED, ANSWERED)
    assert client.finish_reason is tokwire.FinishReason.STOP
    assert client.usage is not None
    assert client.usage.input_tokens == 3
    assert client.reasoning is None
    assert turn.head == HEAD
    assert turn.summary is not None
    assert turn.summary.end_marker
    assert list(turn) == []
    assert transport.responses[0].closed == [True]


def test_the_answer_as_a_message() -> None:
    client, _ = threads_client(CALM, said(CHAT, "", called("f")), said(CHAT))
    assert client.send("Hello").collect() == ANSWERED
    call = client.send("Go on").collect()
    assert call.content == (ToolUseBlock("c1", "f", {}),)
    client.add_tool_result("c1", {"depth": 4})
    assert client.send(None).collect() == Message.assistant(())


def test_the_answer_behind_the_tools() -> None:
    tool = tokwire.Tool("f", "", {}, len)
    client, _ = threads_client(said(CHAT, "Wait", called("f")), CALM, tools=[tool], auto_execute_tools=True)
    turn = client.send("Hello")
    next(turn)
    assert turn.collect() == ANSWERED


def test_an_answer_that_is_cut_off_by_closing_is_none() -> None:
    client, _ = threads_client(CALM)
    turn = client.send("Hello")
    next(turn)
    turn.close()
    with pytest.raises(TurnInterrupted, match="closed before its end"):
        turn.collect()


def test_no_more_is_read_than_is_asked_for() -> None:
    client, transport = threads_client(
        answer(chunk({"content": "a"}), chunk({"content": "b"}), CALM, ReadTooFarError())
    )
    turn = client.send("Hello")
    next(turn)
    assert transport.responses[0].taken == 1
    next(turn)
    assert transport.responses[0].taken == 2
    assert text_of(turn) == "Calm"


def test_a_turn_keeps_what_is_known_of_it() -> None:
    first = answer(CALM, head=tokwire.ResponseHead(200, (("x-request-id", "r-1"),)))
    client, _ = threads_client(first, said(CHAT, "", called("f")))
    turn = client.send("Hello")
    assert text_of(turn) == "Calm"
    list(client.send("Again"))
    assert turn.head is not None
    assert turn.head.header("x-request-id") == "r-1"
    assert turn.summary is not None
    assert turn.summary.finish_reason is tokwire.FinishReason.STOP
    assert turn.collect() == ANSWERED


def test_a_turn_that_was_left_at_its_finish_is_whole() -> None:
    client, _ = threads_client(CALM, CALM)
    turn = client.send("Hello")
    for event in turn:
        if isinstance(event, tokwire.Finish):
            break
    client.clear_history()
    assert turn.collect() == ANSWERED
    del turn
    assert text_of(client.send("Hello")) == "Calm"


def test_an_error_comes_again() -> None:
    client, transport = threads_client(answer(b'{"error": {"message": "no"}}', head=tokwire.ResponseHead(401)), CALM)
    turn = client.send("Hello")
    seen = []
    for _ in range(3):
        with pytest.raises(tokwire.APIError, match="no") as caught:
            next(turn)
        seen.append(caught.value)
    assert seen[0] is seen[1] is seen[2]
    assert client.history == ()
    assert transport.responses[0].closed == [False]
    with pytest.raises(tokwire.APIError, match="no"):
        turn.collect()
    assert text_of(client.send("Hello")) == "Calm"


def test_closing_ends_the_turn_and_does_not_raise() -> None:
    client, transport = threads_client(CALM, CALM)
    turn = client.send("Hello")
    next(turn)
    for _ in range(2):
        turn.close()
    assert list(turn) == []
    assert transport.responses[0].closed == [False]
    assert client.history == ()
    assert text_of(client.send("Hello")) == "Calm"


def test_the_with_block_closes() -> None:
    client, transport = threads_client(CALM)
    with client.send("Hello") as turn:
        next(turn)
    assert transport.responses[0].closed == [False]


def test_a_turn_that_was_never_begun_sends_nothing() -> None:
    client, transport = threads_client()
    with client.send("Hello"):
        pass
    turn = client.send("Hello")
    turn.interrupt()
    for _ in range(2):
        with pytest.raises(TurnInterrupted):
            next(turn)
    assert transport.requests == []
    assert client.history == ()


def test_the_next_turn_closes_the_one_before() -> None:
    client, transport = threads_client(CALM, CALM)
    before = client.send("Hello")
    next(before)
    after = client.send("Hello")
    assert transport.responses[0].closed == [False]
    assert list(before) == []
    assert text_of(after) == "Calm"
    assert client.history == (ASKED, ANSWERED)


def test_a_turn_belongs_to_one_thread_at_a_time() -> None:
    reading, go_on = threading.Event(), threading.Event()
    client, _ = threads_client(answer(reading.set, lambda: go_on.wait(10), CALM))
    turn = client.send("Hello")
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(text_of(turn)))
    thread.start()
    assert reading.wait(10)
    with pytest.raises(LocalProtocolError, match="while somebody waits"):
        client.send("Hello")
    with pytest.raises(LocalProtocolError, match="another thread"):
        next(turn)
    with pytest.raises(LocalProtocolError, match="clear_history was called while somebody waits"):
        client.clear_history()
    with pytest.raises(LocalProtocolError, match="add_tool_result was called while somebody waits"):
        client.add_tool_result("c1", 4)
    go_on.set()
    thread.join()
    assert texts == ["Calm"]


def test_closing_from_another_thread_interrupts() -> None:
    reading, go_on = threading.Event(), threading.Event()
    client, transport = threads_client(answer(reading.set, lambda: go_on.wait(10), CALM))
    turn = client.send("Hello")
    errors: list[BaseException] = []

    def read() -> None:
        try:
            next(turn)
        except TurnInterrupted as error:
            errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    assert reading.wait(10)
    turn.close()
    go_on.set()
    thread.join()
    assert len(errors) == 1
    assert transport.responses[0].closed == [False]


def test_a_turn_cannot_be_used_from_its_own_hook() -> None:
    def hook(_: object) -> None:
        next(turns[0])

    client, _ = threads_client(CALM, hooks=Hooks(user_prompt_submit=[hook]))
    turns = [client.send("Hello")]
    with pytest.raises(LocalProtocolError, match="another thread"):
        next(turns[0])


def test_a_turn_that_is_dropped_is_closed_with_a_warning() -> None:
    client, transport = threads_client(CALM, CALM)
    turn = client.send("Hello")
    next(turn)
    with pytest.warns(ResourceWarning, match="unclosed <Turn openai-chat 'm1' open>"):
        del turn
    assert transport.responses[0].closed == [False]
    client.interrupt()
    client.history = (ASKED, ANSWERED)
    assert text_of(client.send("Hello")) == "Calm"
    gc.collect()


def test_an_interrupted_turn_stands_in_nobodys_way() -> None:
    client, _ = threads_client(CALM)
    turn = client.send("Hello")
    next(turn)
    client.interrupt()
    client.history = [ANSWERED]
    with pytest.raises(TurnInterrupted):
        next(turn)
    assert client.history == (ANSWERED,)
    client.interrupt()
