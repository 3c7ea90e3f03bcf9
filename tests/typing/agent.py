"""Code of the agent layer as users write it, for the type checker: `tests/test_typing.py` runs mypy over it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, Literal, assert_never, assert_type

import msgspec

import tokwire
import tokwire_asyncio
import tokwire_threads
from tokwire import AgentOptions, Conversation, Decision, Hooks, Message, PostToolUse, PreToolUse, UserPromptSubmit
from tokwire_http import AsyncTransport, Transport


@tokwire.tool
def tide(port: str, day: Literal["today", "tomorrow"] = "today") -> float:
    """The tide at a port."""
    return float(len(port + day))


@tokwire.tool(name="next-ferry", description="When the next ferry leaves.")
async def ferry(port: str, *, seats: Annotated[int, msgspec.Meta(ge=1)] = 1) -> list[str]:
    """The answer takes a while."""
    return [port] * seats


async def call_tools_as_functions() -> None:
    """A tool keeps the parameters and the result of its function."""
    assert_type(tide("Ayr"), float)
    assert_type(tide("Ayr", day="tomorrow"), float)
    assert_type(await ferry("Ayr", seats=2), list[str])


def tools() -> list[tokwire.Tool]:
    """Tools of all makes stand in one list."""
    plain = tokwire.Tool(
        "wind", "The wind.", {"port": "str", "knots": {"type": "boolean"}}, lambda given: given["port"]
    )
    assert_type(plain.input_schema, dict[str, Any])
    assert_type(plain.to_openai_format(), dict[str, Any])
    assert_type(tide.is_async, bool)
    assert_type(tide.prepare({"port": "Ayr"}), object)
    again = tokwire.tool(tide, name="tide-again")
    assert_type(again("Ayr"), float)
    named = tokwire.tool(str.upper, name="upper")
    return [tide, ferry, plain, again, named]


def no_secrets(event: UserPromptSubmit) -> Decision | None:
    """A hook with an opinion now and then."""
    assert_type(event.prompt, str)
    assert_type(event.history, tuple[Message, ...])
    return Decision.block("no secrets") if "password" in event.prompt else None


async def ask_somebody(event: PreToolUse) -> Decision:
    """A hook that is awaited, and always decides."""
    assert_type(event.tool_name, str)
    return Decision.modify_input({"port": "Ayr"}) if event.tool_name == "tide" else Decision.proceed()


async def note_down(event: PostToolUse) -> None:
    """A hook that only looks."""
    assert_type(event.tool_result, tokwire.ToolResultBlock)


def shorten(event: PostToolUse) -> Decision:
    """A hook that needs no None."""
    return Decision.replace_result(str(event.tool_result.content)[:60], is_error=event.tool_result.is_error)


def hooks() -> Hooks:
    """Handlers with and without `async` go together, in tuples and in lists."""
    handlers: list[tokwire.HookHandler] = [note_down, shorten]
    made = Hooks(
        user_prompt_submit=(no_secrets, lambda event: None),
        pre_tool_use=[ask_somebody, lambda event: Decision.proceed()],
        post_tool_use=handlers,
    )
    assert_type(made.pre_tool_use, Sequence[tokwire.HookHandler])
    return made


def options(headers: dict[str, str], extra: dict[str, object]) -> AgentOptions:
    """Lists and dicts, also those that were made before, and pairs in place of a dict."""
    made = AgentOptions(
        model="harbour-small",
        base_url=tokwire.Provider.LM_STUDIO.base_url,
        api_key=None,
        protocol="openai-chat",
        system_prompt="Be brief.",
        max_tokens=1000,
        temperature=1,
        tools=tools(),
        auto_execute_tools=True,
        headers=headers,
        extra_body=extra,
        timeout=None,
        retry=tokwire.RetryConfig(max_attempts=5),
        hooks=hooks(),
        limits=tokwire.Limits(max_tool_calls=8),
    )
    assert_type(made.tools, Sequence[tokwire.Tool])
    assert_type(made.tool("tide"), tokwire.Tool | None)
    assert_type(made.key_text(), str)
    assert_type(made.replace(temperature=0.5), AgentOptions)
    tokwire.StreamDecoder(made.protocol, **made.decoder_options())
    return AgentOptions(
        model="m", base_url="http://x", headers=[("x-title", "Tides")], extra_body={"stop": ["END"]}, tools=(tide,)
    )


def history() -> list[Message]:
    """Messages of all roles, and what they hold."""
    said = [
        Message.system("Be brief."),
        Message.user_with_image("What is this?", "https://images.example/quay.png"),
        Message.assistant([tokwire.TextBlock("A quay."), tokwire.ToolUseBlock("1", "tide", {"port": "Ayr"})]),
        Message("user", [tokwire.ToolResultBlock("1", "2.1 m")]),
    ]
    assert_type(said[0].role, tokwire.Role)
    assert_type(said[0].text, str)
    assert_type(tokwire.truncate_messages(said, 2), tuple[Message, ...])
    assert_type(tokwire.history_from_json(tokwire.history_to_json(said)), tuple[Message, ...])
    return said


def request(options: AgentOptions) -> None:
    """A request alone, of a list or a tuple."""
    made = tokwire.build_request(options, history())
    assert_type(made, tokwire.HTTPRequest)
    assert_type(made.body, bytes)
    assert_type(made.header("accept"), str | None)
    tokwire.build_request(options, (Message.user("Hello"),))


def act(conversation: Conversation, action: tokwire.Action) -> bool:
    """`Action` is closed."""
    match action:
        case tokwire.SendRequest(request):
            assert_type(request, tokwire.HTTPRequest)
            conversation.response_started(tokwire.ResponseHead(200))
        case tokwire.ReadResponse():
            conversation.receive_data(b"data: [DONE]\n\n")
            conversation.receive_eof(complete=False)
            conversation.request_failed(tokwire.TransportTimeout("nothing came", phase="idle"))
        case tokwire.CloseResponse(reuse):
            assert_type(reuse, bool)
        case tokwire.CallTools(calls):
            assert_type(calls, tuple[tokwire.ToolCall, ...])
            for call in calls:
                conversation.tool_finished(call, call.tool.invoke(call.input))
        case tokwire.AskHook(event, handler):
            assert_type(event, UserPromptSubmit | PreToolUse | PostToolUse)
            decide(conversation, handler(event))
        case tokwire.Wait(seconds):
            assert_type(seconds, float)
            conversation.waited()
        case tokwire.Done(reason):
            assert_type(reason, tokwire.FinishReason)
            return True
        case unreachable:
            assert_never(unreachable)
    return False


def decide(conversation: Conversation, answer: Decision | Awaitable[Decision | None] | None) -> None:
    """What a hook gives is a decision, None, or something to await."""
    if answer is None or isinstance(answer, Decision):
        conversation.hook_decided(answer)
    else:
        assert_type(answer, Awaitable[Decision | None])
        conversation.hook_failed(TypeError("this driver awaits nothing"))


def drive(options: AgentOptions, prompt: str) -> str:
    """The loop of a driver."""
    conversation = Conversation(options, history(), random=random.random)
    conversation.send(prompt)
    conversation.send([tokwire.TextBlock(prompt), tokwire.ImageBlock.from_url("https://images.example/quay.png")])
    conversation.send(Message.user(prompt))
    text = ""
    is_over = False
    while not is_over:
        for event in conversation.events():
            assert_type(event, tokwire.StreamEvent)
            text += event.as_text() or ""
        action = conversation.next_action()
        assert_type(action, tokwire.Action)
        is_over = act(conversation, action)
    assert_type(conversation.finish_reason, tokwire.FinishReason | None)
    assert_type(conversation.usage, tokwire.Usage | None)
    assert_type(conversation.head, tokwire.ResponseHead | None)
    conversation.add_tool_result("call_1", {"height": 2.1})
    conversation.history = conversation.history[-4:]
    conversation.history = [Message.user("Hello")]
    assert_type(conversation.history, tuple[Message, ...])
    return text


def errors(conversation: Conversation) -> None:
    """What ends a turn, and what a tool says of arguments."""
    try:
        conversation.next_action()
    except (tokwire.PromptBlocked, tokwire.TurnInterrupted) as error:
        assert_type(error.events, tuple[tokwire.StreamEvent, ...])
    try:
        tide.prepare({})
    except tokwire.ToolInputError as error:
        assert_type(error, tokwire.ToolInputError)


def converse(options: AgentOptions, transport: Transport) -> str:
    """The blocking client."""
    for event in tokwire_threads.query("Hello", options, transport=transport):
        assert_type(event, tokwire.StreamEvent)
    with tokwire_threads.Client(options, transport=transport, history=history()) as client:
        with client.send("Hello") as turn:
            assert_type(turn, tokwire_threads.Turn)
            for event in turn:
                assert_type(event, tokwire.StreamEvent)
        client.add_tool_result("call_1", [tokwire.TextBlock("noon")])
        assert_type(client.history, tuple[Message, ...])
        assert_type(client.usage, tokwire.Usage | None)
        return client.send().collect().text


async def converse_later(options: AgentOptions, transport: AsyncTransport) -> str:
    """The client of asyncio."""
    async for event in tokwire_asyncio.query("Hello", options, transport=transport):
        assert_type(event, tokwire.StreamEvent)
    async with tokwire_asyncio.Client(options) as client:
        async with client.send("Hello") as turn:
            assert_type(turn, tokwire_asyncio.AsyncTurn)
            async for event in turn:
                assert_type(event, tokwire.StreamEvent)
        answer = await client.send().collect()
        assert_type(answer, Message)
        return answer.text
