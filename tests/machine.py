"""A bare driver for `Conversation`: it plays a script of replies and writes down all that the machine asks for."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import START, STOP, chunk, close_block, delta, end_of_content, open_block, tool

import tokwire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DONE = b"data: [DONE]\n\n"
PROTOCOLS = ("openai-chat", "anthropic")
OK = tokwire.ResponseHead(200, (("content-type", "text/event-stream"),))


class Reply(NamedTuple):
    """What the server answers: a body, or an error of the transport in place of a head or of the end of the body."""

    body: bytes = b""
    head: tokwire.ResponseHead = OK
    refused: Exception | None = None
    broken: Exception | None = None
    complete: bool = True


def called(name: str, arguments: str = "{}", call_id: str = "c1") -> tuple[str, str, str]:
    """A tool call of a reply."""
    return name, arguments, call_id


def said(
    protocol: str, text: str = "", *calls: tuple[str, str, str], reason: str | None = None, tokens: int | None = None
) -> bytes:
    """The body of a whole answer, the text in two fragments."""
    half = (len(text) + 1) // 2
    fragments = [part for part in (text[:half], text[half:]) if part]
    return (
        _chat(fragments, calls, reason, tokens)
        if protocol == "openai-chat"
        else _blocks(fragments, calls, reason, tokens)
    )


def _chat(fragments: list[str], calls: Sequence[tuple[str, str, str]], reason: str | None, tokens: int | None) -> bytes:
    parts = [chunk({"content": fragment}) for fragment in fragments]
    parts += [tool(at, call_id, name, arguments) for at, (name, arguments, call_id) in enumerate(calls)]
    parts.append(chunk({}, reason or ("tool_calls" if calls else "stop")))
    if tokens is not None:
        parts.append(chunk(choices=[], usage={"prompt_tokens": tokens, "completion_tokens": 1}))
    return b"".join(parts) + DONE


def _blocks(
    fragments: list[str], calls: Sequence[tuple[str, str, str]], reason: str | None, tokens: int | None
) -> bytes:
    parts = [
        START,
        open_block(0, type="text", text=""),
        *(delta(0, "text", part) for part in fragments),
        close_block(0),
    ]
    for at, (name, arguments, call_id) in enumerate(calls, 1):
        parts += [open_block(at, type="tool_use", id=call_id, name=name, input={})]
        parts += [delta(at, "input_json", arguments), close_block(at)]
    counts = {} if tokens is None else {"usage": {"input_tokens": tokens, "output_tokens": 1}}
    parts.append(end_of_content(reason or ("tool_use" if calls else "end_turn"), **counts))
    return b"".join(parts) + STOP


def options(protocol: str = "openai-chat", **changes: Any) -> tokwire.AgentOptions:
    """Options that any test can use."""
    given: dict[str, Any] = {"model": "m1", "base_url": "http://quay.example/v1", "max_tokens": 100, **changes}
    return tokwire.AgentOptions(protocol=protocol, **given)


class Driver:
    """Does what a conversation asks for, from a script.

    Args:
        given: The options.
        replies: The answers of the server, in order; bytes are a body under status 200.
        history: What was said before.
        size: The bytes of a read; None for the whole body.
        before: Called with the driver and each action, before it is done: the place to interrupt.
    """

    def __init__(
        self,
        given: tokwire.AgentOptions,
        replies: Sequence[Reply | bytes] = (),
        *,
        history: Sequence[tokwire.Message] = (),
        size: int | None = None,
        before: Callable[[Driver, tokwire.Action], object] | None = None,
    ) -> None:
        self.conversation = tokwire.Conversation(given, history, random=lambda: 0.5)
        self.replies = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
        self.size = size
        self.before = before
        self.events: list[tokwire.StreamEvent] = []
        self.actions: list[tokwire.Action] = []
        self.requests: list[dict[str, Any]] = []
        self._reads: Iterator[bytes] = iter(())
        self._reply = Reply()

    def send(self, prompt: Any = None) -> list[tokwire.StreamEvent]:
        """Run one turn to its end; whatever ended it is raised, with the events before it in `events`."""
        self.conversation.send(prompt)
        self.events = []
        while True:
            for event in self.conversation.events():
                self.events.append(event)
            action = self.conversation.next_action()
            self.actions.append(action)
            if self.before is not None:
                self.before(self, action)
            if isinstance(action, tokwire.Done):
                return self.events
            self.do(action)

    def send_until_tools(self, prompt: Any) -> tokwire.CallTools:
        """Run a turn up to the first batch of tools, and leave that to the test."""
        self.conversation.send(prompt)
        list(self.conversation.events())
        while not isinstance(action := self.conversation.next_action(), tokwire.CallTools):
            self.do(action)
            list(self.conversation.events())
        return action

    def do(self, action: tokwire.Action) -> None:
        """Do one action and answer it."""
        match action:
            case tokwire.SendRequest(request):
                self._ask(request)
            case tokwire.ReadResponse():
                self._read()
            case tokwire.CallTools(calls):
                for call in calls:
                    self.conversation.tool_finished(call, outcome_of(call))
            case tokwire.AskHook(event, handler):
                self._hook(event, handler)
            case tokwire.Wait():
                self.conversation.waited()

    @property
    def kinds(self) -> list[str]:
        """The actions so far, by name."""
        return [type(action).__name__ for action in self.actions]

    @property
    def text(self) -> str:
        """The text of the last turn."""
        return tokwire.collect(self.events).text

    @property
    def results(self) -> list[tokwire.ToolResultBlock]:
        """The results among the events of the last turn."""
        blocks = [event.as_block() for event in self.events]
        return [block for block in blocks if isinstance(block, tokwire.ToolResultBlock)]

    @property
    def said(self) -> list[tuple[str, ...]]:
        """The history, each message as its role and its blocks in short."""
        return [(message.role, *map(short, message.content)) for message in self.conversation.history]

    def _ask(self, request: tokwire.HTTPRequest) -> None:
        self.requests.append(json.loads(request.body))
        self._reply = self.replies.pop(0)
        if self._reply.refused is not None:
            self.conversation.request_failed(self._reply.refused)
            return
        body = self._reply.body
        size = self.size or len(body) or 1
        self._reads = iter([body[at : at + size] for at in range(0, len(body), size)])
        self.conversation.response_started(self._reply.head)

    def _read(self) -> None:
        read = next(self._reads, None)
        if read is not None:
            self.conversation.receive_data(read)
        elif self._reply.broken is not None:
            self.conversation.request_failed(self._reply.broken)
        else:
            self.conversation.receive_eof(complete=self._reply.complete)

    def _hook(self, event: Any, handler: Callable[[Any], Any]) -> None:
        try:
            decision = handler(event)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises
            self.conversation.hook_failed(error)
        else:
            self.conversation.hook_decided(decision)


def outcome_of(call: tokwire.ToolCall) -> object:
    """What the tool gives, or the exception that it raises."""
    try:
        return call.tool.invoke(call.input)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises
        return error


def short(block: object) -> str:
    """A block in a few characters: calls as `name(id)`, results as `id=content`, with a `!` where they are errors."""
    match block:
        case tokwire.TextBlock(text):
            return text
        case tokwire.ToolUseBlock(call_id, name):
            return f"{name}({call_id})"
        case tokwire.ToolResultBlock(call_id, content, is_error):
            return f"{call_id}{'!' if is_error else '='}{content}"
        case _:
            return type(block).__name__


def adder(calls: list[object] | None = None) -> tokwire.Tool:
    """A tool that adds, and writes down what it was called with."""
    seen = [] if calls is None else calls

    def add(given: dict[str, int]) -> int:
        seen.append(given)
        return sum(given.values())

    return tokwire.Tool("add", "Adds numbers.", {"type": "object"}, add)


def told(result: tokwire.ToolResultBlock) -> dict[str, Any]:
    """The object that an error result holds."""
    assert result.is_error
    assert isinstance(result.content, str)
    value: dict[str, Any] = json.loads(result.content)
    return value


def unfit(history: Sequence[tokwire.Message]) -> list[str]:
    """What is wrong with a history: calls whose results do not follow, results without a call, nothing said."""
    found = []
    for message, behind in itertools.zip_longest(history, history[1:]):
        calls = [block.id for block in message.content if isinstance(block, tokwire.ToolUseBlock)]
        follows = [] if behind is None else behind.content
        results = [block.tool_use_id for block in follows if isinstance(block, tokwire.ToolResultBlock)]
        if message.role == "assistant" and calls != results:
            found.append(f"calls {calls} have results {results}")
        if message.role != "assistant" and results:
            found.append(f"results {results} follow no answer")
        if not message.content or tokwire.TextBlock("") in message.content:
            found.append("empty content")
    return found
